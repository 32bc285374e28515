public import AggregatorCore
import Synchronization

extension DataSource {
  /// This source, with a warning on a page none of whose records has a field that the records of `sample` usually have.
  ///
  /// A member that the service has renamed would otherwise only empty a column.
  public func noticingEmptyFields(
    _ fields: [Field<Item>], comparing sample: any DataSource<Item>
  ) -> some DataSource<Item> {
    NoticingEmptyFields(base: self, expected: UsualFields(of: fields, in: sample))
  }
}

private struct NoticingEmptyFields<Base: DataSource>: Decorator {
  let base: Base
  let expected: UsualFields<Base.Item>
  var label: String { "noticingEmptyFields()" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    var page = try await base.page(request)
    guard page.records.count >= UsualFields<Base.Item>.fewest else { return page }
    page.warnings += await expected.missing(in: page.records).map { Warning(.emptyField, $0) }
    return page
  }
}

/// The fields that at least half of the records of a sample have, looked up once.
package final class UsualFields<Item: SourceRecord>: Sendable {
  /// The fewest records that say that a field is empty, and not only rare.
  package static var fewest: Int { 20 }

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
      let usual = all.filter { field in
        !records.isEmpty && records.count { !field.isEmpty(in: $0) } * 2 >= records.count
      }
      known.withLock { $0 = usual }
      return usual
    }
  }

  /// A sentence for each field that none of these records has.
  package func missing(in records: [Item]) async -> [String] {
    await fields.filter { field in records.allSatisfy { field.isEmpty(in: $0) } }.map { field in
      "\(field.name) is empty in all \(records.count) records: has the service renamed it?"
    }
  }
}

extension Field {
  /// True if a record has no value, or none that says anything.
  fileprivate func isEmpty(in record: Item) -> Bool {
    switch self[record] {
    case .null, .string(""), .array([]): true
    default: false
    }
  }
}
