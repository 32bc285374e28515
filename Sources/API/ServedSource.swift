import AggregatorHTTP
package import AggregatorKit
package import AggregatorQueries
package import AggregatorSelection
package import AggregatorServer
package import AggregatorTerminal

/// A query for a list, as the API and the page receive it.
package struct ServedQuery: Hashable, Sendable {
  package enum Cache: String, CaseIterable, Sendable {
    /// Fresh cached data, else the service, else local data.
    case normal
    /// Local data; no connection is opened.
    case offline
    /// The service, even if cached data is fresh; else local data.
    case reload
    /// The service, or a failure.
    case live
  }

  package enum View: String, CaseIterable, Sendable {
    case gallery
    /// A gallery of small cards.
    case small
    case table
  }

  /// `nil` for all records; never blank.
  package var query: String?
  /// From 1 to the largest page of the source, which checks it; `nil` for 20.
  package var limit: Int?
  package var cursor: String?
  /// The number of cached records before the page; `nil` where the cursor says it, or for 0.
  package var offset: Int?
  package var cache = Cache.normal
  /// True for all cached records at once.
  package var isWhole = false
  /// The names of `fields`; `nil` for all.
  package var fields: [String]?
  /// The names of the columns of the page's table if ``fields`` names none, which no address has; `nil` for the usual ones.
  package var columns: [String]?
  /// Conditions, as for `--where`.
  package var conditions: [String] = []
  /// The order, as for `--sort`.
  package var order: String?
  /// True for the page, which shows ``ServedRecord/summary`` and ``ServedRecord/card``.
  package var isForPeople = false
  /// How the page shows the records.
  package var view = View.gallery
  /// The view that the address names; `nil` for the usual one.
  package var chosenView: View?
  /// True if the page shows what the records can be filtered by.
  package var showsFilters = false
  /// True if it shows the values of all fields with them.
  package var showsAllFilters = false
  /// JSON is the format of ``ServedListing/records``, the others are that of ``ServedListing/body``.
  package var format = Format.json
  /// The file that is made of NDJSON instead of its text, if any.
  package var file: ListFile?
  /// The time after which local data answer; `nil` for that of the source.
  package var time: Duration?
}

extension ServedQuery {
  /// A list without parameters.
  package static var plain: ServedQuery { ServedQuery() }

  /// The fields that a person has chosen, now or before; `nil` for the usual ones.
  package var chosenFields: [String]? { fields ?? columns }

  /// This query with another value of a member.
  package func with<Value>(
    _ member: WritableKeyPath<ServedQuery, Value>, _ value: Value
  ) -> ServedQuery {
    var query = self
    query[keyPath: member] = value
    return query
  }

  /// True if cached records answer it, by an index of their values.
  package var readsIndex: Bool { !conditions.isEmpty || order != nil || offset != nil }

  /// True if only cached records answer it.
  var isLocal: Bool { readsIndex || isWhole }

  var selection: SelectionText { SelectionText(conditions: conditions, order: order) }

  /// Throws status 409 for a query that reads cached records, and must not.
  func requireCachedRecords() throws(Problem) {
    guard !isLocal || cache == .normal || cache == .offline else {
      throw Problem(
        409, "invalidRequest",
        "cache=\(cache.rawValue) cannot be used: where, sort, offset and all read cached records",
        hint: "leave out cache, and start a sync for newer records")
    }
  }

  /// The most characters of a search.
  static let maxLength = 500
  /// The most characters of an ID in the API.
  package static let maxIDLength = 1000
  /// The most conditions.
  static let maxConditions = 20

