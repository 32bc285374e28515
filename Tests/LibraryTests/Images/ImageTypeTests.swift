import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite struct ImageTypeTests {
  static let samples: [(Data, ImageType)] = [
    (SampleImage.jpeg(480, 640), .jpeg), (SampleImage.jpeg(480, 640, frame: 0xC2), .jpeg),
    (SampleImage.png(480, 640), .png), (SampleImage.gif(480, 640), .gif),
    (SampleImage.gif(480, 640, version: "87a"), .gif), (SampleImage.lossyWebP(480, 640), .webp),
    (SampleImage.losslessWebP(480, 640), .webp), (SampleImage.extendedWebP(480, 640), .webp),
  ]

  @Test(arguments: samples.indices)
  func `type and size are read from the bytes`(index: Int) {
    let (bytes, type) = Self.samples[index]
    #expect(ImageType(sniffing: bytes) == type)
    #expect(PixelSize(of: bytes, type)?.description == "480×640")
    // A part of other data begins at another index.
    let part = (Data(count: 5) + bytes).dropFirst(5)
    #expect(ImageType(sniffing: part) == type)
    #expect(PixelSize(of: part, type)?.description == "480×640")
  }

  /// Images written by real programs, of 1×1 pixels, and one of 3×2.
  static let real: [(String, ImageType, String)] = [
    ("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", .gif, "1×1"),
    (
      "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5SAAAAABJRU5E"
        + "rkJggg==", .png, "3×2"
    ),
    ("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=", .webp, "1×1"),
    ("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==", .webp, "1×1"),
    (
      "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAADABAJ0BKgEAAQAC"
        + "ADQlpAADcAD++/1QAA==", .webp, "1×1"
    ),
    (
      "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP////////////////////////////////////////////////////////////"
        + "//////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=",
      .jpeg, "1×1"
    ),
  ]

  @Test(arguments: real.indices)
  func `real files are recognized`(index: Int) throws {
    let (text, type, size) = Self.real[index]
    let bytes = try #require(Data(base64Encoded: text))
    #expect(ImageType(sniffing: bytes) == type)
    #expect(PixelSize(of: bytes, type)?.description == size)
  }

  @Test func `an AVIF is recognized by its brand`() {
    for brand in ["avif", "avis"] {
      #expect(ImageType(sniffing: SampleImage.avif(brand)) == .avif)
      #expect(LoadedImage(SampleImage.avif(brand)) != nil)
    }
    #expect(ImageType(sniffing: SampleImage.avif("mp42")) == nil)
  }

  @Test(arguments: [
    #"<svg xmlns="http://www.w3.org/2000/svg"/>"#,
    "\u{FEFF}<?xml version='1.0'?>\r\n<!-- <svg> -->\n<!-- --><svg\n  width='1' xmlns='http://www.w3.org/2000/svg'>",
    #"<s:svg xmlns:s="http://www.w3.org/2000/svg"/>"#,
    #"<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" [<!ENTITY a "&a;&a;">]><svg>&a;</svg>"#,
  ])
  func `an SVG is recognized by its document type or its root element`(text: String) {
    #expect(ImageType(sniffing: Data(text.utf8)) == .svg)
    #expect(ImageType(sniffing: (Data(count: 5) + Data(text.utf8)).dropFirst(5)) == .svg)
    // Its bytes stay as they are, and its size is unknown.
    #expect(LoadedImage(Data(text.utf8))?.bytes == Data(text.utf8))
    #expect(PixelSize(of: Data(text.utf8), .svg) == nil)
    #expect(ImageType.svg.mediaType == "image/svg+xml" && ImageType.svg.fileExtension == "svg")
  }

  @Test(arguments: [
    "<svg/>", "<svgx xmlns=\"http://www.w3.org/2000/svg\"/>", "<?xml version='1.0'?>", "<!-- <svg>",
    "<", "<!DOCTYPE html><svg xmlns=\"http://www.w3.org/2000/svg\"/>",
    "svg xmlns=\"http://www.w3.org/2000/svg\"",
    "<p><svg xmlns=\"http://www.w3.org/2000/svg\"/></p>",
  ])
  func `a page with an SVG is not one`(text: String) {
    #expect(ImageType(sniffing: Data(text.utf8)) == nil)
  }

  @Test(arguments: [
    "", "<html><body>Not found</body></html>",
    "{}", "GIF", "GIF88a", "RIFF....WAVEfmt ", "BM......", "\u{FFFD}PNG\r\n\u{1A}\n", "%PDF-1.7",
  ])
  func `other data is not an image`(text: String) {
    #expect(ImageType(sniffing: Data(text.utf8)) == nil)
    #expect(LoadedImage(Data(text.utf8)) == nil)
  }

  @Test func `a truncated header has no size and is not an image`() {
    for (bytes, type) in Self.samples {
      let size = PixelSize(of: bytes, type)
      let needed = (0...bytes.count).first { PixelSize(of: bytes.prefix($0), type) == size }
      for count in 0..<(needed ?? 0) {
        #expect(PixelSize(of: bytes.prefix(count), type) == nil)
        #expect(LoadedImage(bytes.prefix(count)) == nil)
      }
      #expect((needed ?? 0) > 9)
    }
  }

  @Test func `headers of any bytes are read safely`() {
    var random = SeededGenerator(5)
    for _ in 0..<3000 {
      var (bytes, type) = Self.samples.randomElement(using: &random) ?? (Data(), .png)
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
      }
      if let size = PixelSize(of: bytes, type) { #expect(size.width > 0 && size.height > 0) }
    }
  }

  @Test func `types have their standard names`() {
    #expect(ImageType.jpeg.mediaType == "image/jpeg")
    #expect(ImageType.jpeg.fileExtension == "jpg")
    #expect(ImageType.webp.fileExtension == "webp")
  }

  @Test func `only a valid cache file is read`() throws {
    let image = try #require(LoadedImage(SampleImage.gif(3, 2)))
    let text = try JSONEncoder().encode(image)
    #expect(try JSONDecoder().decode(LoadedImage.self, from: text) == image)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(
        LoadedImage.self, from: Data(#"{"id":"https://cdn.test/1","bytes":"aGVsbG8="}"#.utf8))
    }
  }

  @Test func `only the first part of an image is searched for its size`() {
    // Fill bytes and empty segments are legal, and could be all there is.
    let fill = Data([0xFF, 0xD8, 0xFF]) + Data(repeating: 0xFF, count: 15 << 20)
    #expect(PixelSize(of: fill, .jpeg) == nil)
    let segments =
      Data([0xFF, 0xD8]) + Data((0..<3_000_000).flatMap { _ in [0xFF, 0xE0, 0, 2] as [UInt8] })
    #expect(PixelSize(of: segments, .jpeg) == nil)
  }
}
