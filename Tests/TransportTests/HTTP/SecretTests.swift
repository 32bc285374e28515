import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SecretTests {
  /// A key that looks different in every encoding.
  static let key = "Canary+7/k3y ä&="
  static let encodedKey = "Canary%2B7%2Fk3y%20%C3%A4%26%3D"

  private func request(_ url: URL, in place: Place = .query) -> HTTPRequest {
    let item = HTTPRequest.Item("api_key", .secret(Secret(Self.key)))
    return switch place {
    case .query: HTTPRequest(.get, url, query: [.init("q", "a b"), item])
    case .header: HTTPRequest(.get, url, headers: [item])
    }
  }

  enum Place: CaseIterable { case query, header }

  @Test(arguments: [
    ("https://a.test/b?api_key=1&x=2", "https://a.test/b?api_key=REDACTED&x=2"),
    ("https://a.test/?x=1&Token=é#key=3", "https://a.test/?x=1&Token=REDACTED#key=3"),
    (
      "see <https://a.test/?key=q> or ?key=z it",
      "see <https://a.test/?key=REDACTED> or ?key=REDACTED it"
    ),
    ("/b?next=/c?token=9&b", "/b?next=/c?token=REDACTED&b"), ("?key=", "?key=REDACTED"),
    ("?=x&monkey=1&&ap%69key=4", "?=x&monkey=1&&ap%69key=REDACTED"), ("no key=1", "no key=1"),
  ])
  func `hides likely secrets in addresses that a service has written`(text: String, shown: String) {
    #expect(LikelySecret.hidden(in: text) == shown)
  }

  @Test(arguments: Engine.allCases)
  func `sends the key to this machine and shows it nowhere`(engine: Engine) async throws {
    try await withServer({ _ in .json("{}") }) { server in
      let events = try await eventsOf { transport in
        let request = request(server.baseURL.appending(path: "x"))
        #expect(!"\(request)".contains("Canary"))
        _ = try await transport.send(request)
      } by: {
        engine.transport()
      }
      #expect(server.requests.first?.query["api_key"] == Self.key)
      #expect(server.requests.first?.rawQuery == "q=a%20b&api_key=\(Self.encodedKey)")
      let address = "\(server.baseURL)/x?q=a%20b&api_key=REDACTED"
      #expect(events.count == 2)
      guard case .sent("GET", address) = events.first else {
        Issue.record("\(events)")
        return
      }
      guard case .received(200, 2, _, address) = events.last else {
        Issue.record("\(events)")
        return
      }
    }
  }

  @Test(arguments: Engine.allCases, FaultTests.faults.indices)
  func `keeps the key out of every error and event`(engine: Engine, index: Int) async throws {
    try await withServer({ _ in FaultTests.faults[index].0 }) { server in
      let events = try await eventsOf { transport in
        for place in Place.allCases {
          let error = await #expect(throws: SourceError.self) {
            try await transport.send(request(server.baseURL, in: place))
          }
          #expect(isClean(error as Any))
        }
      } by: {
        engine.transport()
      }
      guard case .lost(let error, _, _) = events.last else {
        Issue.record("\(events)")
        return
      }
      #expect(isClean(error))
    }
  }

  @Test(arguments: Engine.allCases, Place.allCases)
  func `removes the key from the reply`(engine: Engine, place: Place) async throws {
    let echo = "\(Self.key)|\(Self.encodedKey)|\(Self.key.replacing("/", with: #"\/"#))|Canary|"
    try await withServer({ _ in
      .status(200, echo + echo, headers: [("X-Echo", "<\(Self.encodedKey)>")])
    }) { server in
      let response = try await engine.transport().send(request(server.baseURL, in: place))
      let clean = "REDACTED|REDACTED|REDACTED|Canary|"
      #expect(String(decoding: response.body, as: UTF8.self) == clean + clean)
      #expect(response.header("x-echo") == "<REDACTED>")
    }
  }

  @Test(arguments: Engine.allCases)
  func `removes the key in any encoding from the reply`(engine: Engine) async throws {
    let forms = [
      "CANARY+7/K3Y ä&=", #"Canary\u002B7\/k3y \u00e4\u0026="#, "Canary&#43;7/k3y &auml;&amp;=",
      "Canary<i>+7</i>/k3y ä&=", "Canary+7\u{200B}/k3y ä&=", "canary%252b7%252fk3y+ä%2526=",
      Data(Self.key.utf8).base64EncodedString(),
    ]
    try await withServer({ _ in
      .status(200, forms.joined(separator: "|"), headers: [("X-Echo", forms[0])])
    }) { server in
      let response = try await engine.transport().send(request(server.baseURL))
      let clean = Array(repeating: "REDACTED", count: forms.count).joined(separator: "|")
      #expect(String(decoding: response.body, as: UTF8.self) == clean)
      #expect(response.header("x-echo") == "REDACTED")
    }
  }

  @Test(arguments: [("1234567", "a1234567b"), ("12345678", "aREDACTEDb")])
  func `removes only keys long enough not to match by chance`(key: String, shown: String)
    async throws
  {
    let engine = ScriptedEngine([HTTPResponse(status: 200, body: Data("a\(key)b".utf8))])
    let url = try #require(URL(string: "https://a.example/"))
    let request = HTTPRequest(.get, url, query: [.init("k", .secret(Secret(key)))])
    let response = try await HTTPTransport(engine: engine).send(request)
    #expect(String(decoding: response.body, as: UTF8.self) == shown)
  }

  @Test(arguments: Engine.allCases)
  func `follows a Location that repeats the key without showing it`(engine: Engine) async throws {
    try await withServer(
      replies: .redirect(to: "/\(Self.encodedKey)/?api_key=\(Self.encodedKey)&k=v"), .json("{}")
    ) { server in
      let events = try await eventsOf { transport in
        _ = try await transport.send(request(server.baseURL))
      } by: {
        engine.transport()
      }
      #expect(server.requests.last?.query["api_key"] == Self.key)
      #expect(events.count == 4)
      guard case .sent(_, "\(server.baseURL)/REDACTED/") = events[2] else {
        Issue.record("\(events)")
        return
      }
    }
  }

  @Test(arguments: [
    "http://\(hexKey).example/", "http://\(hexKey.uppercased()).example/", "\(hexKey):x",
    "file:///\(hexKey)", "http://\(hexKey)@a.example/", "/loop?\(hexKey)", "http://[\(hexKey)/",
  ])
  func `keeps the key out of messages about a Location`(location: String) async throws {
    let engine = ScriptedEngine(
      Array(repeating: HTTPResponse(status: 302, headers: [("Location", location)]), count: 6))
    let url = try #require(URL(string: "https://b.example/x"))
    let request = HTTPRequest(.get, url, query: [.init("k", .secret(Secret(Self.hexKey)))])
    let recorder = Recorder()
    let error = await Observer.$current.withValue(recorder.observer) {
      await #expect(throws: SourceError.self) {
        try await HTTPTransport(engine: engine).send(request)
      }
    }
    let shown = "\(error as Any) \(recorder.events)".lowercased()
    #expect(!shown.contains(Self.hexKey))
  }

  static let hexKey = "c0ffee00c0ffee00"

  @Test(arguments: Engine.allCases, Place.allCases)
  func `does not send a key unencrypted over the network`(engine: Engine, place: Place) async throws
  {
    for host in [
      "example.invalid", "127.0.0.1.example.invalid", "localhost.invalid", "[::2]", "128.0.0.1",
    ] {
      let url = try #require(URL(string: "http://\(host):8080/x"))
      let events = try await eventsOf { transport in
        let error = await #expect(throws: SourceError.self) {
          try await transport.send(request(url, in: place))
        }
        #expect(error?.code == .invalidSettings)
        #expect(error?.message == "refusing to send a key unencrypted to \(host):8080")
        #expect(error?.remedy?.text.contains("https://") == true)
      } by: {
        engine.transport()
      }
      #expect(events.isEmpty, "nothing is sent")
    }
  }

  @Test(arguments: [
    "http://localhost/", "http://LOCALHOST:1/", "http://127.0.0.1/", "http://127.255.0.9/",
    "http://[::1]/", "http://[0:0:0:0:0:0:0:1]:80/", "https://a.example/",
  ])
  func `sends a key to this machine and over https`(address: String) async throws {
    let engine = ScriptedEngine([HTTPResponse(status: 200)])
    let url = try #require(URL(string: address))
    _ = try await HTTPTransport(engine: engine).send(request(url))
    #expect(engine.requests.first?.address.query?.hasSuffix(Self.encodedKey) == true)
    #expect(isClean(engine.requests))
  }

  @Test(arguments: [
    ("X-A", "a\r\nX-B: b"), ("X-A", "a\nb"), ("X-A", "a\u{0}b"), ("X-A", "a\u{7F}"),
    ("X\r\nB", "a"),
    ("X A", "a"), ("", "a"), ("X:", "a"), ("Ä", "a"),
  ])
  func `rejects a header field with a line break`(name: String, value: String) async throws {
    let engine = ScriptedEngine([])
    let url = try #require(URL(string: "https://a.example/"))
    for value in [HTTPRequest.Value.plain(value), .secret(Secret(value + Self.key))] {
      let error = await #expect(throws: SourceError.self) {
        try await HTTPTransport(engine: engine).send(
          HTTPRequest(.get, url, headers: [.init(name, value)]))
      }
      #expect(error?.code == .invalidRequest)
      #expect(isClean(error as Any))
    }
    #expect(engine.requests.isEmpty)
  }

  @Test(arguments: Engine.allCases)
  func `percent-encodes line breaks in a path or a query`(engine: Engine) async throws {
    try await withServer(replies: .json("{}")) { server in
      let evil = "a\r\nX-Evil: 1\r\n\r\nGET /"
      _ = try await engine.transport().send(
        HTTPRequest(.get, server.baseURL.appending(path: evil), query: [.init(evil, .plain(evil))]))
      #expect(server.requests.count == 1)
      #expect(server.requests.first?.header("x-evil") == nil)
      #expect(server.requests.first?.query == [evil: evil])
    }
  }

  @Test(arguments: [
    "file:///etc/passwd", "ftp://a.example/", "/relative", "http://",
    "https://user:pass@a.example/",
    "http://a b.example/", "http://bücher.example/", "https://a.example:0/",
    "https://a.example:65536/",
  ])
  func `rejects URLs that are not plain http(s)`(address: String) async throws {
    guard let url = URL(string: address) else { return }
    let error = await #expect(throws: SourceError.self) {
      try await HTTPTransport(engine: ScriptedEngine([])).send(HTTPRequest(.get, url))
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("pass@") == false)
  }

  // MARK: -

  private func eventsOf(
    _ body: (HTTPTransport) async throws -> Void, by transport: () -> HTTPTransport
  ) async throws -> [Event] {
    let recorder = Recorder()
    try await Observer.$current.withValue(recorder.observer) { try await body(transport()) }
    #expect(isClean(recorder.events))
    return recorder.events
  }

  /// `true` if no description of a value contains a trace of the key.
  private func isClean(_ value: Any) -> Bool {
    var dumped = ""
    dump(value, to: &dumped)
    return !"\(value) \(String(reflecting: value)) \(dumped)".contains("Canary")
  }
}

/// Collects events.
final class Recorder: Sendable {
  private let collected = Mutex<[Event]>([])

  var events: [Event] { collected.withLock(\.self) }
  var observer: Observer { Observer { event in self.collected.withLock { $0.append(event) } } }
}
