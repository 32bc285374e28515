import AggregatorKit
import AggregatorLaws
import Foundation
import Synchronization

/// One source in one weather: two journeys through it, and the laws.
struct ScenarioTrial<Source: Plugin>: Sendable {
  let plugin: Source
  let scenario: FaultScenario
  let environment: PluginEnvironment
  let baseline: Baseline<Source.Item>
  let maxWait: Duration

  init(
    of plugin: Source, in scenario: FaultScenario, over environment: PluginEnvironment,
    baseline: Baseline<Source.Item>, maxWait: Duration
  ) {
    self.plugin = plugin
    self.scenario = scenario
    self.environment = environment
    self.baseline = baseline
    self.maxWait = maxWait
  }

  /// What came of it.
  func entry() async -> FaultReport.Entry {
    let home = URL.temporaryDirectory.appending(path: "weather-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    do throws(SourceError) {
      var breaches: [ScenarioViolation] = []
      var strikes = 0
      for hasBegun in [false, true] {
        let file = home.appending(path: hasBegun ? "begun.sqlite" : "empty.sqlite")
        let scenarioEnvironment = try ScenarioEnvironment(over: environment, for: plugin)
        var scenarioRun = try ScenarioRun(
          of: plugin, through: scenario, in: scenarioEnvironment, baseline,
          store: SQLiteStore(at: file.path),
          maxWait: maxWait)
        if hasBegun {
          await scenarioRun.comeIntoWeather()
        } else {
          await scenarioRun.beginInWeather()
        }
        strikes += scenarioRun.strikes
        await scenarioRun.inspectStore()
        await scenarioRun.expectRecovery()
        breaches += scenarioRun.breaches.filter { !breaches.contains($0) }
        // Whoever never comes to an end would only do so once more.
        if scenarioRun.isStuck { return entry(strikes, breaches, laws: nil) }
      }
      guard let laws = try await lawReport() else {
        breaches.append(
          ScenarioViolation(
            promise: .terminates, place: "the laws", expected: "an end",
            found: "none within \(lawTimeout)"))
        return entry(strikes, breaches, laws: nil)
      }
      return entry(strikes, breaches, laws: laws)
    } catch {
      let breach = ScenarioViolation(
        promise: .recovers, place: "the beginning", expected: "a source",
        found: "\(error.code): \(error)")
      return entry(0, [breach], laws: nil)
    }
  }

  private func entry(
    _ strikes: Int, _ breaches: [ScenarioViolation], laws: LawReport?
  ) -> FaultReport.Entry {
    FaultReport.Entry(
      scenario: scenario, isFelt: strikes > 0, breaches: breaches, laws: laws)
  }

  /// What the laws come to for the bare service; `nil` if that does not end.
  private func lawReport() async throws(SourceError) -> LawReport? {
    let scenarioEnvironment = try ScenarioEnvironment(over: environment, for: plugin)
    scenarioEnvironment.front.responder.begin(scenario)
    var subject = try LawSubject(remoteOf: plugin, in: scenarioEnvironment.environment)
    subject.sizes = [3, Baseline<Source.Item>.size]
    subject.bound = PaginationBound(items: 25, pages: 6)
    subject.known = baseline.item?.id
    let laws = Law.all.filter { !scenario.suspended.contains($0.name) }
    return await within(lawTimeout) { [subject] in await LawReport(on: subject, of: laws) }
  }

  private var lawTimeout: Duration { maxWait * 6 }
}

/// Where a source lives while a weather is played: a server in front of its service, and a time in
/// which nobody really waits.
struct ScenarioEnvironment: Sendable {
  let front: FaultProxy
  let clock = ReplayClock()
  let environment: PluginEnvironment

  private let aging: Duration

  /// A world.
  ///
  /// - Parameters:
  ///   - environment: What leads to the service. Its rates are off, its store is not used.
  ///   - plugin: The source that lives there.
  /// - Throws: `SourceError` with code `unreachable` if the system gives no socket.
  init(over environment: PluginEnvironment, for plugin: some Plugin) throws(SourceError) {
    let (start, date) = (clock.now, environment.now())
    let now = { @Sendable [clock] in
      date.addingTimeInterval(start.duration(to: clock.now) / .seconds(1))
    }
    front = try FaultProxy(of: environment.transport, now: now)
    var own = environment
    let rates = plugin.settings.filter { $0.form == .rate }.map { ($0.key, "off") }
    own.settings = environment.settings.replaced(Dictionary(rates) { $1 })
    own.transport = front
    own.store = nil
    own.clock = clock
    own.now = now
    // Half of the longest wait, before every retry.
    own.random = { 1 << 63 }
    self.environment = own
    // No service is left alone for longer than a day.
    var aging = Duration.seconds(24 * 3600)
    if case .liveFirst(let freshness) = plugin.policy.readOrder { aging = max(aging, freshness) }
    self.aging = aging + .seconds(60)
  }

  /// What the calendar says.
  var now: @Sendable () -> Date { environment.now }

  /// Lets so much time pass that nothing is fresh, and nobody is left alone any more.
  func age() { clock.advance(by: aging) }
}

/// What a call came to, if it came to anything in time.
///
/// - Parameters:
///   - time: How long it is waited for, on the continuous clock.
///   - call: The call. It is cancelled when the time is up, and left alone if that does not end it.
/// - Returns: `nil` if the time was up.
func within<Answer: Sendable>(
  _ time: Duration, _ call: @escaping @Sendable () async -> Answer
) async -> Answer? {
  let race = Race<Answer>()
  // Unstructured, because a group waits for its tasks, also for those that never end: that one does not
  // is just what is to be found out.
  let running = Task { race.end(with: await call()) }
  let watch = Task {
    guard (try? await Task.sleep(for: time)) != nil else { return }
    race.end(with: nil)
    running.cancel()
  }
  defer { watch.cancel() }
  return await race.result()
}

/// The first of several outcomes.
private final class Race<Answer: Sendable>: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<Answer?, Never>)
    case over(Answer?)
  }

  private let state = Mutex(State.open)

  /// Ends it; the second time does nothing.
  func end(with answer: Answer?) {
    let waiter = state.withLock { state -> CheckedContinuation<Answer?, Never>? in
      switch state {
      case .over: return nil
      case .open:
        state = .over(answer)
        return nil
      case .awaited(let waiter):
        state = .over(answer)
        return waiter
      }
    }
    waiter?.resume(returning: answer)
  }

  func result() async -> Answer? {
    await withCheckedContinuation { waiter in
      let outcome = state.withLock { state -> Answer?? in
        if case .over(let answer) = state { return .some(answer) }
        state = .awaited(waiter)
        return nil
      }
      if let outcome { waiter.resume(returning: outcome) }
    }
  }
}
