import AggregatorCore
public import AggregatorHTTP

extension RESTSource {
  /// Creates a source that reads every response with `decoding`, with the transport and the time of an environment.
  ///
  /// - Parameters:
  ///   - name: The name of the source.
  ///   - service: The service as errors call it; by default as the source.
  ///   - list: The request of the list, with its authentication, without parameters of the paging.
  public init(
    _ name: String, of service: String? = nil, in environment: PluginEnvironment, list: HTTPRequest,
    paging: RESTPaging, decoding: @escaping Decoding
  ) {
    self.init(
      name, of: service, list: list.limited(to: environment.maxSize),
      paging: paging.beginning(with: environment.pageParameters),
      transport: environment.transport,
      now: environment.now, decoding: decoding)
    largestPage = environment.pageSize
    partition = environment.partition
  }

  /// Creates a source from the type of a page's body, with the transport and the time of an environment.
  public init<Body: Decodable & SendableMetatype>(
    _ name: String, of service: String? = nil, in environment: PluginEnvironment, list: HTTPRequest,
    paging: RESTPaging, decoding body: Body.Type,
    page: @escaping @Sendable (Body) -> RESTResponse<Item>
  ) {
    self.init(
      name, of: service, list: list.limited(to: environment.maxSize),
      paging: paging.beginning(with: environment.pageParameters),
      transport: environment.transport,
      now: environment.now, decoding: body, page: page)
    largestPage = environment.pageSize
    partition = environment.partition
  }

  /// Creates a source whose rows are the records, with the transport and the time of an environment.
  ///
  /// ```swift
  /// RESTSource(
  ///   name, in: environment, list: HTTPRequest(.get, url),
  ///   paging: RESTPaging(.page(.query("page"), start: 1), size: (.query("limit"), 100)),
  ///   rows: "data.items", total: .header("X-Total-Count"))
  /// ```
  ///
  /// An optional property of the record is `nil` if its member is missing, null, blank, or in a form that
  /// ``Lenient`` does not read. A row without another property is left out, and counted in ``Page/unreadable``.
  ///
  /// - Parameters:
  ///   - rows: The member with the rows: the names that lead to it, with dots between them; `nil` if the response is
  ///     the array.
  ///   - total: Where the response says the number of all records.
  ///   - next: Where it says the next page: for ``RESTPaging/Step/token(_:start:)`` its token, for
  ///     ``RESTPaging/Step/link`` its URL, which by default is that of the `Link` header field.
  public init(
    _ name: String, of service: String? = nil, in environment: PluginEnvironment, list: HTTPRequest,
    paging: RESTPaging, rows: String? = nil, total: RESTResponsePart? = nil,
    next: RESTResponsePart? = nil
  ) {
    let parts = RESTResponseParts(rows: rows, total: total, next: next)
    self.init(name, of: service, in: environment, list: list, paging: paging) {
      response, _ throws(SourceError) in
      try response.page(parts, step: paging.step, by: service ?? name)
    }
    self.rows = parts.rows
  }
}

extension RESTPaging {
  /// This paging with the page size and the first page that parameters of a request name.
  fileprivate func beginning(with parameters: [String: Int]) -> RESTPaging {
    var paging = self
    if case (.query(let name), let known)? = size, let rows = parameters[name], rows > 0 {
      paging.size?.rows = rows
      // The service may send fewer rows in a page than it is asked for.
      if rows > known { paging.confirmsEnd = true }
    }
    switch step {
    case .page(.query(let name), let start), .offset(.query(let name), let start):
      paging.begin = parameters[name].flatMap { $0 > start ? $0 : nil }
    case .page, .offset, .single, .token, .link: break
    }
    // What is deeper, the service itself refuses.
    if paging.begin != nil { paging.deepest = nil }
    return paging
  }
}

extension HTTPRequest {
  /// This request with another limit of its response; `nil` to leave it as it is.
  fileprivate func limited(to bytes: Int?) -> HTTPRequest {
    var request = self
    if let bytes { request.limits.bodyBytes = bytes }
    return request
  }
}
