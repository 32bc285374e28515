import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ImageLoaderTests {
  let home: StoreDirectory
  let lines = Lines()

  init() throws { home = try StoreDirectory() }

  /// The number of requests in flight, and of those that ended.
  struct Lines: Transport {
    let begun = Counter()
    let ended = Counter()

    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      begun.add()
      defer { ended.add() }
      return try await LongTimeoutTransport().send(request)
    }
  }

  var files: ImageDiskCache {
    ImageDiskCache(in: URL(filePath: home.root).appending(path: "images"))
  }

  func loader(
    files: ImageDiskCache? = nil, memory: Int = 1 << 20, maxBytes: Int = 1 << 20,
    attempts: Int = 1, deadline: Duration = .seconds(60),
    transport: (any Transport)? = nil, now: @escaping @Sendable () -> Date = { Date() }
  ) -> ImageLoader {
    var plugin = NotesPlugin(service: ScriptedSource<Note>(pages: []))
    plugin.policy.retry.attempts = attempts
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: transport ?? lines, now: now, random: { 0 })
    return plugin.images(
      in: environment, files: files, memory: memory, maxBytes: maxBytes, deadline: deadline
    ).loader
  }

  func address(_ server: LoopbackServer, _ path: String = "1.png") throws -> ImageAddress {
    try #require(ImageAddress(server.baseURL.appending(path: path).absoluteString))
  }

  func failure(
    _ loader: ImageLoader, _ address: ImageAddress, _ cachePolicy: CachePolicy = .normal
  ) async -> SourceError? {
    do throws(SourceError) {
      _ = try await loader.image(at: address, cachePolicy: cachePolicy)
    } catch { return error }
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
      #expect(
        try await first.image(at: address, cachePolicy: .offline).provenance.origin == .cached)
      let offline = loader(files: files, transport: TrappingTransport())
      let stored = try await offline.image(at: address, cachePolicy: .offline)
      #expect(stored.item == live.item)
      #expect(stored.provenance.origin == .cached)
      #expect(stored.provenance.fetchedAt != nil)
      #expect(stored.provenance.endpoint == address.description)
      for loader in [offline, loader(transport: TrappingTransport())] {
        let error = await failure(loader, try self.address(server, "2.png"), .offline)
        #expect(error?.code == .offline)
        #expect(error?.message == "the image is not cached (offline mode)")
      }
      #expect(server.requests.count == 1)
    }
  }

  @Test(arguments: [true, false])
  func `a refresh fetches again, and falls back to the cached image`(onDisk: Bool) async throws {
    try await withServer(
      replies: .ok(SampleImage.png(1, 1)), .ok(SampleImage.png(2, 2)), .status(503), .status(503)
    ) { server in
      let address = try address(server)
      // One of the caches alone.
      let loader = loader(files: onDisk ? files : nil, memory: onDisk ? 0 : 1 << 20)
      _ = try await loader.image(at: address)
      let new = try await loader.image(at: address, cachePolicy: .reload)
      #expect(new.item.pixels?.width == 2)
      let old = try await loader.image(at: address, cachePolicy: .reload)
      #expect(old.item.pixels?.width == 2)
      #expect(old.provenance.origin == .cached)
      #expect(old.provenance.reason?.code == .serverError)
      #expect(await failure(loader, address, .liveOnly)?.code == .serverError)
      #expect(try await loader.image(at: address).provenance.reason == nil)
      #expect(server.requests.count == 4)
    }
  }

  @Test func `a failed refresh does not keep others from the cached image`() async throws {
    try await withServer(
      replies: .ok(SampleImage.png()), .html(title: "Sign in to the Wi-Fi")
    ) { server in
      let (loader, address) = (loader(files: files, memory: 0), try address(server))
      _ = try await loader.image(at: address)
      #expect(await failure(loader, address, .liveOnly)?.code == .malformed)
      #expect(try await loader.image(at: address).item.bytes == SampleImage.png())
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
      #expect(found.warnings.map(\.code.description) == ["notCached"])
      #expect(found.item.bytes == SampleImage.png())
      // Memory has it.
      let again = try await loader.image(at: try address(server))
      #expect(again.warnings == [])
      #expect(server.requests.count == 1)
    }
  }
}