  /// The query of a request; an unknown parameter is a ``Problem``, as it would be ignored otherwise.
  package init(
    _ request: ServerRequest, knowing known: Set<String>, isForPeople: Bool = false
  ) throws(Problem) {
    self.isForPeople = isForPeople
    try request.requireParameters(among: known)
    query = request.parameter("query") ?? request.parameter("q")
    // A form sends its empty field, and a quotation mark whose words are not yet typed.
    if isForPeople, let text = query, (try? SearchQuery(text)) == nil { query = nil }
    cursor = request.parameter("cursor")
    limit = try request.parameter("limit", hint: "a whole number") { Int($0) }
    offset = try request.parameter("offset", hint: "from 0 to 1000000000") { text in
      Int(text).flatMap { 0...1_000_000_000 ~= $0 ? $0 : nil }
    }
    guard offset == nil || cursor == nil else {
      throw Problem(
        409, "invalidRequest", "offset and cursor exclude each other", hint: "leave out one of them"
      )
    }
    isWhole = try request.parameter("all", hint: "true or false") { Bool($0) } ?? false
    guard !isWhole || limit == nil && cursor == nil && offset == nil else {
      throw Problem(
        409, "invalidRequest", "all excludes limit, cursor and offset",
        hint: "leave out all for a page, or the others for all cached records")
    }
    let caches = Cache.allCases.map(\.rawValue).joined(separator: ", ")
    cache = try request.parameter("cache", hint: caches) { Cache(rawValue: $0) } ?? .normal
    fields = request.parameter("fields")?.split(separator: ",", omittingEmptySubsequences: false)
      .map(String.init)
    conditions = request.query.filter { $0.name == "where" }.map(\.value)
    order = request.parameter("sort")
    try check()
  }

  /// Throws for more words and conditions than a query may have.
  package func check() throws(Problem) {
    guard (query ?? "").unicodeScalars.count <= Self.maxLength else {
      throw Problem(
        400, "invalidRequest", "invalid value for query",
        hint: "at most \(Self.maxLength) characters")
    }
    guard conditions.count <= Self.maxConditions else {
      throw Problem(
        400, "invalidRequest", "too many conditions", hint: "at most \(Self.maxConditions)")
    }
  }
}

extension ServedSource {
  /// The fields; those that may have any value with the kind that the values of cached records have, also ``ValueKind/date``.
  func fieldsWithKinds() async -> [FieldEntry] {
    let any = FieldKind.any.rawValue
    guard fields.contains(where: { $0.kind == any }) else { return fields }
    let (sample, observed) = (await sample(), await observedKinds())
    return fields.map { field in
      // Of the values that syncs have found, the sample may have one kind only.
      guard field.kind == any, observed[field.id]?.count ?? 1 == 1,
        let kind = sample.kinds[field.id]
      else { return field }
      var field = field
      field.kind = kind.rawValue
      return field
    }
  }

  var scope: String? { nil }
  var hasParquet: Bool { false }
  func observedKinds() -> [String: [RowSchema.Kind]] { [:] }
  func deleted() -> ServedListing? { nil }
  func changes(_ query: ChangesQuery) -> ChangePage? { nil }
  func changeSummary(since start: String) -> ChangeSummary? { nil }
  func sample() -> FieldSample { FieldSample() }
  func shortfall() -> Shortfall? { nil }
  func localSummary(_ query: ServedQuery) -> ListingSummary { ListingSummary(count: 0) }
  func cachedCount(of query: ServedQuery, _ page: ServedListing) -> Int? { nil }
  func offset(of id: String, in query: ServedQuery) -> Int? { nil }
  func knownCount(of query: ServedQuery) -> Int? { nil }
  func prepareIndex() {}
  func recordCount() -> Int? { nil }
}

extension PageCursor {
  package init(received text: String) throws(Problem) {
    guard let cursor = PageCursor(text) else {
      throw Problem(400, "invalidCursor", SourceError.damaged(text).message)
    }
    self = cursor
  }
}

extension ServerRequest {
  package func require(_ methods: [String]) throws(Problem) {
    guard !methods.contains(method), method != "HEAD" || !methods.contains("GET") else { return }
    var problem = Problem(
      405, "methodNotAllowed", "\(method.oneLine(atMost: 20)) is not allowed here",
      hint: "use \(methods.joined(separator: " or "))")
    problem.allowed = methods
    throw problem
  }

  /// The parameters that may be given several times.
  private static let repeatable: Set = ["where", "column", "choice"]

  /// Refuses parameters that have no meaning or no single value.
  ///
  /// `q` is another name of `query`.
  package func requireParameters(among known: Set<String>) throws(Problem) {
    var given: Set<String> = []
    for parameter in query {
      let name = parameter.name == "q" ? "query" : parameter.name
      guard known.contains(name) else {
        throw Problem(
          400, "invalidRequest", "unknown parameter \"\(parameter.name.oneLine(atMost: 80))\"",
          hint: known.isEmpty
            ? "there are none" : "the parameters are \(known.sorted().joined(separator: ", "))"
        ).suggesting(nearest(to: parameter.name, in: known.sorted()))
      }
      guard given.insert(name).inserted || Self.repeatable.contains(name) else {
        throw Problem(
          400, "invalidRequest", "the parameter \(name) is given more than once",
          hint: name == "query"
            ? "q is another name of query"
            : "give it once; only \(known.contains("where") ? "where is" : "others are") repeated")
      }
    }
  }

