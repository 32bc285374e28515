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

  /// A record whose value is not stored.
  private struct Coin: SourceRecord {
    let id: Int
    var value: Int?

    enum CodingKeys: CodingKey { case id }
  }

  private struct CoinsPlugin: Plugin {
    static let rate = Setting("COINS_RATE", .rate, default: "off", about: "How often.")

    let name = "coins"
    let summary = "coins of a test"
    let example = PluginExample(query: "x", id: "1")
    let policy = Policy(rate: rate)
    let settings = [rate]
    let fields = [
      Field<Coin>("id", "ID", \.id, about: "The number."),
      Field<Coin>("value", "Value", \.value, about: "The value."),
    ]
    let layout = RecordLayout<Coin>(card: ["value"])

    var bundled: any DataSource<Coin> {
      BundledSource("coins", items: [Coin(id: 1, value: 5)], fields: fields)
    }

    func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Coin> {
      bundled
    }
  }

  @Test func `a violation is in words`() async {
    let environment = PluginEnvironment(settings: SourceSettings(), transport: Slow())
    let check = await CoinsPlugin().check(in: environment, within: .seconds(60))
    #expect(
      check.violation
        == "the record changes when it is stored as JSON and read again: value (\"1\" as JSON)")
    #expect(!check.isSound)
    #expect(await CountriesPlugin().check(in: environment, within: .seconds(60)).violation == nil)
  }

  @Test func `its time is that of the request`() async {
    let environment = PluginEnvironment(settings: SourceSettings(), transport: Slow())
    let check = await CountriesPlugin().check(in: environment, within: .seconds(60))
    #expect(check.failure == nil)
    #expect(check.milliseconds == 3_600_000)
  }
}
