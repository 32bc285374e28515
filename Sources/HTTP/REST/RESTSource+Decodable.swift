public import AggregatorCore
public import AggregatorFoundation
import AggregatorText

extension RESTSource {
  /// Creates a source from the type of a page's body.
  ///
  /// With ``RESTPaging/Step/link``, the `Link` header field is followed if `page` names no next page.
  public init<Body: Decodable & SendableMetatype>(
    _ name: String, of service: String? = nil, list: HTTPRequest, paging: RESTPaging,
    transport: any Transport, now: @escaping @Sendable () -> Date, decoding body: Body.Type,
    page: @escaping @Sendable (Body) -> RESTResponse<Item>
  ) {
    self.init(name, of: service, list: list, paging: paging, transport: transport, now: now) {
      response, _ throws(SourceError) in
      var reply = page(try response.decoded(as: body, by: service ?? name))
      if paging.step == .link, reply.next == nil {
        reply.next = response.nextLink.map { .link($0) }
      }
      return reply
    }
  }

  /// The same source with a search of the service: the list with the words in a parameter.
  public func searching(by parameter: RESTParameter) -> RESTSource {
    let list = list
    return searching { list.setting(parameter, to: $0.text) }
  }

  /// The same source with single records, each at `url` and its ID, requested with the list's header fields
  /// and secrets.
  ///
  /// - Parameter record: Returns `nil` if the response says that the record does not exist.
  public func item<Row: Decodable & SendableMetatype>(
    below url: URL, decoding row: Row.Type, record: @escaping @Sendable (Row) -> Item?
  ) -> RESTSource {
    let (service, list) = (service, list)
    let folder = url.absoluteString.replacing(/\/$/, with: "")
    return item { id in
      // `.` and `..` would request another URL.
      guard let text = id.description.nonBlank, text != ".", text != "..",
        let url = URL(string: "\(folder)/\(text.percentEncoded)")
      else { return nil }
      return HTTPRequest(
        .get, url, query: list.query.filter(\.isSecret), headers: list.headers, limits: list.limits)
    } decoding: { response, _ throws(SourceError) in
      record(try response.decoded(as: row, by: service))
    }
  }
}

extension RESTResponse {
  /// Creates a response from decoded rows; a blank token or link is the end.
  public init<Row>(
    _ rows: LossyArray<Row>, total: Int? = nil, next: Continuation? = nil, hasMore: Bool? = nil,
    record: (Row) -> Item
  ) {
    self.init(
      rows.elements.map(record), unreadable: rows.unreadable, total: total,
      next: next?.isBlank == true ? nil : next, hasMore: hasMore)
  }

  /// Creates a response whose rows are the records; a blank token or link is the end.
  public init(
    _ rows: LossyArray<Item>, total: Int? = nil, next: Continuation? = nil, hasMore: Bool? = nil
  ) {
    self.init(rows, total: total, next: next, hasMore: hasMore) { $0 }
  }
}

extension RESTResponse.Continuation {
  fileprivate var isBlank: Bool {
    switch self {
    case .token(let text), .link(let text): text.nonBlank == nil
    case .parameters(let parameters): parameters.isEmpty
    }
  }
}

extension HTTPRequest {
  /// Creates a `POST` request with a JSON body.
  public init(posting body: JSON, to url: URL, headers: [Item] = []) {
    let type = Item("Content-Type", "application/json")
    self.init(.post, url, headers: headers + [type], body: Data(body.text.utf8))
  }
}

extension HTTPRequest.Item {
  /// The header field `Authorization: Bearer …`.
  public static func bearer(_ token: Secret) -> HTTPRequest.Item {
    .init("Authorization", .secret(Secret(prefix: "Bearer ", token)))
  }
}
