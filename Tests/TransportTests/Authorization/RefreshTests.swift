import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// Refresh tokens that the service replaces.
@Suite struct RefreshTests {
  private let fixture: SignInFixture

  init() throws { fixture = try .rotating() }

  private var login: FakeLogin { fixture.login }

  private var plugin: OrdersPlugin { fixture.refreshingPlugin }

  @Test func `the new one is on the disk before the access token is used`() async throws {
    let seen = Mutex<[Bool]>([])
    let (login, directory) = (login, fixture.directory)
    let shop = try FakeShop(login) { _ in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
      let texts = names.compactMap {
        try? String(contentsOf: directory.appending(path: $0), encoding: .utf8)
      }
      seen.withLock { $0.append(texts.contains { $0.contains("\"\(login.refresh)\"") }) }
    }
    let plugin = OrdersPlugin(url: shop.url, authorization: .refreshing(at: login))
    for round in 1...3 {
      // Each in a process of its own.
      try await plugin.remote(in: fixture.environment()).first()
      #expect(login.rotations == round)
      login.expire()
    }
    // Of each call but the first, the first request has the expired token.
    #expect(seen.withLock(\.self) == [true, true, true])
    for name in try fixture.files().keys {
      let file = directory.appending(path: name).path
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
      #expect(mode == 0o600, "\(name)")
    }
    let mode = try FileManager.default.attributesOfItem(atPath: directory.path)[.posixPermissions]
    #expect(mode as? Int == 0o700)
  }

  @Test func `a newly set one takes precedence over the one in the file`() async throws {
    try await plugin.remote(in: fixture.environment()).first()
    #expect(login.refresh == "refresh-token-number-1")
    login.signIn(with: "a newly set refresh token")
    try await plugin.remote(in: fixture.environment(refresh: "a newly set refresh token")).first()
    #expect(login.issued == 2)
    #expect(login.refresh == "refresh-token-number-2")
    login.expire()
    try await plugin.remote(in: fixture.environment(refresh: "a newly set refresh token")).first()
    #expect(login.refresh == "refresh-token-number-3")
  }

  @Test func `an access token of another client secret is not used`() async throws {
    try await plugin.remote(in: fixture.environment()).first()
    let error = await #expect(throws: SourceError.self) {
      try await plugin.remote(in: fixture.environment(secret: "another secret")).first()
    }
    #expect(error?.code == .invalidKey)
    #expect(error?.message.contains("SHOP_SECRET") == true)
    // The refresh token is still that of the file.
    try await plugin.remote(in: fixture.environment()).first()
    #expect(login.rotations == 1)
  }

  @Test func `sources with different scopes share one`() async throws {
    var narrow = Authorization.client(of: login)
    narrow.scope = "read"
    let other = fixture.plugin(.refreshToken(.setting(OrdersPlugin.refresh), of: narrow))
    for environment in [fixture.environment(), fixture.environment()] {
      try await plugin.remote(in: environment).first()
      try await other.remote(in: environment).first()
    }
    let scopes = login.server.requests.map { $0.form["scope"] }
    #expect(scopes.prefix(2) == ["read all", "read"])
    #expect(login.rotations == login.server.requests.count)
  }

  @Test func `one that was used elsewhere is an invalid key, and says what to do`() async throws {
    login.signIn(with: "the refresh token of another machine")
    let error = await #expect(throws: SourceError.self) {
      try await plugin.remote(in: fixture.environment()).first()
    }
    #expect(error?.code == .invalidKey)
    let message = error?.message ?? ""
    #expect(message.contains("does not accept the refresh token of SHOP_REFRESH any more"))
    #expect(message.contains("used on another machine; sign in again"), "\(message)")
    // The service repeats a refresh token in its description.
    #expect(message.contains("no entry for REDACTED"), "\(message)")
    #expect(!message.contains(FakeLogin.refresh))
  }

  @Test func `without a directory for the next one none is used`() async throws {
    var environment = fixture.environment()
    environment.tokenDirectory = nil
    let error = await #expect(throws: SourceError.self) {
      try await plugin.remote(in: environment).first()
    }
    #expect(error?.code == .storage)
    #expect(login.server.requests.isEmpty)
  }

  @Test func `one that could not be written is not lost in the process`() async throws {
    let environment = fixture.environment()
    // The temporary file of the replacement cannot be created beside a directory of the file's own name.
    let remote = try plugin.remote(in: environment)
    try await remote.first()
    let name = try #require(try fixture.files().keys.first { $0.hasSuffix(".json") })
    let file = fixture.directory.appending(path: name)
    login.expire()
    let directory = fixture.directory
    login.change { behavior in
      behavior.pause = {
        // While the request is sent: a directory in the place of the file.
        try? FileManager.default.removeItem(at: file)
        try? FileManager.default.createDirectory(
          at: directory.appending(path: "\(name)/x"), withIntermediateDirectories: true)
      }
    }
    let error = await #expect(throws: SourceError.self) { try await remote.first() }
    #expect(error?.code == .storage)
    #expect(login.rotations == 2)
    login.change { $0.pause = nil }
    try FileManager.default.removeItem(at: file)
    try await remote.first()
    #expect(login.rotations == 2)
    #expect(try fixture.files()[name]?.contains(login.refresh) == true)
  }

  @Test func `a service that keeps the refresh token keeps it`() async throws {
    login.change { $0.isRotating = false }
    for _ in 1...3 {
      try await plugin.remote(in: fixture.environment()).first()
      login.expire()
    }
    #expect(login.refresh == FakeLogin.refresh)
    #expect(login.issued == 3)
  }

  @Test func `a damaged file is an error, and not a reason to use the old one`() async throws {
    try await plugin.remote(in: fixture.environment()).first()
    let name = try #require(try fixture.files().keys.first { $0.hasSuffix(".json") })
    try Data("{".utf8).write(to: fixture.directory.appending(path: name))
    login.expire()
    let error = await #expect(throws: SourceError.self) {
      try await plugin.remote(in: fixture.environment()).first()
    }
    #expect(error?.code == .storage)
    #expect(login.rotations == 1)
  }
}
