package import AggregatorKit
package import AggregatorTerminal

/// The number of differences of a comparison, and its start.
package struct ChangeSummary: Sendable {
  package private(set) var counts: [ChangeEntry.Kind: Int] = [:]
  /// The counts of each day, by its date in UTC, such as `2026-03-04`.
  package private(set) var days: [String: [ChangeEntry.Kind: Int]] = [:]
  package var unreadable = UnreadableRows.none

  /// The number of records that were changed, and have changed back since.
  package var reverted = 0

  /// The number of records that were changed only in values that are not among the fields, which a sync counts, too.
  package var changedElsewhere = 0

  /// The numbers of cached records, and of those that are deleted here, whose changes are left out.
  private var status: StoreStatus?

  /// False if the start is the end of the only sync that is known.
  package let hasEarlierSync: Bool

  /// The date of the start; `nil` for a point without one.
  package let date: Date?

  /// The date before which changes are not known, if it is after the start.
  package let knownSince: Date?

  /// The reason that changes may be missing, if there is one.
  package var gap: CacheGap?

  /// True if the limit was reached before the end.
  package var isCut = false

  package init(date: Date?, knownSince: Date?, hasEarlierSync: Bool = true) {
    self.date = date
    self.knownSince = knownSince
    self.hasEarlierSync = hasEarlierSync
  }

  package mutating func add(_ entry: ChangeEntry) { add(entry.kind, on: entry.date) }

  /// - Parameter date: In the format of ISO 8601.
  package mutating func add(_ kind: ChangeEntry.Kind, on date: String) {
    counts[kind, default: 0] += 1
    days[String(date.prefix(10)), default: [:]][kind, default: 0] += 1
  }

  package mutating func add(_ status: StoreStatus) { self.status = status }

  package var count: Int { counts.values.reduce(0, +) }

  /// The counts: `2 added, 1 removed`.
  package var text: String {
    [ChangeEntry.Kind.added, .changed, .removed].compactMap { kind in
      counts[kind].map { "\($0.grouped) \(kind.rawValue)" }
    }.joined(separator: ", ")
  }

  package static let noSync = "no sync is known yet: there is nothing to compare with"

  /// Says that there was only a first sync, and no change since; `nil` if there is anything else to say.
  package var firstSync: String? {
    guard !hasEarlierSync, count == 0 else { return nil }
    let number = status.map { ": \($0.knownUpstream.grouped("record"))" } ?? ""
    return "first sync\(number); later syncs show what has changed"
  }

  /// Says of how many records changes are left out, and why.
  package var omissions: [String] {
    [
      (changedElsewhere, "changed only in values that are not among the fields"),
      (reverted, "changed and changed back"), (status?.hidden ?? 0, "deleted here, and left out"),
    ].compactMap { count, words in count == 0 ? nil : "\(count.grouped) \(words)" }
  }

  package func warnings(of source: String) -> [SourceWarning] {
    var warnings: [Warning] = []
    if let knownSince {
      warnings.append(
        Warning(
          .historyTrimmed,
          "the history begins \(knownSince.iso8601): earlier changes are not known"))
    }
    if unreadable.count > 0 { warnings.append(.unreadable(unreadable)) }
    if let gap { warnings.append(gap.limitation.warning) }
    return warnings.map { SourceWarning(source, $0) }
  }
}

extension Plugin {
  /// Passes the changes since a point to `body`, some at a time; `nil` if nothing is known of that point.
  package func changes(
    since start: HistoryStart, in store: any SourceStore, atMost limit: Int? = nil,
    _ body: ([ChangeEntry]) throws -> Void
  ) async throws -> ChangeSummary? {
    let recordStore = recordStore(in: store)
    var start = start
    var summary: ChangeSummary?
    var position: Int64? = 0
    while let after = position {
      guard let page = try await recordStore.changes(since: start, after: after, limit: 500) else {
        return nil
      }
      start = .mark(page.start)
      position = page.next
      var sum =
        summary
        ?? ChangeSummary(
          date: page.date, knownSince: page.knownSince, hasEarlierSync: page.hasEarlierSync)
      let all = page.changes.compactMap { ChangeEntry($0.change, at: $0.date, of: self) }
      let entries = Array(limit.map { all.prefix($0 - sum.count) } ?? all[...])
      for entry in entries { sum.add(entry) }
      sum.unreadable = sum.unreadable + page.unreadable
      sum.reverted += page.reverted
      sum.changedElsewhere += page.changes.count - all.count
      sum.isCut = entries.count < all.count
      if sum.count == limit, position != nil {
        sum.isCut = true
        position = nil
      }
      summary = sum
      try body(entries)
    }
    if summary?.firstSync != nil { summary?.add(try await store.status(of: name)) }
    return summary
  }

