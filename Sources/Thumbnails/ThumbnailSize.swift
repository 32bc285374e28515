import AggregatorImages

/// The size in which a picture is drawn, to which it is decoded.
///
/// A photo of 12 megapixels takes 48 MB as pixels; a row of a list needs a hundredth of that.
public struct ThumbnailSize: Hashable, Sendable {
  /// The part of a picture that is seen if its aspect ratio is not that of its place.
  public enum ContentMode: Sendable {
    /// All of it is seen.
    case fit
    /// The place is full; the view clips the picture.
    case fill
  }

  /// The longest side of a thumbnail, in pixels.
  static let maxSide = 4096
  /// Pictures of more pixels are not decoded.
  static let maxPixels = 64 << 20

  /// The width of the place in points.
  public let width: Double

  /// The height of the place in points.
  public let height: Double

  /// The number of pixels in a point, such as the `displayScale` of a view.
  public let scale: Double

  public let contentMode: ContentMode

  /// A place of less than one pixel, such as that of a view without a layout yet, is one pixel.
  public init(
    width: Double, height: Double, scale: Double = 1, contentMode: ContentMode = .fit
  ) {
    // Also of what is no number, which would not be equal to itself.
    self.width = width > 0 ? width : 0
    self.height = height > 0 ? height : 0
    self.scale = scale > 0 ? scale : 1
    self.contentMode = contentMode
  }

  /// Names the thumbnails of this size in a cache.
  var variant: String { "\(width)×\(height)@\(scale)\(contentMode == .fit ? "" : " fill")" }

  /// The size of the thumbnail of a picture, which is never larger than the picture.
  ///
  /// The decoder of a picture that may yet be turned by a quarter makes it large enough for that.
  func pixels(of picture: PixelSize, mayBeTurned: Bool = false) -> PixelSize {
    let (width, height) = (Double(picture.width), Double(picture.height))
    var factor = factor(for: width, height)
    if mayBeTurned { factor = max(factor, self.factor(for: height, width)) }
    factor = min(factor, 1, Double(Self.maxSide) / max(width, height))
    func scaled(_ side: Double) -> Int { max(1, Int((side * factor).rounded())) }
    return PixelSize(width: scaled(width), height: scaled(height))
  }

  private func factor(for width: Double, _ height: Double) -> Double {
    func side(_ points: Double) -> Double {
      let pixels = points * scale
      return pixels > 1 ? pixels : 1
    }
    let horizontal = side(self.width) / width
    let vertical = side(self.height) / height
    return contentMode == .fit ? min(horizontal, vertical) : max(horizontal, vertical)
  }
}
