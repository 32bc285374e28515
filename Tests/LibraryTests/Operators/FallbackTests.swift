import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FallbackTests {
  /// A service that fails the first calls and then pages through notes 101 to 130.
  private func service(failing failures: [SourceError.Code] = []) -> ScriptedSource<Note> {
    let calls = Counter()
    let notes = BundledSource("live", items: (101...130).map { Note($0) }, fields: Note.fields)
    return ScriptedSource(
      page: { request throws(SourceError) in
        calls.add()
        if calls.value <= failures.count { throw .because(failures[calls.value - 1]) }
        return try await notes.page(request)
      },
      item: { id throws(SourceError) in
        if let code = failures.first { throw .because(code) }
        return try await notes.item(id)
      })
  }

  @Test func `is unused while the first source answers`() async throws {
    let second = ScriptedSource(over: notebook(30))
    let source = service().fallback(to: second)
    #expect(try await source.everyID(limit: 7) == Array(101...130))
    #expect(try await source.item(101).provenance.reason == nil)
    #expect(second.callCount == 0)
  }

  @Test(arguments: [
    SourceError.Code.offline, .unreachable, .connectionLost, .timedOut, .missingKey, .invalidKey,
    .rateLimited, .rejected, .serverError, .circuitOpen, .malformed, .tooLarge, .noProgress,
    .storage,
  ])
  func `replaces a first page and reports why`(code: SourceError.Code) async throws {
    let source = service(failing: [code]).fallback(to: notebook(30))
    let page = try await source.page(PageRequest(limit: 7))
    #expect(page.records.map(\.id) == Array(1...7))
    #expect(page.provenance == Provenance(.bundled, reason: .because(code)))
  }

  @Test func `replaces a record and reports why`() async throws {
    let source = service(failing: [.unreachable]).fallback(to: notebook(30))
    let found = try await source.item(7)
    #expect(
      found
        == LookupResult(Note(7), provenance: Provenance(.bundled, reason: .because(.unreachable)))
    )
  }

  @Test(arguments: [
    SourceError.Code.cancelled, .notFound, .invalidCursor, .invalidRequest, .invalidSettings,
  ])
  func `does not replace an error that is an answer`(code: SourceError.Code) async {
    let second = ScriptedSource(over: notebook(30))
    let sources: [any DataSource<Note>] = [
      service(failing: [code]).fallback(to: second),
      service(failing: [code]).fallback(to: second, when: { _ in true }),
    ]
    for source in sources {
      #expect(await source.failure()?.code == code)
    }
    let source = service(failing: [code]).fallback(to: second, when: { _ in true })
    let error = await #expect(throws: SourceError.self) { try await source.item(1) }
    #expect(error?.code == code)
    #expect(second.callCount == 0)
  }

  @Test func `handles only the errors in its condition`() async throws {
    let isOffline: @Sendable (SourceError) -> Bool = { $0.code == .offline }
    let offline = service(failing: [.offline]).fallback(to: notebook(3), when: isOffline)
    #expect(await offline.failure() == nil)
    let timedOut = service(failing: [.timedOut]).fallback(to: notebook(3), when: isOffline)
    #expect(await timedOut.failure()?.code == .timedOut)
  }

  @Test func `continues with the source that began, in another process too`() async throws {
    let first = service(failing: [.timedOut])
    let source = first.fallback(to: notebook(30))
    var cursor = try await source.page(PageRequest(limit: 7)).next
    var ids: [Int] = []
    while let token = cursor {
      let read = try #require(PageCursor(token.description))
      let again = service().fallback(to: notebook(30))
      let page = try await again.page(PageRequest(after: read, limit: 7))
      #expect(page.provenance.reason?.code == .timedOut)
      #expect(page.provenance.reason?.message == SourceError.Code.timedOut.text)
      ids += page.records.map(\.id)
      cursor = page.next
    }
    #expect(ids == Array(8...30))
    #expect(first.callCount == 1)
  }

  @Test func `fails in the middle of pagination`() async throws {
    let second = ScriptedSource(over: notebook(30))
    let first = ScriptedSource<Note>(pages: [
      .success(.notes(1...3, next: .place(3))), .failure(.because(.unreachable)),
    ])
    let source = first.fallback(to: second)
    let page = try await source.page(PageRequest(limit: 3))
    let failure = await source.failure(of: PageRequest(after: page.next, limit: 3))
    #expect(failure?.code == .unreachable)
    #expect(second.callCount == 0)
  }

  @Test func `does not report a record as not found when the service fails`() async {
    let source = service(failing: [.unreachable]).fallback(to: notebook(3))
    let error = await #expect(throws: SourceError.self) { try await source.item(99) }
    #expect(error?.code == .unreachable)
  }

  @Test func `reports the row and field of an unreadable fallback`() async {
    let bundle = BundledSource<Note>("notes", json: #"[{"id": 1}]"#, fields: Note.fields)
    let stored = UnavailableSource<Note>(.because(.nothingCached))
    let source = service(failing: [.offline, .offline]).fallback(to: stored).fallback(to: bundle)
    let message = "a test says offline; cannot read the bundled notes: row 1: title is missing"
    let failure = await source.failure()
    #expect(failure?.code == .offline)
    #expect(failure?.message == message)
    #expect((failure?.cause as? SourceError)?.code == .malformed)
    let error = await #expect(throws: SourceError.self) { try await source.item(1) }
    #expect(error?.message == message)
  }

  @Test func `reports the first source's failure if the second fails too`() async {
    let broken = UnavailableSource<Note>(.because(.malformed))
    let source = service(failing: [.unreachable]).fallback(to: broken)
    #expect(await source.failure()?.code == .unreachable)
    let error = await #expect(throws: SourceError.self) { try await source.item(1) }
    #expect(error?.code == .unreachable)
  }

  @Test func `passes on that the second source stalled`() async {
    let left = UnavailableSource<Note>(.cancelled)
    let source = service(failing: [.unreachable]).fallback(to: left)
    #expect(await source.failure()?.code == .cancelled)
    let error = await #expect(throws: SourceError.self) { try await source.item(1) }
    #expect(error?.code == .cancelled)
  }

  @Test func `nests`() async throws {
    func chain(_ first: SourceError.Code?, _ second: SourceError.Code?) -> some DataSource<Note> {
      service(failing: first.map { [$0] } ?? [])
        .fallback(to: service(failing: second.map { [$0] } ?? []))
        .fallback(to: notebook(30))
    }
    for (first, second, reason, start) in [
      (nil, nil, nil, 101), (.unreachable, nil, .unreachable, 101),
      (.unreachable, .malformed, .unreachable, 1),
    ] as [(SourceError.Code?, SourceError.Code?, SourceError.Code?, Int)] {
      let page = try await chain(first, second).page(PageRequest(limit: 5))
      #expect(page.provenance.reason?.code == reason)
      let token = try #require(page.next).description
      #expect(token.split(separator: ".").count == 3, "one tag: \(token)")
      let again = try #require(PageCursor(token))
      let next = try await chain(nil, nil).page(PageRequest(after: again, limit: 5))
      #expect(next.records.map(\.id) == Array(start + 5..<start + 10))
      #expect(next.provenance.reason?.code == reason)
    }
  }

  @Test func `rejects a cursor of another tier of a chain`() async throws {
    let chain = service().fallback(to: service()).fallback(to: notebook(30))
    let page = try await service(failing: [.timedOut])
      .fallback(to: UnavailableSource(.because(.offline)))
      .fallback(to: notebook(30))
      .page(PageRequest(limit: 5))
    let token = try #require(page.next).description
    #expect(token.hasPrefix("timedOut2."))
    for tag in ["ok", "timedOut", "timedOut1", "timedOut3", "timedOut22", "ok2"] {
      let changed = try #require(PageCursor(tag + token.dropFirst("timedOut2".count)))
      #expect(await chain.failure(of: PageRequest(after: changed))?.code == .invalidCursor)
    }
  }

  @Test(arguments: [
    "x", "ok", "ok.", "ok..", "ok.9", "nobody.cMQ.aaaaaaaaa", "OK.cMQ.aaaaaaaaa", "cMQ.aaaaaaaaa",
    "ok.cMQ.aaaaaaaaa", "offline.cMQ.aaaaaaaaa", "offline.offline.cMQ.aaaaaaaaa",
  ])
  func `rejects a foreign cursor`(token: String) async throws {
    let source = service().fallback(to: notebook(30))
    let cursor = try #require(PageCursor(token))
    let request = PageRequest(after: cursor)
    #expect(await source.failure(of: request)?.code == .invalidCursor)
  }

  @Test func `rejects a cursor whose tag was changed`() async throws {
    let source = service(failing: [.offline]).fallback(to: notebook(30))
    let token = try #require(try await source.page(PageRequest(limit: 3)).next).description
    #expect(token.hasPrefix("offline."))
    for tag in ["ok.", "ok..", "offline..", ""] {
      let changed = try #require(PageCursor(tag + token.dropFirst("offline.".count)))
      #expect(await source.failure(of: PageRequest(after: changed))?.code == .invalidCursor)
    }
  }

  @Test func `fails instead of ending if a cursor becomes too long`() async throws {
    let longest = try #require(PageCursor(String(repeating: "a", count: PageCursor.maximumLength)))
    let base = ScriptedSource<Note>(pages: [.success(.notes(1...3, next: longest))])
    #expect(await base.fallback(to: notebook(3)).failure()?.code == .malformed)
  }

  @Test(arguments: [[], [SourceError.Code.offline]])
  func `predicts cursors`(
    failures: [SourceError.Code]
  ) async throws {
    let live = BundledSource("live", items: (101...130).map { Note($0) }, fields: Note.fields)
    let first: any DataSource<Note> =
      failures.isEmpty ? live : UnavailableSource(.because(failures[0]))
    let source = first.fallback(to: notebook(30))
    let start = PageRequest(limit: 5)
    let guess = source.cursor(skipping: 5, from: start)
    let second = start.after(try await source.page(start).next)
    // Before anybody has answered, the first one is taken to.
    #expect(guess == (failures.isEmpty ? second.cursor : nil))
    let third = try await source.page(second).next
    #expect(third != nil)
    #expect(source.cursor(skipping: 5, from: second) == third)
  }
}
