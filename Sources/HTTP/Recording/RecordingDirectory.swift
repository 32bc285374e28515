import AggregatorCore
import AggregatorFiles
import Foundation

/// The files of a recording: one for each exchange, in the order of their names.
struct RecordingDirectory: Sendable {
  /// The longest file, in bytes: a body of the standard limit, indented or in base64.
  static let largestFile = 96 << 20

  /// The most bytes of all files together.
  static let largestRecording = 256 << 20

  /// The most files.
  static let mostFiles = 10_000

  private static let suffix = ".http"

  let path: String

  // MARK: - Writing

  /// Makes the directory, readable by its owner alone, if it is not there.
  ///
  /// - Throws: ``SourceError`` with code `storage`.
  func make() throws(SourceError) {
    try PrivateFile.makeDirectory(path)
    do throws(SystemFailure) {
      let directory = try OpenFile(path, O_RDONLY | O_DIRECTORY)
      try SystemFailure.check { faccessat(directory.descriptor, ".", W_OK, 0) }
    } catch {
      throw SourceError(
        .storage, "\(path) cannot be written: \(error.words)",
        remedy: "name a directory that is yours")
    }
  }

  /// Adds an exchange: the file is whole as soon as it has its name.
  ///
  /// - Parameters:
  ///   - text: The file's contents.
  ///   - slug: What the name says beside the number.
  /// - Throws: ``SystemFailure``.
  func add(_ text: Data, named slug: String) throws(SystemFailure) {
    guard text.count <= Self.largestFile else { throw SystemFailure(code: EFBIG) }
    let directory = try OpenFile(path, O_RDONLY | O_DIRECTORY)
    // Another process may record into the same directory. Some network file systems have no locks.
    _ = try? SystemFailure.check { flock(directory.descriptor, LOCK_EX) }
    let last = names.compactMap(Self.number).max() ?? 0
    let number = String(min(last, 999_999_999) + 1)
    let padding = String(repeating: "0", count: max(0, 4 - number.count))
    let target = "\(path)/\(padding)\(number)-\(slug)\(Self.suffix)"
    let new = "\(path)/.\(UInt64.random(in: .min ... .max)).new"
    do throws(SystemFailure) {
      let file = try OpenFile(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      try file.writeThrough(Array(text))
      try SystemFailure.check { rename(new, target) }
    } catch {
      unlink(new)
      throw error
    }
  }

  // MARK: - Reading

  /// All exchanges, in order.
  ///
  /// Files that are not called `*.http` are left alone.
  ///
  /// - Throws: ``SourceError``: `storage` for what the system refuses and for what is no regular file,
  ///   `malformed` with file and line for what is no recording, `tooLarge`.
  func exchanges() throws(SourceError) -> [(name: String, exchange: RecordedExchange)] {
    do throws(SystemFailure) { _ = try OpenFile(path, O_RDONLY | O_DIRECTORY) } catch {
      throw SourceError(
        .storage, "\(path) cannot be read: \(error.words)",
        remedy: error.isMissing ? Remedy("make the recording first", .record) : nil)
    }
    let names = names.filter { $0.hasSuffix(Self.suffix) && !$0.hasPrefix(".") }.sorted {
      (Self.number($0) ?? .max, $0) < (Self.number($1) ?? .max, $1)
    }
    guard names.count <= Self.mostFiles else {
      throw SourceError(.tooLarge, "\(path) has more than \(Self.mostFiles) recordings")
    }
    var room = Self.largestRecording
    return try names.map { name throws(SourceError) in
      let text = try contents(of: name, atMost: min(room, Self.largestFile))
      room -= text.count
      do throws(RecordedExchange.Fault) { return (name, try RecordedExchange(text)) } catch {
        throw SourceError(
          .malformed, "\(path)/\(name):\(error.line): \(error.what)",
          remedy: "mend it, or remove it and record again")
      }
    }
  }

  private func contents(of name: String, atMost limit: Int) throws(SourceError) -> Data {
    let file = "\(path)/\(name)"
    let bytes: [UInt8]?
    let isTooLarge: Bool
    do throws(SystemFailure) {
      // A link may lead anywhere, and a pipe would hang the program.
      let open = try OpenFile(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
      let isRegular = try open.mode() & S_IFMT == S_IFREG
      isTooLarge = try open.size() > limit
      bytes = isRegular && !isTooLarge ? try open.contents(atMost: limit) : nil
    } catch {
      let words = error.code == ELOOP ? "it is a symbolic link" : error.words
      throw SourceError(.storage, "\(file) cannot be read: \(words)")
    }
    guard !isTooLarge else {
      throw SourceError(.tooLarge, "\(file) is too large for a recording")
    }
    guard let bytes else {
      throw SourceError(.storage, "\(file) cannot be read: not a regular file")
    }
    return Data(bytes)
  }

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

  /// The number that a name begins with.
  private static func number(_ name: String) -> Int? {
    Int(name.prefix { $0.isASCII && $0.isNumber }.prefix(9))
  }
}
