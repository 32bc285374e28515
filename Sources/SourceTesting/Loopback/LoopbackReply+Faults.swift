public import Foundation

extension LoopbackReply {
  /// Bytes that need not be HTTP; then the connection is closed.
  ///
  /// - Parameter bytes: What to send.
  /// - Returns: The reply.
  public static func raw(_ bytes: Data) -> LoopbackReply {
    LoopbackReply(steps: [.send(bytes), .close])
  }

  /// Closes the connection without a word.
  public static let closed = LoopbackReply(steps: [.close])

  /// Resets the connection without a word.
  public static let reset = LoopbackReply(steps: [.reset])

  /// Says nothing until the client leaves or the server stops.
  public static let stalled = LoopbackReply(steps: [.stall])

  /// Resets the connection in the middle of the body.
  ///
  /// - Parameters:
  ///   - body: What comes of the body.
  ///   - announced: What `Content-Length` says; more than comes.
  /// - Returns: The reply.
  public static func reset(after body: Data, of announced: Int) -> LoopbackReply {
    begun(body, of: announced, then: .reset)
  }

  /// Falls silent in the middle of the body, until the client leaves or the server stops.
  ///
  /// - Parameters:
  ///   - body: What comes of the body.
  ///   - announced: What `Content-Length` says; more than comes.
  /// - Returns: The reply.
  public static func stalled(after body: Data, of announced: Int) -> LoopbackReply {
    begun(body, of: announced, then: .stall)
  }

  /// Closes the connection before the body is complete.
  ///
  /// - Parameters:
  ///   - body: What comes of the body.
  ///   - announced: What `Content-Length` says: more than comes is a cut body, less a wrong length.
  /// - Returns: The reply.
  public static func cut(after body: Data, of announced: Int) -> LoopbackReply {
    begun(body, of: announced, then: .close)
  }

  /// Sends a complete body slowly.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - pace: How long to wait before each piece.
  ///   - size: How many bytes a piece has; 1 by default.
  /// - Returns: The reply.
  public static func dripping(_ body: Data, every pace: Duration, size: Int = 1) -> LoopbackReply {
    let pieces = stride(from: 0, to: body.count, by: size).flatMap { start -> [Step] in
      [.wait(pace), .send(body.dropFirst(start).prefix(size))]
    }
    let head = head(200, [("Content-Length", String(body.count))])
    return LoopbackReply(steps: [.send(head)] + pieces)
  }

  /// Status 200 with a head that never ends.
  ///
  /// - Parameter field: A header field with its line end, which is sent again and again.
  /// - Returns: The reply.
  public static func endlessHead(_ field: Data) -> LoopbackReply {
    LoopbackReply(steps: [.send(Data("HTTP/1.1 200 OK\r\n".utf8)), .send(field, times: nil)])
  }

  private static func begun(_ body: Data, of announced: Int, then step: Step) -> LoopbackReply {
    let head = head(200, [("Content-Length", String(announced))])
    return LoopbackReply(steps: [.send(head + body), step])
  }
}
