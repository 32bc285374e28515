import CAggregatorServer

/// Compression by zlib, which is loaded at the first use.
enum Gzip {
  private static let names = ["libz.so.1", "/usr/lib/libz.1.dylib"]

  private static let isLoaded = names.contains { cserver_load_zlib($0) }

  /// The compressed bytes (RFC 1952); `nil` if they are not fewer, or zlib is not installed.
  static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
    guard isLoaded else { return nil }
    let compressed = [UInt8](unsafeUninitializedCapacity: bytes.count) { output, count in
      count = bytes.withUnsafeBytes {
        cserver_gzip($0.baseAddress, $0.count, output.baseAddress, output.count)
      }
    }
    return compressed.isEmpty ? nil : compressed
  }
}
