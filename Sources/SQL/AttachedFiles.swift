import AggregatorFiles
package import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import CAggregatorSQLite

/// The files of `--attach`; copies of tables are removed with this value.
package struct AttachedFiles: Sendable {
  package private(set) var files: [SQLAttachment] = []

  private let copies: TemporaryDirectory?

  /// SQLite's limit.
  private static let maxFiles = 10

  /// Words that are no names of tables or databases.
  private static let reserved: Set<String> = ["main", "temp", "json_each", "json_tree"]

  /// Reads files, each as `FILE` or `NAME=FILE`.
  ///
  /// - Parameters:
  ///   - views: The names of other tables.
  ///   - time: Limits the reading: a named pipe may have a writer that writes nothing, or none.
  init(
    _ words: [String], beside views: [String], within time: QueryTime, in context: CommandContext
  ) throws(CommandError) {
    guard words.count <= Self.maxFiles else {
      throw CommandError(
        .usage, "too many files to attach: \(words.count) (maximum \(Self.maxFiles))")
    }
    var copies: TemporaryDirectory?
    for word in words {
      let file = try NamedFile(word)
      let name = file.name.lowercased()
      let isTaken =
        Self.reserved.contains(name) || name.hasPrefix("sqlite_") || name.contains("\0")
        || files.contains { $0.name.lowercased() == name }
        // Counting rows, SQLite does not say whether a query means the table or that of the store.
        || SQLiteSchema.tables.contains(name)
        || file.separator != nil && views.contains { $0.lowercased() == name }
      guard !isTaken else {
        throw CommandError(
          .usage, "cannot attach \"\(file.path)\" as \"\(file.name)\": the name is taken",
          hint: .words("choose another name with \(Option.attach.spelling) NAME=FILE"))
      }
      guard let separator = file.separator else {
        try file.checkDatabase()
        files.append(SQLAttachment(database: file.absolutePath, as: file.name))
        continue
      }
      context.progress.say { "Reading \(file.path)…" }
      let directory: TemporaryDirectory
      if let copies { directory = copies } else { directory = try TemporaryDirectory() }
      copies = directory
      let copy = "\(directory.path)/\(files.count).sqlite"
      let columns = try TableCopy.columns(
        of: file, separatedBy: separator, in: copy, within: time)
      files.append(SQLAttachment(table: columns, in: copy, as: file.name))
    }
    if copies != nil { context.progress.say(nil) }
    self.copies = copies
  }
}

/// A file and its name in SQL.
struct NamedFile: Sendable {
  let name: String
  /// As typed.
  let path: String

  /// The character between values; `nil` for a database.
  let separator: Character?

  /// Parses `FILE` or `NAME=FILE`; the default name is that of the file without its extension.
  init(_ word: String) throws(CommandError) {
    if let match = word.wholeMatch(of: /([A-Za-z_][A-Za-z0-9_]*)=(.+)/.dotMatchesNewlines()) {
      name = String(match.1)
      path = String(match.2)
    } else {
      path = word
      name = URL(filePath: word).deletingPathExtension().lastPathComponent
    }
    switch URL(filePath: path).pathExtension.lowercased() {
    case "csv": separator = ","
    case "tsv", "tab": separator = "\t"
    case let ending where SQLiteFile.endings.contains(ending): separator = nil
    default:
      throw CommandError(
        .usage, "cannot attach \"\(path)\": must be a .csv, .tsv, .sqlite or .db file")
    }
  }

  var absolutePath: String {
    path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
  }

  func open() throws(CommandError) -> OpenFile {
    do throws(SystemFailure) { return try OpenFile(reading: absolutePath) } catch {
      throw unreadable(error.words)
    }
  }

  func unreadable(_ words: String) -> CommandError {
    CommandError(.io, "cannot read \"\(path)\": \(words)")
  }

  var timedOut: CommandError {
    CommandError(
      .tryLater, "the query timed out reading \"\(path)\"",
      hint: SQLDiagnostics.timedOut.remedy.map(Hint.init))
  }

  /// Checks that it is a database: SQLite reports this only with the query.
  fileprivate func checkDatabase() throws(CommandError) {
    let file = try open()
    let magic = Array("SQLite format 3\0".utf8)
    var start = [UInt8](repeating: 0, count: magic.count)
    var status = stat()
    do throws(SystemFailure) {
      try SystemFailure.check { fstat(file.descriptor, &status) }
      try SystemFailure.check { pread(file.descriptor, &start, start.count, 0) }
    } catch {
      throw unreadable(error.words)
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw unreadable("not a regular file") }
    guard start == magic else {
      throw CommandError(.usage, "cannot attach \"\(path)\": not an SQLite database")
    }
  }
}
