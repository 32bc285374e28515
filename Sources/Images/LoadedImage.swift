public import AggregatorCore
public import Foundation

/// The bytes of an image, which are one: their type was read from themselves.
public struct LoadedImage: Record {
  /// Where it was found.
  public let id: ImageAddress

  /// The file.
  public let bytes: Data

  /// What it is.
  public let type: ImageType

  /// How many pixels it has; `nil` if that is not easily told.
  public var pixels: PixelSize? { PixelSize(of: bytes, type) }

  /// An image.
  ///
  /// - Parameters:
  ///   - bytes: The file. `nil` if it is no image of a known ``ImageType``.
  ///   - address: Where it was found.
  public init?(_ bytes: Data, at address: ImageAddress) {
    guard let type = ImageType(sniffing: bytes), type == .avif || PixelSize(of: bytes, type) != nil
    else { return nil }
    id = address
    self.bytes = bytes
    self.type = type
  }
}

extension LoadedImage {
  private enum CodingKeys: String, CodingKey { case id, bytes }

  /// Reads address and bytes.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let bytes = try container.decode(Data.self, forKey: .bytes)
    guard let image = LoadedImage(bytes, at: try container.decode(ImageAddress.self, forKey: .id))
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .bytes, in: container, debugDescription: "the bytes are no image")
    }
    self = image
  }

  /// Writes address and bytes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(bytes, forKey: .bytes)
  }
}
