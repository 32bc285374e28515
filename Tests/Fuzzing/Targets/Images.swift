import AggregatorKit
import Foundation

/// Image files, of which only the header is read.
extension FuzzTarget {
  static let images = [imageHeader]

  private static let png: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
    + [0, 0, 1, 0, 0, 0, 2, 0, 8, 6, 0, 0, 0]
  private static let jpeg: [UInt8] = [
    0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xFF, 0xFE, 0, 2, 0xFF, 0xC2, 0, 11, 8, 1, 0, 2, 0, 3,
    0xFF, 0xDA,
  ]
  private static let gif = Array("GIF89a".utf8) + [4, 1, 2, 0, 0]

  private static func webp(_ kind: String, _ rest: [UInt8]) -> [UInt8] {
    Array("RIFF".utf8) + [30, 0, 0, 0] + Array("WEBP\(kind)".utf8) + [10, 0, 0, 0] + rest
  }

  private static let imageHeader = FuzzTarget(
    "image-header",
    samples: [
      png, jpeg, gif, webp("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A, 4, 1, 2, 0]),
      webp("VP8L", [0x2F, 1, 2, 3, 4]), webp("VP8X", [0, 0, 0, 0, 1, 0, 0, 2, 0, 0]),
      [0, 0, 0, 20] + Array("ftypavif".utf8) + [0, 0, 0, 0],
    ], tokens: ["IHDR", "GIF89a", "RIFF", "WEBP", "VP8 ", "VP8L", "VP8X", "ftyp"]
  ) { bytes in
    // As a slice too, whose indices do not begin at 0.
    let data = Data([0] + bytes).dropFirst()
    let sniffed = ImageType(sniffing: data)
    try expect(sniffed == ImageType(sniffing: Data(bytes)), "a slice is of another type")
    for type in ImageType.allCases {
      let size = PixelSize(of: data, type)
      try expect(size == PixelSize(of: Data(bytes), type), "a slice has another size")
      try expect(size.map { $0.width > 0 && $0.height > 0 } ?? true, "\(type) without a side")
    }
  }
}
