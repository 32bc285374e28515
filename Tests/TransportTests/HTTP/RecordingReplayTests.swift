import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorHTTP

@Suite(.timeLimit(.minutes(10)))
struct RecordingReplayTests {
  private let tape = Tape()

  private func recording(
    of request: HTTPRequest, _ outcomes: Result<HTTPResponse, SourceError>...
  ) async throws -> ReplayingTransport {
    for outcome in outcomes {
      let transport = try RecordingTransport(
        ScriptedTransport(outcome), into: URL(filePath: tape.path), hiding: [])
      _ = try? await transport.send(request)
    }
    return ReplayingTransport(try Recording(URL(filePath: tape.path)))
  }

  static let bodies: [Data] = [
    Data(), Data("\n".utf8), Data("a\n\n".utf8), Data("a\r\nb".utf8), Data("\u{1B}[31m".utf8),
    Data("###".utf8), Data("a\n### HTTP 200\n".utf8), Data([0xFF, 0xFE]), Data("{\"a\":1,}".utf8),
    Data("# body: base64\n".utf8), Data("\u{FEFF}{}".utf8), Data("{}\n".utf8 + [0]),
    Data(String(repeating: "[", count: 500).utf8), Data("é\tü".utf8), Data("a\n###\u{301}".utf8),
    Data("a\u{85}b".utf8),
  ]

  @Test(arguments: bodies) func `preserves every byte of other data than JSON`(body: Data)
    async throws
  {
    let reply = HTTPResponse(
      status: 418, headers: [("Content-Type", "x/y; a=\"b: c\"")], body: body)
    let request = HTTPRequest(.post, try #require(URL(string: "https://host/a")), body: body)
    let replay = try await recording(of: request, .success(reply))
    let response = try await replay.send(request)
    #expect(response.status == 418)
    #expect(response.header("content-type") == "x/y; a=\"b: c\"")
    #expect(response.body == body)
  }

  @Test(arguments: 0..<100) func `preserves random bytes`(seed: UInt64) throws {
    var random = SeededGenerator(seed)
    let alphabet = [UInt8]("\n\n\n###  HTTP 200 {}[]\":,1\r\t\u{1}é".utf8) + [0xFF]
    func bytes() -> Data {
      Data(
        (0..<Int.random(in: 0...60, using: &random)).map { _ in
          alphabet.randomElement(using: &random) ?? 0
        })
    }
    let (asked, answered) = (bytes(), bytes())
    let exchange = RecordedExchange(
      time: Date(timeIntervalSince1970: Double(seed)),
      request: RecordedRequest(method: .post, address: "https://host/", body: asked),
      outcome: .reply(HTTPResponse(status: 200, body: answered)))
    let read = try RecordedExchange(exchange.text)
    #expect(read.time == exchange.time)
    guard case .reply(let reply) = read.outcome else {
      Issue.record("\(read.outcome)")
      return
    }
    for (before, after) in [(asked, read.request.body), (answered, reply.body)] {
      #expect(
        before == after
          || JSONFormatter.compact(Array(before)) == JSONFormatter.compact(Array(after))
            && JSONFormatter.compact(Array(before)) != nil
      )
    }
  }

  @Test func `replays failures with code, message and wait`() async throws {
    let failure = SourceError(
      .timedOut, "no connection to host within 10 s", remedy: "wait", retryAfter: .seconds(3))
    let replay = try await recording(of: .tape(), .failure(failure))
    let error = await #expect(throws: SourceError.self) { try await replay.send(.tape()) }
    #expect(error?.code == .timedOut)
    #expect(error?.message == failure.message)
    #expect(error?.remedy == "wait")
    #expect(error?.retryAfter == .seconds(3))
  }

  @Test func `identical requests are answered in recorded order, the last one from then on`()
    async throws
  {
    let replay = try await recording(
      of: .tape(), .success(.tape("1")), .failure(SourceError(.serverError, "none")),
      .success(.tape("3")))
    var answers: [String] = []
    for _ in 0..<5 {
      let reply = try? await replay.send(.tape())
      answers.append(String(decoding: reply?.body ?? Data("-".utf8), as: UTF8.self))
    }
    #expect(answers == ["1", "-", "3", "3", "3"])
  }

