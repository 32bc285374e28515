import AggregatorCore
import AggregatorFakeServices
import AggregatorHTTP
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DownloadTests {
  private let directory = DownloadDirectory()

  @Test func `bytes are read while the service still sends`() async throws {
    let half = DispatchSemaphore(value: 0)
    let (first, second) = (Data("first\n".utf8), Data("second\n".utf8))
    try await withServer({ _ in
      .begin(headers: [("Content-Length", "13"), ("Content-Type", "text/csv")])
        .sending(first).performing { half.wait() }.sending(second)
    }) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      let head = try await download.head()
      #expect(head.response.status == 200)
      #expect(head.response.header("content-type") == "text/csv")
      #expect(head.length == 13 && !head.isRestarted)
      let begin = try await download.bytes(at: 0, atMost: 100, of: head.version)
      #expect(Data(begin) == first)
      half.signal()
      let rest = try await download.rest(from: 6)
      #expect(rest == second)
      let requests = server.requests
      #expect(requests.count == 1)
      #expect(requests.first?.header("accept-encoding") == "identity")
      #expect(requests.first?.header("range") == nil)
    }
  }

  @Test(arguments: Engine.allCases)
  func `every engine delivers the file`(engine: Engine) async throws {
    let file = ServedFile(3_000_000)
    try await withServer({ file.reply(to: $0) }) { server in
      let download = directory.download(
        HTTPRequest(.get, server.baseURL), over: engine.transport())
      let data = try await download.rest(atMost: 100_000)
      #expect(data == file.bytes)
    }
  }

  @Test func `a client of the app delivers the file, decompressed by itself`() async throws {
    let transport = HTTPTransport { _ in
      HTTPResponse(
        status: 200, headers: [("Content-Encoding", "gzip"), ("Content-Length", "5")],
        body: Data("decompressed".utf8))
    }
    let url = try #require(URL(string: "http://127.0.0.1:1/file"))
    let download = directory.download(HTTPRequest(.get, url), over: transport)
    let data = try await download.rest()
    #expect(data == Data("decompressed".utf8))
    let head = try await download.head()
    #expect(head.response.header("content-encoding") == nil)
  }

  @Test func `a compressed file stays as it is`() async throws {
    try await withServer({ _ in .gzipped(Data("no gzip at all".utf8)) }) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      let data = try await download.rest()
      #expect(data == Data("no gzip at all".utf8))
      let head = try await download.head()
      #expect(head.response.header("content-encoding") == "gzip")
    }
  }

  @Test func `redirects are followed, and their bodies are no part of the file`() async throws {
    let file = ServedFile(1000)
    try await withServer({
      $0.path == "/file" ? file.reply(to: $0) : .redirect(to: "/file")
    }) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      let data = try await download.rest()
      #expect(data == file.bytes)
    }
  }

  @Test func `a response that is not successful is returned, and repeated by the next call`()
    async throws
  {
    let file = ServedFile(1000)
    let script = Mutex(0)
    try await withServer({ request in
      let count = script.withLock { count in
        count += 1
        return count
      }
      return count == 3
        ? file.reply(to: request) : .status(503, "closed", headers: [("Retry-After", "30")])
    }) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      let head = try await download.head()
      #expect(head.response.status == 503)
      #expect(head.response.body == Data("closed".utf8))
      let error = await #expect(throws: SourceError.self) {
        try await download.bytes(at: 0, atMost: 10, of: 0)
      }
      #expect(error?.code == .serverError)
      #expect(error?.retryAfter == .seconds(30))
      let data = try await download.rest()
      #expect(data == file.bytes)
    }
  }

  @Test func `the transfer stops at the window, and other requests go on`() async throws {
    let block = Data(repeating: 0x61, count: 1 << 20)
    try await withServer({
      $0.path == "/other"
        ? .json("{}")
        : .begin(headers: [("Content-Length", "\(200 << 20)")]).sending(block, times: 200)
    }) { server in
      let transport = LongTimeoutTransport()
      let (window, buffers) = (4 << 20, 24 << 20)
      let download = directory.download(
        HTTPRequest(.get, server.baseURL), over: transport, window: window)
      let head = try await download.head()
      #expect(head.length == 200 << 20)
      while server.bytesSent < window { await Task.yield() }
      for _ in 0..<50 {
        let other = HTTPRequest(.get, server.baseURL.appending(path: "other"))
        let response = try await transport.send(other)
        #expect(response.status == 200)
      }
      var offset = 0
      while true {
        // The rest are buffers of the system, and what was on its way.
        let sent = server.bytesSent
        #expect(sent <= offset + window + buffers)
        let bytes = try await download.bytes(at: offset, atMost: 1 << 20, of: head.version)
        if bytes.isEmpty { break }
        offset += bytes.count
      }
      #expect(offset == 200 << 20)
    }
  }

  @Test func `two readers share a transfer, and a cancelled one stops nothing`() async throws {
    let file = ServedFile(2_000_000)
    let gate = DispatchSemaphore(value: 0)
    try await withServer({ _ in
      .begin(headers: [("Content-Length", "2000000")]).performing { gate.wait() }
        .sending(file.bytes)
    }) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      _ = try await download.head()
      let cancelled = Task { try await download.bytes(at: 0, atMost: 10, of: 0) }
      cancelled.cancel()
      let result = await cancelled.result
      #expect(throws: SourceError.cancelled) { try result.get() }
      async let first = download.rest(atMost: 70_000)
      async let second = download.rest(from: 1_000_000)
      gate.signal()
      let data = try await first
      let half = try await second
      #expect(data == file.bytes)
      #expect(half == file.bytes.dropFirst(1_000_000))
      #expect(server.requests.count == 1)
    }
  }

  @Test func `the transfer ends with the last reference`() async throws {
    let block = Data(repeating: 0x61, count: 1 << 20)
    try await withServer({ _ in .chunked(block, times: nil) }) { server in
      do {
        let download = directory.download(HTTPRequest(.get, server.baseURL))
        let head = try await download.head()
        #expect(head.response.status == 200)
      }
      // The reply has no end: it is given up when the client leaves.
      await server.idle()
    }
  }

  @Test func `a transfer without data is given up`() async throws {
    try await withServer(replies: .stalled(after: Data("some".utf8), of: 100)) { server in
      var request = HTTPRequest(.get, server.baseURL)
      request.limits.idle = .milliseconds(100)
      let cut = try await directory.download(request).restBeforeError()
      #expect(cut.data == Data("some".utf8))
      #expect(cut.error?.code == .timedOut)
    }
  }

  @Test func `a transfer has no overall limit, and its pauses are not idle`() async throws {
    var file = ServedFile(0)
    file.bytes = Data(repeating: 0x61, count: 24 << 20)
    try await withServer({
      [file] in $0.path == "/other" ? .json("{}").after(.seconds(4)) : file.reply(to: $0)
    }) { server in
      var request = HTTPRequest(.get, server.baseURL)
      (request.limits.idle, request.limits.overall) = (.seconds(2), .seconds(3))
      let transport = LongTimeoutTransport()
      let download = directory.download(request, over: transport, window: 1 << 16)
      _ = try await download.head()
      _ = try await transport.send(
        HTTPRequest(.get, server.baseURL.appending(path: "other")))
      let data = try await download.rest()
      #expect(data == file.bytes)
    }
  }

  @Test func `a larger file than allowed is read up to there`() async throws {
    let file = ServedFile(100_000)
    try await withServer({ file.reply(to: $0) }) { server in
      let request = HTTPRequest(.get, server.baseURL)
      let download = directory.download(request, maxBytes: 65_536)
      let cut = try await download.restBeforeError()
      #expect(cut.data == file.bytes.prefix(65_536))
      #expect(cut.error?.code == .tooLarge)
      #expect(cut.error?.message.hasSuffix("is larger than 64 KiB") == true)
      #expect(cut.error?.remedy?.action == .allowMoreBytes)
      let whole = try await directory.download(request, maxBytes: 100_000).rest()
      #expect(whole == file.bytes)
    }
  }

  @Test func `offsets of any cursor are safe`() async throws {
    try await withServer({ ServedFile(100).reply(to: $0) }) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      _ = try await download.head()
      let beyond = try await download.bytes(at: .max, atMost: .max, of: 0)
      #expect(beyond.isEmpty)
      let before = try await download.bytes(at: .min, atMost: .min, of: 0)
      #expect(before.count == 1)
    }
  }

  @Test func `events have the bytes that arrived`() async throws {
    let events = Mutex<[Int]>([])
    let observer = Observer { event in
      if case .received(_, let bytes, _, _) = event { events.withLock { $0.append(bytes) } }
    }
    let file = ServedFile(100_000)
    try await withServer({ file.reply(to: $0) }) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      let data = try await Observer.$current.withValue(observer) { try await download.rest() }
      #expect(data == file.bytes)
    }
    #expect(events.withLock(\.self) == [100_000])
  }

  @Test func `only a successful body is streamed`() async throws {
    let file = ServedFile(1000)
    try await withServer({
      $0.path == "/missing" ? .status(404, "missing") : file.reply(to: $0)
    }) { server in
      for (path, status, body) in [("missing", 404, "missing"), ("file", 200, "")] {
        var request = HTTPRequest(.get, server.baseURL.appending(path: path))
        let stream = ResponseStream()
        request.responseStream = stream
        // A body of this size is not waited for by a reader.
        let response = try await LongTimeoutTransport().send(request)
        stream.finish()
        #expect(response.status == status)
        #expect(response.body == Data(body.utf8))
        let head = await stream.head()
        #expect(head?.status == (status == 200 ? 200 : nil))
        let bytes = await stream.next()
        #expect(bytes.map { Data($0) } == (status == 200 ? file.bytes : nil))
        let end = await stream.next()
        #expect(end == nil)
      }
    }
  }

  @Test(arguments: ["Canary/6f1e+0c27", "Canary%2F6f1e%2B0c27", #"Canary\/6f1e\u002b0c27"#])
  func `secrets that the service repeats are masked, wherever they are`(text: String) async throws {
    let key = Secret("Canary/6f1e+0c27")
    // Some are on both sides of the end of a piece.
    let line = String(repeating: "x", count: 999) + text + "\n"
    var file = ServedFile(String(repeating: line, count: 400))
    file.fields += [("Link", "<http://127.0.0.1/\(text)>; rel=\"next\"")]
    try await withServer({ [file] in file.reply(to: $0) }) { server in
      let download = directory.download(
        HTTPRequest(.get, server.baseURL, query: [.init("key", .secret(key))]))
      let data = try await download.rest(atMost: 10_007)
      let mask = "REDACTED" + String(repeating: "*", count: text.utf8.count - 8)
      #expect(data.count == file.bytes.count)
      #expect(String(decoding: data, as: UTF8.self).contains("x\(mask)\n"))
      #expect(!String(decoding: data, as: UTF8.self).contains("Canary"))
      let head = try await download.head()
      #expect(head.response.nextLink == "http://127.0.0.1/REDACTED")
      #expect(download.secrets == [key])
      let metadata = try #require(try directory.contents(of: ".json"))
      #expect(!String(decoding: metadata, as: UTF8.self).contains("Canary"))
    }
  }
}
