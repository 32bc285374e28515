public import AggregatorCore
public import AggregatorStore
import Synchronization

extension DataSource {
  /// This source, with a warning on a page none of whose records has a field that the records of `sample` usually have, and
  /// on a first page also one that the same records had when they were stored.
  ///
  /// A member that the service has renamed would otherwise only empty a column.
  public func noticingEmptyFields(
    _ fields: [Field<Item>], comparing sample: any DataSource<Item>,
    storedIn recordStore: RecordStore<Item>? = nil
  ) -> some DataSource<Item> {
    NoticingEmptyFields(
      base: self, expected: UsualFields(of: fields, in: sample), recordStore: recordStore)
  }
}

private struct NoticingEmptyFields<Base: DataSource>: Decorator {
  let base: Base
  let expected: UsualFields<Base.Item>
  let recordStore: RecordStore<Base.Item>?
  var label: String { "noticingEmptyFields()" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    var missing: [String] = []
    if page.records.count >= UsualFields<Base.Item>.fewest {
      missing = await expected.missing(in: page.records)
    }
    // Once is enough.
    if missing.isEmpty, request.cursor == nil, let recordStore {
      missing = await expected.missing(in: page.records, storedIn: recordStore)
    }
    page.warnings += missing.map { Warning(.emptyField, $0) }
    return page
  }
}

/// The fields that at least half of the records of a sample have, looked up once.
package final class UsualFields<Item: SourceRecord>: Sendable {
  /// The fewest records that say that a field is empty, and not only rare.
  package static var fewest: Int { 20 }
  /// The most records of a page that are looked up in a store.
  private static var maxLookups: Int { 10 }

  private let all: [Field<Item>]
  private let sample: any DataSource<Item>
  private let known = Mutex<[Field<Item>]?>(nil)

  package init(of fields: [Field<Item>], in sample: any DataSource<Item>) {
    // Lists do not have the others.
    all = fields.filter { !$0.isDetail }
    self.sample = sample
  }

  package var fields: [Field<Item>] {
    get async {
      if let known = known.withLock(\.self) { return known }
      let records = (try? await sample.page(PageRequest(limit: 100)))?.records ?? []
      let usual = usual(in: records)
      known.withLock { $0 = usual }
      return usual
    }
  }

  private func usual(in records: [Item]) -> [Field<Item>] {
    all.filter { field in
      !records.isEmpty && records.count { !field.isEmpty(in: $0) } * 2 >= records.count
    }
  }

  /// A sentence for each field that none of these records has.
  package func missing(in records: [Item]) async -> [String] {
    sentences(await fields.filter { $0.isEmpty(inAll: records) }, records.count)
  }

  private func sentences(_ fields: [Field<Item>], _ count: Int) -> [String] {
    fields.map { "\($0.name) is empty in all \(count) records: has the service renamed it?" }
  }

  /// A sentence for each field that none of these records has, and the stored ones of them usually had.
  fileprivate func missing(
    in records: [Item], storedIn recordStore: RecordStore<Item>
  ) async -> [String] {
    let first = Array(records.prefix(Self.maxLookups))
    guard all.contains(where: { $0.isEmpty(inAll: first) }) else { return [] }
    var (stored, merged): ([Item], [Item]) = ([], [])
    for record in first {
      do throws(SourceError) {
        guard let known = try await recordStore.item(record.id)?.found.item else { continue }
        stored.append(known)
        // Values that lists never have are kept.
        merged.append(record.merged(over: known))
      } catch {
        // Each of the others would wait for a store that is locked.
        return []
      }
    }
    // A single record may have lost a value.
    guard stored.count > 1 else { return [] }
    let emptied = usual(in: stored).filter {
      $0.isEmpty(inAll: merged) && $0.isEmpty(inAll: records)
    }
    return sentences(emptied, records.count)
  }
}

extension Field {
  fileprivate func isEmpty(inAll records: [Item]) -> Bool { records.allSatisfy(isEmpty) }

  /// True if a record has no value, or none that says anything.
  fileprivate func isEmpty(in record: Item) -> Bool {
    switch self[record] {
    case .null, .string(""), .array([]): true
    default: false
    }
  }
}
