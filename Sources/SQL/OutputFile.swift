import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import Synchronization

/// The file into which a console writes the results of several statements.
struct OutputFile {
  let path: String
  let output: Output
  /// True if a statement has failed whose results go into it.
  var hasFailed = false
  /// The format of the last result; `nil` before the first.
  var format: Format?
  let columns = FileColumns()
  private let file: NewFile

  /// It replaces a file of this name once it is finished, compressed if the name ends in `.gz`.
  init(_ path: String, in context: CommandContext) throws(CommandError) {
    self.path = path
    file = try NewFile(replacing: path, in: context)
    output = path.isCompressed ? try file.output.compressed() : file.output
  }

  /// Fails for a result in a format with which the file would be no JSON.
  func check(_ format: Format) throws(CommandError) {
    guard let last = self.format, last == .json || format == .json else { return }
    throw CommandError(
      .usage, "\(path) has a result already, and a file of JSON is one document",
      hint: "write another file with .output or .once, or use .mode ndjson")
  }

  func finish() throws(CommandError) {
    do { try output.finish() } catch let error as CommandError { throw error } catch {
      throw CommandError(.io, "cannot write to \(path)")
    }
    try file.finish()
  }
}

/// The columns of the last result in a file of several in CSV or TSV.
final class FileColumns: Sendable {
  private let last = Mutex<[String]>([])

  /// Returns the columns of the result before, which are none for the first.
  func exchange(for columns: [String]) -> [String] {
    last.withLock { last in
      defer { last = columns }
      return last
    }
  }
}

extension String {
  /// True for the name of a compressed file.
  var isCompressed: Bool { lowercased().hasSuffix(".gz") }
}

extension [String] {
  /// The names that a pattern matches, in any case: `%` and `*` stand for any letters; without them it is a part of the name.
  func like(_ pattern: String?) -> [String] {
    guard let pattern = pattern?.lowercased().replacing("%", with: "*") else { return self }
    let whole = pattern.contains("*") ? pattern : "*\(pattern)*"
    return filter { fnmatch(whole, $0.lowercased(), 0) == 0 }
  }
}
