import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import DeclaredSource

/// A service names its last page with the parameters in another order, without one of them, or names another one indeed.
@Suite(.timeLimit(.minutes(10))) struct LastLinkTests {
  @Test(arguments: [
    ("?page=2&lang=en", true), ("?lang=en&page=2", true), ("?page=2", true),
    ("?lang=en&page=3", false), ("?lang=en&after=b", false), ("/v2/notes?page=2", false),
  ])
  func `a last page is told by its parameters`(last: String, isSame: Bool) async throws {
    let server = try LoopbackServer { request in
      let isFirst = request.query["page"] == nil
      return LoopbackReply.json(
        #"[{"id": "\#(isFirst ? "a" : "b")"}]"#,
        headers: [("Link", isFirst ? "<?page=2&lang=en>; rel=\"next\"" : "<\(last)>; rel=\"last\"")]
      )
    }
    let text: JSON = [
      "url": .string("\(server.baseURL)/v1/notes?lang=en"), "rows": "$", "id": "id",
      "next": "header:Link", "paging": "proved", "rate": "off",
    ]
    let plugin = DeclaredPlugin("notes", try Manifest(reading: Data(text.text.utf8)))
    let source = try plugin.remote(
      in: PluginEnvironment(settings: SourceSettings([:]), transport: LongTimeoutTransport()))
    let next = try #require(try await source.page(PageRequest()).next)
    let second = try await source.page(PageRequest(after: next))
    #expect(second.records.count == 1 && second.next == nil)
    #expect(second.warnings.map(\.code) == (isSame ? [] : [.incomplete]), "\(second.warnings)")
  }
}
