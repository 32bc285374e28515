public import AggregatorKit

/// A painting of a museum, as the service sends it.
public struct Painting: SourceRecord {
  public let objectID: Int
  public let title: String
  /// The service sends one name, or several.
  public let artist: [String]?
  /// The service sends a number as text, which is empty if it is unknown.
  public let year: Int?
  /// The URL of a picture, which the service scales to any width.
  public let picture: String?

  public var id: Int { objectID }

  /// The URLs of the picture in a size, then in its own as fallback.
  func pictures(_ size: ImageSize) -> [String] {
    guard let picture else { return [] }
    let width =
      switch size {
      case .small: 200
      case .medium: 600
      case .large: 1600
      }
    return ["\(picture)?width=\(width)", picture]
  }
}
