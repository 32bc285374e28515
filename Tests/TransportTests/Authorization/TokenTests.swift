import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// Access tokens: how they are requested, when they are renewed, and by whom.
@Suite struct TokenTests {
  private let fixture: SignInFixture

  init() throws { fixture = try SignInFixture() }

  private var login: FakeLogin { fixture.login }

  // MARK: - Requests

  @Test(arguments: Authorization.Sending.allCases)
  func `a client sends its credentials as the service wants them`(
    sending: Authorization.Sending
  ) async throws {
    login.change { $0.sending = sending }
    var client = Authorization.client(of: login, sending: sending)
    client.parameters = ["audience": "https://shop.example/api"]
    let page = try await fixture.plugin(.clientCredentials(client))
      .remote(in: fixture.environment()).first()
    #expect(page.records.map(\.id) == [0, 1, 2, 3, 4])
    let request = try #require(login.server.requests.first)
    #expect(request.method == "POST")
    #expect(request.header("Content-Type") == "application/x-www-form-urlencoded")
    #expect(request.form["grant_type"] == "client_credentials")
    #expect(request.form["scope"] == "read all")
    #expect(request.form["audience"] == "https://shop.example/api")
    #expect((request.form["client_secret"] == nil) == (sending != .body))
    #expect((request.header("Authorization") == nil) == (sending == .body))
    #expect(login.server.requests.count == 1)
  }

