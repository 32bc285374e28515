import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RecordImagesTests {
  private let home: StoreDirectory
  private let wire = Wire()

  init() throws { home = try StoreDirectory() }

  /// Counts requests, records their priorities, and holds them while its gate is closed.
  private final class Wire: Transport {
    let begun = Counter()
    let ended = Counter()
    let gate = Gate()
    let priorities = Mutex<[TaskPriority]>([])

    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      begun.add()
      defer { ended.add() }
      priorities.withLock { $0.append(Task.currentPriority) }
      try await gate.pass()
      return try await LongTimeoutTransport().send(request)
    }
  }

  private let notes = (1...10).map { Note($0) }

  /// The images of notes, except for note 10, which has none.
  private func images(
    _ server: LoopbackServer, files: ImageDiskCache? = nil
  ) -> RecordImages<Note> {
    let album = Album { [url = server.baseURL] note, size in
      note.id == 10 ? [] : ["\(url)/\(size)/\(note.id).png"]
    }
    let settings = SourceSettings(["ALBUM_URL": server.baseURL.absoluteString])
    let environment = PluginEnvironment(settings: settings, transport: wire)
    return album.images(in: environment, files: files)
  }

  private func failure(
    _ images: RecordImages<Note>, _ note: Note, _ cachePolicy: CachePolicy = .normal
  ) async -> SourceError? {
    do throws(SourceError) {
      _ = try await images.image(of: note, .small, cachePolicy: cachePolicy)
    } catch { return error }
    return nil
  }

  /// Starts a load that has joined the request in flight before the next task of this actor runs.
  @MainActor private func viewing(
    _ images: RecordImages<Note>, _ note: Note
  ) async -> Task<SourceError?, Never> {
    let entered = Counter()
    let view = Task { @MainActor in
      entered.add()
      return await failure(images, note)
    }
    await entered.reaches(1)
    return view
  }

  private func withImages(
    _ reply: LoopbackReply = .ok(SampleImage.png()), isOpen: Bool = true,
    _ body: (RecordImages<Note>, LoopbackServer) async throws -> Void
  ) async throws {
    if isOpen { wire.gate.open() }
    try await withServer { _ in
      reply
    } do: {
      try await body(images($0), $0)
    }
  }

  @Test func `an image in memory is there at once`() async throws {
    try await withImages { _, server in
      let files = ImageDiskCache(in: URL(filePath: home.root).appending(path: "images"))
      let images = images(server, files: files)
      #expect(images.cachedImage(of: notes[0], .small) == nil)
      let loaded = try await images.image(of: notes[0], .small)
      #expect(loaded.provenance.origin == .live)
      #expect(server.requests.map(\.path) == ["/small/1.png"])
      #expect(images.cachedImage(of: notes[0], .small) == loaded.item)
      #expect(images.cachedImage(of: notes[0], .large) == nil)
      #expect(images.cachedImage(of: notes[1], .small) == nil)
      #expect(images.cachedImage(of: notes[9], .small) == nil)
      images.loader.purge()
      #expect(images.cachedImage(of: notes[0], .small) == nil)
      // The disk has it.
      #expect(try await images.image(of: notes[0], .small).provenance.origin == .cached)
      #expect(images.cachedImage(of: notes[0], .small) == loaded.item)
      #expect(server.requests.count == 1)
    }
  }

  @Test func `a record without an image is an error of its own`() async throws {
    try await withImages { images, server in
      let missing = await failure(images, notes[9])
      #expect(missing?.code == .notFound)
      #expect(missing?.message == #"album record "10" has no image"#)
      let address = try images.address(of: notes[9], .small)
      #expect(address == nil)
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `addresses are checked against the service of the settings`() async throws {
    let album = Album { _, _ in ["http://127.0.0.1:1/x.png"] }
    for (url, code) in [
      ("https://album.example", SourceError.Code.rejected), ("album", .invalidSettings),
    ] {
      let environment = PluginEnvironment(
        settings: SourceSettings(["ALBUM_URL": url]), transport: TrappingTransport())
      let images = album.images(in: environment, files: nil)
      #expect(await failure(images, notes[0])?.code == code)
      #expect(images.cachedImage(of: notes[0], .small) == nil)
      await images.prefetch(notes, .small)
    }
  }

  @Test func `prefetched images are in memory after one request each`() async throws {
    try await withImages { images, server in
      await images.prefetch(notes + notes, .small, jobs: 3)
      let paths = Set(server.requests.map(\.path))
      #expect(paths == Set((1...9).map { "/small/\($0).png" }))
      #expect(server.requests.count == 9)
      for note in notes.dropLast() {
        #expect(images.cachedImage(of: note, .small)?.bytes == SampleImage.png())
      }
      await images.prefetch(notes, .small)
      #expect(server.requests.count == 9)
    }
  }

  /// Some begin while the answer of another is on its way.
  @Test func `loads at any moments make one request for each image`() async throws {
    try await withImages { images, server in
      await withTaskGroup(of: SourceError?.self) { group in
        for round in 0..<100 {
          for note in notes.dropLast() {
            group.addTask {
              for _ in 0..<round { await Task.yield() }
              return await failure(images, note)
            }
          }
        }
        for await failure in group { #expect(failure == nil) }
      }
      #expect(server.requests.count == 9)
    }
  }

  @Test(arguments: [1, 3]) func `a prefetch loads so many images at a time`(
    jobs: Int
  ) async throws {
    try await withImages(isOpen: false) { images, server in
      let prefetch = Task { await images.prefetch(notes, .small, jobs: jobs) }
      await wire.gate.holds(jobs)
      // Others could begin now.
      for _ in 0..<100 { await Task.yield() }
      #expect(wire.begun.value == jobs)
      wire.gate.open()
      await prefetch.value
      #expect(server.requests.count == 9)
    }
  }

  @Test func `a prefetch has low priority`() async throws {
    try await withImages { images, _ in
      await Task(priority: .high) { await images.prefetch(notes, .small) }.value
      #expect(wire.priorities.withLock(\.self) == Array(repeating: .low, count: 9))
    }
  }

  @Test func `a prefetch ends with its task`() async throws {
    try await withImages(.stalled) { images, server in
      let prefetch = Task { await images.prefetch(notes, .small, jobs: 2) }
      _ = await server.requests(atLeast: 2)
      prefetch.cancel()
      await prefetch.value
      await wire.ended.reaches(2)
      #expect(wire.begun.value == 2)
    }
  }

  @Test func `a view joins the request of a prefetch, which may end`() async throws {
    try await withImages(isOpen: false) { images, server in
      let prefetch = Task { await images.prefetch(notes.prefix(1), .small) }
      await wire.gate.holds(1)
      let view = await viewing(images, notes[0])
      prefetch.cancel()
      await prefetch.value
      wire.gate.open()
      #expect(await view.value == nil)
      #expect(wire.begun.value == 1)
      #expect(images.cachedImage(of: notes[0], .small) != nil)
    }
  }

  @Test func `a prefetch skips images that failed, unless it refreshes`() async throws {
    try await withImages(.status(404)) { images, server in
      #expect(await failure(images, notes[0])?.code == .rejected)
      await images.prefetch(notes.prefix(2), .small)
      await images.prefetch(notes.prefix(2), .small)
      #expect(server.requests.map(\.path) == ["/small/1.png", "/small/2.png"])
      await images.prefetch(notes.prefix(2), .small, cachePolicy: .reload)
      #expect(server.requests.count == 4)
    }
  }

  @Test func `an offline prefetch reads the disk only`() async throws {
    try await withImages { _, server in
      let files = ImageDiskCache(in: URL(filePath: home.root).appending(path: "images"))
      _ = try await images(server, files: files).image(of: notes[0], .small)
      let images = images(server, files: files)
      await images.prefetch(notes, .small, cachePolicy: .offline)
      #expect(images.cachedImage(of: notes[0], .small) != nil)
      #expect(server.requests.count == 1)
      // What was not cached is no failure later.
      await images.prefetch(notes, .small)
      #expect(server.requests.count == 9)
    }
  }
}
