import AggregatorKit
import AggregatorLaws
import Foundation

/// Runs one scenario for one source: the chain twice, then the laws, unless they have been checked.
struct ScenarioTrial<Source: Plugin>: Sendable {
  let plugin: Source
  let scenario: FaultScenario
  let environment: PluginEnvironment
  let baseline: Baseline<Source.Item>
  let laws: ScenarioLaws<Source>

  func run(known: LawReport? = nil) async -> FaultReport.Entry {
    let home = URL.temporaryDirectory.appending(path: "faults-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    // A list without an end cannot be compared with anything.
    if let listEndViolation { return entry(0, [listEndViolation], laws: known) }
    do throws(SourceError) {
      var violations: [ScenarioViolation] = []
      var faultsInjected = 0
      for startsAfterFirstPage in [false, true] {
        let file = home.appending(
          path: startsAfterFirstPage ? "fault-later.sqlite" : "fault-first.sqlite")
        let scenarioEnvironment = try ScenarioEnvironment(over: environment, for: plugin)
        let store = SQLiteStore(at: file)
        var own = scenarioEnvironment.environment
        own.store = store
        var scenarioRun = ScenarioRun(
          plugin: plugin, scenario: scenario, baseline: baseline,
          // The real time counts as well, which is long on a busy machine.
          chain: try plugin.source(in: own, deadline: plugin.policy.deadline + laws.maxWait),
          store: store,
          scenarioEnvironment: scenarioEnvironment, maxWait: laws.maxWait)
        if startsAfterFirstPage {
          await scenarioRun.runFaultAfterFirstPage()
        } else {
          await scenarioRun.runFaultFromStart()
        }
        faultsInjected += scenarioRun.faultsInjected
        await scenarioRun.inspectStore()
        await scenarioRun.expectRecovery()
        violations += scenarioRun.violations.filter { !violations.contains($0) }
        // A source that hangs would only hang again.
        if scenarioRun.hasHung { return entry(faultsInjected, violations, laws: nil) }
      }
      let report =
        if let known { known } else {
          try await laws.report(in: scenario, knowing: baseline.item?.id)
        }
      if report == nil { violations.append(laws.endlessness) }
      return entry(faultsInjected, violations, laws: report)
    } catch {
      let violation = ScenarioViolation(
        guarantee: .recovers, call: "setup", expected: "a source",
        found: "\(error.code): \(error)")
      return entry(0, [violation], laws: nil)
    }
  }

  /// Without a fault, a list that is not declared endless must end, whatever its length.
  private var listEndViolation: ScenarioViolation? {
    guard scenario.expectation == .noFault, !plugin.policy.isEndless, let end = baseline.end,
      end != .exhausted
    else { return nil }
    return ScenarioViolation(
      guarantee: .terminates, call: "list", expected: "the end, or a policy that is endless",
      found: "\(end.text) after \(baseline.list.count.of("record"))")
  }

  private func entry(
    _ faultsInjected: Int, _ violations: [ScenarioViolation], laws: LawReport?
  ) -> FaultReport.Entry {
    FaultReport.Entry(
      scenario: scenario, hasEffect: faultsInjected > 0, violations: violations, laws: laws)
  }
}

/// The laws for the bare remote of a source.
struct ScenarioLaws<Source: Plugin>: Sendable {
  let plugin: Source
  let environment: PluginEnvironment
  /// The IDs of all records, if the test knows them.
  let allIDs: [Source.Item.ID]?
  let maxWait: Duration

  /// The verdicts in a scenario: of all laws without a fault; `nil` if that does not end.
  func report(
    in scenario: FaultScenario, knowing known: Source.Item.ID? = nil
  ) async throws(SourceError) -> LawReport? {
    let isWhole = scenario.expectation == .noFault
    let scenarioEnvironment = try ScenarioEnvironment(
      over: isWhole ? environment.withSmallPages(of: plugin) : environment, for: plugin)
    scenarioEnvironment.proxy.handler.begin(scenario)
    var subject = try LawSubject(remoteOf: plugin, in: scenarioEnvironment.environment)
    subject.sizes = [3, Baseline<Source.Item>.size]
    subject.bound = PaginationBound(items: 60, pages: 20)
    subject.allIDs = allIDs
    subject.known = known
    let laws = Law.all.filter { !scenario.exemptLaws.contains($0.name) }
    return await within(timeout) { [subject] in await LawReport(on: subject, of: laws) }
  }

  /// The violation by laws that did not end.
  var endlessness: ScenarioViolation {
    ScenarioViolation(
      guarantee: .terminates, call: "laws", expected: "an end", found: "no end within \(timeout)")
  }

  private var timeout: Duration { maxWait * 6 }
}

/// The environment of a scenario: a proxy in front of the service, and a clock that never really
/// waits.
struct ScenarioEnvironment: Sendable {
  let proxy: FaultProxy
  let clock = ReplayClock()
  let environment: PluginEnvironment

  private let aging: Duration

  /// Without rate limits and store; throws `unreachable` if there is no free socket.
  init(over environment: PluginEnvironment, for plugin: some Plugin) throws(SourceError) {
    // Several pages, but no more requests than faults need to show.
    let environment = environment.withSmallPages(of: plugin, size: 10)
    let (start, date) = (clock.now, environment.now())
    let now = { @Sendable [clock] in
      date.addingTimeInterval(start.duration(to: clock.now) / .seconds(1))
    }
    proxy = try FaultProxy(
      of: environment.transport, echoing: plugin.secrets(in: environment.settings), now: now)
    var own = environment
    let rates = plugin.settings.filter { $0.form == .rate }.map { ($0.key, "off") }
    own.settings = environment.settings.replaced(Dictionary(rates) { $1 })
    own.transport = proxy
    own.store = nil
    own.clock = clock
    own.now = now
    // Half of the longest wait, before every retry.
    own.random = { 1 << 63 }
    self.environment = own
    // No circuit breaker or rate limit lasts longer than a day.
    var aging = Duration.seconds(24 * 3600)
    if case .liveFirst(let freshness) = plugin.policy.readOrder { aging = max(aging, freshness) }
    self.aging = aging + .seconds(60)
  }

  var now: @Sendable () -> Date { environment.now }

  /// Advances the clock until nothing is fresh and no service is paused.
  func expireEverything() { clock.advance(by: aging) }
}

/// `nil` after `time` on the continuous clock; then cancels `call`, or abandons it if it continues.
func within<Answer: Sendable>(
  _ time: Duration, _ call: @escaping @Sendable () async -> Answer
) async -> Answer? {
  let (answers, continuation) = AsyncStream<Answer>.makeStream()
  // Unstructured, because a group would wait for tasks that never end, which is what is to be
  // detected.
  let running = Task {
    continuation.yield(await call())
    continuation.finish()
  }
  let watch = Task {
    try? await Task.sleep(for: time)
    continuation.finish()
  }
  defer {
    watch.cancel()
    running.cancel()
  }
  return await answers.first { _ in true }
}
