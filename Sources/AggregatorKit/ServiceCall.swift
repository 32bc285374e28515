package import AggregatorCore
import AggregatorFoundation
package import AggregatorHTTP
package import AggregatorSettings
import Synchronization

/// A request to the service of a source that is none of the source's own.
package struct ServiceCall: Sendable {
  package var method: HTTPRequest.Method
  package var url: URL
  package var query: [HTTPRequest.Item] = []
  package var headers: [HTTPRequest.Item] = []
  package var body: Data?

  /// True to request a page of the source's list as the source does, with its parameters, if the call is one for a page of it:
  /// the page size and the place that the call names take the place of the source's.
  package var followsPaging = false

  /// The page of the list to request, from ``ServicePage/next``; `nil` for the first.
  package var cursor: PageCursor?

  /// Receives each request before it is sent.
  package var willSend: @Sendable (HTTPRequest) -> Void = { _ in }

  package init(_ method: HTTPRequest.Method, _ url: URL) {
    self.method = method
    self.url = url
  }

  /// This call without credentials.
  fileprivate var unsigned: HTTPRequest {
    HTTPRequest(method, url, query: query, headers: headers, body: body)
  }

  /// This call with the credentials, the header fields and the limits of a request of the source.
  fileprivate func signed(like own: HTTPRequest) -> HTTPRequest {
    var request = HTTPRequest(method, url, query: query, body: body, limits: own.limits)
    request.query += own.query.filter { if case .secret = $0.value { true } else { false } }
    request.headers = fields(beside: own)
    request.otherSecrets = own.otherSecrets
    return request
  }

  /// A request of the source for a page of its list, with the parameters and the header fields of this call, too.
  ///
  /// - Returns: `nil` if this call is for something else, or has another value of a parameter that the source sends.
  fileprivate func page(like own: HTTPRequest) -> HTTPRequest? {
    guard followsPaging, method == .get, own.method == .get,
      // The pages of a file are none of the service.
      !own.query.contains(where: { .query($0.name) == FilePages.parameter })
    else { return nil }
    guard Address(own.url)?.authority == Address(url)?.authority else {
      // Where the list goes on at another host, that gets nothing of this call.
      return cursor == nil ? nil : own
    }
    guard cursor != nil || own.endpoint == unsigned.endpoint else { return nil }
    var request = own
    let known = own.parameters
    for item in unsigned.parameters {
      guard let same = known.first(where: { $0.name == item.name }) else {
        request.query.append(item)
        continue
      }
      // Later pages have other places than the first.
      guard cursor != nil || same.plainText == item.plainText else { return nil }
    }
    request.headers = fields(beside: own)
    return request
  }

  /// The numbers that lists know as page sizes and places.
  fileprivate var numbers: [String: Int] {
    guard followsPaging else { return [:] }
    return unsigned.parameters.reduce(into: [:]) { numbers, item in
      let number = item.plainText.flatMap { Int($0) }
      numbers[item.name] = number.flatMap { 0...1_000_000_000 ~= $0 ? $0 : nil }
    }
  }

  /// The header fields of this call, and those of a request of the source that it does not replace.
  private func fields(beside own: HTTPRequest) -> [HTTPRequest.Item] {
    let names = Set(headers.map { $0.name.lowercased() } + ["content-type"])
    return headers + own.headers.filter { !names.contains($0.name.lowercased()) }
  }
}

extension HTTPRequest {
  /// The items of the query, also those in the URL.
  fileprivate var parameters: [Item] {
    let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    return parts.map { Item($0.name, .plain(($0.value ?? "").replacing("+", with: " "))) } + query
  }
}

extension HTTPRequest.Item {
  /// The value; `nil` for a secret.
  fileprivate var plainText: String? { if case .plain(let text) = value { text } else { nil } }
}

/// The end of a ``ServiceCall``.
package struct ServiceReply: Sendable {
  /// The last response, whatever its status; `nil` if there was none.
  package let response: HTTPResponse?

  /// The failure, also that which the status of the response reports, or its body by a rule of the source or by GraphQL.
  package let error: SourceError?

  /// A failure that the body alone reports, and that has nothing else; `nil` for none.
  package let remark: String?

  /// The source's own reading of the response; `nil` if that is no page of its list.
  package let page: ServicePage?
}

/// A response as a page of the list of a source.
package struct ServicePage: Sendable {
  /// True if the page was requested as the source does, so that it knows the next one.
  package let isFollowed: Bool

  /// The next page; `nil` at the end, or if the source does not know it.
  package let next: PageCursor?

  /// The number of records that the source has read.
  package let count: Int

  /// True if the page has no records, also none that cannot be read.
  package let isEmpty: Bool

  /// The number of all records, if the service says it.
  package let total: Int?

  package let warnings: [Warning]
}

