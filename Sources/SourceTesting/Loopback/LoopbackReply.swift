public import Foundation

/// What a ``LoopbackServer`` does with a request: replies, and every fault that a network can show.
public struct LoopbackReply: Sendable {
  /// One thing to do on the connection.
  enum Step: Sendable {
    /// Sends bytes, so many times; `nil` for ever.
    case send(Data, times: Int? = 1)
    /// Waits.
    case wait(Duration)
    /// Waits until the client leaves or the server stops.
    case stall
    /// Closes the connection.
    case close
    /// Closes the connection with RST instead of FIN.
    case reset
  }

  var steps: [Step]

  /// The same reply, later.
  ///
  /// - Parameter latency: How long the server waits before it begins.
  /// - Returns: The reply with the wait in front.
  public func after(_ latency: Duration) -> LoopbackReply {
    LoopbackReply(steps: [.wait(latency)] + steps)
  }
}

// MARK: - Replies

extension LoopbackReply {
  /// A complete reply with `Content-Length`.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - body: The body.
  ///   - headers: Header fields beside `Content-Length`; they are sent as they are, valid or not.
  /// - Returns: The reply.
  public static func status(
    _ status: Int, _ body: Data = Data(), headers: [(String, String)] = []
  ) -> LoopbackReply {
    let head = head(status, headers + [("Content-Length", String(body.count))])
    return LoopbackReply(steps: [.send(head + body)])
  }

  /// A complete reply whose body is text.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - body: The body.
  ///   - headers: Header fields beside `Content-Length`.
  /// - Returns: The reply.
  public static func status(
    _ status: Int, _ body: String, headers: [(String, String)] = []
  ) -> LoopbackReply {
    .status(status, Data(body.utf8), headers: headers)
  }

  /// Status 200 with bytes.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - headers: Header fields beside `Content-Length`.
  /// - Returns: The reply.
  public static func ok(_ body: Data, headers: [(String, String)] = []) -> LoopbackReply {
    .status(200, body, headers: headers)
  }

  /// JSON.
  ///
  /// - Parameters:
  ///   - text: The body, whether valid or not.
  ///   - status: The status; 200 by default.
  /// - Returns: The reply.
  public static func json(_ text: String, status: Int = 200) -> LoopbackReply {
    .status(status, text, headers: [("Content-Type", "application/json; charset=utf-8")])
  }

  /// An HTML page, as proxies and error handlers send it where JSON was asked for.
  ///
  /// - Parameters:
  ///   - title: The page's title, as markup.
  ///   - status: The status; 200 by default.
  /// - Returns: The reply.
  public static func html(title: String, status: Int = 200) -> LoopbackReply {
    let page = "<!DOCTYPE html>\n<html><head><title>\(title)</title></head><body></body></html>"
    return .status(status, page, headers: [("Content-Type", "text/html")])
  }

  /// A redirect.
  ///
  /// - Parameters:
  ///   - location: The `Location`, as it is.
  ///   - status: 301, 302 (the default), 303, 307 or 308.
  /// - Returns: The reply.
  public static func redirect(to location: String, status: Int = 302) -> LoopbackReply {
    .status(status, "moved", headers: [("Location", location)])
  }

  /// Status 200 with a body in chunks of equal size.
  ///
  /// - Parameters:
  ///   - chunk: The content of each chunk.
  ///   - count: How many chunks; `nil` for a body that never ends.
  /// - Returns: The reply.
  public static func chunked(_ chunk: Data, times count: Int?) -> LoopbackReply {
    let wrapped = Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8)
    return LoopbackReply(steps: [
      .send(head(200, [("Transfer-Encoding", "chunked")])), .send(wrapped, times: count),
      .send(Data("0\r\n\r\n".utf8)),
    ])
  }

  /// Status 200 with a body that was compressed already.
  ///
  /// - Parameter bytes: What `gzip` made, or something that pretends to be that.
  /// - Returns: The reply.
  public static func gzipped(_ bytes: Data) -> LoopbackReply {
    .ok(bytes, headers: [("Content-Encoding", "gzip"), ("Content-Type", "application/json")])
  }

  /// About a thousandth of `count` bytes that unpack to `count` zeros.
  ///
  /// - Parameter count: How many bytes come out; 1 GiB by default.
  /// - Returns: The reply.
  public static func gzipBomb(of count: Int = 1 << 30) -> LoopbackReply {
    .gzipped(Gzip.zeros(count))
  }

  /// The head of a reply, with its blank line.
  static func head(_ status: Int, _ headers: [(String, String)]) -> Data {
    let fields = headers.map { "\($0): \($1)\r\n" }.joined()
    return Data("HTTP/1.1 \(status) Loopback\r\n\(fields)\r\n".utf8)
  }
}
