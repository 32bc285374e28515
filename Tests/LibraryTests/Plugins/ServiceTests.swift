import AggregatorKit
import AggregatorPostgres
import AggregatorPostgresServer
import AggregatorSourceTesting
import Foundation
import Testing

/// Several sources of one service: what they share, and what each has of its own.
@Suite(.timeLimit(.minutes(10)))
struct ServiceTests {
  enum Place: CaseIterable { case memory, file }

  private let clock = ManualClock()
  private let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  private func environment(over store: (any SourceStore)? = nil) -> PluginEnvironment {
    let wall = WallClock(clock)
    return PluginEnvironment(
      settings: SourceSettings(), transport: TrappingTransport(), store: store, clock: clock,
      now: { wall.now }, random: { 0 })
  }

  /// The environments of two processes, or of one without a store.
  private func processes(_ place: Place) -> [PluginEnvironment] {
    switch place {
    case .memory: Array(repeating: environment(), count: 2)
    case .file: (0..<2).map { _ in environment(over: directory.store()) }
    }
  }

  private func list(
    _ name: String, rate: String? = "2/h", at url: String = "https://crm.test/api",
    key: String? = nil, over service: any DataSource<Note> = ScriptedSource(over: notebook(5))
  ) -> NotesPlugin {
    let rate = rate.map { Setting("\(name.uppercased())_RATE", .rate, default: $0, about: "") }
    var plugin = NotesPlugin(
      service: service,
      policy: Policy(
        retry: RetryPolicy(attempts: 1, firstWait: .zero, maxWait: .zero),
        breaker: BreakerPolicy(failures: 2, pause: .seconds(30)), rate: rate,
        readOrder: .liveFirst(freshFor: .zero)))
    plugin.name = name
    plugin.settings = [Setting("\(name.uppercased())_URL", .url, default: url, about: "")]
    if let key { plugin.settings.append(Setting(key, .secret, about: "")) }
    return plugin
  }

  private func failure(
    of plugin: NotesPlugin, in environment: PluginEnvironment
  ) async throws -> SourceError? {
    try await plugin.source(in: environment).cachePolicy(.noFallback).failure()
  }

  @Test(arguments: Place.allCases)
  func `lists of a host share a rate, and other hosts and keys have their own`(
    place: Place
  ) async throws {
    let processes = processes(place)
    let (contacts, deals) = (list("contacts"), list("deals", at: "https://crm.test/v2/deals"))
    #expect(try await failure(of: contacts, in: processes[0]) == nil)
    #expect(try await failure(of: deals, in: processes[1]) == nil)
    for plugin in [contacts, deals] {
      let refused = try await failure(of: plugin, in: processes[0])
      #expect(refused?.message == "local rate limit 2/h reached", "\(plugin.name)")
    }
    let others = [
      list("elsewhere", at: "https://other.test/api"), list("port", at: "https://crm.test:8443/"),
      list("keyed", key: "CRM_KEY"),
    ]
    for other in others {
      #expect(try await failure(of: other, in: processes[1]) == nil, "\(other.name)")
    }
    let same = list("samekey", key: "CRM_KEY")
    #expect(try await failure(of: same, in: processes[0]) == nil)
    #expect(try await failure(of: same, in: processes[0])?.code == .rateLimited)
  }

