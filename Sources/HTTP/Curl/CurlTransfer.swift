import AggregatorCore

#if os(Linux)
  import CAggregatorCurl
  import Foundation

  /// One request and what has arrived of its reply.
  ///
  /// It lives on the loop's thread.
  final class CurlTransfer {
    /// The most bytes of a head: libcurl itself allows an endless one before 8.3.
    private static let headLimit = 256 << 10

    let job: CurlJob
    let easy: UnsafeMutableRawPointer

    private var fields: UnsafeMutableRawPointer?
    private let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CCURL_ERROR_SIZE))
    private let begin = ContinuousClock.now
    private var lastSign: ContinuousClock.Instant
    private var moved: Int64 = 0
    private var head = HeadParser()
    private var body = Data()
    /// Why a callback ended the transfer.
    private var refusal: SourceError?

    /// A transfer that is ready to be added to a multi handle; `nil` if memory ran out.
    init?(_ job: CurlJob) {
      guard let easy = ccurl_easy_new() else {
        words.deallocate()
        return nil
      }
      self.job = job
      self.easy = easy
      lastSign = begin
      words.initialize(repeating: 0, count: Int(CCURL_ERROR_SIZE))
      guard configure() else { return nil }
    }

    /// The owner has removed `easy` from its multi handle.
    deinit {
      ccurl_easy_free(easy)
      ccurl_list_free(fields)
      words.deallocate()
    }

    /// How long the line may still be silent.
    func maxWait(at now: ContinuousClock.Instant) -> Duration {
      let limit = job.request.limits.idle
      guard lastSign + limit <= now else { return lastSign + limit - now }
      // Connecting, and waiting for a free connection, is not silence.
      let connected = ccurl_easy_connected_after(easy)
      lastSign = connected == 0 ? now : max(lastSign, begin + .microseconds(connected))
      return lastSign + limit - now
    }

    /// What the transfer came to, given libcurl's code for its end.
    func result(_ code: Int32) -> Result<HTTPResponse, SourceError> {
      if let refusal { return .failure(refusal) }
      let status = ccurl_easy_status(easy)
      guard code == 0 else {
        let circumstances = CurlContext(
          authority: job.request.address.authority, limits: job.request.limits,
          isConnected: ccurl_easy_connected_after(easy) > 0,
          systemError: Int32(truncatingIfNeeded: ccurl_easy_os_error(easy)),
          words: String(cString: words))
        return .failure(SourceError(curl: code, circumstances))
      }
      return .success(HTTPResponse(status: status, headers: head.fields, body: body))
    }

    private func configure() -> Bool {
      // libcurl borrows this object: the loop's dictionary owns it, and lets go of it only after the
      // handle was removed.
      let context = Unmanaged.passUnretained(self).toOpaque()
      let request = job.request
      set(CCURL_PRIVATE, context)
      set(CCURL_ERRORBUFFER, words)
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
      set(CCURL_URL, request.address.text)
      // Loopback never goes through a proxy; elsewhere libcurl reads the usual variables.
      if request.address.isLoopback { set(CCURL_PROXY, "") }
      set(CCURL_ACCEPT_ENCODING, "gzip, deflate")
      set(CCURL_PROTOCOLS, 0b11)  // http and https
      set(CCURL_HTTP09_ALLOWED, 0)
      set(CCURL_NOSIGNAL, 1)
      set(CCURL_QUICK_EXIT, 1)  // a slow name server does not hold up cancellation; since 7.87
      set(CCURL_CONNECTTIMEOUT_MS, Int(request.limits.connect.milliseconds))
      set(CCURL_TIMEOUT_MS, Int(request.limits.overall.milliseconds))
      switch request.method {
      case .get: set(CCURL_HTTPGET, 1)
      case .post:
        let body = request.body ?? Data()
        set(CCURL_POST, 1)
        // COPYPOSTFIELDS copies as many bytes as the size says, so the size comes first.
        let size = Int32(CCURL_POSTFIELDSIZE_LARGE.rawValue)
        _ = ccurl_easy_set_offset(easy, size, Int64(body.count))
        body.withUnsafeBytes {
          set(CCURL_COPYPOSTFIELDS, $0.baseAddress ?? UnsafeRawPointer(words))
        }
      }
      return addFields()
    }

    private func addFields() -> Bool {
      // libcurl adds these two to a POST by itself unless they are taken away.
      var lines = ["Expect:"]
      let names = job.request.headers.map { $0.name.lowercased() }
      if !names.contains("content-type") { lines.append("Content-Type:") }
      // "Name:" would take a field away; "Name;" is how an empty one is sent.
      lines += job.request.headers.map {
        $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)"
      }
      for line in lines {
        guard let longer = ccurl_list_append(fields, line) else { return false }
        fields = longer
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

    private func receiveHead(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
      lastSign = .now
      let line = UnsafeRawBufferPointer(start: bytes, count: count)
      guard head.bytes + count <= Self.headLimit else {
        refusal = .headTooLarge(Self.headLimit)
        return 0
      }
      head.read(line)
      return count
    }

    private func receiveBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
      lastSign = .now
      guard count <= job.request.limits.bodyBytes - body.count else {
        refusal = .tooLarge(job.request.limits.bodyBytes)
        return 0
      }
      body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
      return count
    }

    private func move(_ bytes: Int64) {
      guard bytes != moved else { return }
      moved = bytes
      lastSign = .now
    }
  }
#endif
