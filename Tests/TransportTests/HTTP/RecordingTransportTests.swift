import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorHTTP

@Suite(.timeLimit(.minutes(10)))
struct RecordingTransportTests {
  static let key = "Canary/6f1e+0c27"

  private let tape = Tape()

  /// Records these outcomes of the same request.
  private func record(
    _ request: HTTPRequest, hiding secrets: [String] = [],
    _ outcomes: Result<HTTPResponse, SourceError>...
  ) async throws -> [Result<HTTPResponse, SourceError>] {
    var results: [Result<HTTPResponse, SourceError>] = []
    for outcome in outcomes {
      let transport = try RecordingTransport(
        ScriptedTransport(outcome), into: URL(filePath: tape.path),
        hiding: secrets.map(Secret.init),
        now: { Date(timeIntervalSince1970: 1_767_604_364.9) })
      results.append(
        await Result { () async throws(SourceError) in try await transport.send(request) })
    }
    return results
  }

  @Test func `writes readable text`() async throws {
    let request = HTTPRequest(
      .post, try #require(URL(string: "http://localhost:3000/products/offset")),
      query: [.init("q", "a b"), .init("api_key", .secret(Secret(Self.key)))],
      headers: [
        .init("Content-Type", "application/json"), .init("X-Key", .secret(Secret(Self.key))),
      ], body: Data(#"{"skip":0,"take":20}"#.utf8))
    let reply = HTTPResponse.tape(
      #"{"products":[{"id":"é","id":1.0}],"echo":"Canary\/6f1e+0c27"}"#,
      headers: [
        ("Content-Type", "application/json"), ("Set-Cookie", "session=1"), ("X-Total-Count", "7"),
        ("CF-Ray", "1"), ("Retry-After", "30"), ("Link", "<https://h/?k=Canary%2F6f1e%2b0c27>"),
      ])
    let result = try await record(request, .success(reply))
    #expect(try result.first?.get().body == reply.body)
    #expect(tape.names == ["0001-post-products-offset.http"])
    #expect(
      try tape.text() == """
        # aggregator recording 1
        # 2026-01-05T09:12:44Z
        POST http://localhost:3000/products/offset?q=a%20b&api_key=REDACTED
        Content-Type: application/json
        X-Key: REDACTED

        {
          "skip": 0,
          "take": 20
        }

        ### HTTP 200
        content-type: application/json
        x-total-count: 7
        retry-after: 30
        link: <https://h/?k=REDACTED>

        {
          "products": [
            {
              "id": "é",
              "id": 1.0
            }
          ],
          "echo": "REDACTED"
        }

        """)
    #expect(try tape.mode() == 0o700)
    #expect(try tape.mode(of: "0001-post-products-offset.http") == 0o600)
  }

  @Test func `writes failures, silence, and binary bodies`() async throws {
    let failure = SourceError(
      .connectionLost, "the connection\nbroke", remedy: "wait", retryAfter: .milliseconds(1500))
    _ = try await record(
      .tape(), .failure(failure), .success(HTTPResponse(status: 204)),
      .success(HTTPResponse(status: 200, body: Data([0xFF, 0, 1]))), .success(.tape("### x\n")),
      .success(.tape("{\"a\":\n")))
    let replies = try tape.text().split(separator: "GET https://host/a\n\n").dropFirst().map {
      $0.replacing(/# aggregator[^\n]*\n# [^\n]*\n/, with: "")
    }
    #expect(
      replies == [
        "### failed connectionLost\nmessage: the connection broke\nremedy: wait\nretry-after: 1.5\n",
        "### HTTP 204\n", "### HTTP 200\n# body: base64\n\n/wAB\n",
        "### HTTP 200\n# body: base64\n\nIyMjIHgK\n", "### HTTP 200\n\n{\"a\":\n\n",
      ])
  }

  @Test func `distinguishes silence until a deadline from a cancelled caller`() async throws {
    struct Silent: Transport {
      func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
        // Never opened: it ends with the task.
        try await Gate().pass()
        throw .cancelled
      }
    }
    let transport = try RecordingTransport(Silent(), into: URL(filePath: tape.path), hiding: [])
    let left = Task { try await transport.send(.tape("/left")) }
    left.cancel()
    _ = await left.result
    #expect(tape.names.isEmpty)

    let clock = ManualClock()
    let source = OneCall { () async throws(SourceError) in try await transport.send(.tape()) }
    async let failure = source.timeout(.seconds(5), clock: clock).failure()
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(5))
    #expect(await failure?.code == .timedOut)
    #expect(try tape.text().hasSuffix("GET https://host/a\n\n### silent\n"))
  }

  @Test(arguments: [
    Data(key.utf8).base64EncodedString(), #"Canary\u002f6f1e+0c27"#, "Canary&#47;6f1e&#x2B;0c27",
    "Canary%252F6f1e%252B0c27", "Canary<b>/6f1e</b>+0c27", "Canary/6f1e\u{200B}+0c27",
  ])
  func `removes a key in any encoding`(echo: String) async throws {
    for reply in [
      HTTPResponse.tape("{\"echo\":\"\(echo)\"}"), .tape("you said \(echo)", status: 500),
      HTTPResponse(status: 200, headers: [("Location", echo)]),
    ] {
      _ = try await record(.tape(key: Self.key), .success(reply))
    }
    _ = try await record(.tape(), hiding: [Self.key], .failure(SourceError(.rejected, echo)))
    #expect(tape.names.count == 4)
    for name in tape.names {
      let text = try tape.text(of: name)
      #expect(text.contains("REDACTED"))
      #expect(!text.contains(echo))
    }
  }

  @Test(arguments: [#"abc%41defgh"ijkl"#, #"abc&lt;defgh"ijkl"#, #"abc\defghijkl"#])
  func `writes nothing with a key that contains an escape itself`(key: String) async throws {
    let echo = String(decoding: try JSONEncoder().encode([key]), as: UTF8.self)
    for secrets in [[], [key]] {
      let refused = try await record(
        .tape(key: secrets.isEmpty ? key : nil), hiding: secrets, .success(.tape(echo)))
      guard case .failure(let error) = refused.first else {
        Issue.record("recorded")
        continue
      }
      #expect(error.code == .notRecorded)
      #expect(error.message.contains("a key contains an escape sequence"))
    }
    #expect(tape.names.isEmpty)
  }

  @Test func `writes nothing if a key cannot be removed`() async throws {
    let short = "K3y!"
    let refused = try await record(
      .tape(), hiding: [short], .failure(SourceError(.rejected, "bad k3y!")))
    guard case .failure(let error) = refused.first else {
      Issue.record("recorded")
      return
    }
    #expect(error.code == .notRecorded)
    #expect(!error.allowsFallback && !error.isTransient)
    #expect(tape.names.isEmpty)
  }

  @Test func `removes a key only where the reply still means the same`() async throws {
    let digits = "1234567890123456"
    func status(_ body: Data) async throws -> SourceError.Code? {
      let result = try await record(
        .tape(), hiding: [digits], .success(HTTPResponse(status: 200, body: body)))
      guard case .failure(let error) = result.first else { return nil }
      return error.code
    }
    #expect(try await status(Data("{\"n\":\(digits)}".utf8)) == .notRecorded)
    #expect(try await status(Data([0xFF]) + Data(digits.utf8)) == .notRecorded)
    #expect(tape.names.isEmpty)
    #expect(try await status(Data("{\"n\":\"\(digits)\"}".utf8)) == nil)
    #expect(try await status(Data("n \(digits)".utf8)) == nil)
    #expect(try !tape.text().contains(digits))
  }

  @Test func `hides a key in the path, in the body and in the name of the file`() async throws {
    _ = try await record(
      .tape("/bot\(Self.key)/x", query: [("q", Self.key)], body: "k=\(Self.key)"),
      hiding: [Self.key], .success(.tape("ok")))
    #expect(tape.names == ["0001-post-botredacted-x.http"])
    let text = try tape.text()
    #expect(!text.lowercased().contains("6f1e"))
    #expect(text.contains("POST https://host/botREDACTED/x?q=REDACTED\n\nk=REDACTED\n\n###"))
  }

  @Test func `leaves out contacts`() async throws {
    let contact = Setting("NOTES_CONTACT", .contact, about: "Who asks.")
    let environment = try PluginEnvironment(
      settings: SourceSettings([contact.key: "ann@notes.example"]), transport: Echo()
    ).recording(into: URL(filePath: tape.path), hiding: [contact])
    var request = HTTPRequest.tape(query: [("mailto", "ann@notes.example")])
    request.headers.append(.init("User-Agent", "notes (ann@notes.example)"))
    _ = try await environment.transport.send(request)
    let text = try tape.text()
    #expect(text.contains("?mailto=REDACTED\n"))
    #expect(text.contains("User-Agent: notes (REDACTED)\n"))
    #expect(!text.contains("notes.example"))
  }

  @Test func `a short secret keeps nothing from being recorded until it is sent`() async throws {
    let other = Setting("OTHER_KEY", .secret, about: "Of another source.")
    let environment = try PluginEnvironment(
      settings: SourceSettings([other.key: "ok9"]), transport: Echo()
    ).recording(into: URL(filePath: tape.path), hiding: [other])
    _ = try await environment.transport.send(.tape("/notes/ok9"))
    #expect(tape.names == ["0001-get-notes-ok9.http"])
    _ = try await environment.transport.send(.tape("/notes", key: "ok9"))
    let error = await #expect(throws: SourceError.self) {
      try await environment.transport.send(.tape("/notes/ok9"))
    }
    #expect(error?.code == .notRecorded)
    #expect(tape.names.count == 2)
  }

  @Test func `numbers are consecutive, also with concurrent recordings`() async throws {
    try tape.write("x", to: "0041-get-a.http")
    let one = try RecordingTransport(Echo(), into: URL(filePath: tape.path), hiding: [])
    let other = try RecordingTransport(Echo(), into: URL(filePath: tape.path), hiding: [])
    await withTaskGroup { group in
      for index in 0..<40 {
        let transport = index.isMultiple(of: 2) ? one : other
        group.addTask { _ = try? await transport.send(.tape("/\(index)")) }
      }
    }
    let numbers = tape.names.compactMap { Int($0.prefix(4)) }
    #expect(numbers == Array(41...81))
    #expect(tape.names.allSatisfy { $0.hasSuffix(".http") })
  }

  @Test func `reports the system's error`() async throws {
    try tape.write("", to: "file")
    let below = #expect(throws: SourceError.self) {
      try RecordingTransport(Echo(), into: URL(filePath: "\(tape.path)/file/below"), hiding: [])
    }
    #expect(below?.code == .storage)
    let transport = try RecordingTransport(
      Echo(), into: URL(filePath: "\(tape.path)/gone"), hiding: [])
    try FileManager.default.removeItem(atPath: "\(tape.path)/gone")
    let gone = await #expect(throws: SourceError.self) { try await transport.send(.tape()) }
    #expect(gone?.code == .notRecorded)
    #expect((gone?.cause as? SourceError)?.code == .storage)
  }
}

/// Answers every request with `[]`.
private struct Echo: Transport {
  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse { .tape("[]") }
}

/// A source whose every call makes one request.
struct OneCall: DataSource {
  let call: @Sendable () async throws(SourceError) -> HTTPResponse

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Leaf> {
    let response = try await call().checked(by: "the service", now: Date())
    let leaves = (0..<response.body.count).map { Leaf($0, "leaf \($0)") }
    return Page(leaves, next: nil, provenance: Provenance(.live))
  }

  func item(_ id: Int, cachePolicy: CachePolicy) async throws(SourceError) -> LookupResult<Leaf> {
    throw .notFound(id, in: "leaves")
  }
}

extension DataSource {
  /// The failure of its first page.
  func failure() async -> SourceError? {
    await #expect(throws: SourceError.self) { try await page(PageRequest()) }
  }
}
