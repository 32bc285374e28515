public import AggregatorKit
public import AggregatorLaws
import Foundation

/// What a source did in all weathers.
public struct FaultReport: Sendable {
  /// What a source did in one weather.
  public struct Entry: Sendable {
    /// The weather.
    public let scenario: FaultScenario

    /// Whether the service has anything that this weather can change.
    public let isFelt: Bool

    /// Where a promise is not kept.
    public let breaches: [ScenarioViolation]

    /// What the laws came to; `nil` if they were not checked, because the source never came to an end.
    public let laws: LawReport?

    /// Whether nothing is wrong.
    public var isFine: Bool { faults.isEmpty }

    /// What is wrong, in words: promises and laws that are not kept, and in fair weather also laws that
    /// the source's own failures keep from being judged.
    public var faults: [String] {
      let unjudged = scenario.name == FaultScenario.fair.name ? laws?.unjudged ?? [] : []
      return breaches.map(\.description) + (laws?.violations.map(\.description) ?? [])
        + unjudged.map { "\($0.law.name): \($0.verdict)" }
    }
  }

  /// The source's name.
  public let source: String

  /// The weathers in order.
  public let entries: [Entry]

  /// Whether nothing is wrong in any weather.
  public var isFine: Bool { entries.allSatisfy(\.isFine) }

  /// So many weathers are played at a time: most of them are spent waiting.
  private static let width = 4

  /// Plays the weathers to a source.
  ///
  /// - Parameters:
  ///   - plugin: The source.
  ///   - environment: What leads to its service, which must be in order. Nobody waits in it, rates are
  ///     off, and its store is not used.
  ///   - weathers: Which weathers; all by default.
  ///   - patience: How long a call may really take; 10 seconds by default, far more than any needs.
  /// - Throws: What the source throws in fair weather, before any other.
  public init<Source: Plugin>(
    of plugin: Source, in environment: PluginEnvironment,
    _ scenarios: [FaultScenario] = FaultScenario.all,
    maxWait: Duration = .seconds(10)
  ) async throws(SourceError) {
    let scenarioEnvironment = try ScenarioEnvironment(over: environment, for: plugin)
    let remote = try plugin.remote(in: scenarioEnvironment.environment)
    let query = plugin.policy.localSearchBound == nil ? try Query(plugin.example.query) : nil
    let baseline = await within(maxWait * 10) {
      await Result { () async throws(SourceError) in
        try await Baseline(
          remote, bundle: plugin.bundled, query: query, size: plugin.policy.largestPage)
      }
    }
    guard let baseline = try baseline?.get() else {
      throw SourceError(.timedOut, "the service of \(plugin.name) never comes to an end")
    }
    source = plugin.name
    entries = await withTaskGroup(of: (Int, Entry).self) { group in
      var entries: [Int: Entry] = [:]
      for (index, scenario) in scenarios.enumerated() {
        if index >= Self.width, let (index, entry) = await group.next() { entries[index] = entry }
        group.addTask {
          let context = ScenarioTrial(
            of: plugin, in: scenario, over: environment, baseline: baseline, maxWait: maxWait)
          return (index, await context.entry())
        }
      }
      for await (index, entry) in group { entries[index] = entry }
      return scenarios.indices.compactMap { entries[$0] }
    }
  }
}

extension FaultReport {
  /// A table of weathers and promises, and how many laws were kept, violated, do not apply, or could
  /// not be judged because the service failed, as it does then.
  public var table: String {
    let names = ScenarioPromise.allCases.map(\.rawValue)
    let head = Self.row(source, names.map { $0.filled(13) } + ["laws ok/bad/n/a/–"])
    return ([head] + entries.map(\.row)).joined(separator: "\n")
  }

  /// A line for each thing that is wrong: the weather, the promise or law, and what was found.
  public var details: [String] {
    entries.flatMap { entry in
      entry.faults.map { "\(source) in \(entry.scenario.name): \($0)" }
    }
  }

  fileprivate static func row(_ name: String, _ cells: [String]) -> String {
    name.filled(16) + cells.joined()
  }
}

extension FaultReport.Entry {
  /// `ok`, `VIOLATED (2)`, `n/a` where the weather changes nothing, or `–` where nobody can tell.
  ///
  /// - Parameter promise: The promise.
  /// - Returns: The cell of the table.
  public func cell(of promise: ScenarioPromise) -> String {
    let count = breaches.count { $0.promise == promise }
    if count > 0 { return "VIOLATED (\(count))" }
    if laws == nil { return "–" }
    return isFelt || scenario.prospect == .fair ? "ok" : "n/a"
  }

  fileprivate var row: String {
    FaultReport.row(
      scenario.name, ScenarioPromise.allCases.map { cell(of: $0).filled(13) } + [lawCell])
  }

  private var lawCell: String {
    guard let laws else { return "–" }
    let violated = laws.entries.count { !$0.verdict.violations.isEmpty }
    let exempt = laws.notApplicable.count + scenario.suspended.count
    let unjudged = laws.unjudged.count
    let kept = laws.entries.count - violated - laws.notApplicable.count - unjudged
    return "\(kept)/\(violated == 0 ? "0" : "VIOLATED \(violated)")/\(exempt)/\(unjudged)"
  }
}

extension String {
  /// This text with spaces up to a width.
  fileprivate func filled(_ width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 1))
  }
}