  /// True if a sync of the whole list has not come to its end.
  package func hasUnfinishedSync(in store: any SourceStore) async throws(SourceError) -> Bool {
    try await recordStore(in: store).hasUnfinishedSync()
  }

  /// The reason that changes may be missing: that of missing records, or a last sync that has not come to its end.
  package func gapOfChanges(in store: any SourceStore) async throws(SourceError) -> CacheGap? {
    if let gap = try await gap(in: store) { return gap }
    var reason = try await store.syncFailure(of: name).map { "failed: \($0)" }
    if reason == nil, try await hasUnfinishedSync(in: store) {
      reason = "has not come to its end"
    }
    return reason.map { reason in
      let words = "later changes are not known, because the last sync \(reason)"
      return CacheGap(
        warning: SourceWarning(name, Warning(.incomplete, words)), command: syncArguments)
    }
  }
}

/// A change of a record, as `diff` and `watch` print it.
package struct ChangeEntry: Entry {
  package enum Kind: String, CaseIterable, Codable, Sendable { case added, changed, removed }

  package let kind: Kind
  package let id: String

  package let name: String

  /// The names of the fields that differ; none for a record that was added or removed.
  package let names: [String]

  /// The earlier values of these fields; null if there are none.
  package let before: JSON

  /// The present values of these fields; null if there are none.
  package let after: JSON

  /// The record as it is now, or was when it was removed.
  package let record: JSON
  /// In the format of ISO 8601.
  package let date: String

  /// `nil` if no field differs, but only something that is not shown.
  package init?<P: Plugin>(_ change: RecordChange<P.Item>, at date: Date, of plugin: P) {
    id = change.item.id.description
    name = plugin.label(of: change.item)
    self.date = date.iso8601
    record = plugin.fields.object(of: change.item)
    switch change {
    case .added: (kind, names, before, after) = (.added, [], .null, .null)
    case .removed: (kind, names, before, after) = (.removed, [], .null, .null)
    case .changed(let old, let new):
      let fields = plugin.fields.filter { $0[old] != $0[new] }
      guard !fields.isEmpty else { return nil }
      (kind, names) = (.changed, fields.map(\.name))
      (before, after) = (fields.object(of: old), fields.object(of: new))
    }
  }

  package static let fields: [Field<ChangeEntry>] = [
    Field("change", "Change", .text, about: "added, changed or removed.") {
      .string($0.kind.rawValue)
    },
    Field("id", "ID", \.id, about: "The record's ID."),
    Field("name", "Name", \.name, about: "The record's name or title."),
    Field("fields", "Fields", \.names, about: "The fields that changed."),
    Field(
      "before", "Before", .any, about: "The earlier values of these fields.", read: \.before),
    Field("after", "After", .any, about: "Their present values.", read: \.after),
    Field(
      "record", "Record", .any, about: "The record now, or when it was removed.", isShown: false,
      read: \.record),
    Field("foundAt", "Found", \.date, about: "The time at which the change was found."),
  ]

  /// The parts of the earlier and the present value of a field that show where they differ.
  package func values(of field: String) -> (before: String, after: String) {
    Excerpt.pair(before[field] ?? .null, after[field] ?? .null)
  }

  /// A line for people: `~ Toaster (42): price 12 → 9`.
  package func paragraph(_ id: String) -> Paragraph {
    let title = name.isEmpty ? id : "\(name.safeLine.fitted(to: 80)) (\(id))"
    switch kind {
    case .added: return Paragraph(sign: "+", role: .id, text: title)
    case .removed: return Paragraph(sign: "−", role: .error, text: title)
    case .changed:
      let differences = names.map { name in
        let (old, new) = values(of: name)
        return "\(name) \(old) → \(new)"
      }
      return Paragraph(
        sign: "~", role: .warning, text: "\(title): \(differences.joined(separator: ", "))")
    }
  }
}

/// The parts of two long values that show where they differ.
private enum Excerpt {
  private static let maxCells = 40
  /// The characters before the first difference.
  private static let context = 12

  static func pair(_ old: JSON, _ new: JSON) -> (String, String) {
    let (old, new) = (old.cell.safeLine, new.cell.safeLine)
    let common = zip(old, new).prefix { $0 == $1 }.count
    let isLong = max(old.displayWidth, new.displayWidth) > maxCells
    let skipped = isLong ? max(0, common - context) : 0
    func part(_ text: String) -> String {
      guard !text.isEmpty else { return "(none)" }
      return ((skipped > 1 ? "…" : "") + text.dropFirst(skipped > 1 ? skipped : 0))
        .fitted(to: maxCells)
    }
    return (part(old), part(new))
  }
}
