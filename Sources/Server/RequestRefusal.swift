/// A request that the server refuses before its handler sees it.
package struct RequestRefusal: Error, Hashable, Sendable {
  package let status: Int

  /// The kind of error, such as `headTooLarge`.
  package let code: String

  package let message: String

  /// The time to wait before a retry, in seconds.
  package var retryAfter: Int?

  private init(_ status: Int, _ code: String, _ message: String) {
    self.status = status
    self.code = code
    self.message = message
  }

  static let invalidTarget = RequestRefusal(
    400, "invalidRequest", "invalid path or query: must be percent-encoded UTF-8")

  static let unclearEnd = RequestRefusal(
    400, "invalidRequest",
    "invalid header fields: the end of the request is unclear, or a name contains a space")

  static let bodyTooLarge = RequestRefusal(413, "bodyTooLarge", "the body is too large")

  static let headTooLarge = RequestRefusal(
    431, "headTooLarge", "the address and the header fields are too large")

  static let tooManyStreams = {
    var refusal = RequestRefusal(503, "busy", "too many event streams")
    refusal.retryAfter = 10
    return refusal
  }()

  /// The refusal as plain text.
  var response: ServerResponse {
    var response = ServerResponse(
      status, "text/plain; charset=utf-8", Array("\(message)\n".utf8))
    if let retryAfter { response.set("Retry-After", "\(retryAfter)") }
    return response
  }
}
