public import AggregatorKit
public import AggregatorLaws
import Foundation

/// The results of all fault scenarios for one source.
public struct FaultReport: Sendable {
  /// The results of one scenario.
  public struct Entry: Sendable {
    public let scenario: FaultScenario

    /// True if the service has anything that this scenario can change.
    public let hasEffect: Bool

    public let violations: [ScenarioViolation]

    /// `nil` if the laws were not checked because a call never ended.
    public let laws: LawReport?

    public var passed: Bool { problems.isEmpty }

    /// Without a fault, laws that could not be checked count too.
    public var problems: [String] {
      let isWorking = scenario.name == FaultScenario.noFault.name
      let inconclusive =
        isWorking ? laws?.unexplained.map { "\($0.laws): \($0.verdict)" } ?? [] : []
      // Laws first: they are closer to the cause.
      return (laws?.violations.map(\.description) ?? []) + inconclusive
        + violations.map(\.description)
    }
  }

  public let source: String

  public let entries: [Entry]

  public var passed: Bool { entries.allSatisfy(\.passed) }

  /// The number of concurrent scenarios: most of them wait.
  private static let width = 4

  /// If the scenario without a fault comes first and fails, no other runs; if laws are violated in it, the chain does
  /// not run either.
  ///
  /// `environment` leads to a working service; its clock, rates and store are replaced; `ids` are those of all
  /// records in the order of the service, if they are known; `maxWait` limits the real time of one call, which
  /// has no end then; throws failures of the service without any fault.
  public init<Source: Plugin>(
    of plugin: Source, in environment: PluginEnvironment,
    _ scenarios: [FaultScenario] = FaultScenario.all, knowing ids: [Source.Item.ID]? = nil,
    maxWait: Duration = .seconds(10)
  ) async throws(SourceError) {
    let scenarioEnvironment = try ScenarioEnvironment(over: environment, for: plugin)
    let remote = try plugin.wholeRemote(in: scenarioEnvironment.environment)
    let query = plugin.policy.localSearchBound == nil ? try SearchQuery(plugin.example.query) : nil
    CrashNote.install()
    source = plugin.name
    let laws = ScenarioLaws(plugin: plugin, environment: environment, allIDs: ids, maxWait: maxWait)
    var working: LawReport?
    if let scenario = scenarios.first, scenario.expectation == .noFault {
      _ = try await remote.page(PageRequest(limit: Baseline<Source.Item>.size))
      working = try await RunningCheck.named("\(plugin.name) in \(scenario.name)") {
        await Result { () async throws(SourceError) in try await laws.report(in: scenario) }
      }.get()
      // All that is built on the remote would only break for the same reason.
      guard let report = working, report.violations.isEmpty, report.inconclusive.isEmpty else {
        entries = [
          Entry(
            scenario: scenario, hasEffect: false,
            violations: working == nil ? [laws.endlessness] : [], laws: working)
        ]
        return
      }
    }
    let baseline = await RunningCheck.named("\(plugin.name) before all scenarios") {
      await within(maxWait * 10) {
        await Result { () async throws(SourceError) in
          try await Baseline(
            remote, bundle: plugin.bundled, query: query, size: plugin.policy.largestPage)
        }
      }
    }
    guard let baseline = try baseline?.get() else {
      throw SourceError(.timedOut, "the list of \(plugin.name) did not end in time")
    }
    let run = { @Sendable [working] (scenario: FaultScenario) async -> Entry in
      await RunningCheck.named("\(plugin.name) in \(scenario.name)") {
        await ScenarioTrial(
          plugin: plugin, scenario: scenario, environment: environment, baseline: baseline,
          laws: laws
        ).run(known: scenario.expectation == .noFault ? working : nil)
      }
    }
    var first: [Entry] = []
    if let scenario = scenarios.first, scenario.expectation == .noFault {
      first = [await run(scenario)]
      // With a fault, the same problems would only be found again.
      guard first[0].passed else {
        entries = first
        return
      }
    }
    let faulty = scenarios.dropFirst(first.count)
    entries = first + (await faulty.concurrentMap(atMost: Self.width, run))
  }

  /// A table of scenarios and guarantees, with the number of laws that hold, are violated, do not
  /// apply, or are inconclusive because the service failed.
  public var table: String {
    let names = ScenarioGuarantee.allCases.map(\.rawValue)
    let head = Self.row(source, names.map { $0.filled(12) } + ["laws ok/bad/n/a/–"])
    return ([head] + entries.map(\.row)).joined(separator: "\n")
  }

  /// One line for each problem: the scenarios, the law or guarantee, and the finding.
  public var details: [String] {
    var problems: [String] = []
    var names: [String: [String]] = [:]
    for entry in entries {
      for problem in entry.problems where names[problem]?.last != entry.scenario.name {
        if names[problem] == nil { problems.append(problem) }
        names[problem, default: []].append(entry.scenario.name)
      }
    }
    return problems.map { problem in
      let names = names[problem] ?? []
      let others = names.count > 2 ? " and \((names.count - 1).of("other scenario"))" : ""
      let shown = others.isEmpty ? names.joined(separator: ", ") : names[0]
      return "\(source) in \(shown)\(others): \(problem)"
    }
  }

  /// The laws that do not apply to this source, with the reasons, from the scenario without a fault.
  public var notApplicable: [String] {
    entries.first { $0.scenario.expectation == .noFault }?.laws?.notApplicable.map {
      "\($0.law.name): \($0.verdict)"
    } ?? []
  }

  fileprivate static func row(_ name: String, _ cells: [String]) -> String {
    name.filled(20) + cells.joined()
  }
}

extension FaultReport.Entry {
  /// `ok`, `VIOLATED 2`, `n/a` if the scenario has no effect, or `–` if a call never ended.
  public func cell(of guarantee: ScenarioGuarantee) -> String {
    let count = violations.count { $0.guarantee == guarantee }
    if count > 0 { return "VIOLATED \(count)" }
    if laws == nil { return "–" }
    return hasEffect || scenario.expectation == .noFault ? "ok" : "n/a"
  }

  fileprivate var row: String {
    FaultReport.row(
      scenario.name, ScenarioGuarantee.allCases.map { cell(of: $0).filled(12) } + [lawCell])
  }

  private var lawCell: String {
    guard let laws else { return "–" }
    let violated = laws.entries.count { !$0.verdict.violations.isEmpty }
    let exempt = laws.notApplicable.count + scenario.exemptLaws.count
    let inconclusive = laws.inconclusive.count
    let kept = laws.entries.count - violated - laws.notApplicable.count - inconclusive
    return "\(kept)/\(violated == 0 ? "0" : "VIOLATED \(violated)")/\(exempt)/\(inconclusive)"
  }
}

extension String {
  fileprivate func filled(_ width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 1))
  }
}
