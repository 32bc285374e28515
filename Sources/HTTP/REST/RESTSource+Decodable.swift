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
    let service = service
    return item(at: itemRequest(below: url)) { response, _ throws(SourceError) in
      record(try response.decoded(as: row, by: service))
    }
  }
}

extension RESTSource {
  /// The same source with single records, each at `url` and its ID, requested with the list's header fields and
  /// secrets.
  ///
  /// - Parameter member: The member with the record: the names that lead to it, with dots between them; `nil` if the
  ///   response is the record.
  public func item(below url: URL, at member: String? = nil) -> RESTSource {
    item(at: itemRequest(below: url), decoding: itemDecoding(at: member))
  }

  /// The same source with single records, each the list with the ID in a parameter.
  ///
  /// - Parameter member: The member with the record; `nil` if the response is a list in which it is.
  public func item(by parameter: RESTParameter, at member: String? = nil) -> RESTSource {
    let (list, decoding, service) = (list, decoding, service)
    let request = { @Sendable (id: Item.ID) in list.setting(parameter, to: id.description) }
    guard member == nil else { return item(at: request, decoding: itemDecoding(at: member)) }
    return item(at: request) { response, id throws(SourceError) in
      let page = try decoding(response, RESTPosition())
      if let record = page.records.first(where: { $0.id == id }) { return record }
      // The record may be the row that cannot be read.
      if let reason = page.unreadable.firstReason {
        throw SourceError(.malformed, "\(service) sent a record that cannot be read: \(reason)")
      }
      return nil
    }
  }

  /// The same source with single records, each in the response to a request of its own.
  ///
  /// - Parameters:
  ///   - member: The member with the record; `nil` if the response is the record.
  ///   - request: Returns `nil` for an ID that no record can have.
  public func item(
    at member: String? = nil, _ request: @escaping @Sendable (Item.ID) -> HTTPRequest?
  ) -> RESTSource {
    item(at: request, decoding: itemDecoding(at: member))
  }

  private func itemDecoding(
    at member: String?
  ) -> @Sendable (HTTPResponse, Item.ID) throws(SourceError) -> Item? {
    let (service, path) = (service, member.names)
    return { response, _ throws(SourceError) in
      try response.json(by: service, isLenient: true).read(at: path, by: service)
    }
  }

  /// The request of a single record, each at `url` and its ID.
  private func itemRequest(below url: URL) -> @Sendable (Item.ID) -> HTTPRequest? {
    let list = list
    let folder = url.absoluteString.replacing(/\/$/, with: "")
    return { id in
      // `.` and `..` would request another URL.
      guard let text = id.description.nonBlank, text != ".", text != "..",
        let url = URL(string: "\(folder)/\(text.percentEncoded)")
      else { return nil }
      return HTTPRequest(
        .get, url, query: list.query.filter(\.isSecret), headers: list.headers, limits: list.limits)
    }
  }
}

/// Where a response of a REST service says something.
public enum RESTResponsePart: Hashable, Sendable {
  /// A member of the JSON body: the names that lead to it, with dots between them.
  case member(String)
  /// A header field; of a total, see ``HTTPResponse/total(inField:)``.
  case header(String)
}

/// The parts of a response whose rows are records.
package struct RESTResponseParts: Sendable {
  package let rows: [String]
  let total: RESTResponsePart?
  let next: RESTResponsePart?

  package init(rows: String?, total: RESTResponsePart?, next: RESTResponsePart?) {
    self.rows = rows.names
    self.total = total
    self.next = next
  }
}

extension String? {
  /// The names of members in a text with dots between them.
  fileprivate var names: [String] { self?.split(separator: ".").map(String.init) ?? [] }
}

extension HTTPResponse {
  /// Reads a page whose rows are the records.
  package func page<Item: SourceRecord>(
    _ parts: RESTResponseParts, step: RESTPaging.Step, by service: String
  ) throws(SourceError) -> RESTResponse<Item> {
    let json = try json(by: service, isLenient: true)
    let rows: LossyArray<Item> = try json.read(at: parts.rows, by: service)
    let next = parts.next.flatMap { text(of: $0, in: json) }
    let continuation: RESTResponse<Item>.Continuation?
    if case .link = step {
      continuation = (next ?? nextLink).map { .link($0) }
    } else {
      continuation = next.map { .token($0) }
    }
    let total = parts.total.flatMap { part in
      if case .header(let name) = part { return self.total(inField: name) }
      return text(of: part, in: json).flatMap { Int($0) }
    }
    let count = step == .single ? rows.elements.count : nil
    return RESTResponse(
      rows, total: total.flatMap { $0 < 0 ? nil : $0 } ?? count, next: continuation)
  }

  private func text(of part: RESTResponsePart, in json: JSONText) -> String? {
    switch part {
    case .header(let name): header(name)
    case .member(let path):
      (try? json.read(Lenient<String>.self, at: Optional(path).names))?.wrappedValue
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

extension RESTResponse {
  /// Creates a response whose rows are the records, for a response that code takes apart; a blank token or link is the
  /// end.
  ///
  /// - Throws: ``SourceError`` with code `malformed` if far too many rows are not records.
  public init(
    reading rows: [JSON], total: Int? = nil, next: Continuation? = nil, hasMore: Bool? = nil
  ) throws(SourceError) {
    guard let text = JSONText(Data(JSON.array(rows).text.utf8), isLenient: true) else {
      throw SourceError(.malformed, "the rows are nested too deeply")
    }
    self.init(try text.read(by: "the service"), total: total, next: next, hasMore: hasMore)
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
