import AggregatorCore
import AggregatorText

#if os(Linux)
  import CAggregatorCurl
  import AggregatorFoundation

  /// A request and the received part of its response, used on the loop's thread only.
  final class CurlTransfer {
    /// The most bytes of a header: libcurl before 8.3 has no limit.
    private static let headLimit = 256 << 10

    let job: CurlJob
    let easy: UnsafeMutableRawPointer

    private var fields: UnsafeMutableRawPointer?
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CCURL_ERROR_SIZE))
    private let begin = ContinuousClock.now
    private var lastActivity: ContinuousClock.Instant
    private var moved: Int64 = 0
    private var head = HeadParser()
    private var body = Data()
    /// True if the body goes to the stream of the request.
    private var isStreaming = false
    /// True while the stream has no room.
    private var isPaused = false
    /// The error if a callback ended the transfer.
    private var refusal: SourceError?
    private let connections: KeptConnections
    /// True if its kept connection had unexpected input, so that it has to start over on another.
    private(set) var needsAnotherConnection = false

    /// Prepares a transfer for a multi handle; `nil` if there is not enough memory.
    init?(_ job: CurlJob, over connections: KeptConnections) {
      guard let easy = ccurl_easy_new() else {
        errorText.deallocate()
        return nil
      }
      self.job = job
      self.connections = connections
      self.easy = easy
      lastActivity = begin
      errorText.initialize(repeating: 0, count: Int(CCURL_ERROR_SIZE))
      guard configure() else { return nil }
    }

    // The owner has removed `easy` from its multi handle.
    deinit {
      ccurl_easy_free(easy)
      ccurl_list_free(fields)
      errorText.deallocate()
    }

    func remainingIdleTime(at now: ContinuousClock.Instant) -> Duration {
      let limit = job.request.limits.idle
      if isPaused { lastActivity = now }
      guard lastActivity + limit <= now else { return lastActivity + limit - now }
      // Connecting, and waiting for a free connection, is not idle time.
      let connected = ccurl_easy_connected_after(easy)
      lastActivity = connected == 0 ? now : max(lastActivity, begin + .microseconds(connected))
      return lastActivity + limit - now
    }

    func result(_ code: Int32) -> Result<HTTPResponse, SourceError> {
      if let refusal { return .failure(refusal) }
      let status = ccurl_easy_status(easy)
      guard code == 0 else {
        let context = CurlContext(
          authority: job.request.address.authority, limits: job.request.limits,
          isConnected: ccurl_easy_connected_after(easy) > 0,
          systemError: Int32(truncatingIfNeeded: ccurl_easy_os_error(easy)),
          hasHead: head.isComplete,
          message: String(cString: errorText))
        return .failure(SourceError(curl: code, context))
      }
      var response = HTTPResponse(status: status, headers: head.fields, body: body)
      response.statusLine = head.statusLine
      return .success(response)
    }

    /// Continues after a pause.
    func resume() {
      (isPaused, lastActivity) = (false, .now)
      _ = ccurl_easy_resume(easy)
    }

    private func configure() -> Bool {
      // Not retained: the loop's dictionary owns this object, and releases it only after the handle was
      // removed.
      let context = Unmanaged.passUnretained(self).toOpaque()
      let request = job.request
      set(CCURL_PRIVATE, context)
      set(CCURL_ERRORBUFFER, errorText)
      ccurl_easy_set_callbacks(
        easy,
        { bytes, size, count, context in
          CurlTransfer.of(context)?.receiveHead(bytes, size * count) ?? 0
        },
        { bytes, size, count, context in
          CurlTransfer.of(context)?.receiveBody(bytes, size * count) ?? 0
        },
        { context, _, received, _, sent in
          CurlTransfer.of(context)?.move(received &+ sent)
          return 0
        },
        context)
      ccurl_easy_set_prerequest(
        easy, { context, _, _, _, port in CurlTransfer.of(context)?.mayUse(port) == false ? 1 : 0 },
        context)
      set(CCURL_URL, request.address.text)
      // Loopback never uses a proxy; for other hosts libcurl reads the usual variables.
      if request.address.isLoopback { set(CCURL_PROXY, "") }
      // Positions in a stream are those of the bytes that were sent: ranges count these.
      if request.responseStream == nil { set(CCURL_ACCEPT_ENCODING, "gzip, deflate") }
      // The fields of a proxy's response to CONNECT would begin the stream.
      set(CCURL_SUPPRESS_CONNECT_HEADERS, 1)
      set(CCURL_PROTOCOLS, 0b11)  // http and https
      set(CCURL_HTTP09_ALLOWED, 0)
      set(CCURL_NOSIGNAL, 1)
      set(CCURL_QUICK_EXIT, 1)  // a slow name server does not delay cancellation; since 7.87
      set(CCURL_CONNECTTIMEOUT_MS, Int(request.limits.connect.milliseconds))
      set(CCURL_TIMEOUT_MS, Int(request.limits.overall.milliseconds))
      switch request.method {
      case .get: set(CCURL_HTTPGET, 1)
      // A custom HEAD would wait for a body.
      case .head: set(CCURL_NOBODY, 1)
      default:
        let body = request.body ?? Data()
        set(CCURL_POST, 1)
        if request.method != .post { set(CCURL_CUSTOMREQUEST, request.method.rawValue) }
        // COPYPOSTFIELDS needs the size, so the size comes first.
        let size = Int32(CCURL_POSTFIELDSIZE_LARGE.rawValue)
        _ = ccurl_easy_set_offset(easy, size, Int64(body.count))
        body.withUnsafeBytes {
          set(CCURL_COPYPOSTFIELDS, $0.baseAddress ?? UnsafeRawPointer(errorText))
        }
      }
      return addFields()
    }

    private func addFields() -> Bool {
      // libcurl adds these two to a POST unless they are removed.
      var lines = ["Expect:"]
      let names = job.request.headers.map { $0.name.lowercased() }
      if !names.contains("content-type") { lines.append("Content-Type:") }
      // "Name:" would remove a field; "Name;" sends an empty one.
      lines += job.request.headers.map {
        $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)"
      }
      for line in lines {
        guard let extended = ccurl_list_append(fields, line) else { return false }
        fields = extended
      }
      set(CCURL_HTTPHEADER, fields)
      return true
    }

    private func set(_ option: ccurl_option, _ value: Int) {
      _ = ccurl_easy_set_long(easy, Int32(option.rawValue), value)
    }

    private func set(_ option: ccurl_option, _ value: UnsafeRawPointer?) {
      _ = ccurl_easy_set_pointer(easy, Int32(option.rawValue), value)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
      context.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    private func mayUse(_ localPort: Int32) -> Bool {
      needsAnotherConnection =
        ccurl_easy_reuses_connection(easy) && connections.hasInput(localPort)
      if !needsAnotherConnection { job.departure?.note() }
      return !needsAnotherConnection
    }

    private func receiveHead(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
      lastActivity = .now
      let line = UnsafeRawBufferPointer(start: bytes, count: count)
      guard head.bytes + count <= Self.headLimit else {
        refusal = .tooLarge(Self.headLimit, "the header of the response")
        return 0
      }
      head.read(line)
      if head.isComplete, let stream = job.request.responseStream, !isStreaming {
        isStreaming = stream.begin(
          HTTPResponse(status: ccurl_easy_status(easy), headers: head.fields))
      }
      return count
    }

    private func receiveBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
      lastActivity = .now
      let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
      if isStreaming, let stream = job.request.responseStream {
        isPaused = !stream.receive(bytes, orResume: job.resume)
        return isPaused ? Int(CCURL_PAUSE) : count
      }
      let limit = job.request.limits.bodyBytes
      // A service that says its size need not send the part that fits.
      guard count <= limit - body.count, !body.isEmpty || head.contentLength ?? 0 <= limit else {
        refusal = .tooLarge(limit)
        return 0
      }
      body.append(contentsOf: bytes)
      return count
    }

    private func move(_ bytes: Int64) {
      guard bytes != moved else { return }
      moved = bytes
      lastActivity = .now
    }
  }

  /// The sockets of HTTP/1 connections that libcurl keeps open, used on the loop's thread only.
  ///
  /// Bytes that arrive between two requests are no reply to the second: libcurl before 8.1 takes them
  /// for one.
  final class KeptConnections {
    /// The sockets by their local ports, some of them closed by now.
    private var sockets: [Int32: Int32] = [:]

    func note(_ easy: UnsafeMutableRawPointer) {
      var (socket, port): (Int32, Int32) = (-1, 0)
      if ccurl_easy_kept_socket(easy, &socket, &port) { sockets[port] = socket }
    }

    func hasInput(_ localPort: Int32) -> Bool {
      sockets[localPort].map { ccurl_socket_has_input($0, localPort) } ?? false
    }
  }

  /// Collects the header fields of a reply from its lines (RFC 9112, section 5).
  package struct HeadParser {
    package private(set) var fields: [(name: String, value: String)] = []
    /// The first line; `nil` before it.
    package private(set) var statusLine: String?
    /// The number of bytes read, including interim responses.
    private(set) var bytes = 0
    /// True after the blank line that ends a header.
    private(set) var isComplete = false

    /// The size of the body as it is sent; `nil` if the response does not say it.
    var contentLength: Int? {
      fields.last { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) }
    }

    package init() {}

    /// Reads a line, including its line break.
    package mutating func read(_ line: UnsafeRawBufferPointer) {
      bytes += line.count
      let text = line.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
      isComplete = text.isEmpty
      guard let first = text.first else { return }
      if text.starts(with: "HTTP/".utf8) {
        fields = []  // after an interim response, such as 103
        statusLine = Self.trimmed(text)  // HTTP/2 has no reason, but a space before it
      } else if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
        // An obsolete folded line continues the previous field.
        guard let last = fields.indices.last else { return }
        let rest = Self.trimmed(text)
        if !fields[last].value.isEmpty, !rest.isEmpty { fields[last].value += " " }
        fields[last].value += rest
      } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
        let name = String(decoding: text[..<colon], as: UTF8.self)
        fields.append((name, Self.trimmed(text[text.index(after: colon)...])))
      }
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
      let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      let rest = bytes.drop(while: isBlank)
      let end = rest.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? rest.startIndex
      return String(decoding: rest[..<end], as: UTF8.self)
    }
  }

  /// The state of a transfer that failed.
  struct CurlContext {
    let authority: String
    let limits: HTTPLimits
    /// `true` if it was connected, including TLS.
    let isConnected: Bool
    /// The `errno` of the last failed connect; 0 for none.
    var systemError: Int32 = 0
    var hasHead = true
    /// libcurl's own message, which may quote the server's certificate.
    var message = ""

    /// The host and port to which no connection was possible, if they are not the service's.
    fileprivate var proxy: String? {
      guard
        let match = message.prefixMatch(
          of: /Failed to connect to ([^ ]+) port ([0-9]{1,5})(?![0-9])/)
      else { return nil }
      let (host, port) = (String(match.1), String(match.2))
      // A standard port is not part of the authority.
      let isService = [host, "[\(host)]"].contains { name in
        authority == "\(name):\(port)" || authority == name && ["80", "443"].contains(port)
      }
      return isService ? nil : "\(host):\(port)"
    }
  }

  extension SourceError {
    /// Converts an error code of libcurl (libcurl-errors(3)).
    init(curl code: Int32, _ context: CurlContext) {
      let authority = context.authority
      switch code {
      case 5: self.init(.unreachable, "could not resolve the proxy for \(authority)")
      case 6: self = .unknownHost(authority)
      case 7:
        let reason = context.systemError
        let words = reason == 0 ? "" : ": " + String(cString: strerror(reason)).lowercased()
        let proxy = context.proxy.map { "the proxy \($0)" }
        self.init(
          .unreachable, "cannot connect to \(proxy ?? authority)\(words)",
          remedy: proxy.map { _ in "check the variables http_proxy, https_proxy and all_proxy" })
      case 35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98:
        let words = context.message.oneLine(atMost: 160)
        self.init(
          .unreachable,
          "TLS connection to \(authority) failed" + (words.isEmpty ? "" : ": \(words)"))
      case 28 where !context.isConnected && context.limits.connect < context.limits.overall:
        self = .notConnected(authority, within: context.limits.connect)
      case 28: self = .unfinished(authority, within: context.limits.overall)
      case 52: self = .closedWithoutReply(authority)
      case 18: self = .cutShort(authority)
      // "CONNECT tunnel failed, response 403"
      case 56 where context.message.contains("CONNECT"), 97:
        self.init(.unreachable, "the proxy refused to connect to \(authority)")
      case 16, 55, 56, 92, 95: self = .broken(authority)
      case 61: self = .wronglyCompressed(authority)
      // libcurl before 8.6 reports a line above its own limit, some 100 KB, as if memory had run out.
      case 27 where !context.hasHead, 100:
        self.init(.tooLarge, "a header line of the response from \(authority) is too long")
      case 27: self.init(.tooLarge, "not enough memory for the response from \(authority)")
      case 1, 3, 8: self.init(.malformed, "invalid HTTP response from \(authority)")
      default:
        self.init(.connectionLost, "the request to \(authority) failed (libcurl error \(code))")
      }
    }
  }
#endif
