import AggregatorFiles
package import AggregatorKit
import AggregatorTerminal

/// A file of saved queries: `NAME = TEXT` on a line; further lines of a text begin with a tab.
///
/// Blank lines and those that begin with `#` are ignored, and stay where they are when a query changes.
package struct SavedQueryFile: Hashable, Sendable {
  /// The absolute path; the file need not exist.
  package let path: String

  private static let maxBytes = 256 << 10

  package init(_ path: String) { self.path = path }

  /// The contents; no queries if there is no file.
  ///
  /// - Throws: ``SourceError`` with code `storage`, or `invalidSettings` if it is not text or too large.
  package func read() throws(SourceError) -> SavedQueryText {
    // Most people have none.
    guard access(path, F_OK) == 0 else { return SavedQueryText("") }
    do throws(SourceError) {
      return try text(in: PrivateFile(path: path).contents(atMost: Self.maxBytes) ?? [])
    } catch  where error.code == .malformed {
      throw SourceError(.invalidSettings, error.message, remedy: "remove or shorten it")
    }
  }

  /// Changes the queries; other processes see the old ones or the new ones, and change them before or after.
  ///
  /// - Throws: ``SourceError`` as ``read()``, `busy`, and the errors of `change`.
  package func edit(
    _ change: (inout SavedQueryText) throws(SourceError) -> Void
  ) throws(SourceError) {
    try PrivateFile(path: path).replace(atMost: Self.maxBytes) { bytes throws(SourceError) in
      var text = try self.text(in: bytes)
      try change(&text)
      let new = Array(text.text.utf8)
      guard new.count <= Self.maxBytes else {
        throw SourceError(
          .invalidSettings, "\(path) would be larger than \(Self.maxBytes >> 10) KiB",
          remedy: "remove saved queries")
      }
      return new
    }
  }

  private func text(in bytes: [UInt8]) throws(SourceError) -> SavedQueryText {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw SourceError(.invalidSettings, "\(path) is not UTF-8 text", remedy: "remove or mend it")
    }
    return SavedQueryText(text)
  }

  /// The errors in single lines.
  package func problems(with text: SavedQueryText) -> [SourceError] {
    text.problems.map {
      SourceError(
        .invalidSettings, "\(path):\($0.line): \($0.message)", remedy: "change or remove the line")
    }
  }
}

/// The contents of a file of saved queries.
package struct SavedQueryText: Sendable {
  private struct Entry {
    let query: SavedQuery
    let lines: Range<Int>
  }

  private var lines: [String]
  private var entries: [Entry] = []

  /// Lines that are left out, from 1.
  package private(set) var problems: [(line: Int, message: String)] = []

  private static let head =
    "# Saved queries: NAME = the words of a command line, or ! and a script for sh."

  package var queries: [SavedQuery] { entries.map(\.query) }

  package init(_ text: String) {
    // Most people have none, and the program starts sooner without what follows.
    guard !text.isEmpty else {
      lines = []
      return
    }
    lines = text.replacing("\r\n", with: "\n").split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    if lines.last == "" { lines.removeLast() }
    read()
  }

  package var text: String { lines.map { "\($0)\n" }.joined() }

  /// Adds a query, or replaces the one of its name.
  package mutating func set(_ query: SavedQuery) {
    let new = query.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
      $0.offset == 0 ? "\(query.name) = \($0.element)" : "\t\($0.element)"
    }
    if let old = entries.first(where: { $0.query.name == query.name }) {
      lines.replaceSubrange(old.lines, with: new)
    } else {
      lines += (lines.isEmpty ? [Self.head] : []) + new
    }
    read()
  }

  /// Adds a query; throws `invalidRequest` if another one has its name and may not be replaced.
  package mutating func add(_ query: SavedQuery, mayReplace: Bool) throws(SourceError) {
    if !mayReplace, let old = queries.first(where: { $0.name == query.name }) {
      throw SourceError(
        .invalidRequest, "there is a saved query \"\(old.name)\" already: \(old.text)",
        remedy: "use another name, or --replace")
    }
    set(query)
  }

  /// Removes a query; false if there is none.
  package mutating func remove(_ name: String) -> Bool {
    guard let entry = entries.first(where: { $0.query.name == name }) else { return false }
    lines.removeSubrange(entry.lines)
    read()
    return true
  }

  private mutating func read() {
    (entries, problems) = ([], [])
    var names: Set<String> = []
    var index = 0
    while index < lines.count {
      let start = index
      index += 1
      let line = lines[start]
      if line.nonBlank == nil && !line.hasPrefix("\t") || line.hasPrefix("#") { continue }
      // Blank lines belong to a text that goes on after them.
      var end = index
      while end < lines.count, lines[end].hasPrefix("\t") || lines[end].isEmpty {
        end += 1
        if lines[end - 1].hasPrefix("\t") { index = end }
      }
      do throws(CommandError) {
        let query = try Self.query(lines[start..<index])
        guard names.insert(query.name).inserted else {
          throw CommandError(.usage, "there is another query \"\(query.name)\" before")
        }
        entries.append(Entry(query: query, lines: start..<index))
      } catch {
        problems.append((start + 1, error.message))
      }
    }
  }

  private static func query(_ lines: ArraySlice<String>) throws(CommandError) -> SavedQuery {
    let first = lines.first ?? ""
    guard let equals = first.firstIndex(of: "="), !first.hasPrefix("\t") else {
      throw CommandError(.usage, "not a line of the form NAME = TEXT")
    }
    let name = String(first[..<equals]).trimmed
    guard SavedQuery.isName(name) else {
      throw CommandError(.usage, "invalid name \"\(name)\"")
    }
    let further = lines.dropFirst().map { "\n\($0.dropFirst())" }.joined()
    return try SavedQuery(name, text: first[first.index(after: equals)...] + further)
  }
}
