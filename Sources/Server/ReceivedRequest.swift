import AggregatorCore

/// A request as far as it has arrived.
struct ReceivedRequest {
  /// A body that is too large is read and discarded up to this many times the limit, so that the client has time
  /// to read the response.
  private static let discardFactor = 16

  var method = ""
  var target = ""
  var client = ""
  var headers: [ServerRequest.Parameter] = []
  private var body: [UInt8] = []
  private var discardedBytes = 0

  init(target: String = "", client: String = "") {
    self.target = target
    self.client = client
  }

  /// A refusal that need not wait for the body.
  func refusal(ofHead count: Int, _ limits: ServerLimits) -> RequestRefusal? {
    if !limits.allowsHead(of: count, fields: headers.count) { return .headTooLarge }
    let length = headers.first { $0.name.lowercased() == "content-length" }
    guard let length, let count = Int(length.value) else { return nil }
    return count > limits.bodyBytes * Self.discardFactor ? .bodyTooLarge : nil
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

  mutating func dropBody() { body = [] }

  /// The request without its target and its body.
  var head: ServerRequest {
    ServerRequest(method, rawPath: "", path: [], headers: headers, client: client)
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
