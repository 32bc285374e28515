public import AggregatorCore
import AggregatorFoundation

/// The paging of a REST service.
///
/// ```swift
/// let paging = RESTPaging(.page(.query("page"), start: 1), size: (.query("per_page"), 100))
/// ```
public struct RESTPaging: Sendable {
  /// The difference between the request of a page and that of the first.
  public enum Step: Hashable, Sendable {
    /// Nothing: the service sends all records in one response.
    case single
    /// A parameter that counts pages.
    case page(RESTParameter, start: Int)
    /// A parameter that counts rows.
    case offset(RESTParameter, start: Int)
    /// A parameter that takes a token of the response before; `start` is what the first page sends.
    case token(RESTParameter, start: String?)
    /// The URL of the next page, or parameters to add, as the response before says.
    case link

    /// True if a response names the next page.
    var isNamed: Bool {
      switch self {
      case .token, .link: true
      case .single, .page, .offset: false
      }
    }
  }

  public var step: Step

  /// The parameter of the page size and its value; `nil` if the service has none.
  public var size: (parameter: RESTParameter, rows: Int)?

  /// True to request pages only as large as the caller's limit; ``size`` is then the largest page.
  public var followsLimit: Bool

  /// True if a page shorter than ``size`` is the last, because the service keeps to the size.
  public var honorsSize: Bool

  /// True to compute where pages ahead begin, so that several are requested at a time.
  ///
  /// A page that is shorter than requested costs a request then, but no records. Cursors have nothing but the
  /// place of a page, so the service should say its total in every response, or in none.
  public var predictsCursors: Bool

  /// The number of records after which the service refuses further pages; `nil` for no limit.
  public var deepest: Int?

  /// Other hosts that next links may lead to, where no secret is sent.
  public var otherHosts: Set<String>

  /// True if the service answers each token, or next link, only once.
  ///
  /// Then no page is read ahead, and one whose reply was lost is not requested again: the list starts over,
  /// with a warning, and the records before that page are left out.
  public var tokenOnce: Bool

  /// True to request the page after a short one too, unless the total says that there is none, because the
  /// size was only observed.
  package var confirmsEnd = false

  /// The number of the page, or of the row, from which the list is read; `nil` for its start.
  package var begin: Int?

  /// True if it is not proved that what the paging takes for the end is the end.
  package var isUnproved = false

  public init(
    _ step: Step, size: (parameter: RESTParameter, rows: Int)? = nil, followsLimit: Bool = false,
    honorsSize: Bool = false, predictsCursors: Bool = false, deepest: Int? = nil,
    otherHosts: Set<String> = [], tokenOnce: Bool = false
  ) {
    self.step = step
    self.size = size
    self.followsLimit = followsLimit
    self.honorsSize = honorsSize
    self.predictsCursors = predictsCursors
    self.deepest = deepest
    self.otherHosts = otherHosts
    self.tokenOnce = tokenOnce
  }

  /// The paging of a list that is one file of CSV, TSV or NDJSON, of any size, whose pages are the next rows.
  ///
  /// It needs a transport that reads files. Responses are arrays of rows.
  public static var file: RESTPaging {
    RESTPaging(.token(FilePages.parameter, start: FilePages.start))
  }

  /// True if pages are parts of one file.
  var isFile: Bool { step == Self.file.step }

  /// The request of the page that starts there; `first` is that of the first, without parameters of paging.
  ///
  /// - Throws: ``SourceError`` with code `invalidCursor` if the start is of another kind of paging.
  package func request(
    for start: RESTPosition.Start, after first: HTTPRequest
  ) throws(SourceError) -> HTTPRequest {
    switch (step, start) {
    case (.single, .first), (.token(_, start: nil), .first), (.link, .first): return first
    case (.page(let parameter, let number), .first), (.page(let parameter, _), .page(let number)),
      (.offset(let parameter, let number), .first),
      (.offset(let parameter, _), .offset(let number)):
      return first.setting(parameter, to: "\(number)")
    case (.token(let parameter, let token?), .first), (.token(let parameter, _), .token(let token)):
      return first.setting(parameter, to: token)
    case (.link, .link(let link)): return try request(following: link, of: first)
    case (.link, .parameters(let parameters)):
      return parameters.sorted { $0.key < $1.key }.reduce(first) {
        $0.setting(.query($1.key), to: $1.value)
      }
    case (.single, _), (.page, _), (.offset, _), (.token, _), (.link, _):
      throw .damaged("\(start)")
    }
  }