extension Plugin {
  /// The URL below which the service has its resources: the setting of this source, ``Plugin/resourceBase``, or the host
  /// of its service.
  ///
  /// - Throws: ``SourceError``: `invalidSettings`, or `unsupported` for a source without a URL.
  package func serviceBase(in settings: SourceSettings) throws(SourceError) -> URL {
    if let url = try urls(in: settings).first ?? resourceBase { return url }
    guard let address = serviceURLs.first.flatMap({ Address($0) }),
      let url = URL(string: "\(address.scheme)://\(address.authority)/")
    else { throw SourceError(.unsupported, "no URL is known") }
    return url
  }

  /// The URL of a call: a path below ``serviceBase(in:)``, or another http(s) URL.
  ///
  /// An empty path, or a query alone, names the URL of an added source itself, as references do (RFC 3986, section 5.2.2),
  /// unless that is a pattern of several.
  ///
  /// - Throws: ``SourceError``: as ``serviceBase(in:)``, or `invalidRequest`.
  package func resource(_ text: String, in settings: SourceSettings) throws(SourceError) -> URL {
    let base = try serviceBase(in: settings)
    guard text.isEmpty || text.hasPrefix("?"), let own = serviceURLs.first, !own.path().isPattern
    else { return try base.resource(text) }
    // Secrets, which are those of the call anyway, and the places of pages are left out.
    let query = (own.query() ?? "").split(separator: "&").filter { !String($0).isPattern }
    return try own.resource(
      text.isEmpty && !query.isEmpty ? "?\(query.joined(separator: "&"))" : text)
  }

  /// True if a call gets the credentials of this source: it goes to the scheme, host and port of its service.
  package func signs(_ url: URL, in settings: SourceSettings) throws(SourceError) -> Bool {
    let base = Address(try serviceBase(in: settings))
    let address = Address(url)
    return base != nil && base?.scheme == address?.scheme
      && base?.authority == address?.authority
  }

  /// Sends a call as this source sends its own requests.
  ///
  /// It has the source's credentials, header fields, rate limit, circuit breaker and deadline. Only a GET is retried. A call
  /// to another host is sent once, without any of these.
  package func send(
    _ call: ServiceCall, in environment: PluginEnvironment, cachePolicy: CachePolicy,
    deadline: Duration?
  ) async -> ServiceReply {
    let last = LastResponse()
    let result = await Result { () async throws(SourceError) in
      guard try signs(call.url, in: environment.settings) else {
        return try await sendUnsigned(call, in: environment, last)
      }
      let once = RetryPolicy(
        attempts: 1, firstWait: policy.retry.firstWait, maxWait: policy.retry.maxWait)
      let calls = try resilient(
        in: environment, deadline, retry: call.method == .get ? nil : once
      ) { environment throws(SourceError) in
        let environment = partitions == nil ? environment : environment.reading(.sample)
        // Missing settings are found now.
        _ = try remote(in: environment)
        return CallingSource<Item> { () async throws(SourceError) in
          try await sendSigned(call, in: environment, last)
        }
      }
      let request = PageRequest(limit: 1, cachePolicy: cachePolicy)
      _ = try await calls.observed(by: environment.observer, as: name).page(request)
    }
    return ServiceReply(
      response: last.value, error: result.failure, remark: last.remark, page: last.page)
  }

  /// The request that ``send(_:in:cachePolicy:deadline:)`` would send, without sending it; a source that signs in may
  /// request a token.
  package func request(
    for call: ServiceCall, in environment: PluginEnvironment
  ) async throws(SourceError) -> HTTPRequest {
    guard try signs(call.url, in: environment.settings) else {
      return call.unsigned
    }
    let transport = SubstitutingTransport(base: nil, call: call, last: LastResponse())
    let result = await page(through: transport, in: environment)
    guard let request = transport.request else {
      throw result.failure ?? SourceError(.unsupported, "no requests are sent")
    }
    return request
  }

  private func sendSigned(
    _ call: ServiceCall, in environment: PluginEnvironment, _ last: LastResponse
  ) async throws(SourceError) {
    let transport = SubstitutingTransport(base: environment.transport, call: call, last: last)
    (last.value, last.page, last.remark) = (nil, nil, nil)
    let result = await page(through: transport, in: environment)
    let failure = result.failure
    if case .success(let page) = result {
      last.page = ServicePage(
        isFollowed: transport.isFollowed, next: transport.isFollowed ? page.next : nil,
        count: page.records.count,
        isEmpty: page.records.count + page.hidden + page.unreadable.count == 0,
        total: page.total, warnings: page.warnings)
      // A status of 404 may be the end of a list, but is an error of a page that was asked for.
      if transport.isFollowed, call.cursor != nil || call.numbers.isEmpty { return }
    } else if let failure, call.cursor != nil {
      throw failure
    }
    guard let response = last.value else {
      throw failure ?? SourceError(.unsupported, "no requests are sent")
    }
    if let failure, [.invalidKey, .cancelled].contains(failure.code) { throw failure }
    _ = try response.checked(
      by: Address(call.url)?.authority ?? name,
      wantsKey: !secrets(in: environment.settings).isEmpty, now: environment.now())
    // An error in the source's own terms, whatever the status; it is none that the response has none of its records.
    if let failure, [.rateLimited, .rejected, .serverError].contains(failure.code) {
      // What is no page of the list may be a record that has failed itself, as a job has.
      guard let reported = failure.cause as? ReportedFailure, !reported.isGraphQL else {
        throw failure
      }
      if reported.isWhole { last.remark = failure.message }
    }
  }

