import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ImageLoaderTests {
  private let home: StoreDirectory
  private let lines = Lines()

  init() throws { home = try StoreDirectory() }

  /// The number of requests in flight, and of those that ended.
  private struct Lines: Transport {
    let begun = Counter()
    let ended = Counter()

    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      begun.add()
      defer { ended.add() }
      return try await HTTPTransport.standard.send(request)
    }
  }

  private var files: ImageDiskCache { ImageDiskCache(in: "\(home.root)/images") }

  private func loader(
    files: ImageDiskCache? = nil, memory: Int = 1 << 20, maxBytes: Int = 1 << 20,
    reading: CachePolicy = .normal, attempts: Int = 1, deadline: Duration = .seconds(60),
    transport: (any Transport)? = nil, now: @escaping @Sendable () -> Date = { Date() }
  ) -> ImageLoader {
    var plugin = NotesPlugin(service: ScriptedSource<Note>(pages: []))
    plugin.policy.retry.attempts = attempts
    let environment = PluginEnvironment(
      settings: Settings(), transport: transport ?? lines, now: now, random: { 0 })
    return ImageLoader(
      of: plugin, in: environment, files: files, memory: memory, maxBytes: maxBytes,
      reading: reading, deadline: deadline)
  }

  private func address(_ server: LoopbackServer, _ path: String = "1.png") throws -> ImageAddress {
    try #require(ImageAddress(server.baseURL.appending(path: path).absoluteString))
  }

  private func failure(
    _ loader: ImageLoader, _ address: ImageAddress
  ) async -> SourceError? {
    do throws(SourceError) { _ = try await loader.image(at: address) } catch { return error }
    return nil
  }

  /// Starts calls that all wait for the same request: each has joined it before the next task of this
  /// actor runs.
  @MainActor private func callers(
    _ count: Int, of loader: ImageLoader, _ address: ImageAddress
  ) async -> [Task<SourceError?, Never>] {
    let entered = Counter()
    let calls = (0..<count).map { _ in
      Task { @MainActor in
        entered.add()
        return await failure(loader, address)
      }
    }
    await entered.reaches(count)
    await lines.begun.reaches(1)
    return calls
  }

  @Test func `a hundred concurrent loads make one request`() async throws {
    let hold = DispatchSemaphore(value: 0)
    try await withServer { _ in
      hold.wait()
      return .ok(SampleImage.png())
    } do: { server in
      let calls = await callers(100, of: loader(memory: 0), try address(server))
      hold.signal()
      for call in calls { #expect(await call.value == nil) }
      #expect(server.requests.count == 1)
    }
  }

  @Test func `a cancelled caller returns at once, and the others get the image`() async throws {
    let hold = DispatchSemaphore(value: 0)
    try await withServer { _ in
      hold.wait()
      return .ok(SampleImage.png())
    } do: { server in
      let calls = await callers(5, of: loader(), try address(server))
      calls[0].cancel()
      #expect(await calls[0].value?.code == .cancelled)
      #expect(lines.ended.value == 0)
      hold.signal()
      for call in calls.dropFirst() { #expect(await call.value == nil) }
      #expect(server.requests.count == 1)
    }
  }

  @Test func `the request ends when the last caller leaves`() async throws {
    try await withServer { _ in
      .stalled
    } do: { server in
      let calls = await callers(3, of: loader(), try address(server))
      _ = await server.requests(atLeast: 1)
      for call in calls { call.cancel() }
      for call in calls { #expect(await call.value?.code == .cancelled) }
      await lines.ended.reaches(1)
      #expect(lines.begun.value == 1)
    }
  }

  @Test func `memory is used first, then the disk; offline mode fails otherwise`() async throws {
    try await withServer { _ in
      .ok(SampleImage.jpeg(4, 3))
    } do: { server in
      let first = loader(files: files)
      let address = try address(server)
      let live = try await first.image(at: address)
      #expect(live.provenance.origin == .live)
      #expect(live.item.type == .jpeg)
      #expect(try await first.image(at: address).provenance.origin == .cached)
      let offline = loader(files: files, reading: .offline, transport: TrappingTransport())
      let stored = try await offline.image(at: address)
      #expect(stored.item == live.item)
      #expect(stored.provenance.origin == .cached)
      #expect(stored.provenance.fetchedAt != nil)
      #expect(stored.provenance.endpoint == address.description)
      let error = await failure(offline, try self.address(server, "2.png"))
      #expect(error?.code == .offline)
      #expect(server.requests.count == 1)
    }
  }

  @Test func `a refresh fetches again, and falls back to the cached image`() async throws {
    try await withServer(
      replies: .ok(SampleImage.png(1, 1)), .ok(SampleImage.png(2, 2)), .status(503), .status(503)
    ) { server in
      let address = try address(server)
      _ = try await loader(files: files).image(at: address)
      let refreshing = loader(files: files, reading: .reload)
      #expect(try await refreshing.image(at: address).item.pixels?.width == 2)
      let old = try await refreshing.image(at: address)
      #expect(old.item.pixels?.width == 2)
      #expect(old.provenance.origin == .cached)
      #expect(old.provenance.reason?.code == .serverError)
      let strict = loader(
        files: files, reading: CachePolicy(refreshes: true, mayFallBack: false))
      #expect(await failure(strict, address)?.code == .serverError)
    }
  }

  static let wrong: [(LoopbackReply, SourceError.Code, String)] = [
    (.html(title: "Not here"), .malformed, "sent a page instead of an image: Not here"),
    (
      .ok(Data("<svg/>".utf8), headers: [("Content-Type", "image/png")]), .malformed,
      "sent a page instead of an image"
    ),
    (
      .ok(Data("hello".utf8), headers: [("Content-Type", "image/jpeg")]), .malformed,
      "sent other data instead of an image: hello"
    ),
    (.ok(Data()), .malformed, "sent nothing instead of an image"),
    (.ok(SampleImage.png().prefix(20)), .malformed, "sent a damaged image"),
    (.status(404, SampleImage.png()), .rejected, "refused the request (404)"),
    (.cut(after: SampleImage.png(), of: 5000), .connectionLost, "in the middle of the response"),
    (.ok(SampleImage.png(bytes: 2001)), .tooLarge, "the response is larger than 2000 bytes"),
    (.redirect(to: "http://127.0.0.2/x.png"), .rejected, "redirects to another host"),
  ]

  @Test(arguments: wrong.indices)
  func `other data than an image is a failure, and is not cached`(index: Int) async throws {
    let (reply, code, words) = Self.wrong[index]
    try await withServer(replies: reply, .ok(SampleImage.png())) { server in
      let loader = loader(files: files, maxBytes: 2000)
      let error = await failure(loader, try address(server))
      #expect(error?.code == code)
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
      #expect(await files.usage().count == 0)
      let found = try await self.loader(files: files).image(at: try address(server))
      #expect(found.item.bytes == SampleImage.png())
    }
  }

  @Test func `a broken image is requested again only after a minute`() async throws {
    let time = Mutex(Date.day())
    try await withServer(
      replies: .html(title: "Not here"), .status(404), .ok(SampleImage.png())
    ) { server in
      let (loader, address) = (
        loader(now: { time.withLock(\.self) }), try address(server)
      )
      for (seconds, code, requests) in [
        (0, SourceError.Code.malformed, 1), (59, .malformed, 1), (60, .rejected, 2),
        (119, .rejected, 2),
      ] {
        time.withLock { $0 = .day(Double(seconds)) }
        #expect(await failure(loader, address)?.code == code)
        #expect(server.requests.count == requests)
      }
      // Set back, the clock does not prolong it.
      time.withLock { $0 = .day(30) }
      #expect(try await loader.image(at: address).item.bytes == SampleImage.png())
    }
  }

  @Test func `a lost connection and a refresh ask for the image at once`() async throws {
    try await withServer(
      replies: .cut(after: SampleImage.png(), of: 5000), .status(404), .status(404),
      .ok(SampleImage.png())
    ) { server in
      let (normal, address) = (loader(), try address(server))
      #expect(await failure(normal, address)?.code == .connectionLost)
      #expect(await failure(normal, address)?.code == .rejected)
      let refreshing = loader(reading: .reload)
      #expect(await failure(refreshing, address)?.code == .rejected)
      #expect(try await refreshing.image(at: address).item.bytes == SampleImage.png())
    }
  }

  @Test func `the Content-Type of an image is ignored`() async throws {
    try await withServer { _ in
      .ok(SampleImage.gif(4, 3), headers: [("Content-Type", "text/html")])
    } do: { server in
      let found = try await loader().image(at: try address(server))
      #expect(found.item.type == .gif)
    }
  }

  @Test func `transient failures are retried as often as the policy allows`() async throws {
    try await withServer(
      replies: .status(503), .cut(after: SampleImage.png(), of: 99), .ok(SampleImage.png())
    ) { server in
      _ = try await loader(attempts: 3).image(at: try address(server))
      #expect(server.requests.count == 3)
    }
  }

  @Test func `a deadline ends the request`() async throws {
    try await withServer { _ in
      .stalled
    } do: { server in
      let error = await failure(loader(deadline: .milliseconds(100)), try address(server))
      #expect(error?.code == .timedOut)
    }
  }

  @Test func `neither key nor cookie is sent`() async throws {
    try await withServer { _ in
      .ok(SampleImage.png())
    } do: { server in
      let address = try #require(ImageAddress("\(server.baseURL)/a%20b.png?v=1&w=2"))
      _ = try await loader().image(at: address)
      let request = try #require(server.requests.first)
      #expect(request.path == "/a%20b.png")
      #expect(request.rawQuery == "v=1&w=2")
      let names: Set = ["host", "user-agent", "accept", "accept-encoding", "connection"]
      #expect(Set(request.headers.map(\.name)).isSubset(of: names))
    }
  }

  @Test func `an image that cannot be cached is returned with a warning`() async throws {
    try Data().write(to: URL(filePath: "\(home.root)/images"))
    try await withServer { _ in
      .ok(SampleImage.png())
    } do: { server in
      let loader = loader(files: files)
      let found = try await loader.image(at: try address(server))
      #expect(found.warnings.map(\.code) == ["notCached"])
      #expect(found.item.bytes == SampleImage.png())
      // Memory has it.
      let again = try await loader.image(at: try address(server))
      #expect(again.warnings == [])
      #expect(server.requests.count == 1)
    }
  }
}
