import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// A way to break a promise of `SourceStore`.
struct StoreFlaw: Sendable, CustomTestStringConvertible {
  typealias Open = @Sendable () async throws -> any SourceStore

  let law: String
  let how: String
  let open: @Sendable () throws -> Open

  /// One store, as its processes would share it.
  init(_ law: String, _ how: String, _ store: @escaping @Sendable () -> FlawedStore) {
    self.init(law, how) {
      let store = store()
      return { store }
    }
  }

  init(_ law: String, _ how: String, opening open: @escaping @Sendable () throws -> Open) {
    self.law = law
    self.how = how
    self.open = open
  }

  var testDescription: String { "\(law): \(how)" }

  static let all = saving + reading + passes
}

extension StoreFlaw {
  private static let saving = [
    StoreFlaw("batch-atomic", "the checkpoint follows after the records and the page") {
      let reads = Counter()
      return FlawedStore(
        save: { base, batch, source, date throws(SourceError) in
          var records = batch
          records.update = nil
          _ = try await base.save(records, of: source, at: date)
          // The reader has seen all of the two parts at least once.
          let count = reads.value
          while reads.value < count + 2 { await Task.yield() }
          return try await base.save(StoreBatch([], update: batch.update), of: source, at: date)
        },
        read: { base, source, words, position, limit throws(SourceError) in
          reads.add()
          return try await base.records(of: source, matching: words, after: position, limit: limit)
        })
    },
    StoreFlaw(
      "batch-shared", "every process has contents of its own", opening: { { InMemoryStore() } }),
    StoreFlaw("unchanged-unwritten", "every record has the date of the last batch") {
      let last = Latest()
      return FlawedStore(
        save: { base, batch, source, date throws(SourceError) in
          last.date.withLock { $0 = date }
          return try await base.save(batch, of: source, at: date)
        },
        read: { base, source, words, position, limit throws(SourceError) in
          var slice = try await base.records(
            of: source, matching: words, after: position, limit: limit)
          for index in slice.records.indices {
            slice.records[index].savedAt = last.date.withLock(\.self)
          }
          return slice
        })
    },
    StoreFlaw("merge-stored", "records replace their stored forms") {
      FlawedStore(save: saving { $0.mergedWithStored = { _ in nil } })
    },
    StoreFlaw("record-twice", "the first of two forms wins") {
      FlawedStore(save: { base, batch, source, date throws(SourceError) in
        var batch = batch
        var ids = Set<String>()
        batch.entries.removeAll { !ids.insert($0.id).inserted }
        return try await base.save(batch, of: source, at: date)
      })
    },
    StoreFlaw("no-record-missed", "a batch is committed after the next one") {
      let late = LateBatches()
      return FlawedStore(save: late.save, read: late.read)
    },
    StoreFlaw("texts-exact", "a zero byte ends an ID") {
      FlawedStore(save: saving { $0.id = String($0.id.prefix { $0 != "\0" }) })
    },
    StoreFlaw("checkpoint-compare-and-set", "the expected text is not compared") {
      FlawedStore(save: { base, batch, source, date throws(SourceError) in
        var batch = batch
        if let name = batch.update?.name {
          batch.update?.from = try await base.checkpoint(name, of: source)
        }
        return try await base.save(batch, of: source, at: date)
      })
    },
    StoreFlaw("checkpoint-one-winner", "everybody wins") {
      FlawedStore(save: { base, batch, source, date throws(SourceError) in
        var changes = try await base.save(batch, of: source, at: date)
        changes.didMoveCheckpoint = batch.update != nil
        return changes
      })
    },
    StoreFlaw("shared-values-serial", "one of many changes gets lost") {
      let count = Counter()
      return FlawedStore(keepsChange: {
        count.add()
        return count.value != 20
      })
    },
    StoreFlaw("deletions-last", "saving restores") {
      FlawedStore(save: { base, batch, source, date throws(SourceError) in
        _ = try await base.restore(batch.entries.map(\.id), of: source)
        return try await base.save(batch, of: source, at: date)
      })
    },
  ]

