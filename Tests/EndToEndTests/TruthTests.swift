import AggregatorFakeServices
import AggregatorKit
import Foundation
import Testing

@testable import AggregatorProgramTesting

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
    let homes = try (0..<TruthTrial.homes).map { _ in try TestHome() }
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

  /// The API answers with single pages: a reader of several sees himself that they repeat records.
  ///
  /// A sync of the API waits until a service that limits its rate accepts requests again, as this one never does.
  @Test(
    arguments: LyingService.table.filter { [.page, .token].contains($0.0) && $0.2 != .rateLimit })
  func `nor does the API`(
    paging: LyingService.Paging, extra: LyingService.Extra, lie: LyingService.Lie
  ) async throws {
    let service = try LyingService(paging, extra, lie)
    let home = try TestHome()
    try home.sandbox.write(service.manifest, to: "home/.config/aggregator/sources/lamps.json")
    let server = try await ServingProgram(
      "--source lamps", environment: home.environment, in: home.sandbox)
    let live = try await Self.walk(server, "cache=live")
    #expect(live.isWhole || live.saysMore, "\(service.name): \(live)")
    let sync = try await server.send("POST", "/api/v1/sync/lamps")
    let claimsAll = sync.text.contains(#""complete":true"#)
    let offline = try await Self.walk(server, "cache=offline")
    #expect(offline.isWhole || offline.saysMore && !claimsAll, "\(service.name): \(offline)")
    if lie == .none {
      #expect(live.isWhole && !live.saysMore && claimsAll && offline.isWhole && !offline.saysMore)
    }
    try await server.stop()
  }

  /// All pages of a list.
  private static func walk(_ server: ServingProgram, _ parameters: String) async throws -> Walk {
    var walk = Walk()
    var next: String? = ""
    while let cursor = next, walk.pages < 20 {
      let reply = try await server.get(
        "/api/v1/lamps?limit=10&\(parameters)\(cursor.isEmpty ? "" : "&cursor=\(cursor)")")
      walk.pages += 1
      guard reply.status == 200 else {
        walk.problems.append(reply.text)
        return walk
      }
      let answer = try JSONDecoder().decode(Answer.self, from: reply.body)
      walk.ids += answer.items.map { "\($0.id)" }
      walk.problems += answer.warnings.map(\.code)
      next = answer.page.next
    }
    return walk
  }

  private struct Walk {
    var ids: [String] = []
    var problems: [String] = []
    var pages = 0

    var isWhole: Bool { Set(ids).count == LyingService.count }
    var saysMore: Bool { !problems.isEmpty || Set(ids).count < ids.count || pages == 20 }
  }

  private struct Answer: Decodable {
    struct Item: Decodable { let id: Int }
    struct Page: Decodable { let next: String? }
    let items: [Item]
    let page: Page
    let warnings: [Envelope.Warning]
  }
}
