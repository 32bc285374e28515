public import Foundation

/// What an image file is, by its own bytes.
///
/// SVG is none of them: it is markup, which may hold scripts and addresses. New cases may come: switch
/// with a `default`.
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

  /// The type of some bytes by how they begin, whatever a `Content-Type` or a name says.
  ///
  /// `nil` if it is something else, or too short to tell.
  ///
  /// - Parameter bytes: A file, or its first 12 bytes.
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
    } else {
      return nil
    }
  }

  /// The media type: `image/jpeg`.
  public var mediaType: String { "image/\(rawValue)" }

  /// How names of such files end, without the dot: `jpg`.
  public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }
}