  static let recorded = HTTPRequest.tape(
    query: [("a", "1"), ("b", "x y+z"), ("b", "2")], key: "k1", body: #"{"skip":0, "take":20}"#)

  static let same: [HTTPRequest] = [
    .tape(
      query: [("b", "2"), ("b", "x y+z"), ("a", "1")], key: "k2",
      body: "{ \"skip\":0,\n\"take\":20}"),
    .tape(query: [("a", "1"), ("b", "x y+z"), ("b", "2")], body: #"{"skip":0,"take":20}"#),
  ]

  @Test(arguments: same.indices) func `finds the same request`(index: Int) async throws {
    let replay = try await recording(of: Self.recorded, .success(.tape("[]")))
    #expect(try await replay.send(Self.same[index]).status == 200)
  }

  static let others: [(HTTPRequest, String)] = [
    (
      .tape(query: [("a", "1"), ("b", "x y+z"), ("b", "2")]),
      #"is a POST, has the body {"skip":0,"take":20}, not no body"#
    ),
    (
      .tape("/b", query: [("a", "1"), ("b", "x y+z"), ("b", "2")], body: #"{"skip":0,"take":20}"#),
      "requests https://host/a"
    ),
    (
      .tape(query: [("a", "2"), ("b", "x y+z"), ("b", "2")], body: #"{"skip":0,"take":20}"#),
      "has a=1, not a=2"
    ),
    (
      .tape(query: [("a", "1"), ("c", "3"), ("b", "2")], body: #"{"skip":0,"take":20}"#),
      "has b=2&b=x y+z, not b=2, has no c=3"
    ),
    (
      .tape(query: [("b", "x y+z"), ("b", "2")], body: #"{"skip":0,"take":20}"#), "has a=1"
    ),
    (
      .tape(query: [("a", "1"), ("b", "x y+z"), ("b", "2")], body: #"{"take":20,"skip":20}"#),
      #"has the body {"skip":0,"take":20}, not the body {"take":20,"skip":20}"#
    ),
  ]

  @Test(arguments: others.indices)
  func `describes how another request differs from the nearest`(index: Int) async throws {
    let replay = try await recording(of: Self.recorded, .success(.tape("[]")))
    let (request, words) = Self.others[index]
    let error = await #expect(throws: SourceError.self) { try await replay.send(request) }
    #expect(error?.code == .notRecorded)
    #expect(error?.message.hasSuffix(": the nearest, 0001-post-a.http, \(words)") == true)
    #expect(error?.allowsFallback == false)
  }

  @Test func `reports an empty recording`() async throws {
    try tape.write("not a recording", to: "README.md")
    let recording = try Recording(URL(filePath: tape.path))
    #expect(recording.count == 0)
    #expect(recording.recordedAt == nil)
    let error = await #expect(throws: SourceError.self) {
      try await ReplayingTransport(recording).send(.tape())
    }
    #expect(error?.message.hasSuffix("\(tape.path): the recording is empty") == true)
  }

  @Test func `uses the time of the latest exchange, as when it was recorded`() async throws {
    let times = Mutex([1000.2, 2000.7, 1500.0].map(Date.init(timeIntervalSince1970:))[...])
    let transport = try RecordingTransport(
      ScriptedTransport(.success(.tape("1")), .success(.tape("2"))), into: URL(filePath: tape.path),
      hiding: [],
      now: { times.withLock { $0.popFirst() } ?? Date(timeIntervalSince1970: 3000) })
    var seen: [Double] = []
    for path in ["/1", "/2"] {
      _ = try await transport.send(.tape(path))
      seen.append(transport.now().timeIntervalSince1970.rounded(.down))
    }
    #expect(seen == [1000, 2000])
    let recording = try Recording(URL(filePath: tape.path))
    #expect(recording.recordedAt == Date(timeIntervalSince1970: 1000))
    let replay = ReplayingTransport(recording)
    #expect(1000..<1001 ~= replay.now().timeIntervalSince1970)
    for (path, time) in [("/2", 2000.0), ("/1", 2000)] {
      _ = try await replay.send(.tape(path))
      #expect(time..<(time + 1) ~= replay.now().timeIntervalSince1970)
    }
  }

  static let head = "# aggregator recording 1\n# 2026-01-05T09:12:44Z\n"

  static let damaged: [(String, Int, String)] = [
    ("", 1, "not a recording"), ("# aggregator recording 2\n", 1, "not a recording"),
    ("# aggregator recording 1\n", 1, "time"), ("# aggregator recording 1\nGET /\n", 2, "time"),
    (head, 2, "missing request"), (head + "TR@CE https://h/\n", 3, "missing request"),
    (head + "GET https://h/ x\n", 3, "missing request"),
    ("# aggregator recording 1\n# 1001-01-20T00:00:00Z\n", 2, "missing time"),
    (head + "GET https://h/\nnonsense\n", 4, "header field"),
    (head + "GET https://h/\n\n", 4, "missing outcome"),
    (head + "GET https://h/\n\nbody\nbody\n", 6, "missing outcome"),
    (head + "GET https://h/\n\n### HTTP 20\n", 5, "status"),
    (head + "GET https://h/\n\n### HTTP 99999999999999999999\n", 5, "status"),
    (head + "GET https://h/\n\n### HTTP\n", 5, "\"HTTP 200\""),
    (head + "GET https://h/\n\n### failed nonsense\n", 5, "invalid error code \"nonsense\""),
    (head + "GET https://h/\n\n### failed cancelled\n", 5, "invalid error code"),
    (head + "GET https://h/\n\n### failed notRecorded\n", 5, "invalid error code"),
    (head + "GET https://h/\n\n### failed timedOut\nx\n", 6, "header field"),
    (head + "GET https://h/\n\n### HTTP 200\na: b\n# body: base64\n\n=\n", 9, "base64"),
  ]

  @Test(arguments: damaged.indices)
  func `names file and line of a syntax error`(index: Int) throws {
    let (text, line, words) = Self.damaged[index]
    try tape.write(text, to: "x.http")
    let error = #expect(throws: SourceError.self) { try Recording(URL(filePath: tape.path)) }
    #expect(error?.code == .malformed)
    #expect(
      error?.message.hasPrefix("\(tape.path)/x.http:\(line): ") == true, "\(error?.message ?? "")")
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test func `reads an edited recording`() async throws {
    let text =
      Self.head + "# why this is here\nGET https://h/?b=2&a=%61\nX: y\n\n### HTTP 200\n"
      + "# as it should be\nContent-Type:text/plain\n\n[]"
    try tape.write(text.replacing("\n", with: "\r\n"), to: "b.http")
    try tape.write(
      Self.head + "GET https://h/c\n### failed rateLimited\nretry-after: nan\n", to: "a.http")
    let replay = ReplayingTransport(try Recording(URL(filePath: tape.path)))
    let url = try #require(URL(string: "https://h/"))
    let reply = try await replay.send(
      HTTPRequest(.get, url, query: [.init("a", "a"), .init("b", "2")]))
    #expect(reply.body == Data("[]".utf8))
    #expect(reply.header("content-type") == "text/plain")
    let error = await #expect(throws: SourceError.self) {
      try await replay.send(HTTPRequest(.get, url.appending(path: "c")))
    }
    #expect(error?.code == .rateLimited)
    #expect(error?.retryAfter == nil)
    #expect(error?.message == SourceError.Code.rateLimited.text)
  }

  @Test func `reads regular files of the directory only`() throws {
    try tape.write(Self.head + "GET https://h/\n### silent\n", to: "elsewhere")
    try FileManager.default.createSymbolicLink(
      atPath: "\(tape.path)/a.http", withDestinationPath: "elsewhere")
    let link = #expect(throws: SourceError.self) { try Recording(URL(filePath: tape.path)) }
    #expect(link?.code == .storage)
    #expect(link?.message == "cannot read \(tape.path)/a.http: it is a symbolic link")
    try FileManager.default.removeItem(atPath: "\(tape.path)/a.http")
    #expect(mkfifo("\(tape.path)/a.http", 0o600) == 0)
    let pipe = #expect(throws: SourceError.self) { try Recording(URL(filePath: tape.path)) }
    #expect(pipe?.message == "cannot read \(tape.path)/a.http: not a regular file")
    try FileManager.default.removeItem(atPath: "\(tape.path)/a.http")
    // A hole: it takes no room on the disk.
    try tape.write("", to: "a.http")
    #expect(truncate("\(tape.path)/a.http", off_t(RecordingDirectory.maxFileSize) + 1) == 0)
    let large = #expect(throws: SourceError.self) { try Recording(URL(filePath: tape.path)) }
    #expect(large?.code == .tooLarge)
  }

  @Test(arguments: 0..<200) func `survives damage at random`(seed: UInt64) {
    var random = SeededGenerator(seed)
    var bytes = Array(
      (Self.head + "POST https://h/?a=1\nx: y\n\n{}\n\n### HTTP 200\na: b\n\n[]\n").utf8)
    for _ in 0...Int.random(in: 0...5, using: &random) {
      let index = Int.random(in: bytes.indices, using: &random)
      switch Int.random(in: 0...2, using: &random) {
      case 0: bytes[index] = .random(in: .min ... .max, using: &random)
      case 1: bytes.removeSubrange(index...)
      default: bytes.insert(contentsOf: bytes.prefix(index), at: index)
      }
      if bytes.isEmpty { bytes = [0] }
    }
    let exchange: RecordedExchange
    do throws(RecordedExchange.FormatError) { exchange = try RecordedExchange(Data(bytes)) } catch {
      #expect(error.line >= 1)
      return
    }
    // Any readable recording can be written, and read again.
    #expect(throws: Never.self) { try RecordedExchange(exchange.text) }
  }
}
