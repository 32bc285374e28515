import AggregatorCore
import AggregatorFoundation
import AggregatorImages

#if canImport(ImageIO)
  import ImageIO
#else
  import CAggregatorPixbuf
#endif

/// Decodes images to thumbnails: with ImageIO, or with GdkPixbuf, which is loaded at first use.
enum ThumbnailDecoder {
  /// Decodes off the actor of the caller.
  ///
  /// - Throws: ``SourceError``: `malformed` for damaged pixels, `tooLarge`, `unsupported` for SVG or without a decoder for
  ///   the type, `cancelled`.
  @concurrent static func thumbnail(
    of image: LoadedImage, fitting size: ThumbnailSize
  ) async throws(SourceError) -> Thumbnail {
    // A module of GdkPixbuf would parse markup of a stranger in this process.
    guard image.type != .svg else {
      throw SourceError(
        .unsupported, "the image of \(image.id.authority) is SVG, which is not decoded")
    }
    if let pixels = image.pixels { try check(pixels, of: image) }
    guard !Task.isCancelled else { throw .cancelled }
    return try decode(image, size)
  }

  private static func check(_ pixels: PixelSize, of image: LoadedImage) throws(SourceError) {
    guard pixels.width <= ThumbnailSize.maxPixels / pixels.height else {
      throw SourceError(
        .tooLarge, "the image of \(image.id.authority) has \(pixels) pixels, more than 64 million")
    }
  }

  private static func damaged(_ image: LoadedImage, _ reason: String) -> SourceError {
    SourceError(.malformed, "\(image.id.authority) sent a damaged image\(reason)")
  }

  #if canImport(ImageIO)
    private static func decode(
      _ image: LoadedImage, _ size: ThumbnailSize
    ) throws(SourceError) -> Thumbnail {
      guard let source = CGImageSourceCreateWithData(image.bytes as CFData, nil),
        let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any],
        let width = properties[kCGImagePropertyPixelWidth] as? Int,
        let height = properties[kCGImagePropertyPixelHeight] as? Int, width > 0, height > 0
      else { throw damaged(image, "") }
      try check(PixelSize(width: width, height: height), of: image)
      // Orientations from 5 on are turned by a quarter (TIFF 6.0, page 36).
      let isTurned = (properties[kCGImagePropertyOrientation] as? Int ?? 1) >= 5
      let pixels = size.pixels(
        of: isTurned
          ? PixelSize(width: height, height: width) : PixelSize(width: width, height: height))
      let options: [CFString: Any] = [
        kCGImageSourceCreateThumbnailFromImageAlways: true,
        kCGImageSourceCreateThumbnailWithTransform: true,
        kCGImageSourceShouldCacheImmediately: true,
        kCGImageSourceThumbnailMaxPixelSize: max(pixels.width, pixels.height),
      ]
      guard let decoded = CGImageSourceCreateThumbnailAtIndex(source, 0, options as CFDictionary)
      else { throw damaged(image, "") }
      return Thumbnail(decoded, scale: size.scale)
    }
  #else
    /// True if GdkPixbuf is installed.
    static var isInstalled: Bool { cpixbuf_load("libgdk_pixbuf-2.0.so.0") }

    /// The callbacks of GdkPixbuf, and the thumbnail that they make.
    private final class Decoding {
      let size: ThumbnailSize
      var isTooLarge = false
      var thumbnail: Thumbnail?

      init(_ size: ThumbnailSize) { self.size = size }

      static func object(of context: UnsafeMutableRawPointer?) -> Decoding? {
        context.map { Unmanaged<Decoding>.fromOpaque($0).takeUnretainedValue() }
      }

      func fit(_ width: inout Int32, _ height: inout Int32, mayBeTurned: Bool) -> Bool {
        guard width > 0, height > 0, Int(width) <= ThumbnailSize.maxPixels / Int(height) else {
          isTooLarge = true
          return false
        }
        let picture = PixelSize(width: Int(width), height: Int(height))
        let pixels = size.pixels(of: picture, mayBeTurned: mayBeTurned)
        (width, height) = (Int32(pixels.width), Int32(pixels.height))
        return true
      }

      /// Copies the pixels of a thumbnail, whose sides are at most ``ThumbnailSize/maxSide``.
      func take(_ pixels: UnsafePointer<UInt8>, _ size: PixelSize, stride: Int, channels: Int) {
        let bytes = [UInt8](unsafeUninitializedCapacity: size.width * size.height * 4) {
          bytes, count in
          for row in 0..<size.height {
            let from = pixels + row * stride
            for column in 0..<size.width {
              for channel in 0..<3 { bytes[count + channel] = from[column * channels + channel] }
              bytes[count + 3] = channels > 3 ? from[column * channels + 3] : 0xFF
              count += 4
            }
          }
        }
        thumbnail = Thumbnail(bytes, of: size, scale: self.size.scale)
      }
    }

    private static func decode(
      _ image: LoadedImage, _ size: ThumbnailSize
    ) throws(SourceError) -> Thumbnail {
      guard isInstalled else {
        throw SourceError(
          .unsupported, "GdkPixbuf, which decodes images, is not installed",
          remedy: "run \"apt-get install libgdk-pixbuf-2.0-0\"")
      }
      var handlers = cpixbuf_handlers(
        fit: { context, width, height, mayBeTurned in
          guard let decoding = Decoding.object(of: context), let width, let height else {
            return false
          }
          return decoding.fit(&width.pointee, &height.pointee, mayBeTurned: mayBeTurned)
        },
        is_stopped: { _ in Task.isCancelled },
        take: { context, pixels, width, height, stride, channels in
          guard let decoding = Decoding.object(of: context), let pixels else { return }
          decoding.take(
            pixels, PixelSize(width: Int(width), height: Int(height)), stride: Int(stride),
            channels: Int(channels))
        })
      let decoding = Decoding(size)
      var reason = [CChar](repeating: 0, count: 256)
      // GdkPixbuf calls back only inside of this call, during which the object lives.
      let result = withExtendedLifetime(decoding) {
        image.bytes.withUnsafeBytes { bytes in
          cpixbuf_decode(
            bytes.baseAddress, bytes.count, image.type.mediaType, &handlers,
            Unmanaged.passUnretained(decoding).toOpaque(), &reason)
        }
      }
      switch result {
      case CPIXBUF_DECODED:
        if let thumbnail = decoding.thumbnail { return thumbnail }
        throw damaged(image, "")
      case CPIXBUF_STOPPED where decoding.isTooLarge, CPIXBUF_NO_MEMORY:
        throw SourceError(.tooLarge, "the image of \(image.id.authority) has too many pixels")
      case CPIXBUF_STOPPED: throw .cancelled
      case CPIXBUF_UNSUPPORTED:
        throw SourceError(
          .unsupported, "GdkPixbuf has no decoder of \(image.type.mediaType)",
          remedy: "install the module of GdkPixbuf for that type")
      default:
        let text = reason.withUnsafeBufferPointer { characters in
          String(
            decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        throw damaged(image, text.isEmpty ? "" : ": \(text)")
      }
    }
  #endif
}
