import AggregatorKit
import AggregatorSourceCommands
import CountriesSource
import Foundation
import Testing

/// The check of a source for `sources check` and `doctor`.
@Suite struct SourceCheckTests {
  /// Responds at once, and reports that it took an hour.
  private struct Slow: Transport {
    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      let row = #"{"code": "FR", "name": "France", "region": "EU", "capital": "Paris"}"#
      let body = Data("[\(row)]".utf8)
      Observer.current(
        .received(status: 200, bytes: body.count, after: .seconds(3600), address: ""))
      return HTTPResponse(status: 200, body: body)
    }
  }

  @Test func `its time is that of the request`() async {
    let environment = PluginEnvironment(settings: SourceSettings(), transport: Slow())
    let check = await CountriesPlugin().check(in: environment, within: .seconds(60))
    #expect(check.failure == nil)
    #expect(check.milliseconds == 3_600_000)
  }
}
