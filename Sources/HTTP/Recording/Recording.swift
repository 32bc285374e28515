public import AggregatorCore
import AggregatorFiles
public import AggregatorFoundation
import AggregatorText

/// The contents of a directory that ``RecordingTransport`` wrote.
///
/// The directory is not trusted: its size is bounded, only regular files of the directory itself are read,
/// and a syntax error is reported with file and line.
public struct Recording: Sendable {
  public let directory: URL

  /// The time of the first exchange; `nil` if there is none.
  public var recordedAt: Date? { exchanges.map(\.exchange.time).min() }

  public var count: Int { exchanges.count }

  let exchanges: [(name: String, exchange: RecordedExchange)]

  /// Reads the recording in a directory.
  ///
  /// - Throws: ``SourceError``: `storage` if the system refuses to read it, `malformed` with file and
  ///   line for a syntax error, `tooLarge`.
  public init(_ directory: URL) throws(SourceError) {
    self.directory = directory
    exchanges = try RecordingDirectory(path: directory.relativePath).exchanges()
  }

  /// The error for a request that was not recorded, with the most similar recorded request.
  func missing(_ request: RecordedRequest, nearest: RecordedReplies.Neighbor?) -> SourceError {
    let asked = "\(request.method.rawValue) \(request.endpoint.oneLine(atMost: 120))"
    let reason =
      nearest.map { "the nearest, \($0.name), \($0.differences.prefix(3).joined(separator: ", "))" }
      ?? "the recording is empty"
    return SourceError(
      .notRecorded, "\(asked) is not in the recording \(directory.relativePath): \(reason)",
      remedy: Remedy("record it", .record))
  }
}

/// The files of a recording: one for each exchange, sorted by name.
struct RecordingDirectory: Sendable {
  /// The longest file, in bytes: a body of the standard limit, indented or in base64.
  static let maxFileSize = 96 << 20

  /// The most bytes of all files together.
  static let maxRecordingSize = 256 << 20

  static let maxFiles = 10_000

  private static let suffix = ".http"

  let path: String

  // MARK: - Writing

  /// Creates the directory, readable by its owner only, if it is missing.
  func make() throws(SourceError) {
    try PrivateFile.makeDirectory(path)
    do throws(SystemFailure) {
      let directory = try OpenFile(directory: path)
      try SystemFailure.check { faccessat(directory.descriptor, ".", W_OK, 0) }
    } catch {
      throw SourceError(
        .storage, "cannot write \(path): \(error.words)",
        remedy: "choose a directory that you can write to")
    }
  }

  /// Adds an exchange atomically, in a file named by the next number and `slug`.
  func add(_ text: Data, named slug: String) throws(SystemFailure) {
    guard text.count <= Self.maxFileSize else { throw SystemFailure(code: EFBIG) }
    let directory = try OpenFile(directory: path)
    // Another process may record into the same directory. Some network file systems have no locks.
    guard (try? directory.lock(.exclusive, within: .seconds(10))) ?? true else {
      throw SystemFailure(code: EBUSY)
    }
    defer { directory.unlock() }
    let last = names.compactMap(Self.number).max() ?? 0
    let number = (min(last, 999_999_999) + 1).text(digits: 4)
    try OpenFile.replace(
      "\(path)/\(number)-\(slug)\(Self.suffix)", with: Array(text),
      via: "\(path)/.\(UInt64.random(in: .min ... .max)).new")
  }

  // MARK: - Reading

  /// All exchanges, in order; files other than `*.http` are ignored.
  func exchanges() throws(SourceError) -> [(name: String, exchange: RecordedExchange)] {
    do throws(SystemFailure) { _ = try OpenFile(directory: path) } catch {
      throw SourceError(
        .storage, "cannot read \(path): \(error.words)",
        remedy: error.isMissing ? Remedy("create the recording first", .record) : nil)
    }
    let names = names.filter { $0.hasSuffix(Self.suffix) && !$0.hasPrefix(".") }.sorted {
      (Self.number($0) ?? .max, $0) < (Self.number($1) ?? .max, $1)
    }
    guard names.count <= Self.maxFiles else {
      throw SourceError(.tooLarge, "\(path) has more than \(Self.maxFiles) exchanges")
    }
    var rest = Self.maxRecordingSize
    return try names.map { name throws(SourceError) in
      let text = try contents(of: name, atMost: min(rest, Self.maxFileSize))
      rest -= text.count
      do throws(RecordedExchange.FormatError) { return (name, try RecordedExchange(text)) } catch {
        throw SourceError(
          .malformed, "\(path)/\(name):\(error.line): \(error.message)",
          remedy: "fix the file, or delete it and record again")
      }
    }
  }

  private func contents(of name: String, atMost limit: Int) throws(SourceError) -> Data {
    let path = "\(path)/\(name)"
    do throws(FileReadFailure) {
      // A link could lead anywhere.
      return Data(try OpenFile.contents(of: path, atMost: limit, followingLink: false))
    } catch {
      switch error {
      case .system(let failure):
        let words = failure.code == ELOOP ? "it is a symbolic link" : failure.words
        throw SourceError(.storage, "cannot read \(path): \(words)")
      case .notRegular: throw SourceError(.storage, "cannot read \(path): not a regular file")
      case .tooLarge: throw SourceError(.tooLarge, "\(path) is too large for a recording")
      }
    }
  }

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

  private static func number(_ name: String) -> Int? {
    Int(name.prefix { $0.isASCII && $0.isNumber }.prefix(9))
  }
}
