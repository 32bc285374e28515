import AggregatorFuzzing
import Foundation

/// Prints one line for each parser, and the findings.
struct Report {
  private let options: Options

  /// The number of crashes after which the next parser gets its turn.
  private static let maxCrashes = 3

  init(_ options: Options) { self.options = options }

  /// Checks all parsers.
  ///
  /// Returns true if there are no findings.
  func run() throws -> Bool {
    say("seed \(options.seed)\n")
    say(row("parser", "inputs", "a second", "slowest", "case", "findings"))
    var all: [Finding] = []
    var inputs = 0
    let share = options.seconds / Double(options.targets.count)
    for target in options.targets {
      let start = ContinuousClock.now
      let outcome = try outcome(of: target, seconds: share)
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      say(
        row(
          target.name, "\(outcome.inputs)", "\(Int(Double(outcome.inputs) / max(seconds, 0.001)))",
          "\(String(format: "%.1f", outcome.milliseconds)) ms",
          "#\(outcome.slowest)",
          outcome.findings.isEmpty ? "–" : "\(outcome.findings.count)"))
      all += outcome.findings
      inputs += outcome.inputs
    }
    say("\n\(inputs) inputs, \(all.isEmpty ? "nothing" : "\(all.count)") found")
    for finding in all {
      let option = finding.isShape ? "--shape" : "--case"
      say("\n\(finding.target): \(finding.what)\n  \(finding.input)")
      say(
        "  Scripts/fuzz --only \(finding.target) --seed \(options.seed) \(option) \(finding.number)"
      )
    }
    return all.isEmpty
  }

  private func outcome(of target: FuzzTarget, seconds: Double) throws -> Campaign.Outcome {
    var job = Job(target: target.name, seed: options.seed, seconds: seconds, progress: "")
    if let number = options.number {
      (job.first, job.count, job.shapes) = (number, 1, 0..<0)
    } else if let shape = options.shape {
      (job.count, job.shapes) = (0, shape..<shape + 1)
    }
    let start = ContinuousClock.now
    var findings: [Finding] = []
    while true {
      job.seconds = max(1, seconds - (ContinuousClock.now - start) / .seconds(1))
      switch try Child.run(job) {
      case .outcome(var outcome):
        outcome.inputs += job.first - (options.number ?? 0)
        outcome.findings = findings + outcome.findings
        return outcome
      case .stopped(let number, let what):
        let isShape = number < 0
        findings.append(
          Finding(
            target: target.name, number: isShape ? -1 - number : number, isShape: isShape,
            what: what, input: isShape ? [] : target.input(of: number, seed: options.seed)))
        if isShape || options.number != nil || findings.count == Self.maxCrashes {
          var outcome = Campaign.Outcome()
          outcome.inputs = max(0, number)
          outcome.findings = findings
          return outcome
        }
        job.first = number + 1
      }
    }
  }

  /// Writes a line unbuffered, to show the progress.
  private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

  private func row(_ name: String, _ columns: String...) -> String {
    func padding(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(0, width - text.count))
    }
    return name + padding(name, 20) + columns.map { padding($0, 13) + $0 }.joined()
  }
}
