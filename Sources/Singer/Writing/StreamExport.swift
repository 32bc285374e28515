package import AggregatorKit

/// An export of the cached records of a source as messages: all of them, or those that have changed since an earlier
/// export, by the history of the store.
///
/// The point that a state names is read before the records are: a record that changes meanwhile may be sent in its
/// later form, and is sent again by the next export.
package struct StreamExport<P: Plugin> {
  private let name: String
  private let records: RecordStore<P.Item>
  private var store: any SourceStore { records.store }
  private let now: Date
  /// The last time at which the service is known to have had all records; `nil` if it is not known to.
  private let syncedAt: Date?
  private let state: SingerState
  private let emit: (String) throws -> Void

  private var writer: StreamWriter<P.Item>
  private var position: ExportPosition
  /// The number of records since the last state.
  private var sinceState = 0

  /// The number of records sent, with deleted ones.
  package private(set) var count = 0
  package private(set) var deleted = 0
  package private(set) var unreadable = UnreadableRows.none
  /// The reason everything was sent again; `nil` if it was not.
  package private(set) var restartReason: String?
  /// False if the store refused to note the export, so that the next one sends everything again.
  package private(set) var isNoted = true

  private static var pageSize: Int { 1000 }
  private static var recordsPerState: Int { 10_000 }

  /// - Parameters:
  ///   - state: That of the target.
  ///   - emit: Writes lines.
  package init(
    of plugin: P, in environment: PluginEnvironment, _ state: SingerState,
    selecting isSelected: (_ field: String) -> Bool = { _ in true },
    emit: @escaping (String) throws -> Void
  ) async throws(SourceError) {
    guard let store = environment.store else {
      throw SourceError(.storage, "there is no store")
    }
    name = plugin.name
    records = plugin.recordStore(in: store)
    (now, self.state, self.emit) = (environment.now(), state, emit)
    writer = try await StreamWriter(of: plugin, in: store, selecting: isSelected)
    syncedAt = try await records.completeSync()?.date
    position = ExportPosition(version: 1)
  }

  /// Writes the messages but for the last state; returns the position of that, the earlier one if a record could not be
  /// read.
  ///
  /// - Parameter isComplete: False if the store lacks records: then nothing tells the target that others are gone.
  /// - Throws: ``SourceError``, and what `emit` throws.
  package mutating func run(isComplete: Bool) async throws -> ExportPosition? {
    var earlier = try state.position(of: name)
    let original = earlier
    if let types = earlier?.types { writer.types = types }
    while true {
      let unrecorded = UnrecordedChanges(
        try await store.checkpoint(UnrecordedChanges.name, of: name))
      let mark = try await store.status(of: name).history?.mark
      if let earlier {
        position = earlier
        restartReason = try await reason(notToContinue: earlier, at: mark, unrecorded)
      }
      let isNew = earlier == nil || restartReason != nil
      if isNew { try await restart(after: earlier, at: mark) }
      try await sendDeletions(isNew: isNew)
      if !isNew { try await sendDetails(unrecorded) }
      position.details = unrecorded.count
      var isSent = try await finishPass()
      if isSent, !isNew, let start = position.mark, start != mark {
        position.pass = ExportPosition.Pass(start: start, after: 0)
        position.mark = mark
        try await note()
        isSent = try await finishPass()
      }
      if isSent { break }
      // The history was cut back meanwhile.
      earlier = position
      earlier?.mark = nil
    }
    if isComplete, !position.isActivated, unreadable.count == 0 {
      writer.activate(position.version)
      position.isActivated = true
    }
    try flush()
    // Without records the kinds are those of a sample alone.
    if count > 0 || original == nil { position.types = writer.types }
    return unreadable.count == 0 ? position : original
  }

  /// The reason an earlier export cannot be continued; `nil` if it can.
  private func reason(
    notToContinue earlier: ExportPosition, at mark: HistoryMark?, _ unrecorded: UnrecordedChanges
  ) async throws(SourceError) -> String? {
    guard let mark else { return "no history of changes is kept" }
    let trimmed = "the history does not reach back to the last export"
    guard let start = earlier.mark, let export = earlier.export else { return trimmed }
    let known = KnownExports(try await store.checkpoint(KnownExports.checkpoint, of: name))
    guard known.contains(export), start.position <= mark.position, start.change <= mark.change
    else { return "the state is of another store, or of records that were removed from it" }
    let fields = Set(earlier.types.members.map(\.name))
    guard fields.isSuperset(of: writer.fields) else { return "it has fields that were not sent" }
    let first = try await store.changes(
      of: name, since: .mark(earlier.pass?.start ?? start), after: 0, limit: 1)
    let details = unrecorded.count &- earlier.details
    let isWhole = first.map { $0.knownSince == nil } ?? false
    return isWhole && 0...Int64(unrecorded.positions.count) ~= details ? nil : trimmed
  }

  /// Begins to send everything, as a new version.
  private mutating func restart(
    after earlier: ExportPosition?, at mark: HistoryMark?
  ) async throws(SourceError) {
    position = ExportPosition(version: ExportPosition.version(at: now, after: earlier))
    position.pass = ExportPosition.Pass(start: nil, after: 0)
    position.mark = mark
    if mark != nil { try await note() }
    writer.begin()
  }

  /// Gives the position a new name, which the store knows from then on.
  private mutating func note() async throws(SourceError) {
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    var batch = StoreBatch([])
    batch.decision = CheckpointDecision(name: KnownExports.checkpoint) { text, _ in
      (
        CheckpointUpdate(
          KnownExports.checkpoint, from: text, to: KnownExports(text).adding(name)), false
      )
    }
    do throws(SourceError) {
      _ = try await store.saveObserved(batch, of: self.name, at: now)
      position.export = name
    } catch {
      guard error.code != .busy, error.code != .cancelled else { throw error }
      (position.export, position.mark, isNoted) = (nil, nil, false)
    }
  }

  // MARK: - Records

  /// Sends what was deleted and restored since the last export, and notes all deleted IDs.
  private mutating func sendDeletions(isNew: Bool) async throws {
    var deleted: Set<RecordKey> = []
    var page: [StoredDeletion] = []
    repeat {
      page = try await store.deletions(of: name, after: page.last?.id, limit: Self.pageSize)
      for deletion in page {
        let key = RecordKey(deletion.id)
        deleted.insert(key)
        guard !isNew, !position.deleted.contains(key), let record = deletion.record else {
          continue
        }
        send(record, deletedAt: now)
      }
      try flush()
    } while page.count == Self.pageSize
    let earlier = position.deleted
    position.deleted = deleted
    for key in earlier.subtracting(deleted).sorted() {
      guard let record = try await store.record(key.text, of: name),
        record.removedUpstreamAt == nil
      else { continue }
      send(record)
    }
    try flush()
  }

  /// Sends the records that were replaced by forms with other details, which the history does not have.
  private mutating func sendDetails(_ unrecorded: UnrecordedChanges) async throws {
    let count = Int(unrecorded.count - position.details)
    guard count > 0 else { return }
    let positions = Set(unrecorded.positions.suffix(count)).sorted()
    for record in try await store.records(of: name, at: positions) { send(record) }
    try flush()
  }

  /// Sends the records of the pass; false if the history no longer has its start.
  private mutating func finishPass() async throws -> Bool {
    while let pass = position.pass {
      var next: Int64?
      if let start = pass.start {
        let slice = try await store.changes(
          of: name, since: .mark(start), after: pass.after, limit: Self.pageSize)
        guard let slice, slice.knownSince == nil else { return false }
        // One that came and went may have been sent.
        for change in slice.changes {
          send(change.record, deletedAt: change.record.removedUpstreamAt)
        }
        if slice.hasMore { next = slice.changes.last?.record.position }
      } else {
        let slice = try await store.records(
          of: name, matching: [], after: pass.after, limit: Self.pageSize)
        for record in slice.records { send(record) }
        if slice.hasMore { next = slice.records.last?.position }
      }
      position.pass = next.map { ExportPosition.Pass(start: pass.start, after: $0) }
      if next != nil, sinceState >= Self.recordsPerState, position.mark != nil,
        unreadable.count == 0
      {
        position.types = writer.types
        writer.write(state: state.setting(name, to: position).json)
        sinceState = 0
      }
      try flush()
    }
    return true
  }

  private mutating func send(_ record: StoredRecord, deletedAt deletion: Date? = nil) {
    let (items, unreadable) = records.decoded([record])
    self.unreadable = self.unreadable + unreadable
    guard let item = items.first else { return }
    if deletion == nil, !position.deleted.isEmpty { position.deleted.remove(RecordKey(item.id)) }
    writer.write(
      item, version: position.version,
      extractedAt: max(record.savedAt, deletion ?? syncedAt ?? record.savedAt),
      deletedAt: deletion)
    count += 1
    sinceState += 1
    if deletion != nil { deleted += 1 }
  }

  private mutating func flush() throws {
    let lines = writer.take()
    if !lines.isEmpty { try emit(lines) }
  }
}

extension StreamWriter {
  /// The stream of a source, with what its cached records, or else bundled ones, tell of the kinds of their values.
  package init<P: Plugin>(
    of plugin: P, in store: any SourceStore, selecting isSelected: (_ field: String) -> Bool
  ) async throws(SourceError) where P.Item == Item {
    let records = plugin.recordStore(in: store)
    let slice = try await store.records(of: plugin.name, matching: [], after: 0, limit: 100)
    var sample = records.decoded(slice.records).records
    if sample.isEmpty {
      sample = (try? await plugin.bundled.page(PageRequest(limit: 100)).records) ?? []
    }
    let history = try await records.schemaHistory()
    self.init(
      plugin.name, of: plugin.fields, sample: sample, history, selecting: isSelected)
  }
}
