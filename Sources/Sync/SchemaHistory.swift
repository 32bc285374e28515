package import AggregatorCore
package import AggregatorFoundation
package import AggregatorStore

/// The members of the rows of a source as its last complete sync has seen them, and how they have changed: a checkpoint.
package struct SchemaHistory: Codable, Sendable {
  /// A change, and the sync that has found it.
  package struct Entry: Codable, Hashable, Sendable {
    package let change: SchemaChange
    package let date: Date

    private enum CodingKeys: String, CodingKey { case change = "c", date = "d" }
  }

  /// Its name among the checkpoints of a source.
  static let checkpoint = "schema"

  /// Older changes are dropped.
  private static let maxEntries = 200

  private let collection: String
  private var schema: RowSchema
  /// The latest ones last.
  package private(set) var entries: [Entry] = []

  private enum CodingKeys: String, CodingKey { case collection = "c", schema = "s", entries = "e" }

  init(collection: String, schema: RowSchema) {
    self.collection = collection
    self.schema = schema
  }

  /// Decodes a stored one; `nil` if it is invalid.
  init?(_ text: String) {
    guard let history = try? JSONText(Data(text.utf8))?.read(SchemaHistory.self) else { return nil }
    self = history
  }

  /// The kinds of the values of a member; `nil` if it was always missing or null.
  package func kinds(of member: String) -> [RowSchema.Kind]? {
    schema.members[member].flatMap { $0.isEmpty ? nil : $0 }
  }

  var text: String { (try? CanonicalJSON.text(of: self)) ?? "" }

  func isOf(_ collection: String) -> Bool { self.collection == collection }

  /// Compares with the rows of another sync, `all` of them or those that have changed; returns the differences.
  mutating func take(_ other: RowSchema, all: Bool, at date: Date) -> [SchemaChange] {
    let changes = other.changes(since: schema, all: all)
    if all { schema = other } else { schema.add(other) }
    entries = (entries + changes.map { Entry(change: $0, date: date) }).suffix(Self.maxEntries)
    return changes
  }
}

extension Sync {
  /// Compares the members of rows with those of the last complete sync, and keeps them.
  func noteSchema(
    _ schema: RowSchema?, ofAll isAll: Bool, _ result: inout SyncResult
  ) async throws(SourceError) {
    // An empty list has no members, and shows no change of any.
    guard let schema, !schema.members.isEmpty else { return }
    let text = try await recordStore.store.checkpoint(
      SchemaHistory.checkpoint, of: recordStore.source)
    var history = text.flatMap(SchemaHistory.init)
    if history?.isOf(collection) == true {
      result.schemaChanges = history?.take(schema, all: isAll, at: now()) ?? []
    } else {
      guard isAll else { return }
      history = SchemaHistory(collection: collection, schema: schema)
    }
    try await note(SchemaHistory.checkpoint, history?.text)
  }
}

extension RecordStore {
  /// The changes of the members of the rows; `nil` if the source does not tell, or before a complete sync.
  package func schemaHistory() async throws(SourceError) -> SchemaHistory? {
    try await store.checkpoint(SchemaHistory.checkpoint, of: source).flatMap(SchemaHistory.init)
  }
}
