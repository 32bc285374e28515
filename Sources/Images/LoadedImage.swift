public import AggregatorCore
public import AggregatorFoundation

/// Image data whose type was detected from its header.
public struct LoadedImage: Record {
  public let id: ImageAddress
  public let bytes: Data

  public let type: ImageType

  /// The size in pixels; `nil` for AVIF.
  public var pixels: PixelSize? { PixelSize(of: bytes, type) }

  /// `nil` if the bytes are not an image of a known ``ImageType``.
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

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let bytes = try container.decode(Data.self, forKey: .bytes)
    guard let image = LoadedImage(bytes, at: try container.decode(ImageAddress.self, forKey: .id))
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .bytes, in: container, debugDescription: "not an image")
    }
    self = image
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(bytes, forKey: .bytes)
  }
}
