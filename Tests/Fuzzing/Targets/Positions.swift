import AggregatorKit
import AggregatorQueries
import CountriesSource
import Foundation
import HeroesSource
import ProductsSource
import UsersSource

/// Cursors and position files.
extension FuzzTarget {
  static let positions = [
    cursor, position(in: CountriesPlugin()), position(in: HeroesPlugin()),
    position(in: ProductsPlugin()), position(in: UsersPlugin()), positionFile,
  ]

  private static let seal = CursorSeal("fuzz", for: nil)

  private static let cursor = FuzzTarget(
    "cursor",
    texts: [0, 7, 1_000_000].compactMap { (try? seal.close($0))?.description }
      + ["offline.cMQ.0000abcde"],
    tokens: [".", "c", "cMQ", "-", "_"]
  ) { text in
    guard let cursor = PageCursor(text) else { return }
    try expect(cursor.description == text, "a token was changed")
    let offset: Int
    do throws(SourceError) { offset = try seal.openOffset(cursor) } catch {
      return try expectHarmless(error)
    }
    let again = try seal.close(offset)
    try expect(try seal.openOffset(again) == offset, "sealed again it is another offset")
  }

  /// Positions with a valid seal, for every operator of a chain.
  ///
  /// No checksum protects against those.
  private static func position<P: Plugin>(in plugin: P) -> FuzzTarget {
    let name = plugin.name
    let seals = [
      name, "users.aggregator", "\(name).slice", "\(name).scan", "\(name).bundled", name,
    ]
    let tags = ["", "ok.", "offline.", "ok.ok.", "ok.offline."]
    let reply = Samples.replies(name.capitalized).max { $0.count < $1.count } ?? []
    let samples = [
      "5", #"{"p":3,"n":10,"s":2}"#, #"{"p":1,"s":5,"n":100}"#, #"{"c":"cMQ.0000abcde","s":1}"#,
    ]
    return FuzzTarget(
      "\(name)-position", samples: samples.map { Array($0.utf8) }, cost: .medium
    ) { bytes in
      guard let json = JSON(reading: Data(bytes)) else { return }
      let environment = PluginEnvironment.fuzzing(
        CannedTransport(reply: HTTPResponse(status: 200, body: Data(reply))))
      let sources = [
        try plugin.remote(in: environment), try plugin.source(in: environment),
        try plugin.source(in: environment).cachePolicy(.offline),
      ]
      for query in [nil, try SearchQuery("a")] {
        for cursor in cursors(of: json, seals, tags, query) {
          for source in sources {
            let request = PageRequest(matching: query, after: cursor, limit: 3)
            for count in [0, 1, .max] { _ = source.cursor(skipping: count, from: request) }
            var count = 0
            do throws(SourceError) { count = try await source.page(request).records.count } catch {
              try expectHarmless(error)
            }
            try expect(count <= 3, "\(count) records of 3")
          }
        }
      }
    }
  }

  private static func cursors(
    of json: JSON, _ seals: [String], _ tags: [String], _ query: SearchQuery?
  ) -> [PageCursor] {
    seals.flatMap { name -> [PageCursor] in
      guard let cursor = try? CursorSeal(name, for: query).close(json) else { return [] }
      return tags.compactMap { PageCursor($0 + cursor.description) }
    }
  }

  private static let positionFile = FuzzTarget(
    "position-file",
    samples: [
      #"{"earlier":[{"count":20,"limit":20,"start":null}],"ids":"AAAAAAAAAAE=","latest":{"count":3,"limit":20,"start":"cMQ.0000abcde"},"next":"cMjA.0000abcde","query":"a b","request":null,"version":1}"#,
      #"{"earlier":[],"ids":"","latest":{"count":3,"limit":20,"start":null},"selection":{"conditions":["id>1"],"order":"-id"},"version":1}"#,
    ].map { Array($0.utf8) }
  ) { bytes in
    guard let offset = try? SessionPosition(bytes) else { return }
    try expect(
      (try? SessionPosition(offset.bytes)) == offset, "written and read it is another place"
    )
  }
}
