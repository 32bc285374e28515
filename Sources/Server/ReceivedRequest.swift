import AggregatorCore

struct ReceivedRequest {
  /// A body that is too large is read and discarded up to this many times the limit, so that the client has time
  /// to read the response.
  private static let discardFactor = 16

  var method = ""
  var target = ""
  var client = ""
  var headers: [ServerRequest.Parameter] = []
  var body: [UInt8] = []
  var discardedBytes = 0

  /// A refusal that need not wait for the body.
  func refusal(ofHead count: Int, _ limits: ServerLimits) -> RequestRefusal? {
    if !limits.allowsHead(of: count, fields: headers.count) { return .headTooLarge }
    guard hasClearEnd else { return .unclearEnd }
    guard let count = values(of: Self.lengthField).first.flatMap({ Int($0) }) else { return nil }
    return count > limits.bodyBytes * Self.discardFactor ? .bodyTooLarge : nil
  }

  private static let lengthField = "content-length"
  private static let encodingField = "transfer-encoding"

  /// True if every reader finds the same end of the request (RFC 9112, sections 5.1, 5.2 and 6.3).
  ///
  /// A proxy before the server may find another one than libmicrohttpd, and take a part of the body for a request
  /// of somebody else.
  private var hasClearEnd: Bool {
    for name in headers.map({ $0.name.lowercased() }) {
      if name.contains(where: \.isWhitespace) { return false }
      // libmicrohttpd 0.9.75 appends the second line of a field to the name.
      let isFolded = [Self.lengthField, Self.encodingField].contains {
        name.hasPrefix($0) && name != $0
      }
      if isFolded { return false }
    }
    // Which of several counts may differ (RFC 9112, section 3.2).
    if values(of: "host").count > 1 { return false }
    let lengths = values(of: Self.lengthField)
    let encodings = values(of: Self.encodingField)
    return encodings.isEmpty
      ? Set(lengths).count <= 1
      : lengths.isEmpty && encodings.map { $0.lowercased() } == ["chunked"]
  }

  private func values(of name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name }.map(\.value)
  }

  /// Returns false if the client sends much more than it may.
  mutating func append(_ bytes: UnsafeRawBufferPointer, _ limits: ServerLimits) -> Bool {
    if discardedBytes == 0, body.count + bytes.count <= limits.bodyBytes {
      body += bytes
    } else {
      discardedBytes += body.count + bytes.count
      body = []
    }
    return discardedBytes <= limits.bodyBytes * Self.discardFactor
  }

  var head: ServerRequest {
    ServerRequest(method: method, headers: headers, client: client)
  }

  /// The request, with `GET` for `HEAD`, whose responses differ only in their missing body.
  func parsed() throws(RequestRefusal) -> ServerRequest {
    if discardedBytes > 0 { throw .bodyTooLarge }
    guard
      var request = ServerRequest(
        method == "HEAD" ? "GET" : method, target: target, client: client)
    else { throw .invalidTarget }
    request.headers = headers
    request.body = body
    return request
  }
}

/// A request that the server refuses before its handler sees it.
package struct RequestRefusal: Error, Hashable, Sendable {
  package let status: Int

  package let code: String

  package let message: String

  /// The time to wait before a retry, in seconds.
  package var retryAfter: Int?

  static let invalidTarget = RequestRefusal(
    status: 400, code: "invalidRequest",
    message: "invalid path or query: must be percent-encoded UTF-8")

  static let unclearEnd = RequestRefusal(
    status: 400, code: "invalidRequest",
    message: "invalid header fields: the end of the request is unclear, or a name contains a space")

  static let bodyTooLarge = RequestRefusal(
    status: 413, code: "bodyTooLarge", message: "the body is too large")

  static let headTooLarge = RequestRefusal(
    status: 431, code: "headTooLarge", message: "the address and the header fields are too large")

  static let tooManyStreams = RequestRefusal(
    status: 503, code: "busy", message: "too many event streams", retryAfter: 10)

  var response: ServerResponse {
    var response = ServerResponse(
      status, "text/plain; charset=utf-8", Array("\(message)\n".utf8))
    if let retryAfter { response.set("Retry-After", "\(retryAfter)") }
    return response
  }
}
