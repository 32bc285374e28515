import AggregatorAPI
import AggregatorKit
import AggregatorQueries
import AggregatorSelection
import AggregatorTerminal

/// Writes the pages of the server for people as HTML.
///
/// They work without the script. The script requests the same addresses with the header field
/// ``HTMLFragment/header`` and replaces that part of the page.
struct HTMLRenderer: Sendable {
  let program: String

  var sources: [any ServedSource]

  let isReadOnly: Bool

  var now: Date

  /// True if the store answers queries in SQL.
  var hasSQL = false

  /// True if these queries can call `matches`.
  var hasMatches = true

  /// True if programs must send the access token.
  var hasToken = false

  /// True if sources may be added.
  var mayAdd = false

  /// True if a source of a name may be edited and removed.
  var mayChange: @Sendable (_ name: String) -> Bool = { _ in false }

  static let contentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

  /// The policy of a page with its style inside.
  static func contentSecurityPolicy(nonce: String) -> String {
    "default-src 'none'; style-src 'nonce-\(nonce)'; base-uri 'none'; form-action 'none'; "
      + "frame-ancestors 'none'"
  }

  static let contentType = "text/html; charset=utf-8"

  func page(_ content: SourceContent, part: HTMLFragment? = nil) -> String {
    switch part {
    case .list: listPart(content).text
    case .detail: detailPart(content).text
    case nil: sourcePage(content).text
    }
  }

  /// Returns the page of a search in all sources; the parts are the list and, empty, the detail.
  func search(_ content: SearchContent, part: HTMLFragment? = nil) -> String {
    switch part {
    case .list: resultsPart(content).text
    case .detail: ""
    case nil: searchPage(content).text
    }
  }
}

enum HTMLFragment: String, Sendable {
  case list, detail

  /// The header field of a request for a part; responses vary by it.
  static let header = "X-Part"
}

struct SourceContent: Sendable {
  let source: any ServedSource

  var query: ServedQuery

  /// `nil` only for the part ``HTMLFragment/detail``.
  var list: Result<ServedListing, Problem>?

  /// The number of matching records, if all are cached and the list is neither narrowed nor sorted; `nil` if unknown.
  ///
  /// Of a list that the cache continues in the place of the service, the number of all cached records.
  var cachedCount: Int?

  var detail: DetailContent?

  var schemaChanges: [SchemaEntry] = []

  /// The first records that are deleted on this machine.
  var hidden: ServedListing?

  /// ``ServedSource/shortfall()``.
  var shortfall: Shortfall?

  /// The last sync that a server has run, or runs, if the last one has failed.
  var lastSync: ServedSync?

  /// A sample of the first records of the source, so that lists and records write values in the same way.
  var sample = FieldSample()

  /// ``ServedSource/observedKinds()`` of a list with conditions, which decide how SQL says them.
  var observedKinds: [String: [RowSchema.Kind]] = [:]

  /// How the records are spread over values, if the query shows its filters.
  var facets: [Facet] = []

  /// ``ServedSource/localSummary(_:)`` of these.
  var local: ListingSummary?

  /// The filters of the address that do not work, without which the list is shown.
  var wrong: WrongFilters?

  /// The number of the filter that the form is to change, from 0 on, from the parameter `edit`.
  var edited: Int?

  /// The ID of a record that was just deleted by a form, from the parameter `deleted`.
  var deleted: String?
}

struct WrongFilters: Sendable {
  let filters: [String]
  /// The error of the first of them.
  let problem: Problem
  /// The filters that work.
  var rest: [String] = []
}

struct DetailContent: Sendable {
  let id: String

  let answer: Result<ServedListing, Problem>

  let history: ServedHistory?

  var links = RecordLinks()
}

struct SearchContent: Sendable {
  /// Without words before anything was typed.
  let query: ServedQuery

  /// One of each source, in order; empty without a query.
  let answers: [SourceListing]

  /// A sample of the values of each source, by its name.
  var samples: [String: FieldSample] = [:]
}
