import AggregatorKit
import AggregatorLaws
import Foundation

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
