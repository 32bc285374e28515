public import AggregatorCore
public import AggregatorStore
public import Foundation

extension SQLiteStore {
  /// More pages of one source are not kept; the oldest go first.
  static let mostPages = 2000

  /// Saves what one page brought, in one transaction.
  public func save(
    _ batch: StoreBatch, of source: String, at date: Date
  ) async throws(SourceError) -> StoreChanges {
    try await write { connection throws(SQLiteFailure) in
      let number = try connection.numbered(source)
      var saving = Saving(source: number, date: date)
      for (index, entry) in batch.entries.enumerated() {
        try saving.save(entry, index, in: &connection)
      }
      try saving.finish(in: &connection)
      if let (key, page) = batch.page {
        try connection.savePage(
          key, page, positions: saving.positions, of: number, at: date, keeping: Self.mostPages)
      }
      if let update = batch.update {
        saving.changes.hasMoved = try connection.update(update, of: number)
        if saving.changes.hasMoved {
          try connection.run("UPDATE sources SET walked = ?2 WHERE number = ?1", number, date)
          if let reconciliation = update.reconciliation {
            try connection.take(
              reconciliation, at: update, meeting: saving.positions, of: number, at: date,
              &saving.changes)
          }
          // What was kept of the lists before is no longer what there is.
          if update.replacesPages {
            try connection.run("DELETE FROM pages WHERE source = ?1", number)
          }
        }
      }
      return saving.changes
    }
  }
}

/// The records of one batch on their way into the tables.
private struct Saving {
  let source: Int64
  let date: Date
  var changes = StoreChanges()
  /// The position of each entry.
  var positions: [Int64] = []

  /// The positions given last before this batch, and now; `nil` until one is needed.
  private var last: (before: Int64, now: Int64)?

  init(source: Int64, date: Date) {
    self.source = source
    self.date = date
  }

  mutating func save(
    _ entry: StoreEntry, _ index: Int, in connection: inout Connection
  ) throws(SQLiteFailure) {
    let known = try connection.row(
      "SELECT position, json, vanished FROM records WHERE source = ?1 AND id = ?2", source, entry.id
    ) { row in
      (
        position: row.integer(0), json: row.holds(entry.json, in: 1) ? nil : row.bytes(1),
        hasVanished: row.date(2) != nil
      )
    }
    guard let known else { return try insert(entry, index, in: &connection) }
    positions.append(known.position)
    if known.hasVanished { try connection.bringBack(known.position, of: source) }
    let completed = known.json.flatMap(entry.completed)
    guard let old = known.json, old != completed?.json else {
      if known.hasVanished { changes.changed += 1 } else { changes.same += 1 }
      return
    }
    changes.changed += 1
    try connection.update(
      known.position, json: completed?.json ?? entry.json,
      text: (completed?.text ?? entry.text()).stored, at: date,
      isIndexed: last.map { known.position <= $0.before } ?? true)
  }

  private mutating func insert(
    _ entry: StoreEntry, _ index: Int, in connection: inout Connection
  ) throws(SQLiteFailure) {
    var last: (before: Int64, now: Int64)
    if let known = self.last { last = known } else { last = try start(in: &connection) }
    last.now += 1
    self.last = last
    try connection.run(
      """
      INSERT INTO records (position, source, id, saved, first_seen, folded, json)
      VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6)
      """, last.now, source, entry.id, date, entry.text().stored, entry.json)
    positions.append(last.now)
    changes.added.append(index)
  }

  private func start(
    in connection: inout Connection
  ) throws(SQLiteFailure) -> (before: Int64, now: Int64) {
    let last = try connection.row("SELECT last FROM sources WHERE number = ?1", source) {
      $0.integer(0)
    }
    return (last ?? 0, last ?? 0)
  }

  /// Puts the new records into the search index, all at once: one by one, or by a trigger, takes more
  /// than twice as long.
  func finish(in connection: inout Connection) throws(SQLiteFailure) {
    guard let last else { return }
    try connection.run(
      """
      INSERT INTO search (rowid, folded)
      SELECT position, folded FROM records WHERE position > ?1 AND position <= ?2
      """, last.before, last.now)
    try connection.run(
      "UPDATE sources SET last = ?2, records = records + ?3 WHERE number = ?1", source, last.now,
      changes.added.count)
  }
}

extension Connection {
  /// Replaces a record, and its text in the search index if that has changed.
  fileprivate mutating func update(
    _ position: Int64, json: Data, text: String, at date: Date, isIndexed: Bool
  ) throws(SQLiteFailure) {
    let old = try row("SELECT folded FROM records WHERE position = ?1", position) { $0.text(0) }
    if let old = old ?? nil, old != text {
      if isIndexed {
        // The index must be told what it holds, or it keeps it.
        try run(
          "INSERT INTO search (search, rowid, folded) VALUES ('delete', ?1, ?2)", position, old)
        try run("INSERT INTO search (rowid, folded) VALUES (?1, ?2)", position, text)
      }
      try run("UPDATE records SET folded = ?2 WHERE position = ?1", position, text)
    }
    try run("UPDATE records SET json = ?2, saved = ?3 WHERE position = ?1", position, json, date)
  }
}