  /// The value of a parameter; `nil` if it is missing, a problem if `parse` returns `nil`.
  package func parameter<Value>(
    _ name: String, hint: String, _ parse: (String) -> Value?
  ) throws(Problem) -> Value? {
    guard let text = parameter(name) else { return nil }
    guard let value = parse(text) else {
      throw Problem(
        400, "invalidRequest", "invalid value \"\(text.oneLine(atMost: 80))\" for \(name)",
        hint: hint)
    }
    return value
  }

  /// The members of a body of JSON, or the fields of a form.
  func bodyMembers(among known: Set<String>) throws(Problem) -> [String: JSON] {
    let members: [JSON.Member]
    let names = known.sorted()
    let remedy =
      "send a JSON object \(names.count == 1 ? "such as {\"\(names[0])\": \"…\"}" : "with members of \(names.joined(separator: ", "))"), "
      + "and the header field Content-Type: application/json"
    switch mediaType {
    case "application/json":
      guard case .object(let object)? = JSONText(Data(body)).map({ JSON($0) }) else {
        throw Problem(400, "invalidRequest", "the body must be a JSON object", hint: remedy)
      }
      members = object
    case "application/x-www-form-urlencoded":
      guard let form else {
        throw Problem(400, "invalidRequest", "the body is an invalid form", hint: remedy)
      }
      members = form.map { JSON.Member($0.name, .string($0.value)) }
    default:
      throw Problem(
        415, "unsupportedMediaType",
        "the body must be application/json or application/x-www-form-urlencoded",
        hint: remedy)
    }
    var values: [String: JSON] = [:]
    for member in members {
      guard known.contains(member.name) else {
        // curl calls any text a form.
        guard member.name.wholeMatch(of: /[\w.-]+/) != nil else {
          throw Problem(400, "invalidRequest", "the body is not a form", hint: remedy)
        }
        throw Problem(
          400, "invalidRequest", "unknown member \"\(member.name.oneLine(atMost: 80))\"",
          hint: "the members are \(names.joined(separator: ", "))"
        ).suggesting(nearest(to: member.name, in: names))
      }
      guard values.updateValue(member.value, forKey: member.name) == nil else {
        throw Problem(400, "invalidRequest", "the member \(member.name) is given more than once")
      }
    }
    return values
  }

  /// The fields of a form of a page.
  package func formFields(among known: Set<String>) throws(Problem) -> [String: String] {
    try bodyMembers(among: known).compactMapValues { value in
      if case .string(let text) = value { text } else { nil }
    }
  }

  /// The values of the cookies with a name: a browser may send several, of different paths.
  package func cookies(named name: String) -> [String] {
    (header("Cookie") ?? "").split(separator: ";").compactMap { pair in
      let pair = pair.drop { $0 == " " }
      return pair.hasPrefix("\(name)=") ? String(pair.dropFirst(name.utf8.count + 1)) : nil
    }
  }

  /// The address of this request, without the host, with another value of a parameter, or without it, and without `others`.
  package func address(
    replacing name: String, by value: String?, without others: Set<String> = []
  ) -> String {
    let parameters =
      query.filter { $0.name != name && !others.contains($0.name) }
      + (value.map { [.init(name, $0)] } ?? [])
    let pairs = parameters.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }
    // Two slashes would name another host.
    let path = "/" + rawPath.drop { $0 == "/" }
    return pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))"
  }
}

