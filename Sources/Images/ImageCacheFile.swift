import AggregatorCore
import Foundation

/// An image as it lies on the disk: three lines of text, a blank one, the bytes.
///
/// ```
/// aggregator image 1
/// https://cdn.example/1.jpg
/// 1795169400000 34567 9c51e2d84b067f3a
///
/// …
/// ```
/// The numbers are the time of fetching in milliseconds since 1970, the number of bytes, and a checksum
/// of all the rest. What does not agree with itself in everything is not read.
struct ImageCacheFile {
  /// How every file begins.
  private static let title = "aggregator image 1"

  /// The most bytes that come before those of the image.
  static let longestHead = 4096 + 256

  let image: LoadedImage
  let fetchedAt: Timestamp

  init(_ image: LoadedImage, fetchedAt: Timestamp) {
    self.image = image
    self.fetchedAt = fetchedAt
  }

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - contents: What is in it.
  ///   - address: Which image it must be.
  init?(_ contents: [UInt8], of address: ImageAddress) {
    let parts = contents.prefix(Self.longestHead).split(
      separator: UInt8(ascii: "\n"), maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count == 5 else { return nil }
    let lines = parts.prefix(4).map { String(decoding: $0, as: UTF8.self) }
    let numbers = lines[2].split(separator: " ", omittingEmptySubsequences: false)
    let bytes = contents[parts[4].startIndex...]
    guard lines[0] == Self.title, lines[1] == address.description, lines[3].isEmpty,
      numbers.count == 3, let fetchedAt = Int64(numbers[0]).flatMap(Timestamp.init(milliseconds:)),
      Int(numbers[1]) == bytes.count,
      let image = LoadedImage(Data(bytes), at: address)
    else { return nil }
    self.init(image, fetchedAt: fetchedAt)
    guard numbers[2] == checksum else { return nil }
  }

  /// What is written.
  var contents: [UInt8] {
    let numbers = "\(fetchedAt.milliseconds) \(image.bytes.count) \(checksum)"
    return Array("\(Self.title)\n\(image.id)\n\(numbers)\n\n".utf8) + image.bytes
  }

  private var checksum: String {
    let head = "\(image.id) \(fetchedAt.milliseconds) ".fnv1a
    return String(image.bytes.fnv1a(from: head), radix: 16)
  }
}

extension Data {
  /// The 64-bit FNV-1a hash of some bytes and these; see ``Swift/String/fnv1a``.
  fileprivate func fnv1a(from hash: UInt64) -> UInt64 {
    withUnsafeBytes { bytes in
      var hash = hash
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      return hash
    }
  }
}
