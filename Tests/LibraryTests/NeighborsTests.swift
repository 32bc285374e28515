import AggregatorKit
import AggregatorNeighbors
import AggregatorObservation
import Foundation
import Testing

/// An app has names of other modules in the same files; that this one compiles is the first half of the test.
@Suite struct NeighborsTests {
  private struct Note: SourceRecord {
    let id: String
  }

  /// A declaration with types of both modules, whose names are alike.
  private struct Screen {
    let layout: (Layout?, RecordLayout<Note>)
    let query: (Query?, SearchQuery)
    let cursor: (Cursor?, PageCursor)
    let record: (Record?, Note)
    let store: (Store?, any SourceStore)
    let settings: (Settings?, SourceSettings)
  }

  @Test func `an app's file uses types of both`() throws {
    let screen = Screen(
      layout: (nil, RecordLayout()), query: (nil, try SearchQuery("a")),
      cursor: (nil, try #require(PageCursor("next"))), record: (nil, Note(id: "1")),
      store: (nil, InMemoryStore()), settings: (nil, SourceSettings([:])))
    #expect(screen.query.1.text == "a")
    #expect(screen.cursor.1.description == "next")
    #expect(screen.record.1.id == "1")
  }

  @Test func `no public type of the libraries has the name of a neighbor's`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let neighbors = try names(
      in: root.appending(path: "Neighbors/Neighbors.swift"), declared: /public enum (\w+)/)
    let sources = root.deletingLastPathComponent().appending(path: "Sources")
    let files = try #require(
      FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var found: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      found.formUnion(
        try names(
          in: file,
          declared:
            /public (?:final |indirect )*(?:actor|class|enum|protocol|struct|typealias) (\w+)/))
    }
    #expect(found.contains("SourceRecord"))
    #expect(found.intersection(neighbors) == [])
  }

  /// The names of declarations that are nested in no other.
  private func names(
    in file: URL, declared declaration: Regex<(Substring, Substring)>
  ) throws -> Set<String> {
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    return Set(lines.compactMap { $0.prefixMatch(of: declaration).map { String($0.1) } })
  }
}
