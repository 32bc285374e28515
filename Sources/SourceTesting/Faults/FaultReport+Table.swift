import AggregatorKit
import AggregatorLaws

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
