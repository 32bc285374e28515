/// How large an image is wanted, where a service has several sizes of it.
public enum ImageSize: String, CaseIterable, Sendable {
  /// For a list.
  case small
  /// For a page about one record.
  case medium
  /// The largest that is made for a screen.
  case large
}
