import AggregatorFuzzing
import Testing

extension FuzzTarget: CustomTestStringConvertible {
  /// The name, because a dump of the target fills the screen.
  package var testDescription: String { name }
}

/// Checks every parser with the same few hundred inputs; `Scripts/fuzz` checks millions of others.
///
/// Serialized, so that other tests get CPU time. The script also checks the time for each input.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct FuzzTests {
  @Test(arguments: FuzzTarget.all)
  func `keeps its invariants for every input`(target: FuzzTarget) async {
    let outcome = await Campaign(of: target, seed: 1, timeLimit: nil).run(0..<target.cost.tested)
    for finding in outcome.findings {
      Issue.record("\(finding.target), case \(finding.number): \(finding.what): \(finding.input)")
    }
    #expect(outcome.inputs == target.cost.tested || !outcome.findings.isEmpty)
  }

  @Test func `every parser has samples, and a name of its own`() {
    let names = FuzzTarget.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(FuzzTarget.all.allSatisfy { $0.hasSamples })
  }
}
