import AggregatorCore
import AggregatorFoundation
import AggregatorText

/// The validators of the response that a page was read from (RFC 9110, section 8.8), by which the service says that a
/// later one would be the same.
struct PageValidators: Equatable {
  /// A digest of the request, with all that decides which records are read from the response.
  private let scope: String
  private let tag: String?
  private let modified: String?
  /// Digests of the header fields that do not differ each time.
  private let fields: Set<String>
  /// Those of fields that may be about the list, such as the number of all records: the body may be the same without them.
  private let listFields: Set<String>

  /// The validators of a response; `nil` if there are none by which a later response is known to be the same.
  ///
  /// A date counts only if it is strong (section 8.8.2.2): within one second a list may change twice.
  init?(_ response: HTTPResponse, to request: HTTPRequest, from seed: UInt64) {
    let varies = response.headers.contains { $0.name == "vary" && $0.value.contains("*") }
    tag = response.header("etag").flatMap { $0.isEntityTag ? $0 : nil }
    modified = response.strongModificationDate
    guard response.status == 200, !varies, tag != nil || modified != nil,
      let scope = request.validatorScope(seed)
    else { return nil }
    self.scope = scope
    fields = response.fieldDigests()
    listFields = response.fieldDigests(ofListOnly: true)
  }

  /// Validators as ``text``; `nil` if they are those of another request.
  init?(_ text: String?, of request: HTTPRequest, from seed: UInt64) {
    guard
      let lines = text?.split(separator: "\n", omittingEmptySubsequences: false).map(String.init),
      lines.count == 5, lines[0] == request.validatorScope(seed)
    else { return nil }
    scope = lines[0]
    (tag, modified) = (lines[1].nonBlank, lines[2].nonBlank)
    fields = Set(lines[3].split(separator: " ").map(String.init))
    listFields = Set(lines[4].split(separator: " ").map(String.init))
  }

  /// The form in which they are stored; header fields have one line.
  var text: String {
    let fields = [fields, listFields].map { $0.sorted().joined(separator: " ") }
    return ([scope, tag ?? "", modified ?? ""] + fields).joined(separator: "\n")
  }

  /// The request, to be answered by 304 if the response would be the same.
  func conditional(_ request: HTTPRequest) -> HTTPRequest {
    var request = request
    if let tag { request.headers.append(.init("If-None-Match", .plain(tag))) }
    if let modified { request.headers.append(.init("If-Modified-Since", .plain(modified))) }
    return request
  }

  /// True if a response with status 304 says nothing else than that the response would be the same.
  ///
  /// The validators that it names are those of the present version, and its other fields must be those that were sent
  /// with the page. Most may be left out, but not those about the list.
  func areConfirmed(by response: HTTPResponse) -> Bool {
    let sent = response.fieldDigests()
    guard sent.isSubset(of: fields), listFields.isSubset(of: sent) else { return false }
    if let tag, let current = response.header("etag") { return current.isWeaklyEqual(to: tag) }
    return [nil, modified].contains(response.header("last-modified"))
  }
}

extension HTTPRequest {
  /// The names of the fields that make a request conditional.
  private static let conditions: Set<String> = ["if-none-match", "if-modified-since"]

  /// A digest of what the page of a list is asked by, without secrets and header fields.
  var digest: UInt64 {
    (body ?? Data()).withUnsafeBytes { $0.fnv1a(from: "\(method) \(shownAddress)".fnv1a) }
  }

  /// The request without conditions, to which the response has all of the page.
  var unconditional: HTTPRequest {
    var request = self
    request.headers.removeAll { Self.conditions.contains($0.name.lowercased()) }
    return request
  }

  /// See ``PageValidators``; `nil` for a request that must not be conditional.
  fileprivate func validatorScope(_ seed: UInt64) -> String? {
    guard method == .get, unconditional.headers.count == headers.count else { return nil }
    let fields = headers.flatMap { [$0.name, $0.value.shown] }
    return String((["\(seed) \(digest)"] + fields).joined(separator: "\0").fnv1a, radix: 36)
  }
}

extension HTTPResponse {
  /// Header fields that differ from one response to the next, and that say nothing of the records.
  private static let volatileHeaders: Set<String> = [
    "age", "cf-ray", "date", "etag", "expires", "last-modified", "ratelimit-remaining",
    "ratelimit-reset", "request-id", "server-timing", "set-cookie", "via", "x-cache",
    "x-cache-hits", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-used",
    "x-request-id", "x-response-time", "x-runtime", "x-served-by", "x-timer",
  ]

  /// Header fields of a connection or a message, which a response without a body has otherwise.
  private static let messageHeaders: Set<String> = [
    "accept-ranges", "connection", "content-length", "keep-alive", "transfer-encoding",
  ]

  /// Parts of the names of header fields in which services send totals and next pages.
  private static let listWords = [
    "link", "pag", "total", "count", "range", "next", "cursor", "more", "record", "result", "item",
  ]

  /// The digests of the response to a request; that of the response begins with those of `seed` and the request.
  func digest(to request: HTTPRequest, from seed: UInt64) -> PageDigest {
    let asked = request.digest
    var parts = ["\(seed) \(asked) \(status) \(body.count)"]
    for (name, value) in headers where !Self.volatileHeaders.contains(name) {
      parts += [name, value]
    }
    let head = parts.joined(separator: "\0").fnv1a
    return PageDigest(request: asked, response: body.withUnsafeBytes { $0.fnv1a(from: head) })
  }

  /// Digests of 32 bits of the header fields by which two responses can be compared.
  fileprivate func fieldDigests(ofListOnly: Bool = false) -> Set<String> {
    var digests: Set<String> = []
    for (name, value) in headers
    where !Self.volatileHeaders.contains(name) && !Self.messageHeaders.contains(name)
      && (!ofListOnly || Self.listWords.contains { name.contains($0) })
    {
      digests.insert(String("\(name)\0\(value)".fnv1a >> 32, radix: 36))
    }
    return digests
  }
}

extension String {
  /// True for an entity tag, weak or not, of characters that can be sent.
  fileprivate var isEntityTag: Bool {
    let opaque = withoutWeakness.utf8
    return 2...1024 ~= opaque.count && opaque.first == 0x22 && opaque.last == 0x22
      && opaque.dropFirst().dropLast().allSatisfy { 0x21...0x7E ~= $0 && $0 != 0x22 }
  }

  /// The weak comparison of entity tags (RFC 9110, section 8.8.3.2).
  fileprivate func isWeaklyEqual(to other: String) -> Bool {
    withoutWeakness == other.withoutWeakness
  }

  private var withoutWeakness: Substring { trimmingPrefix("W/") }
}
