/// A response to a ``ServerRequest``.
package struct ServerResponse: Sendable {
  package enum Body: Sendable {
    case bytes([UInt8])
    /// Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html): the connection stays
    /// open until the sequence ends, and its end cancels the task that produces them.
    case events(AsyncStream<ServerSentEvent>)
  }

  package var status: Int

  package var headers: [ServerRequest.Parameter]

  package var body: Body

  package init(
    _ status: Int, _ type: String, _ body: [UInt8],
    headers: [ServerRequest.Parameter] = []
  ) {
    self.status = status
    self.headers = [.init("Content-Type", type)] + headers
    self.body = .bytes(body)
  }

  package init(events: AsyncStream<ServerSentEvent>) {
    status = 200
    headers = [
      .init("Content-Type", "text/event-stream"), .init("Cache-Control", "no-store"),
    ]
    body = .events(events)
  }

  /// The value of the first header field with a name, in any case; `nil` if there is none.
  package func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// Replaces a header field.
  package mutating func set(_ name: String, _ value: String) {
    headers.removeAll { $0.name.lowercased() == name.lowercased() }
    headers.append(.init(name, value))
  }
}

package struct ServerSentEvent: Hashable, Sendable {
  /// The type; `nil` for `message`.
  package var name: String?

  package var data: String

  package init(_ name: String? = nil, data: String) {
    self.name = name
    self.data = data
  }
}
