import AggregatorFiles
import AggregatorFormats
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import CAggregatorSQLite

/// A copy of a file of separated values, in a database of its own.
///
/// The file may be larger than the memory, and is read once: all values are copied as text, and the view of the
/// query converts the columns that turned out to be numbers.
struct TableCopy: ~Copyable {
  /// Of the copy, in bytes.
  fileprivate static let maxSize = 1 << 30
  private static let maxRowSize = 4 << 20
  /// That of a query.
  private static let maxColumns = 200
  private static let pageSize = 4096

  private let file: NamedFile
  private let connection: Connection
  private let insertion: OpaquePointer
  private var kinds: [ColumnKind]

  /// Copies a file, whose first line names the columns, to a new database; throws `usage`, `io`,
  /// `tryLater` or `interrupted`.
  static func columns(
    of file: NamedFile, separatedBy separator: Character, in path: String,
    within time: QueryTime
  ) throws(CommandError) -> [SQLAttachment.Column] {
    var reader = try SeparatedReader(
      file, separator: separator, maxSize: maxRowSize, within: time)
    guard let header = try reader.read() else {
      throw file.malformed("the first line must name the columns", at: 1)
    }
    guard header.count <= maxColumns else {
      throw file.malformed("\(header.count) columns (maximum \(maxColumns))", at: header.line)
    }
    let names = header.names
    var copy = try TableCopy(of: file, columns: names.count, in: path)
    while let values = try reader.read() {
      guard values.count == names.count else {
        throw file.malformed(
          "\(values.count.of("value")), but the first line names \(names.count.of("column"))",
          at: values.line)
      }
      guard !Task.isCancelled else { throw CommandError(.cancelled) }
      try copy.append(values)
    }
    try copy.finish()
    return zip(names, copy.kinds).map { SQLAttachment.Column(name: $0, type: $1.type) }
  }

  private init(of file: NamedFile, columns: Int, in path: String) throws(CommandError) {
    let names = (0..<columns).map(SQLAttachment.column).joined(separator: ", ")
    do throws(SQLiteFailure) {
      let opened = try Connection(
        path, busyTimeout: .zero, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
      // Nobody else reads the copy, and nobody needs half of it.
      try opened.execute(
        quoted: """
          PRAGMA page_size = \(Self.pageSize);
          PRAGMA max_page_count = \(Self.maxSize / Self.pageSize);
          PRAGMA journal_mode = OFF;
          PRAGMA synchronous = OFF;
          CREATE TABLE \(SQLAttachment.rows) (\(names));
          BEGIN
          """)
      insertion = try opened.insertion(into: SQLAttachment.rows, columns: columns)
      connection = opened
    } catch {
      throw file.uncopied(error)
    }
    self.file = file
    kinds = Array(repeating: .unknown, count: columns)
  }

  deinit { sqlite3_finalize(insertion) }

  private mutating func append(_ values: DelimitedReader.Values) throws(CommandError) {
    var code = SQLITE_OK
    for index in kinds.indices where code == SQLITE_OK {
      guard let value = values[index] else {
        code = sqlite3_bind_null(insertion, Int32(index + 1))
        continue
      }
      guard value.count <= SQLView.maxValueSize else {
        throw file.malformed("a value is larger than 1 MB", at: values.line)
      }
      kinds[index].add(value)
      code = value.withUnsafeBytes { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          csqlite_bind_text(insertion, Int32(index + 1), $0.baseAddress, Int32($0.count))
        }
      }
    }
    if code == SQLITE_OK { code = sqlite3_step(insertion) }
    guard code == SQLITE_DONE else {
      throw file.uncopied(SQLiteFailure(code, on: connection.database))
    }
    sqlite3_reset(insertion)
  }

  private borrowing func finish() throws(CommandError) {
    do throws(SQLiteFailure) { try connection.execute("COMMIT") } catch {
      throw file.uncopied(error)
    }
  }
}

/// The kind of all values of a column.
private enum ColumnKind {
  case unknown, integer, real, text

  /// The type in SQL; `nil` for text.
  var type: String? {
    switch self {
    case .integer: "INTEGER"
    case .real: "REAL"
    case .unknown, .text: nil
    }
  }

  mutating func add(_ value: ArraySlice<UInt8>) {
    guard self != .text else { return }
    let kind: Self = NumberKind(value).map { $0 == .integer ? .integer : .real } ?? .text
    self = kind == .text || self == .unknown ? kind : self == .real ? .real : kind
  }
}

extension NamedFile {
  func malformed(_ message: String, at line: Int) -> CommandError {
    CommandError(.usage, "\(path):\(line): \(message)")
  }

  func malformed(_ error: FormatError) -> CommandError {
    malformed(error.reason, at: error.line ?? 1)
  }

  fileprivate func uncopied(_ failure: SQLiteFailure) -> CommandError {
    guard failure.primary == SQLITE_FULL else {
      return CommandError(failure.error(of: "the copy of \(path)"))
    }
    return CommandError(
      .io,
      "\(path) needs more than \(TableCopy.maxSize >> 30) GB, or more than the free disk space",
      hint: "import it into an SQLite database, and attach that")
  }
}
