import AggregatorFoundation
import CAggregatorZlib

/// Compresses a file in the format of gzip (RFC 1952), in pieces.
package struct Deflation: ~Copyable {
  private let handle: OpaquePointer

  package init() throws(FormatError) {
    guard Inflation.isInstalled else {
      throw .noZlib("compressed files need zlib, which is not installed")
    }
    guard let handle = czlib_deflation_new() else { throw .tooLarge(0) }
    self.handle = handle
  }

  deinit { czlib_deflation_free(handle) }

  /// The compressed bytes that are ready, which may be none; all of the rest after the last piece.
  package mutating func compress(
    _ bytes: [UInt8], isLast: Bool = false
  ) throws(FormatError) -> [UInt8] {
    var compressed: [UInt8] = []
    var rest = bytes[...]
    var result = CZLIB_MORE
    var isFull = false
    repeat {
      var used = 0
      let piece = [UInt8](unsafeUninitializedCapacity: 1 << 16) { output, count in
        result = rest.withUnsafeBytes {
          czlib_deflate(
            handle, $0.baseAddress, $0.count, isLast, &used, output.baseAddress, output.count,
            &count)
        }
        isFull = count == output.count
      }
      guard result != CZLIB_INVALID else { throw .tooLarge(bytes.count) }
      compressed += piece
      rest = rest.dropFirst(used)
    } while !rest.isEmpty || isFull || isLast && result != CZLIB_END
    return compressed
  }
}

extension FormatError {
  fileprivate static func noZlib(_ message: String) -> FormatError {
    FormatError(.notInstalled, message, remedy: "run \"apt-get install zlib1g\"")
  }
}

/// Decompresses a file in the format of gzip (RFC 1952), in pieces.
package struct Inflation: ~Copyable {
  private static let libraries = ["libz.so.1", "/usr/lib/libz.1.dylib"]

  /// True if zlib is installed.
  package static var isInstalled: Bool { libraries.contains { czlib_load($0) } }

  private let handle: OpaquePointer
  /// True between two members of the file, where it may end.
  private var isBetweenMembers = false
  private var hasMembers = false

  /// True if a body begins as such files do.
  package static func isNeeded(for body: some Collection<UInt8>) -> Bool {
    body.starts(with: [0x1F, 0x8B, 0x08])
  }

  package init() throws(FormatError) {
    guard Self.isInstalled else {
      throw .noZlib("the file is compressed, and zlib is not installed")
    }
    guard let handle = czlib_inflation_new() else { throw .tooLarge(0) }
    self.handle = handle
  }

  deinit { czlib_inflation_free(handle) }

  /// True if the file may end here.
  package var isWhole: Bool { isBetweenMembers }

  /// Decompresses bytes from a position on, until they or the room are used up.
  ///
  /// - Parameter room: The most bytes to append.
  package mutating func decompress(
    _ bytes: [UInt8], from position: inout Int, into output: inout [UInt8], room: Int
  ) throws(FormatError) {
    let start = output.count
    output.append(contentsOf: repeatElement(0, count: room))
    var end = start
    defer { output.removeLast(output.count - end) }
    // Some output may be left from bytes that were used before.
    while end < output.count {
      if position < bytes.count, isBetweenMembers, hasMembers, bytes[position] == 0 {
        // Some archives are padded.
        position += 1
        continue
      }
      var used = 0
      var written = 0
      let result = bytes.withUnsafeBytes { input in
        output.withUnsafeMutableBytes { output in
          czlib_inflate(
            handle, input.baseAddress.map { $0 + position }, input.count - position, &used,
            output.baseAddress.map { $0 + end }, output.count - end, &written)
        }
      }
      position += used
      end += written
      if used > 0 || written > 0 { isBetweenMembers = result == CZLIB_END }
      hasMembers = hasMembers || isBetweenMembers
      guard result != CZLIB_INVALID else {
        throw FormatError(.invalid, "the compression is damaged")
      }
      // Decompression that stops before the room is full needs further bytes.
      if used == 0 && written == 0 || position == bytes.count && end < output.count { break }
    }
  }
}
