import AggregatorFakeServices
import Foundation
import Testing

/// An answer is complete, or says in what way it is not.
///
/// The services say less than they have, in every paging; and no sync removes what is there. `Scripts/truth` prints the
/// table.
@Suite struct TruthTests {
  @Test(arguments: LyingService.table)
  func `no answer says more than the program knows`(
    paging: LyingService.Paging, extra: LyingService.Extra, lie: LyingService.Lie
  ) async throws {
    let service = try LyingService(paging, extra, lie)
    let homes = try [TestHome(), TestHome()]
    for home in homes {
      try home.sandbox.write(
        service.manifest, to: "home/.config/aggregator/sources/lamps.json")
    }
    let faults = try await TruthTrial.faults(of: service) { arguments, home in
      let outcome = try await Binary.run(arguments, in: homes[home].sandbox)
      return TruthTrial.Outcome(
        status: outcome.status ?? -1, output: outcome.output, errors: outcome.errors)
    }
    #expect(faults == [], "\(service.name)")
  }
}
