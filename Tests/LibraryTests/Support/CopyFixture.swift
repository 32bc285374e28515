import AggregatorCopy
import AggregatorKit
import AggregatorStore
import Foundation
import Synchronization

extension SourceStore {
  /// Fills every table, with texts that are easily spoiled.
  func fillForCopy() async throws {
    let odd = ["nul\0", "\u{1}", "\u{1}0", "\u{1}1\0", "😀", "é", "e\u{301}", "日本", " ", "plain"]
    try await save(odd.map { StoreEntry($0, "text of \($0)") })
    try await save([StoreEntry("big", String(repeating: "large ", count: 1 << 18))])
    try await save((0..<50).map { StoreEntry("n\($0)") }, of: "other\0\u{1}")
    try await save([StoreEntry("plain", "text of plain", mark: 1)], at: 5)
    _ = try await delete(["nul\0", "never \u{1}"], of: "things", at: .day(6))

    let page = PageMetadata(next: PageCursor("ne\u{1}xt"), total: 3, endpoint: "http://é.example/")
    _ = try await save(
      StoreBatch([StoreEntry("é"), StoreEntry("😀")], page: ("k\0ey \u{1}", page)), of: "things",
      at: .day(7))
    let whole = CheckpointUpdate(
      "whole", from: nil, to: nil,
      reconciliation: Reconciliation(
        begins: true, completion: .init(lastPosition: .max, minRecordCount: 49)))
    _ = try await save(
      StoreBatch((0..<49).map { StoreEntry("n\($0)") }, update: whole, completesSync: true),
      of: "other\0\u{1}", at: .day(8))
    let part = CheckpointUpdate(
      "part \u{1}", from: nil, to: "at \0 é", reconciliation: Reconciliation(begins: true))
    _ = try await save(
      StoreBatch([StoreEntry("n1"), StoreEntry("n2")], update: part), of: "other\0\u{1}",
      at: .day(9))
    try await change("shared \0") { _ in "value \0\u{1} 日本" }
  }
}

extension CopyableStore {
  /// Every row of every table that is copied.
  func contents() async throws -> [[CopyRow]] {
    var contents: [[CopyRow]] = []
    for table in CopyTable.all {
      contents.append(
        try await rows(
          of: table, in: CopyRange(after: nil), atMost: CopyLimit(rows: 100_000, bytes: 1 << 40)))
    }
    return contents
  }
}

/// A store that counts what a copy writes into it, and calls closures before and after.
final class WatchedCopy: CopyableStore {
  private let base: any CopyableStore
  private let count = Mutex(0)
  private let before: @Sendable (_ number: Int) async throws(SourceError) -> Void
  private let after: @Sendable (_ number: Int) async throws(SourceError) -> Void

  /// The numbers of writes begin with 1.
  init(
    _ base: some CopyableStore,
    before: @escaping @Sendable (_ number: Int) async throws(SourceError) -> Void = { _ in },
    after: @escaping @Sendable (_ number: Int) async throws(SourceError) -> Void = { _ in }
  ) {
    self.base = base
    self.before = before
    self.after = after
  }

  var writes: Int { count.withLock(\.self) }

  private func write<Answer>(
    _ body: () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    let number = count.withLock { count in
      count += 1
      return count
    }
    try await before(number)
    let answer = try await body()
    try await after(number)
    return answer
  }

  func copyMark() async throws(SourceError) -> String? { try await base.copyMark() }
  func rowCounts() async throws(SourceError) -> [Int]? { try await base.rowCounts() }

  func rows(
    of table: CopyTable, in range: CopyRange, atMost limit: CopyLimit
  ) async throws(SourceError) -> [CopyRow] {
    try await base.rows(of: table, in: range, atMost: limit)
  }

  func beginCopy(_ mark: String) async throws(SourceError) -> Bool {
    try await write { () async throws(SourceError) in try await base.beginCopy(mark) }
  }

  func replace(
    _ range: CopyRange, of table: CopyTable, by rows: [CopyRow], moving mark: String,
    to next: String
  ) async throws(SourceError) -> Bool {
    try await write { () async throws(SourceError) in
      try await base.replace(range, of: table, by: rows, moving: mark, to: next)
    }
  }

  func endCopy(_ mark: String) async throws(SourceError) -> Bool {
    try await write { () async throws(SourceError) in try await base.endCopy(mark) }
  }
}