  private func request(
    following link: String, of first: HTTPRequest
  ) throws(SourceError) -> HTTPRequest {
    guard !link.isEmpty else {
      throw SourceError(
        .rejected, "the next page of \(first.endpoint) is on another host or invalid")
    }
    guard let request = first.following(storedLink: link, otherHosts: otherHosts) else {
      throw .damaged(link)
    }
    return request
  }
}

/// A parameter of a REST service.
public enum RESTParameter: Hashable, Sendable {
  case query(String)
  /// A member of the JSON body: the names that lead to it.
  case body([String])
}

/// A decoded response of a REST service.
public struct RESTResponse<Item: SourceRecord>: Sendable {
  /// The next page, as a response names it.
  public enum Continuation: Hashable, Sendable {
    case token(String)
    /// An absolute or relative URL.
    case link(String)
    /// Parameters that the next request sends too.
    case parameters([String: String])
  }

  public var records: [Item]
  public var unreadable: UnreadableRows

  /// The number of rows left out on purpose, such as those that repeat others of the page.
  public var hidden = 0

  /// The number of all records, if the service says it.
  public var total: Int?

  /// The page size that the service used, if it says so: page numbers count in it from then on.
  public var size: Int?

  /// The next page, if the response names it; `nil` at the end.
  public var next: Continuation?

  /// False if the response says that it is the last; `nil` if it does not say.
  public var hasMore: Bool?

  public var warnings: [Warning]

  /// See ``Page/changeMarks``: one for each record, or none.
  public var changeMarks: [String?] = []

  /// See ``Page/schema``.
  public var schema: RowSchema?

  /// The value where the next page is named, if it is neither a name of one nor a sign of the end.
  package var unusableNext: String?

  /// The URL of the last page, if the response names it.
  package var lastLink: String?

  /// True if a rule says that the list ends here, whatever the service says.
  var isEndedByRule = false

  public init(
    _ records: [Item], unreadable: UnreadableRows = .none, total: Int? = nil,
    next: Continuation? = nil, hasMore: Bool? = nil, warnings: [Warning] = []
  ) {
    self.warnings = warnings
    self.records = records
    self.unreadable = unreadable
    self.total = total
    self.next = next
    self.hasMore = hasMore
  }

  /// All rows of the page, those that cannot be read or are left out too.
  var rowCount: Int { records.count + unreadable.count + hidden }
}

extension HTTPRequest {
  /// This request with the value of a parameter, which replaces the one it has.
  public func setting(_ parameter: RESTParameter, to value: String) -> HTTPRequest {
    var request = self
    switch parameter {
    case .query(let name):
      request.query.removeAll { $0.name == name }
      if var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) {
        let items = (parts.queryItems ?? []).filter { $0.name != name }
        if items.count != parts.queryItems?.count ?? 0 {
          parts.queryItems = items.isEmpty ? nil : items
          request.url = parts.url ?? url
        }
      }
      request.query.append(.init(name, .plain(value)))
    case .body(let path):
      var body = self.body.flatMap { JSONText($0) }.map { JSON($0) } ?? .object([])
      body.set(path[...], to: value)
      request.body = Data(body.text.utf8)
    }
    return request
  }
}

extension JSON {
  /// Sets a member, which stays text or else may become a number, and creates the objects that lead to it.
  fileprivate mutating func set(_ path: ArraySlice<String>, to value: String) {
    guard let name = path.first else {
      let isText = if case .string = self { true } else { false }
      self = isText ? .string(value) : Int(value).map(JSON.integer) ?? .string(value)
      return
    }
    var members: [Member] = []
    if case .object(let own) = self { members = own }
    var inner = self[name] ?? .object([])
    inner.set(path.dropFirst(), to: value)
    if let index = members.firstIndex(where: { $0.name == name }) {
      members[index] = Member(name, inner)
    } else {
      members.append(Member(name, inner))
    }
    self = .object(members)
  }
}
