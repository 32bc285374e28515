import AggregatorCore
import AggregatorFoundation
package import AggregatorText

/// The bounds that all implementations of ``SourceStore`` share.
package enum StoreLimit {
  /// The most pages cached per source; the oldest are dropped first.
  package static let pages = 2000

  /// More matches than these are not counted.
  package static let countedMatches = 1000

  /// Among more records than these, matches of several words are not counted: each word may be frequent and
  /// their intersection nearly empty.
  package static let intersectedRecords = 100_000

  /// Among more records than these, names are not compared with a query that is too short for the index.
  package static let comparedNames = 200_000
}

/// The positions that the records of a source can have: its number, shifted, plus a count.
///
/// They are the same in all stores, so that a store can be copied into another one.
package struct PositionRange {
  /// The low bits of a position, which count the records of a source.
  package static let bits: Int64 = 40

  /// The highest number of a source whose positions fit.
  package static let maxSources: Int64 = 1 << (62 - bits)

  /// Before the first.
  package let start: Int64
  /// The last.
  package let end: Int64

  package init(of source: Int64) {
    start = source << Self.bits
    end = start | (1 << Self.bits - 1)
  }

  package func clamped(_ position: Int64) -> Int64 { min(max(position, start), end) }
}

/// A part of a source's records in a store: those after a position, up to a number of them.
package struct RecordWindow {
  /// The number of the source.
  package let source: Int64
  /// Before the first.
  package let start: Int64
  /// The last.
  package let end: Int64
  package let limit: Int

  /// Positions outside those of the source are other sources'.
  package init(of source: Int64, after position: Int64 = 0, limit: Int) {
    let range = PositionRange(of: source)
    self.source = source
    start = range.clamped(position)
    end = range.end
    self.limit = limit
  }

  /// One more than requested, which shows whether there are more.
  package static func limit(showingMoreThan limit: Int) -> Int { min(limit, .max - 1) + 1 }
}

extension [Int64] {
  /// The JSON array in which a store keeps positions.
  package var jsonArray: String { "[\(map(String.init).joined(separator: ","))]" }
}

extension FoldedText {
  /// The text in which a store searches, and for which it searches: with a visible sign for zero bytes,
  /// which end a text in SQLite and which PostgreSQL refuses.
  package var searchable: String {
    var text = text
    let hasZero = text.withUTF8 { text in
      text.baseAddress.map { memchr($0, 0, text.count) != nil } ?? false
    }
    return hasZero ? text.replacing("\0", with: "\u{2400}") : text
  }
}

extension StoreChanges.Unconfirmed {
  /// Judges the records that a complete ``Reconciliation`` has not seen; `nil` if they count as removed
  /// upstream.
  ///
  /// They need another pass if nothing was seen, or if those that the last pass did not miss are suspiciously
  /// many.
  ///
  /// - Parameters:
  ///   - missing: The positions of the records not seen, up to the last one when the pass began.
  ///   - noted: Those that the last pass missed without removing them.
  ///   - known: The number of records up to that last one, without ones removed upstream.
  ///   - seen: The number of different records seen; `nil` if none may be an answer.
  init?(missing: [Int64], noted: Set<Int64>, known: Int, seen: Int?) {
    let unexpected = missing.count { !noted.contains($0) }
    let isNothingSeen = seen == 0 && !missing.isEmpty
    guard isNothingSeen || unexpected > 10 && unexpected > known / 10 else { return nil }
    self.init(missing: missing.count, known: known)
  }
}
