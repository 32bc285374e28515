public import AggregatorImages

#if canImport(CoreGraphics)
  public import CoreGraphics
#endif

/// A decoded picture, in the size in which it is drawn.
///
/// It is drawn as it is, without any work on the main thread:
///
/// ```swift
/// Image(decorative: thumbnail.cgImage, scale: thumbnail.scale)
/// ```
public struct Thumbnail: Sendable {
  /// The size in pixels, the right way up.
  public let pixels: PixelSize

  /// The number of pixels in a point.
  public let scale: Double

  #if canImport(CoreGraphics)
    /// Never changes, and may be drawn by several threads.
    private struct Picture: @unchecked Sendable { let image: CGImage }

    private let picture: Picture

    public var cgImage: CGImage { picture.image }

    init(_ image: CGImage, scale: Double) {
      picture = Picture(image: image)
      pixels = PixelSize(width: image.width, height: image.height)
      self.scale = scale
    }
  #else
    /// The pixels, row after row from the top: red, green, blue and alpha, a byte each, not premultiplied.
    public let bytes: [UInt8]

    init(_ bytes: [UInt8], of pixels: PixelSize, scale: Double) {
      self.bytes = bytes
      self.pixels = pixels
      self.scale = scale
    }
  #endif

  /// The memory that it takes, in bytes.
  var cost: Int { pixels.width * pixels.height * 4 }
}
