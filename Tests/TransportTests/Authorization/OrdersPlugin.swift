import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization

struct Order: SourceRecord {
  let id: Int
  let name: String?
  let note: String?
}

/// A compiled source that signs in at a ``FakeShop``.
struct OrdersPlugin: Plugin {
  static let id = Setting("SHOP_ID", .secret, about: "The client's ID.")
  static let secret = Setting("SHOP_SECRET", .secret, about: "The client's secret.")
  static let refresh = Setting("SHOP_REFRESH", .secret, about: "The refresh token.")

  let url: URL
  let authorization: Authorization
  /// The host that gets tokens, if it is not that of the orders.
  var service: URL?

  let name = "orders"
  let summary = "orders of a shop"
  let example = PluginExample(query: "order", id: "1")
  let settings = [Self.id, Self.secret, Self.refresh]
  let fields: [Field<Order>] = [
    Field(\.id, "ID"), Field(\.name, isSearchable: true), Field(\.note),
  ]
  let policy = Policy(
    retry: RetryPolicy(attempts: 1, firstWait: .zero, maxWait: .zero), breaker: nil,
    localSearchBound: 100, readOrder: .liveFirst(freshFor: .seconds(60)))

  func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Order> {
    RESTSource(
      name, in: try environment.authorized(by: authorization, for: service ?? url),
      list: HTTPRequest(.get, url),
      paging: RESTPaging(
        .page(.query("page"), start: 1), size: (.query("limit"), FakeShop.pageSize)),
      rows: "items", total: .member("total"))
  }
}

extension Authorization {
  static func client(of login: FakeLogin, sending: Sending = .basic) -> Client {
    Client(
      token: login.url, id: .setting(OrdersPlugin.id), secret: .setting(OrdersPlugin.secret),
      scope: "read all", sending: sending)
  }

  static func refreshing(at login: FakeLogin) -> Authorization {
    .refreshToken(.setting(OrdersPlugin.refresh), of: client(of: login))
  }
}

/// A login, a shop, and a private directory, with a time that the test sets.
final class SignInFixture: Sendable {
  static let start = Date(timeIntervalSince1970: 1_800_000_000)

  let time: ManualTime
  let login: FakeLogin
  let shop: FakeShop
  let directory: URL
  let clock = ManualClock()

  init(pause: @escaping @Sendable (ManualTime) -> Void = { _ in }) throws {
    let time = ManualTime()
    self.time = time
    login = try FakeLogin(now: { time.now })
    shop = try FakeShop(login) { _ in pause(time) }
    directory = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID())")
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// An environment as a new process has it.
  func environment(
    refresh: String = FakeLogin.refresh, secret: String = FakeLogin.secret,
    store: (any SourceStore)? = nil
  ) -> PluginEnvironment {
    let settings: [Setting: String] = [
      OrdersPlugin.id: FakeLogin.id, OrdersPlugin.secret: secret, OrdersPlugin.refresh: refresh,
    ]
    var environment = PluginEnvironment(
      settings: SourceSettings(settings), transport: LongTimeoutTransport(), store: store,
      clock: clock,
      now: { [time] in time.now })
    environment.tokenDirectory = directory
    return environment
  }

  func plugin(_ authorization: Authorization? = nil) -> OrdersPlugin {
    OrdersPlugin(
      url: shop.url,
      authorization: authorization ?? .clientCredentials(Authorization.client(of: login)))
  }

  /// A fixture whose login replaces the refresh token at each use.
  static func rotating() throws -> SignInFixture {
    let fixture = try SignInFixture()
    fixture.login.change { $0.isRotating = true }
    return fixture
  }

  var refreshingPlugin: OrdersPlugin { plugin(.refreshing(at: login)) }

  /// The texts of the private files.
  func files() throws -> [String: String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path).reduce(into: [:]) {
      $0[$1] = String(
        decoding: try Data(contentsOf: directory.appending(path: $1)), as: UTF8.self)
    }
  }
}

/// A time that passes only when a test says so.
final class ManualTime: Sendable {
  private let seconds = Mutex(0.0)

  var now: Date { SignInFixture.start.addingTimeInterval(seconds.withLock(\.self)) }

  func advance(by time: Double) { seconds.withLock { $0 += time } }
}

extension DataSource<Order> {
  /// Reads the first page, from the service.
  @discardableResult
  func first() async throws(SourceError) -> Page<Order> { try await page(PageRequest(limit: 5)) }
}