  private static let reading = [
    StoreFlaw("first-seen-order", "records are in the order of their JSON") {
      FlawedStore(read: { base, source, words, position, limit throws(SourceError) in
        var slice = try await base.records(
          of: source, matching: words, after: position, limit: limit)
        slice.records.sort { $0.json.lexicographicallyPrecedes($1.json) }
        return slice
      })
    },
    StoreFlaw("first-pass-orders", "the last record of a batch gets the first position") {
      FlawedStore(save: { base, batch, source, date throws(SourceError) in
        var batch = batch
        if batch.update?.reconciliation?.movesUpTo != nil { batch.entries.reverse() }
        return try await base.save(batch, of: source, at: date)
      })
    },
    StoreFlaw("any-page-size", "there seems to be more after a full slice") {
      FlawedStore(read: { base, source, words, position, limit throws(SourceError) in
        var slice = try await base.records(
          of: source, matching: words, after: position, limit: limit)
        slice.hasMore = slice.records.count == limit
        return slice
      })
    },
    StoreFlaw("sources-separate", "names are compared as Swift does") {
      FlawedStore(source: \.precomposedStringWithCanonicalMapping)
    },
    StoreFlaw("deletions-ordered", "IDs are in the order of Swift") {
      FlawedStore(deletions: { $0.sorted { $0.id < $1.id } })
    },
    StoreFlaw("search-matches", "words of one letter find everything") {
      FlawedStore(read: searching { $0.filter { $0.text.unicodeScalars.count > 1 } })
    },
    StoreFlaw("search-literal", "a percent sign is a wildcard") {
      FlawedStore(
        read: searching { words in
          words.flatMap { $0.text.split(separator: "%").map { FoldedText($0) } }
        })
    },
    StoreFlaw("search-ranked", "a rank begins anew on each page") {
      FlawedStore(start: { $0.map { RankedPosition($0.rank, 0) } })
    },
    StoreFlaw("pages-current", "a page is in first-seen order") {
      FlawedStore(page: { page in
        var page = page
        page.records.sort { $0.position < $1.position }
        return page
      })
    },
    StoreFlaw("page-keys", "letters of both cases are equal") {
      FlawedStore(begins: { $0.lowercased().utf8.starts(with: $1.lowercased().utf8) })
    },
    StoreFlaw("status-counts", "only deletions of stored records are counted") {
      FlawedStore(status: { status in
        var status = status
        status.deleted = status.hidden
        return status
      })
    },
    StoreFlaw("clear-forgets", "deletions are always forgotten") {
      FlawedStore(forgetsDeleted: { _ in true })
    },
    StoreFlaw("renamed-moves", "pages keep the cursors of the old name") {
      FlawedStore(dropsRenamedPages: false)
    },
    StoreFlaw("changes-notified", "only the first ones who listen are notified") {
      let count = Counter()
      return FlawedStore(notifications: { stream in
        count.add()
        return count.value <= 2 ? stream : AsyncStream { $0.finish() }
      })
    },
    StoreFlaw("history-tells", "one change is kept") {
      let directory = try StoreDirectory()
      return {
        SQLiteStore(at: directory.path, history: HistoryLimit(age: .seconds(999_999_999), count: 1))
      }
    },
  ]

  private static let passes = [
    StoreFlaw("removals-found", "records first seen meanwhile are removed") {
      FlawedStore(save: completing { $0.lastPosition = .max })
    },
    StoreFlaw("removals-of-part", "a pass over a part judges all records") {
      FlawedStore(save: { base, batch, source, date throws(SourceError) in
        var batch = batch
        batch.update?.reconciliation?.prefix = nil
        return try await base.save(batch, of: source, at: date)
      })
    },
    StoreFlaw("removals-confirmed", "one pass is enough") {
      FlawedStore(save: { base, batch, source, date throws(SourceError) in
        let changes = try await base.save(batch, of: source, at: date)
        guard changes.unconfirmedRemovals != nil else { return changes }
        return try await base.save(batch, of: source, at: date)
      })
    },
    StoreFlaw("removals-need-complete-pass", "any pass is complete") {
      FlawedStore(save: completing { $0.minRecordCount = 0 })
    },
  ]

  private static func saving(_ change: @escaping @Sendable (inout StoreEntry) -> Void)
    -> FlawedStore.Save
  {
    { base, batch, source, date throws(SourceError) in
      var batch = batch
      for index in batch.entries.indices { change(&batch.entries[index]) }
      return try await base.save(batch, of: source, at: date)
    }
  }

  private static func completing(
    _ change: @escaping @Sendable (inout Reconciliation.Completion) -> Void
  ) -> FlawedStore.Save {
    { base, batch, source, date throws(SourceError) in
      var batch = batch
      if var completion = batch.update?.reconciliation?.completion {
        change(&completion)
        batch.update?.reconciliation?.completion = completion
      }
      return try await base.save(batch, of: source, at: date)
    }
  }

  private static func searching(
    _ change: @escaping @Sendable ([FoldedText]) -> [FoldedText]
  ) -> FlawedStore.Read {
    { base, source, words, position, limit throws(SourceError) in
      try await base.records(of: source, matching: change(words), after: position, limit: limit)
    }
  }
}

private final class Latest: Sendable {
  let date = Mutex(Date.day())
}

/// Every other batch is visible only once the one after the next is saved, as if it were committed late.
private final class LateBatches: Sendable {
  private struct State {
    var batches = 0
    var reads = 0
    var hidden = Set<Int64>()
  }

  private let state = Mutex(State())

  @Sendable func save(
    _ base: InMemoryStore, _ batch: StoreBatch, _ source: String, _ date: Date
  ) async throws(SourceError) -> StoreChanges {
    let isLate = state.withLock { state in
      state.batches += 1
      return state.batches == 2
    }
    let changes = try await base.save(batch, of: source, at: date)
    guard isLate else { return changes }
    for entry in batch.entries {
      let position = try await base.record(entry.id, of: source)?.position ?? 0
      state.withLock { _ = $0.hidden.insert(position) }
    }
    // It is committed after somebody has read past it. All others may have been saved meanwhile.
    while state.withLock({ $0.batches < 4 }) { await Task.yield() }
    let reads = state.withLock(\.reads)
    while state.withLock({ $0.reads < reads + 20 }) { await Task.yield() }
    state.withLock { $0.hidden = [] }
    return changes
  }

  @Sendable func read(
    _ base: InMemoryStore, _ source: String, _ words: [FoldedText], _ position: Int64, _ limit: Int
  ) async throws(SourceError) -> RecordSlice {
    var slice = try await base.records(
      of: source, matching: words, after: position, limit: limit)
    state.withLock { state in
      state.reads += 1
      slice.records.removeAll { state.hidden.contains($0.position) }
    }
    return slice
  }
}