package struct ServedListing: Sendable {
  package var records: [ServedRecord]
  package var summary: ListingSummary
  /// The columns of a table of the records; empty for programs.
  package var columns: [FieldEntry] = []
  /// The number of cached records of the list before these; `nil` if it is unknown, or the service lists them.
  package var offset: Int?
  /// The number of cached records that a search finds, if the service may have more or others; `nil` if it is unknown.
  package var cachedMatches: Int?
  /// The records in the format of the query; `nil` for a page of JSON.
  package var body: [UInt8]?
  /// A query that has matches, if a search without conditions has none, or a condition, if there is only one that no record
  /// meets; `nil` for programs.
  package var suggestion: String?
  /// Hints about words of the search that may be meant as operators.
  package var searchHints: [SearchHint] = []
  /// More advice after such a search; `nil` for programs, which have a warning.
  package var advice: SearchAdvice?

  package init(
    records: [ServedRecord], summary: ListingSummary, columns: [FieldEntry] = [],
    body: [UInt8]? = nil
  ) {
    self.records = records
    self.summary = summary
    self.columns = columns
    self.body = body
  }

  /// No records.
  init(warnings: [SourceWarning] = []) {
    self.init(records: [], summary: ListingSummary(count: 0, warnings: warnings))
  }
}

extension Coverage {
  /// True if records are cached, but not all, as far as is known.
  package var isPart: Bool { cached > 0 && !isComplete && gap?.isExcess != true }
}

/// The state of the cached records of a source.
package struct SourceState: Sendable {
  /// `nil` without a store.
  package var coverage: Coverage?
  /// The number of cached records, without deleted ones and ones removed upstream; `nil` without a store.
  package var records: Int? { coverage.map { max(0, $0.cached - deleted) } }

  /// The total of the service, without the records that are deleted here.
  package var total: Int? { coverage?.total.map { max($0, coverage?.cached ?? 0) - deleted } }
  /// The number of bundled records, while none are cached; else 0.
  package var bundled = 0
  /// The number of cached records that the service no longer has, which are not in lists.
  package var removedUpstream = 0
  /// The number of cached records that are deleted on this machine.
  package var deleted = 0
  /// The time since which all cached records were fetched.
  package var fetchedAt: Date?
  /// The time of the newest page; `nil` if it is unknown.
  package var lastFetchedAt: Date?
  /// The time of the last complete sync.
  package var syncedAt: Date?
  /// The reason the service cannot be asked, and what to do.
  package var problem: Problem?
  /// ``SourceStore/syncFailure(of:)``.
  package var syncFailure: String?
  /// The changes of the last sync, and later ones; `nil` if nothing is known of them.
  package var changes: ChangeSummary?
}

package struct ServedChanges: Sendable {
  package var entries: [ChangeEntry]
  package let summary: ChangeSummary
}

/// The known past of a record.
package struct ServedHistory: Sendable {
  package let firstSeen: Date
  /// The date before which changes are no longer known; `nil` if all are known.
  package let knownSince: Date?
  /// The latest first.
  package let entries: [ChangeEntry]
  /// False if there are earlier changes.
  package let isComplete: Bool
}

package struct SourceListing: Sendable {
  package let source: any ServedSource
  package let page: Result<ServedListing, Problem>
  /// True for local results in the place of those of a service that is still asked.
  package var isLate = false
}

