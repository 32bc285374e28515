public import AggregatorKit

/// A painting of a museum.
public struct Painting: Record {
  public let id: Int
  public let title: String
  public let artists: [String]?
  public let year: Int?

  /// The URL of a picture, which the service scales to any width.
  public let picture: String?

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
