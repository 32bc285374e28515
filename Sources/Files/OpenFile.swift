package import Foundation

/// A system call that failed.
package struct SystemFailure: Error {
  /// The error number, as in `errno`.
  package let code: Int32

  package init(code: Int32) { self.code = code }

  /// Whether there is no such file.
  package var isMissing: Bool { code == ENOENT || code == ENOTDIR }

  /// The system's words: `Permission denied`.
  package var words: String { String(cString: strerror(code)) }

  /// Calls the system, again if a signal came in between.
  ///
  /// - Parameter call: A call that answers -1 when it fails.
  /// - Returns: What the call answers.
  /// - Throws: The failure.
  @discardableResult
  package static func check<Answer: SignedInteger>(_ call: () -> Answer) throws(SystemFailure)
    -> Answer
  {
    while true {
      let answer = call()
      if answer != -1 { return answer }
      let code = errno
      if code != EINTR { throw SystemFailure(code: code) }
    }
  }
}

/// An open file; closed when it goes away.
package struct OpenFile: ~Copyable {
  /// The number by which the system knows it.
  package let descriptor: Int32

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - flags: As for `open(2)`; child processes never inherit the file.
  ///   - mode: The permissions of a file that this creates.
  /// - Throws: ``SystemFailure``.
  package init(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(SystemFailure) {
    descriptor = try SystemFailure.check { open(path, flags | O_CLOEXEC, mode) }
  }

  deinit { close(descriptor) }

  /// What kind of file it is, and who may do what with it: `st_mode` of `stat(2)`.
  package borrowing func mode() throws(SystemFailure) -> mode_t {
    var status = stat()
    try SystemFailure.check { fstat(descriptor, &status) }
    return status.st_mode
  }

  /// How many bytes a regular file has.
  package borrowing func size() throws(SystemFailure) -> Int {
    var status = stat()
    try SystemFailure.check { fstat(descriptor, &status) }
    return Int(status.st_size)
  }

  /// Reads the start of the file.
  ///
  /// - Parameter limit: The most bytes wanted.
  /// - Returns: Fewer bytes only if the file is shorter.
  /// - Throws: ``SystemFailure``.
  package borrowing func contents(atMost limit: Int) throws(SystemFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while bytes.count < limit {
      let wanted = min(chunk.count, limit - bytes.count)
      let count = try SystemFailure.check { read(descriptor, &chunk, wanted) }
      if count == 0 { break }
      bytes += chunk.prefix(count)
    }
    return bytes
  }

  /// Writes all of `bytes`, and waits until they are on the disk.
  ///
  /// - Parameter bytes: What to write.
  /// - Throws: ``SystemFailure``, such as a full disk.
  package borrowing func writeThrough(_ bytes: [UInt8]) throws(SystemFailure) {
    try writeAll(bytes)
    try SystemFailure.check { fsync(descriptor) }
  }

  /// Writes all of `bytes`; the system brings them to the disk when it likes.
  ///
  /// - Parameter bytes: What to write.
  /// - Throws: ``SystemFailure``, such as a full disk.
  package borrowing func writeAll(_ bytes: [UInt8]) throws(SystemFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = try SystemFailure.check {
        rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      }
      rest = rest.dropFirst(count)
    }
  }
}
