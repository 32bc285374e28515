public import AggregatorKit

/// A source that is put to the laws, and what is needed to judge it.
///
/// Only the source and its fields must be said; a plugin's two ends and its chain say the rest
/// themselves: see ``init(remoteOf:in:)``, ``init(bundledOf:)`` and ``init(chainOf:in:reading:)``.
public struct LawSubject<Item: Record>: Sendable {
  /// What it is called in reports.
  public var name: String

  /// The source.
  public var source: any DataSource<Item>

  /// What can be read of its records.
  public var fields: [Field<Item>]

  /// Who searches, if anybody does.
  public var search: SearchKind

  /// A query that finds something; the laws of local search make up another by themselves.
  public var query: Query?

  /// The id of a record that there is; the laws take one from the list as well.
  public var known: Item.ID?

  /// The id of a record that there is not; if `nil`, the laws make one up where they can.
  public var unknown: Item.ID?

  /// The page sizes that must make no difference.
  public var sizes = [1, 2, 3, 7, 20, 100]

  /// How far any walk goes: 300 records and 25 pages by default.
  ///
  /// What lies further is not judged.
  public var bound = PaginationBound(items: 300, pages: 25)

  /// Whether the source never ends by itself.
  public var isEndless = false

  /// Whether the service is known to give a record more than once in a walk.
  public var repeatsRecords = false

  /// Whether one call may send one HTTP request only.
  ///
  /// A chain retries and scans.
  public var isBare = false

  /// What must not be found in anything that the source says.
  public var secrets: [Secret] = []

  /// The same source made once more, as another process would make it; `nil` if it cannot be.
  public var anew: (@Sendable () throws(SourceError) -> any DataSource<Item>)?

  /// What hears the source's requests and events; `nil` if only the current ``Observer`` does.
  public var probe: LawProbe?

  /// A subject.
  ///
  /// - Parameters:
  ///   - name: What it is called in reports.
  ///   - source: The source.
  ///   - fields: What can be read of its records.
  ///   - search: Who searches; nobody by default.
  ///   - query: A query that finds something.
  public init(
    _ name: String, source: any DataSource<Item>, fields: [Field<Item>],
    search: SearchKind = .none, query: Query? = nil
  ) {
    self.name = name
    self.source = source
    self.fields = fields
    self.search = search
    self.query = query
  }
}

/// Who looks for the words of a query.
public enum SearchKind: Hashable, Sendable {
  /// Nobody: a query is refused.
  case none
  /// We do: every word, folded, occurs in the searchable text of a record.
  case local
  /// The service, by rules of its own.
  case service
}

extension LawSubject {
  /// A page of the list, and the long forms of one or two records.
  func sampleRecords() async throws(SourceError) -> [Item] {
    var records = try await source.page(PageRequest(limit: 20)).records
    for id in [known, records.first?.id].compactMap(\.self) {
      if let item = try await self.item(id) { records.append(item) }
    }
    return records
  }

  /// The long form of a record; `nil` if it cannot be looked up, or there is none.
  ///
  /// Whether there should be one is the business of a law of its own.
  package func item(_ id: Item.ID) async throws(SourceError) -> Item? {
    do throws(SourceError) { return try await source.item(id).item } catch {
      guard error.code == .unsupported || error.code == .notFound else { throw error }
      return nil
    }
  }
}
