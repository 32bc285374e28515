public import Foundation

/// How many pixels an image has, as its header says.
public struct PixelSize: Hashable, Sendable, CustomStringConvertible {
  /// How many pixels a row has, 1 or more.
  public let width: Int
  /// How many rows there are, 1 or more.
  public let height: Int

  /// A size; `nil` if a side is missing.
  private init?(_ width: Int?, _ height: Int?) {
    guard let width, let height, width > 0, height > 0 else { return nil }
    self.width = width
    self.height = height
  }

  /// Reads the header of an image, and nothing of its pixels.
  ///
  /// `nil` if the header is cut or damaged; always for AVIF, whose header is a tree of boxes.
  ///
  /// - Parameters:
  ///   - bytes: The file.
  ///   - type: What it is.
  public init?(of bytes: Data, _ type: ImageType) {
    let header = ImageHeader(bytes: bytes)
    switch type {
    case .jpeg: self.init(jpeg: header)
    case .png:
      guard header.text(at: 12, 4) == "IHDR" else { return nil }
      self.init(header.big(at: 16, 4), header.big(at: 20, 4))
    case .gif: self.init(header.little(at: 6, 2), header.little(at: 8, 2))
    case .webp: self.init(webp: header)
    case .avif: return nil
    }
  }

  /// So many segments and fill bytes before the frame header are enough: a file could be made of them.
  private static let mostSteps = 4096

  /// The frame header, behind other segments (T.81, B.2.2).
  private init?(jpeg header: ImageHeader) {
    var authority = 2
    var steps = 0
    while steps < Self.mostSteps, header.big(at: authority, 1) == 0xFF,
      let marker = header.big(at: authority + 1, 1)
    {
      steps += 1
      switch marker {
      // Any marker may have fill bytes before it.
      case 0xFF: authority += 1
      // Those without a segment.
      case 0x01, 0xD0...0xD7: authority += 2
      // The pixels begin, or the file ends.
      case 0xD8...0xDA: return nil
      case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker):
        self.init(header.big(at: authority + 7, 2), header.big(at: authority + 5, 2))
        return
      default:
        guard let length = header.big(at: authority + 2, 2), length >= 2 else { return nil }
        authority += 2 + length
      }
    }
    return nil
  }

  /// The first chunk: extended, lossless or lossy (RFC 9649, sections 2.5 to 2.7).
  private init?(webp header: ImageHeader) {
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

/// The numbers and words of a file that may end anywhere.
private struct ImageHeader {
  let bytes: Data

  /// The `count` bytes at `place`; `nil` if they are not all there.
  private func piece(at authority: Int, _ count: Int) -> Data? {
    guard authority <= bytes.count - count else { return nil }
    return bytes.dropFirst(authority).prefix(count)
  }

  /// A number whose first byte weighs most.
  func big(at authority: Int, _ count: Int) -> Int? {
    piece(at: authority, count)?.reduce(0) { $0 << 8 | Int($1) }
  }

  /// A number whose first byte weighs least.
  func little(at authority: Int, _ count: Int) -> Int? {
    piece(at: authority, count)?.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  func text(at authority: Int, _ count: Int) -> String? {
    piece(at: authority, count).map { String(decoding: $0, as: UTF8.self) }
  }
}