  /// Reads a page, whose requests the transport replaces.
  private func page(
    through transport: SubstitutingTransport, in environment: PluginEnvironment
  ) async -> Result<Page<Item>, SourceError> {
    var environment = environment
    environment.transport = transport
    let call = transport.call
    environment.pageParameters = call.numbers
    // The page of the service as a whole, where it is a page of the list.
    let request = PageRequest(
      after: call.cursor, limit: call.followsPaging ? 1_000_000 : 1, cachePolicy: .liveOnly)
    return await Result { [environment] () async throws(SourceError) in
      try await remote(in: environment).page(request)
    }
  }

  private func sendUnsigned(
    _ call: ServiceCall, in environment: PluginEnvironment, _ last: LastResponse
  ) async throws(SourceError) {
    var request = call.unsigned
    if let bytes = environment.maxSize { request.limits.bodyBytes = bytes }
    call.willSend(request)
    let response = try await environment.transport.send(request)
    last.value = response
    _ = try response.checked(by: Address(call.url)?.authority ?? name, now: environment.now())
  }
}

extension String {
  /// True for a part of a URL with a place for a value: `{page}` or `${KEY}`.
  package var isPattern: Bool { firstMatch(of: /\{|%7B/) != nil }
}

private final class LastResponse: Sendable {
  private let content = Mutex<(response: HTTPResponse?, page: ServicePage?, remark: String?)>(
    (nil, nil, nil))

  var value: HTTPResponse? {
    get { content.withLock(\.response) }
    set { content.withLock { $0.response = newValue } }
  }

  var page: ServicePage? {
    get { content.withLock(\.page) }
    set { content.withLock { $0.page = newValue } }
  }

  var remark: String? {
    get { content.withLock(\.remark) }
    set { content.withLock { $0.remark = newValue } }
  }
}

/// Sends a call, signed as a request of a source, in the place of that request.
private final class SubstitutingTransport: Transport {
  let call: ServiceCall
  private let base: (any Transport)?
  private let last: LastResponse
  private let sent = Mutex<(request: HTTPRequest?, isFollowed: Bool)>((nil, false))

  /// - Parameter base: `nil` to send nothing.
  init(base: (any Transport)?, call: ServiceCall, last: LastResponse) {
    self.base = base
    self.call = call
    self.last = last
  }

  /// The call as a request; `nil` before it is sent.
  var request: HTTPRequest? { sent.withLock(\.request) }

  /// True if the call was sent as a page of the source's list.
  var isFollowed: Bool { sent.withLock(\.isFollowed) }

  func send(_ own: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    // Once more only with a new token.
    if let response = last.value, response.status != 401 || call.method != .get {
      throw SourceError(.unsupported, "one request is sent")
    }
    let page = call.page(like: own)
    guard page != nil || call.cursor == nil else {
      throw SourceError(.unsupported, "the next page is not requested like the first")
    }
    let request = page ?? call.signed(like: own)
    sent.withLock { $0 = (request, page != nil) }
    guard let base else { throw SourceError(.unsupported, "no request is sent") }
    call.willSend(request)
    let response = try await base.send(request)
    last.value = response
    return response
  }
}

/// A source without records, each page of which is a call.
private struct CallingSource<Item: SourceRecord>: DataSource {
  let call: @Sendable () async throws(SourceError) -> Void

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    try await call()
    return Page([], provenance: Provenance(.live))
  }

  func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    throw SourceError(.unsupported, "no lookups")
  }
}

// MARK: - Bodies

extension ServiceCall {
  /// A value with another one below it, or at its place if there is none; `nil` if another one is there.
  ///
  /// - Parameter keys: Names of members, of which an empty one is the next element of a list.
  package static func adding(
    _ value: JSON, at keys: ArraySlice<Substring>, to old: JSON?
  ) -> JSON? {
    guard let key = keys.first else {
      // A `nil` beside a value would be JSON's null.
      guard case .none = old else { return .none }
      return value
    }
    let rest = keys.dropFirst()
    if key.isEmpty {
      guard var elements = old.map(\.array) ?? [] else { return .none }
      // As in gh: `a[][b]=1 a[][c]=2` is one element, until a member repeats.
      if !rest.isEmpty, let last = elements.last, let more = adding(value, at: rest, to: last) {
        elements[elements.count - 1] = more
      } else if let element = adding(value, at: rest, to: .none) {
        elements.append(element)
      }
      return .array(elements)
    }
    guard old?.isObject ?? true else { return .none }
    var members = old?.members ?? []
    let index = members.firstIndex { $0.name == key } ?? members.endIndex
    var present: JSON? = .none
    if index < members.endIndex { present = members.remove(at: index).value }
    guard let inner = adding(value, at: rest, to: present) else { return .none }
    members.insert(JSON.Member(String(key), inner), at: index)
    return .object(members)
  }
}
