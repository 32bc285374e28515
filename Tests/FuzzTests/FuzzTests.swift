import AggregatorFuzzing
import Testing

extension FuzzTarget: CustomTestStringConvertible {
  /// Its name, for all that it is made from fills the screen.
  package var testDescription: String { name }
}

/// Every parser that meets foreign bytes, with the same few hundred inputs in every run; `Scripts/fuzz`
/// tries millions of others.
///
/// One parser after the other, so that other tests have a processor too; how long an input takes is the
/// business of the script.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct FuzzTests {
  @Test(arguments: FuzzTarget.all)
  func `keeps its promises whatever it reads`(target: FuzzTarget) async {
    let outcome = await Campaign(of: target, seed: 1, patience: nil).run(0..<target.cost.tested)
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
