public import AggregatorCore
public import AggregatorFoundation

/// The type of an image file, detected from its header.
///
/// New cases may be added: switch with a `default`.
public enum ImageType: String, CaseIterable, Sendable {
  /// JPEG (ITU-T T.81).
  case jpeg
  /// PNG (W3C, third edition).
  case png
  /// GIF, 87a or 89a.
  case gif
  /// WebP (RFC 9649).
  case webp
  /// AVIF, also animated.
  case avif
  /// SVG: markup, which may contain scripts and URLs.
  ///
  /// It is saved and served, and never parsed here: a program that shows it must neither run nor load what is in it.
  case svg

  /// Detects the type from a file, or its first 12 bytes, for SVG those up to its root element; `nil` for other data.
  public init?(sniffing bytes: Data) {
    let head = Array(bytes.prefix(12))
    func begins(_ magic: [UInt8], at offset: Int = 0) -> Bool {
      head.dropFirst(offset).starts(with: magic)
    }
    if begins([0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if begins(Array("GIF87a".utf8)) || begins(Array("GIF89a".utf8)) {
      self = .gif
    } else if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) {
      self = .webp
    } else if begins(Array("ftypavif".utf8), at: 4) || begins(Array("ftypavis".utf8), at: 4) {
      self = .avif
    } else if Self.isSVG(bytes.prefix(Self.maxPrologSize)) {
      self = .svg
    } else {
      return nil
    }
  }

  /// The most bytes before the root element of an SVG file, most of them in comments.
  private static let maxPrologSize = 64 << 10

  /// True if a document type or the root element is that of SVG, after a declaration and comments.
  private static func isSVG(_ bytes: Data) -> Bool {
    var rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
    var isInProlog = true
    while isInProlog {
      isInProlog = false
      rest = rest.drop { " \t\r\n".utf8.contains($0) }
      for (start, end) in [("<?", "?>"), ("<!--", "-->")] where rest.starts(with: start.utf8) {
        guard let end = rest.firstRange(of: Data(end.utf8)) else { return false }
        rest = rest[end.upperBound...]
        isInProlog = true
      }
    }
    if rest.starts(with: "<!DOCTYPE svg ".utf8) { return true }
    guard rest.first == UInt8(ascii: "<") else { return false }
    let name = rest.dropFirst().prefix { !" \t\r\n/>".utf8.contains($0) }
    // Without the namespace it is a part of a web page.
    return String(decoding: name, as: UTF8.self).split(separator: ":").last == "svg"
      && rest.firstRange(of: Data("http://www.w3.org/2000/svg".utf8)) != nil
  }

  /// The media type: `image/jpeg`.
  public var mediaType: String { self == .svg ? "image/svg+xml" : "image/\(rawValue)" }

  /// The file name extension without the dot: `jpg`.
  public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }
}

/// The size of an image in pixels, according to its header.
public struct PixelSize: Hashable, Sendable, CustomStringConvertible {
  /// 1 or more.
  public let width: Int
  /// 1 or more.
  public let height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  private init?(_ width: Int?, _ height: Int?) {
    guard let width, let height, width > 0, height > 0 else { return nil }
    self.init(width: width, height: height)
  }

  /// Reads the header of an image file.
  ///
  /// `nil` if the header is truncated or damaged; always for AVIF, whose header is a tree of boxes, and SVG, which has
  /// no pixels.
  package init?(of bytes: Data, _ type: ImageType) {
    switch type {
    case .jpeg: self.init(jpeg: bytes)
    case .png:
      guard bytes.text(at: 12, 4) == "IHDR" else { return nil }
      self.init(bytes.big(at: 16, 4), bytes.big(at: 20, 4))
    case .gif: self.init(bytes.little(at: 6, 2), bytes.little(at: 8, 2))
    case .webp: self.init(webp: bytes)
    case .avif, .svg: return nil
    }
  }

  /// The most segments and fill bytes before the frame header: a file could consist of them.
  private static let maxSteps = 4096

  /// The frame header, after other segments (T.81, B.2.2).
  private init?(jpeg header: Data) {
    var offset = 2
    var steps = 0
    while steps < Self.maxSteps, header.big(at: offset, 1) == 0xFF,
      let marker = header.big(at: offset + 1, 1)
    {
      steps += 1
      switch marker {
      // Fill bytes may precede any marker.
      case 0xFF: offset += 1
      // Markers without a segment.
      case 0x01, 0xD0...0xD7: offset += 2
      // The pixels begin, or the file ends.
      case 0xD8...0xDA: return nil
      case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker):
        self.init(header.big(at: offset + 7, 2), header.big(at: offset + 5, 2))
        return
      default:
        guard let length = header.big(at: offset + 2, 2), length >= 2 else { return nil }
        offset += 2 + length
      }
    }
    return nil
  }

  /// The first chunk: extended, lossless or lossy (RFC 9649, sections 2.5 to 2.7).
  private init?(webp header: Data) {
    switch header.text(at: 12, 4) {
    case "VP8X":
      self.init(header.little(at: 24, 3).map { $0 + 1 }, header.little(at: 27, 3).map { $0 + 1 })
    case "VP8L":
      let bits = header.big(at: 20, 1) == 0x2F ? header.little(at: 21, 4) : nil
      self.init(bits.map { $0 & 0x3FFF + 1 }, bits.map { $0 >> 14 & 0x3FFF + 1 })
    case "VP8 ":
      let isKeyFrame = header.big(at: 23, 3) == 0x9D012A
      self.init(
        isKeyFrame ? header.little(at: 26, 2).map { $0 & 0x3FFF } : nil,
        header.little(at: 28, 2).map { $0 & 0x3FFF })
    default: return nil
    }
  }

  /// `480×640`.
  public var description: String { "\(width)×\(height)" }
}

/// The numbers and texts of a file that may be truncated anywhere.
extension Data {
  private func bytes(at offset: Int, _ length: Int) -> Data? {
    guard offset <= count - length else { return nil }
    return dropFirst(offset).prefix(length)
  }

  fileprivate func big(at offset: Int, _ length: Int) -> Int? {
    bytes(at: offset, length)?.reduce(0) { $0 << 8 | Int($1) }
  }

  fileprivate func little(at offset: Int, _ length: Int) -> Int? {
    bytes(at: offset, length)?.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  fileprivate func text(at offset: Int, _ length: Int) -> String? {
    bytes(at: offset, length).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// Image data whose type was detected from its header.
public struct LoadedImage: SourceRecord {
  public let id: ImageAddress
  public let bytes: Data

  public let type: ImageType

  /// The size in pixels; `nil` for AVIF and SVG.
  public var pixels: PixelSize? { PixelSize(of: bytes, type) }

  /// `nil` if the bytes are not an image of a known ``ImageType``.
  public init?(_ bytes: Data, at address: ImageAddress) {
    guard let type = ImageType(sniffing: bytes),
      type == .avif || type == .svg || PixelSize(of: bytes, type) != nil
    else { return nil }
    id = address
    self.bytes = bytes
    self.type = type
  }

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