  @Test func `the lowest rate holds from the first call`() async throws {
    var environment = environment()
    let (fast, slow) = (list("fast", rate: "9/h"), list("slow", rate: "1/h 20/24h"))
    let none = list("none", rate: nil)
    environment.sources = { [fast, slow, none] }
    let plan = try await fast.requestPlan(of: .list, in: environment)
    #expect(plan.rate?.description == "1/h 20/24h" && plan.rateSource == "slow")
    #expect(try await failure(of: fast, in: environment) == nil)
    for plugin in [fast, none] {
      #expect(
        try await failure(of: plugin, in: environment)?.message
          == "local rate limit 1/h 20/24h of slow reached")
    }
    #expect(
      try await failure(of: slow, in: environment)?.message
        == "local rate limit 1/h 20/24h reached")
  }

  @Test(arguments: Place.allCases)
  func `a source that is removed, or has another rate, holds back no other one`(
    place: Place
  ) async throws {
    var environment = processes(place)[0]
    let (fast, none) = (list("fast", rate: "9/h"), list("none", rate: nil))
    let slow = list("slow", rate: "1/h")
    environment.sources = { [fast, slow, none] }
    for plugin in [slow, none, fast] { _ = try await failure(of: plugin, in: environment) }
    let quick = list("slow", rate: "9/h")
    environment.sources = { [fast, quick, none] }
    for plugin in [none, fast] { #expect(try await failure(of: plugin, in: environment) == nil) }
    environment.sources = { [fast, slow, none] }
    #expect(try await failure(of: none, in: environment)?.code == .rateLimited)
    environment.sources = { [fast, none] }
    await slow.forgetRate(in: environment)
    for plugin in [none, fast] { #expect(try await failure(of: plugin, in: environment) == nil) }
  }

  @Test func `a source says whose rate holds for it, and for whom its own does`() {
    var environment = environment()
    let (fast, slow) = (list("fast", rate: "5/s"), list("slow", rate: "1/s"))
    let (none, equal) = (list("none", rate: nil), list("equal", rate: "300/m"))
    let other = list("other", rate: "1/h", at: "https://other.test/")
    environment.sources = { [fast, slow, none, other] }
    for plugin in [fast, none] {
      #expect(
        plugin.rateNote(in: environment)
          == "Requests of \(plugin.name) are limited to 1/s by slow, a source of the same host: "
          + "the lowest rate holds for all")
    }
    #expect(
      slow.rateNote(in: environment)
        == "The rate limit 1/s of slow holds for fast, none, too, on the same host")
    // Nobody who has chosen no rate expects another one, but those of others become lower.
    #expect(fast.rateNote(in: environment, isChosen: false) == nil)
    #expect(slow.rateNote(in: environment, isChosen: false) == slow.rateNote(in: environment))
    #expect(other.rateNote(in: environment) == nil)
    environment.sources = { [fast, equal] }
    #expect(fast.rateNote(in: environment) == nil)
    // Another source has this rate already, so that nothing changes for the faster one.
    environment.sources = { [fast, equal, none] }
    #expect(fast.rateNote(in: environment) == nil)
  }

  @Test func `an unknown source's rate holds from its first call, and an hour after its last`()
    async throws
  {
    let environment = environment()
    let (fast, slow) = (list("fast", rate: "9/m"), list("slow", rate: "1/m"))
    #expect(try await failure(of: fast, in: environment) == nil)
    clock.advance(by: .seconds(61))
    #expect(try await failure(of: slow, in: environment) == nil)
    #expect(try await failure(of: fast, in: environment)?.code == .rateLimited)
    clock.advance(by: .seconds(3600))
    for _ in 0..<9 { #expect(try await failure(of: fast, in: environment) == nil) }
  }

  @Test func `calls of all kinds count, unless the service counts each kind`() async throws {
    let environment = environment()
    let all = try list("all", rate: "1/h").source(in: environment).cachePolicy(.noFallback)
    _ = try await all.page(PageRequest())
    let refused = await #expect(throws: SourceError.self) { _ = try await all.item(1) }
    #expect(refused?.code == .rateLimited)
    var plugin = list("each", rate: "1/h", at: "https://each.test/")
    plugin.policy.rateUnit = .callsOfEachKind
    let each = try plugin.source(in: environment).cachePolicy(.noFallback)
    _ = try await each.page(PageRequest())
    #expect(try await each.item(1).item.id == 1)
    #expect(await each.failure()?.code == .rateLimited)
  }

  @Test(arguments: Place.allCases)
  func `a pause holds for the list that was refused, and for all as soon as another one is`(
    place: Place
  ) async throws {
    let processes = processes(place)
    func refused(_ name: String, for wait: Int = 60) -> NotesPlugin {
      let busy = SourceError(.rateLimited, "busy", retryAfter: .seconds(wait))
      return list(name, rate: "9/h", over: ScriptedSource<Note>(pages: [.failure(busy)]))
    }
    #expect(try await failure(of: refused("deals", for: 3600), in: processes[0])?.message == "busy")
    let held = try await failure(of: list("deals", rate: "9/h"), in: processes[1])
    #expect(held?.message == "rate limited by the service")
    #expect(try await failure(of: list("contacts", rate: "9/h"), in: processes[1]) == nil)
    #expect(try await failure(of: refused("calls"), in: processes[1])?.message == "busy")
    for rate in ["9/h", nil] {
      let contacts = list("contacts", rate: rate)
      let failure = try await failure(of: contacts, in: processes[1])
      #expect(failure?.message == "rate limited by the service")
      #expect(failure?.retryAfter == .seconds(60))
    }
    let others = [list("keyed", key: "CRM_KEY"), list("elsewhere", at: "https://other.test/")]
    for other in others { #expect(try await failure(of: other, in: processes[1]) == nil) }
    // The one that is refused for longer keeps waiting, alone.
    #expect(
      try await failure(of: list("deals", rate: "9/h"), in: processes[1])?.retryAfter
        == .seconds(3600))
    clock.advance(by: .seconds(60))
    #expect(try await failure(of: list("contacts", rate: "9/h"), in: processes[1]) == nil)
    #expect(
      try await failure(of: list("deals", rate: "9/h"), in: processes[1])?.retryAfter
        == .seconds(3540))
  }

  /// A person types a new key because the quota of the last one is used up.
  @Test(arguments: Place.allCases)
  func `a pause holds for the key that it was demanded of, and for no other`(
    place: Place
  ) async throws {
    let first = processes(place).map { with("the first secret", $0) }
    let busy = SourceError(.rateLimited, "busy", retryAfter: .seconds(60))
    let service = ScriptedSource<Note>(pages: [.failure(busy)])
    let refused = list("deals", key: "CRM_KEY", over: service)
    #expect(try await failure(of: refused, in: first[0])?.code == .rateLimited)
    let deals = list("deals", key: "CRM_KEY")
    #expect(try await failure(of: deals, in: first[1])?.retryAfter == .seconds(60))
    let second = with("the second secret", first[1])
    #expect(try await failure(of: deals, in: second) == nil)
    #expect(try await failure(of: deals, in: first[1])?.retryAfter == .seconds(60))
  }

  @Test func `a host has the state of its last keys`() async throws {
    let environment = environment(over: InMemoryStore())
    for number in 1...80 {
      let busy = SourceError(.rateLimited, "busy", retryAfter: .seconds(3600))
      let service = ScriptedSource<Note>(pages: [.failure(busy)])
      let refused = list("deals", key: "CRM_KEY", over: service)
      _ = try await failure(of: refused, in: with("secret number \(number)", environment))
      clock.advance(by: .seconds(1))
    }
    let deals = list("deals", key: "CRM_KEY")
    let last = try await failure(of: deals, in: with("secret number 80", environment))
    #expect(last?.code == .rateLimited)
    #expect(try await failure(of: deals, in: with("secret number 1", environment)) == nil)
  }

  private func with(_ key: String, _ environment: PluginEnvironment) -> PluginEnvironment {
    var environment = environment
    environment.settings = SourceSettings(["CRM_KEY": key])
    return environment
  }

  @Test(arguments: Place.allCases)
  func `a list that fails leaves the others, and a host that cannot be reached stops all`(
    place: Place
  ) async throws {
    let processes = processes(place)
    for code in [SourceError.Code.serverError, .unreachable, .connectionLost, .timedOut] {
      let (deals, contacts) = (Service(5), Service(5))
      let url = "https://\(code).test/"
      func failure(of service: Service, _ process: Int) async throws -> SourceError.Code? {
        let plugin = list(
          service === deals ? "deals" : "contacts", rate: nil, at: url,
          key: service === deals ? "A" : "B", over: service)
        return try await self.failure(of: plugin, in: processes[process])?.code
      }
      deals.fail(with: code)
      for process in [0, 1] { #expect(try await failure(of: deals, process) == code) }
      #expect(try await failure(of: deals, 0) == .circuitOpen)
      let isOfHost = code != .serverError
      #expect(try await failure(of: contacts, 1) == (isOfHost ? .circuitOpen : nil), "\(code)")
      clock.advance(by: .seconds(30))
      deals.fail(with: nil)
      #expect(try await failure(of: contacts, 0) == nil)
      #expect(try await failure(of: deals, 1) == nil)
    }
  }

  @Test func `a request that left and got no answer is a failure of its list`() async throws {
    let environment = environment()
    let stalled = ScriptedSource<Note> { _ throws(SourceError) in
      Departure.current?.note()
      throw .because(.timedOut)
    }
    for _ in 0..<2 {
      _ = try await failure(of: list("deals", rate: nil, over: stalled), in: environment)
    }
    #expect(
      try await failure(of: list("deals", rate: nil, over: stalled), in: environment)?.code
        == .circuitOpen)
    #expect(try await failure(of: list("contacts", rate: nil), in: environment) == nil)
  }

  @Test(.requiresPostgres)
  func `machines share the rate, the pauses and the failures of a service`()
    async throws
  {
    try await withDatabase { database in
      let machines = try (0..<2).map { _ in
        environment(over: PostgresStore(at: try PostgresAddress(database.uri)))
      }
      #expect(try await failure(of: list("contacts"), in: machines[0]) == nil)
      #expect(try await failure(of: list("deals"), in: machines[1]) == nil)
      #expect(try await failure(of: list("deals"), in: machines[0])?.code == .rateLimited)
      #expect(try await failure(of: list("keyed", key: "K"), in: machines[0]) == nil)
      // Longer than the rate of the other list holds.
      let busy = SourceError(.rateLimited, "busy", retryAfter: .seconds(7200))
      for name in ["second", "third"] {
        let service = ScriptedSource<Note>(pages: [.failure(busy)])
        let refused = list(name, rate: nil, key: "P", over: service)
        #expect(try await failure(of: refused, in: machines[1])?.message == "busy")
      }
      let held = try await failure(of: list("other", rate: nil, key: "P"), in: machines[0])
      #expect(held?.message.hasPrefix("rate limited by the service") == true, "\(held as Any)")
      let down = Service(5)
      down.fail(with: .unreachable)
      for machine in machines {
        let deals = list("deals", rate: nil, at: "https://down.test/", over: down)
        #expect(try await failure(of: deals, in: machine)?.code == .unreachable)
      }
      let contacts = list("contacts", rate: nil, at: "https://down.test/")
      #expect(try await failure(of: contacts, in: machines[0])?.code == .circuitOpen)
    }
  }
}
