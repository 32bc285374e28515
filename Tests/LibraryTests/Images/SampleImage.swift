import AggregatorKit
import Foundation

/// Images with valid headers and arbitrary pixels.
enum SampleImage {
  /// A PNG of so many bytes, 37 or more.
  static func png(_ width: Int = 4, _ height: Int = 3, bytes count: Int = 37) -> Data {
    let header =
      [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Data("IHDR".utf8)
      + width.big(4) + height.big(4) + [8, 2, 0, 0, 0]
    return header + Data(repeating: UInt8(truncatingIfNeeded: count), count: count - header.count)
  }

  /// A JPEG with an application segment, fill bytes and a table before its frame header.
  static func jpeg(_ width: Int, _ height: Int, frame: UInt8 = 0xC0) -> Data {
    let segment = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Data(repeating: 0xFF, count: 14)
    let table = Data([0xFF, 0xFF, 0xFF, 0xC4, 0, 4, 0xFF, 0xC0])
    let header = [0xFF, frame, 0, 11, 8] + height.big(2) + width.big(2)
    return segment + table + header + Data([1, 1, 0x11, 0, 0xFF, 0xD9])
  }

  static func gif(_ width: Int, _ height: Int, version: String = "89a") -> Data {
    Data("GIF\(version)".utf8) + width.little(2) + height.little(2) + [0, 0, 0, 0x3B]
  }

  static func lossyWebP(_ width: Int, _ height: Int) -> Data {
    webP("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A] + (width | 0x4000).little(2) + height.little(2))
  }

  static func losslessWebP(_ width: Int, _ height: Int) -> Data {
    webP("VP8L", [0x2F] + (width - 1 | (height - 1) << 14 | 1 << 28).little(4))
  }

  static func extendedWebP(_ width: Int, _ height: Int) -> Data {
    webP("VP8X", [0x10, 0, 0, 0] + (width - 1).little(3) + (height - 1).little(3))
  }

  static func avif(_ brand: String = "avif") -> Data {
    [0, 0, 0, 32] + Data("ftyp\(brand)".utf8) + Data(count: 20)
  }

  private static func webP(_ chunk: String, _ content: Data) -> Data {
    Data("RIFF".utf8) + (content.count + 12).little(4) + Data("WEBP\(chunk)".utf8)
      + content.count.little(4) + content
  }
}

extension Int {
  fileprivate func big(_ count: Int) -> Data { Data(little(count).reversed()) }

  fileprivate func little(_ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) })
  }
}

extension LoadedImage {
  /// The image that bytes are, found somewhere; `nil` if they are none.
  init?(_ bytes: Data) {
    guard let address = ImageAddress("https://cdn.test/1") else { return nil }
    self.init(bytes, at: address)
  }
}