  @Test func `a user name and a password are sent with each request`() async throws {
    let shop = try FakeShop(nil)
    let password = Setting("SHOP_PASSWORD", .secret, about: "The password.")
    let plugin = OrdersPlugin(
      url: shop.url,
      authorization: .basic(user: .text(FakeShop.user), password: .setting(password)))
    var environment = fixture.environment()
    environment.settings = SourceSettings([password: FakeShop.password])
    let page = try await plugin.source(in: environment).first()
    #expect(page.records.count == 5)
    // The service repeats the field.
    #expect(page.records.first?.note == "by REDACTED")
    environment.settings = SourceSettings([password: "wrong password"])
    let refused = await #expect(throws: SourceError.self) {
      try await plugin.remote(in: environment).first()
    }
    #expect(refused?.code == .invalidKey)
    #expect(refused?.message.contains("does not accept SHOP_PASSWORD (401)") == true)
    #expect(refused?.message.contains("wrong password") == false)
    environment.settings = SourceSettings()
    let missing = #expect(throws: SourceError.self) { try plugin.remote(in: environment) }
    #expect(missing?.code == .missingKey)
  }

  // MARK: - Renewal

  @Test(arguments: [
    // The margin is half of a short lifetime, and 30 s of a long one.
    (JSON.integer(4), 1.9, 2.1), (.integer(3600), 3569, 3571), (.string("100"), 69, 71),
    (.number(10.5), 5.2, 5.3),
  ])
  func `a token is renewed before it ends`(
    lifetime: JSON, before: Double, after: Double
  ) async throws {
    login.change { $0.lifetime = lifetime }
    let remote = try fixture.plugin().remote(in: fixture.environment())
    try await remote.first()
    fixture.time.advance(by: before)
    try await remote.first()
    #expect(login.issued == 1)
    fixture.time.advance(by: after - before)
    try await remote.first()
    #expect(login.issued == 2)
  }

  @Test(arguments: [JSON?.none, 0, -5, "soon"])
  func `a token without a lifetime is used until the service refuses it`(
    lifetime: JSON?
  ) async throws {
    let fixture = try SignInFixture()
    fixture.login.change { $0.lifetime = nil }
    if let lifetime {
      fixture.login.change { behavior in
        behavior.reply = .json(
          #"{"access_token": "abcdefghijklm", "expires_in": \#(lifetime.text)}"#)
      }
      let remote = try fixture.plugin().remote(in: fixture.environment())
      for _ in 1...3 { await #expect(throws: SourceError.self) { try await remote.first() } }
      // Each call renews the refused one once.
      #expect(fixture.login.server.requests.count == 4)
      return
    }
    let remote = try fixture.plugin().remote(in: fixture.environment())
    try await remote.first()
    fixture.time.advance(by: 1e8)
    try await remote.first()
    #expect(fixture.login.issued == 1)
    fixture.login.expire()
    try await remote.first()
    #expect(fixture.login.issued == 2)
    #expect(fixture.shop.server.requests.count == 4)
  }

  @Test func `a 401 is answered by one renewal, and a second 401 is an invalid key`() async throws {
    login.change { $0.uses = 0 }
    let remote = try fixture.plugin().remote(in: fixture.environment())
    let error = await #expect(throws: SourceError.self) { try await remote.first() }
    #expect(error?.code == .invalidKey)
    #expect(error?.message.contains("who are you?") == true)
    #expect(login.issued == 2)
    #expect(fixture.shop.server.requests.count == 2)
  }

  @Test func `a sync that outlasts its tokens requests nothing twice`() async throws {
    // A token of 4 s, and each of eight pages takes one; the ninth is empty.
    let fixture = try SignInFixture { $0.advance(by: 1) }
    fixture.login.change { $0.lifetime = 4 }
    let store = InMemoryStore()
    let environment = fixture.environment(store: store)
    let sync = try fixture.plugin().sync(into: store, in: environment)
    let result = await sync.run(upTo: nil, jobs: 1, waits: false) { _ in }
    #expect(result.failure == nil)
    #expect(try await store.status(of: "orders").records == FakeShop.count)
    #expect(fixture.shop.pages == (1...9).map(\.description))
    #expect(fixture.login.issued == 5)
  }

  // MARK: - One renewal

  @Test func `sixteen callers renew once, and so do two processes`() async throws {
    let environments = [fixture.environment(), fixture.environment()]
    let plugin = fixture.plugin()
    @Sendable func failures() async -> [SourceError?] {
      await (0..<16).concurrentMap { number in
        do throws(SourceError) {
          try await plugin.remote(in: environments[number % 2]).first()
          return nil
        } catch { return error }
      }
    }
    #expect(await failures() == Array(repeating: nil, count: 16))
    #expect(login.issued == 1)
    // A token outlives its process.
    try await plugin.remote(in: fixture.environment()).first()
    #expect(login.issued == 1)
    // After a 401 for all of them as well.
    login.expire()
    #expect(await failures() == Array(repeating: nil, count: 16))
    #expect(login.issued == 2)
  }

  @Test func `a cancelled caller returns at once, and the renewal goes on`() async throws {
    let gate = DispatchSemaphore(value: 0)
    login.change { $0.pause = { gate.wait() } }
    let environment = fixture.environment()
    let plugin = fixture.refreshingPlugin
    let caller = Task {
      await Result { () async throws(SourceError) in
        try await plugin.remote(in: environment).first()
      }
    }
    _ = await login.server.requests(atLeast: 1)
    caller.cancel()
    #expect(await caller.value.failure?.code == .cancelled)
    #expect(login.issued == 0)
    gate.signal()
    await environment.authorizer.finish()
    #expect(login.issued == 1)
    login.change { $0.pause = nil }
    try await plugin.remote(in: environment).first()
    #expect(login.issued == 1)
  }

  @Test func `a caller waits no longer than its deadline, and the renewal goes on`() async throws {
    let gate = DispatchSemaphore(value: 0)
    login.change { $0.pause = { gate.wait() } }
    let environment = fixture.environment()
    let plugin = fixture.refreshingPlugin
    let caller = Task { [clock = fixture.clock] in
      await Deadline.$current.withValue(Deadline(after: .seconds(2), on: clock)) {
        await Result { () async throws(SourceError) in
          try await plugin.remote(in: environment).first()
        }
      }
    }
    _ = await login.server.requests(atLeast: 1)
    await fixture.clock.sleepers(atLeast: 2)
    fixture.clock.advance(by: .seconds(2))
    let error = await caller.value.failure
    #expect(error?.code == .timedOut)
    #expect(error?.message.hasSuffix("within the time limit") == true, "\(error?.message ?? "")")
    gate.signal()
    await environment.authorizer.finish()
    #expect(login.issued == 1)
  }

  @Test func `a run does not wait for a token that can be fetched again`() async throws {
    login.change { $0.reply = .stalled }
    let environment = fixture.environment()
    let plugin = fixture.plugin()
    let caller = Task {
      await Result { () async throws(SourceError) in
        try await plugin.remote(in: environment).first()
      }
    }
    _ = await login.server.requests(atLeast: 1)
    caller.cancel()
    #expect(await caller.value.failure?.code == .cancelled)
    // No time passes.
    await environment.authorizer.finish()
    #expect(login.issued == 0)
  }

  @Test func `a renewal ends after 30 seconds, whatever its caller's deadline`() async throws {
    login.change { $0.reply = .stalled }
    let environment = fixture.environment()
    let plugin = fixture.plugin()
    let caller = Task {
      await Result { () async throws(SourceError) in
        try await plugin.remote(in: environment).first()
      }
    }
    _ = await login.server.requests(atLeast: 1)
    await fixture.clock.sleepers(atLeast: 1)
    #expect(fixture.clock.untilNextWake == .seconds(30))
    fixture.clock.advance(by: .seconds(30))
    let error = await caller.value.failure
    #expect(error?.code == .timedOut)
    #expect(error?.message.hasSuffix("within 30 s") == true, "\(error?.message ?? "")")
    // The next one begins anew.
    login.change { $0.reply = nil }
    try await plugin.remote(in: environment).first()
  }

  // MARK: - Refusals

  @Test(arguments: [
    (400, #"{"error": "invalid_client"}"#, "invalidKey", "does not accept SHOP_ID and SHOP_SECRET"),
    (401, "", "invalidKey", "does not accept SHOP_ID and SHOP_SECRET (401)"),
    (200, #"{"error": "incorrect_client_credentials"}"#, "invalidKey", "SHOP_ID and SHOP_SECRET"),
    (400, #"{"error": "invalid_scope"}"#, "rejected", "refuses to issue a token (invalid_scope)"),
    (200, "{}", "malformed", "sent no access token"),
    (200, "<html><title>Welcome</title></html>", "malformed", "sent no access token"),
    (200, #"{"access_token": "a b"}"#, "malformed", "sent no access token"),
    (
      200, #"{"access_token": "abcdefgh", "token_type": "mac"}"#, "malformed", "of the type \"mac\""
    ),
    (503, "", "serverError", "failed (503)"), (429, "", "rateLimited", "rate limited"),
  ])
  func `refusals are named`(
    status: Int, body: String, code: String, message: String
  ) async throws {
    login.change { $0.reply = .status(status, body) }
    let error = await #expect(throws: SourceError.self) {
      try await fixture.plugin().remote(in: fixture.environment()).first()
    }
    #expect(error?.code.description == code, "\(String(describing: error))")
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(fixture.shop.server.requests.isEmpty)
  }

  @Test func `a refused client is not tried again for ten seconds`() async throws {
    login.change { $0.reply = .status(400, #"{"error": "invalid_client"}"#) }
    let remote = try fixture.plugin().remote(in: fixture.environment())
    for (time, requests) in [(0.0, 1), (9.9, 1), (0.2, 2)] {
      fixture.time.advance(by: time)
      let error = await #expect(throws: SourceError.self) { try await remote.first() }
      #expect(error?.code == .invalidKey)
      #expect(login.server.requests.count == requests)
    }
    login.change { $0.reply = nil }
    // Other settings are another client.
    try await fixture.plugin().remote(in: fixture.environment()).first()
    fixture.time.advance(by: 10)
    try await remote.first()
  }

  @Test func `the laws and the guarantees hold under faults of the service`() async throws {
    try await expectLawsUnderFaults(
      of: fixture.plugin(), in: fixture.environment(), knowing: Array(0..<FakeShop.count))
    #expect(login.issued == 1)
  }

  @Test func `the laws hold, and law 9 counts only the service's own requests`() async throws {
    let environment = fixture.environment()
    try await expectLaws(
      ofRemoteOf: fixture.plugin(), in: environment, knowing: Array(0..<FakeShop.count))
    #expect(login.issued == 1)
  }
}