/// A source behind the API and the page: its chains are built once, and calls in flight are shared.
///
/// ``Problem`` tells clients of the errors of its functions.
package protocol ServedSource: Sendable {
  var name: String { get }
  /// Tells it from another source that had its name, or that another server gives it; `nil` if that is unknown.
  var scope: String? { get }
  var summary: String { get }
  var noun: RecordNoun { get }
  var fields: [FieldEntry] { get }
  var example: PluginExample { get }
  var hasImages: Bool { get }
  /// True if lists are available as Parquet.
  var hasParquet: Bool { get }
  var isEndless: Bool { get }
  var largestPage: Int { get }
  /// False for a source whose records cannot be sorted and selected, or that has no store.
  var hasStore: Bool { get }

  func page(_ query: ServedQuery) async throws -> ServedListing
  func record(_ id: String, _ query: ServedQuery) async throws -> ServedListing
  /// The reason records are missing, or may be, after the last sync, which may have failed; `nil` if none is known.
  func shortfall() async throws -> Shortfall?
  /// The number of records that a query without conditions matches, if all records are cached, and answered it, or the page
  /// of people lists what is cached, or says that the last sync may have missed some; `nil` if that is unknown.
  func cachedCount(of query: ServedQuery, _ page: ServedListing) async throws -> Int?
  /// The number of cached records before one in the list of a query; `nil` if it is not among them, or the service may list
  /// others.
  func offset(of id: String, in query: ServedQuery) async throws -> Int?
  /// The number of cached records that the conditions of a query select, or its words find; `nil` if many records would have
  /// to be read for it.
  func knownCount(of query: ServedQuery) async -> Int?
  /// Begins to read what filters, orders and ``offset(of:in:)`` need, unless there are very many records.
  func prepareIndex()
  /// The values of the cached records of a query, or of the bundled ones while none are cached, with the number of each.
  func facets(_ query: ServedQuery) async throws -> [Facet]
  /// The origin and the age of the records that facets count, and the warning if the service may have others.
  func localSummary(_ query: ServedQuery) async throws -> ListingSummary
  /// A summary of the values that a field has in the cached records of a query.
  func summary(_ summary: FieldSummary, _ query: ServedQuery) async throws -> ServedListing
  /// An image of a record: the best one, or that of a number, from 1 on.
  func image(
    _ id: String, number: Int?, _ size: ImageSize, _ cache: ServedQuery.Cache
  ) async throws -> LookupResult<LoadedImage>
  /// The state of the cached records.
  func state() async throws -> SourceState
  /// The number of cached records, as ``SourceState/records``; `nil` without a store, or if it cannot be read.
  func recordCount() async -> Int?
  /// The changes since a point as typed for `--since`, at most `limit`; `nil` if nothing is known of that point.
  func changes(since start: String, atMost limit: Int) async throws -> ServedChanges?
  /// A page of the changes since a point; `nil` if nothing is known of that point.
  func changes(_ query: ChangesQuery) async throws -> ChangePage?
  /// The numbers of the changes since a point as typed for `--since`; `nil` if nothing is known of that point.
  func changeSummary(since start: String) async throws -> ChangeSummary?
  /// The latest changes of a record; `nil` if nothing is known of its past.
  func history(of id: String) async throws -> ServedHistory?
  /// Hides a record on this machine; false if it is unknown.
  func delete(_ id: String) async throws -> Bool
  /// False if the record is not deleted.
  func restore(_ id: String) async throws -> Bool
  /// The first deleted records; `nil` without a store.
  func deleted() async throws -> ServedListing?
  /// The changes of the members of the rows, the latest ones last.
  func schemaChanges() async throws -> [SchemaEntry]
  /// A sample of the values of the first cached records, or of the bundled ones.
  func sample() async -> FieldSample
  /// The kinds of values, by the names of fields, for fields that may have any.
  func observedKinds() async -> [String: [RowSchema.Kind]]
  /// Downloads the records of the service, all of them or `pages` pages.
  func sync(pages: Int?, progress: @escaping @Sendable (SyncResult) -> Void) async throws
    -> SyncResult
}

/// A record of any source, as the API and the page show it.
package struct ServedRecord: SourceRecord {
  package struct Line: Hashable, Codable, Sendable {
    /// The name of the field.
    package var field = ""
    package let label: String
    /// The exact value as a text.
    package let value: String
    /// The value, to be written as people do; `nil` for an ID, which is shown as it is.
    package var json: JSON?
    /// True if it is the ID or the name of the record, which the heading of its page has.
    package var isHeading = false
    /// True if the value is a web address of the service, which may be a link if its scheme is `http` or `https`.
    package var isLink = false
    /// The elements of a list; empty for anything else.
    package var elements: [String] = []
    /// The numbers of the images that the elements are the addresses of; empty unless all of them are.
    package var images: [Int] = []
  }

  package let id: String

  /// The name or title, the ID if it has none; empty for programs.
  package var name = ""

  /// The fields that were asked for, or all, as `--json` prints them.
  package let object: JSON

  /// The other columns of a list, beside the name; empty for programs.
  package var summary: [Line] = []

  /// The fields of the columns that have a value; empty for programs.
  package var cells: [Line] = []

  /// The fields of the card that have a value, those of lists without one, and empty texts and lists; empty for programs.
  package var card: [Line] = []

  /// The web page of the record at its service, an `http` or `https` URL; `nil` if it has none.
  package var link: String?

  package var hasImage = false

  /// All that is cached of a record that is shown on its own; `nil` in lists, and for programs.
  package var kept: JSON?

  /// True if ``kept`` is the row that the service sent.
  package var isAsSent = false
}
