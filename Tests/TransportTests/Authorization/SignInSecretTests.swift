import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// Tokens and credentials go to their hosts, and nowhere else.
@Suite struct SignInSecretTests {
  private let fixture: SignInFixture

  init() throws { fixture = try .rotating() }

  private var login: FakeLogin { fixture.login }

  private var plugin: OrdersPlugin { fixture.refreshingPlugin }

  /// All that must not appear.
  private var secrets: [String] {
    login.accessTokens + [FakeLogin.secret, FakeLogin.refresh, login.refresh]
  }

  @Test func `records, events and the store have none`() async throws {
    let events = Mutex<[String]>([])
    let store = InMemoryStore()
    var environment = fixture.environment(store: store)
    environment.observer = Observer { event in events.withLock { $0.append("\(event)") } }
    let source = try plugin.source(in: environment)
    var notes: Set<String?> = []
    for _ in 1...3 {
      notes.formUnion(
        try await source.cachePolicy(.liveOnly).page(PageRequest(limit: 5)).records.map(\.note))
      login.expire()
    }
    #expect(notes == ["by REDACTED"])
    let stored = try await RecordStore<Order>("orders", in: store, text: { _ in FoldedText("") })
      .records.page(PageRequest(limit: 100)).records
    let text = "\(stored)\(events.withLock(\.self))"
    #expect(stored.count == 5)
    for secret in secrets { #expect(!text.contains(secret)) }
    // The observer, and so `-v`, sees that tokens are requested.
    #expect(!"\(stored)".contains("oauth/token") && text.contains("oauth/token"))
  }

  @Test func `a recording has none, and its replay needs none`() async throws {
    let tape = Tape()
    let recording = try fixture.environment()
      .recording(into: URL(filePath: tape.path), hiding: plugin.settings)
    let source = try plugin.remote(in: recording)
    try await source.first()
    login.expire()
    // A 401 and its repetition are both recorded.
    let recorded = try await source.first()
    #expect(tape.names.count == 3)
    #expect(try tape.text().contains("by REDACTED"))
    for secret in secrets { #expect(try !tape.text().contains(secret)) }
    #expect(try !tape.text().contains("oauth/token"))

    let requests = login.server.requests.count
    let replay = PluginEnvironment(settings: SourceSettings(), transport: LongTimeoutTransport())
      .replaying(try Recording(URL(filePath: tape.path)), knowing: [])
    let replayed = try plugin.remote(in: replay)
    #expect(try await replayed.first().records.map(\.id) == [0, 1, 2, 3, 4])
    #expect(try await replayed.first().records.map(\.id) == recorded.records.map(\.id))
    #expect(login.server.requests.count == requests)
  }

  @Test func `a refused token is the same error in a replay`() async throws {
    login.change { $0.uses = 0 }
    let tape = Tape()
    let recording = try fixture.environment()
      .recording(into: URL(filePath: tape.path), hiding: plugin.settings)
    await #expect(throws: SourceError.self) { try await plugin.remote(in: recording).first() }
    let replay = PluginEnvironment(settings: SourceSettings(), transport: LongTimeoutTransport())
      .replaying(try Recording(URL(filePath: tape.path)), knowing: [])
    let error = await #expect(throws: SourceError.self) {
      try await plugin.remote(in: replay).first()
    }
    #expect(error?.code == .invalidKey)
  }

  @Test func `a redirect to another host gets neither token nor credentials`() async throws {
    let other = try LoopbackServer { _ in .json(#"{"access_token": "stolen-token"}"#) }
    let target = other.baseURL.appending(path: "elsewhere").absoluteString
    let shop = try LoopbackServer { _ in .redirect(to: target) }
    let redirected = OrdersPlugin(url: shop.baseURL, authorization: .refreshing(at: login))
    let error = await #expect(throws: SourceError.self) {
      try await redirected.remote(in: fixture.environment()).first()
    }
    #expect(error?.code == .rejected)
    #expect(login.issued == 1)

    for status in [302, 307, 308] {
      login.change { $0.reply = .redirect(to: target, status: status) }
      login.expire()
      let refused = await #expect(throws: SourceError.self) {
        try await plugin.remote(in: fixture.environment()).first()
      }
      #expect(refused?.code == .rejected)
    }
    #expect(other.requests.isEmpty)
  }

  @Test func `a request to another host is sent without a token`() async throws {
    let other = try LoopbackServer { _ in .json(#"{"items": []}"#) }
    var plugin = OrdersPlugin(url: other.baseURL, authorization: .refreshing(at: login))
    plugin.service = fixture.shop.url
    try await plugin.remote(in: fixture.environment()).first()
    #expect(other.requests.count == 1)
    #expect(other.requests.first?.header("Authorization") == nil)
    #expect(login.server.requests.isEmpty)
  }

  @Test func `credentials are not sent unencrypted to another machine`() async throws {
    let url = try #require(URL(string: "http://login.example/token"))
    for sending in Authorization.Sending.allCases {
      let client = Authorization.Client(
        token: url, id: .text("id"), secret: .setting(OrdersPlugin.secret), sending: sending)
      let plugin = fixture.plugin(.clientCredentials(client))
      let error = await #expect(throws: SourceError.self) {
        try await plugin.remote(in: fixture.environment()).first()
      }
      #expect(error?.code == .invalidSettings)
      #expect(error?.message.contains("unencrypted to login.example") == true)
    }
  }

  @Test func `a token that contains the client's ID arrives whole`() async throws {
    // As a JSON Web Token does, in base64.
    let claim = Data(#"{"client_id": "\#(FakeLogin.id)"}"#.utf8).base64EncodedString()
    let prefix = "eyJhbGciOiJub25lIn0.\(claim).\(FakeLogin.id.dropFirst(5))-"
      .filter { $0 != " " && $0 != ":" }
    login.change { $0.prefix = prefix }
    let page = try await plugin.source(in: fixture.environment()).first()
    #expect(page.records.count == 5)
    #expect(fixture.shop.server.requests.first?.header("Authorization") == "Bearer \(prefix)1")
  }
}
