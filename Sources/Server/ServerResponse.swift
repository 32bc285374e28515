import CAggregatorServer
import CAggregatorZlib

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

  /// An answer without content, and so without a type.
  package static func noContent(
    headers: [ServerRequest.Parameter] = [.init("Cache-Control", "no-store")]
  ) -> ServerResponse {
    var response = ServerResponse(204, "", [])
    response.headers = headers
    return response
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

  package mutating func set(_ name: String, _ value: String) {
    headers.removeAll { $0.name.lowercased() == name.lowercased() }
    headers.append(.init(name, value))
  }

  private static let compressionThreshold = 1024

  /// The response in the encoding that a request accepts, with its entity tag, or 304 if the client has it.
  ///
  /// - Text and JSON of more than 1 KB are compressed by gzip.
  /// - A response to `GET` with status 200 has an entity tag, another one for each encoding, unless it must not be
  ///   stored.
  /// - Event streams and responses that are encoded already are left as they are.
  package func encoded(for request: ServerRequest) -> ServerResponse {
    guard case .bytes(let bytes) = body, header("Content-Encoding") == nil else { return self }
    var response = self
    let isCompressible =
      bytes.count > Self.compressionThreshold
      && Self.isCompressible(type: header("Content-Type") ?? "")
    let vary = header("Vary")
    if isCompressible, vary?.lowercased().contains("accept-encoding") != true {
      response.set("Vary", vary.map { "\($0), Accept-Encoding" } ?? "Accept-Encoding")
    }
    let wantsGzip = isCompressible && request.acceptsGzip

    let isTagged =
      status == 200 && request.method == "GET"
      && header("Cache-Control")?.lowercased().contains("no-store") != true
    let tag = isTagged ? header("ETag") ?? Self.tag(of: bytes) : nil
    let known = tag == nil ? nil : request.header("If-None-Match")
    func isKnown(_ tag: String) -> Bool { known.map { Self.matches($0, tag) } ?? false }
    var sent = tag
    // A client that has the plain body needs no other one.
    let isPlain = tag.map { isKnown($0) && !isKnown(Self.gzipTag($0)) } ?? false
    if wantsGzip, !isPlain, let compressed = Gzip.compressed(bytes) {
      response.body = .bytes(compressed)
      response.set("Content-Encoding", "gzip")
      sent = tag.map(Self.gzipTag)
    }
    if let sent {
      response.set("ETag", sent)
      if isKnown(sent) { response.becomeNotModified() }
    }
    return response
  }

  /// libmicrohttpd leaves the body out, so that `Content-Length` is that of status 200 (RFC 9110, section 8.6).
  private mutating func becomeNotModified() {
    status = 304
    headers.removeAll { ["content-type", "content-encoding"].contains($0.name.lowercased()) }
  }

  private static func isCompressible(type: String) -> Bool {
    let type = type.prefix { $0 != ";" }.lowercased()
    return type.hasPrefix("text/") || type.hasSuffix("+json")
      || ["application/json", "application/javascript", "application/x-ndjson"].contains(type)
  }

  // MARK: - Entity tags (RFC 9110, section 8.8.3)

  private static func tag(of bytes: [UInt8]) -> String {
    "\"\(String(bytes.withUnsafeBytes { cserver_hash($0.baseAddress, $0.count) }, radix: 36))\""
  }

  private static func gzipTag(_ tag: String) -> String {
    tag.hasSuffix("\"") ? "\(tag.dropLast())-gzip\"" : tag
  }

  /// True if a list of tags, or `*`, contains a tag, strong or weak.
  private static func matches(_ list: String, _ tag: String) -> Bool {
    let tag = tag.trimmingPrefix("W/")
    return list.filter { !$0.isWhitespace }.split(separator: ",").contains { item in
      item == "*" || item.trimmingPrefix("W/") == tag
    }
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

extension ServerRequest {
  /// True if `Accept-Encoding` lists gzip, or `*`, without a weight of 0 (RFC 9110, section 12.5.3).
  var acceptsGzip: Bool {
    var acceptsAny = false
    let list = (header("Accept-Encoding") ?? "").lowercased().filter { !$0.isWhitespace }
    for item in list.split(separator: ",") {
      let parts = item.split(separator: ";")
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
      let isAccepted = weight.flatMap { Double($0) } != 0
      switch parts.first {
      case "gzip", "x-gzip": return isAccepted
      case "*": acceptsAny = isAccepted
      default: break
      }
    }
    return acceptsAny
  }
}

/// Compression by zlib, which is loaded at the first use.
enum Gzip {
  private static let names = ["libz.so.1", "/usr/lib/libz.1.dylib"]

  private static let isLoaded = names.contains { czlib_load($0) }

  /// The compressed bytes (RFC 1952); `nil` if they are not fewer, or zlib is not installed.
  static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
    guard isLoaded else { return nil }
    let compressed = [UInt8](unsafeUninitializedCapacity: bytes.count) { output, count in
      count = bytes.withUnsafeBytes {
        czlib_gzip($0.baseAddress, $0.count, output.baseAddress, output.count)
      }
    }
    return compressed.isEmpty ? nil : compressed
  }
}
