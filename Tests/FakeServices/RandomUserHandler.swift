import AggregatorKit
import AggregatorSourceTesting

/// Answers requests as randomuser.me does.
struct RandomUserHandler {
  let quirks: Set<RandomUserQuirk>
  /// Where the portraits are; `nil` for a place that there is not.
  var portraits: String?

  func reply(to request: LoopbackRequest) -> LoopbackReply {
    guard ["/api/", "/api", "/api/1.4/", "/api/1.4"].contains(request.path) else {
      return RandomUserFault.unknownVersion.reply
    }
    let query = request.query
    var seed = query["seed"] ?? "e821c0d323c754b3"
    if seed.utf8.count == 18 {
      // The last two characters are taken for a nationality; of one that there is not, no answer comes.
      guard let index = Int(seed.suffix(2), radix: 16), index <= 0x14 else { return .stalled }
      seed += "00"
    }
    let count = Self.count(query["results"])
    let page = Self.page(query["page"])
    return .json(body(seed: seed, page: page, count: count).text)
  }

  private func body(seed: String, page: Double, count: Int) -> JSON {
    let sent = quirks.contains(.nobody) ? 0 : count + (quirks.contains(.generous) ? 3 : 0)
    var rows = (0..<sent).map { index in
      var person = FakePerson(seed: seed, page: page, index: index)
      if let portraits { person.portraits = portraits }
      return person.json
    }
    if quirks.contains(.repeating), page > 1 {
      let half = rows.count / 2
      rows[..<half] = ArraySlice(
        (rows.count - half..<rows.count).map {
          FakePerson(seed: seed, page: page - 1, index: $0).json
        })
    }
    if quirks.contains(.badRows), rows.count > 3 {
      rows[1...3] = [["name": ["first": "A", "last": "B"]], ["email": "a@example.com"], nil]
    }
    if quirks.contains(.oldRow), !rows.isEmpty {
      rows[0] = FakePerson(seed: seed, page: page, index: 0).oldJSON
    }
    if quirks.contains(.withoutInfo) { return ["results": .array(rows)] }
    let said = quirks.contains(.halfPage) ? 1.5 : page
    return [
      "results": .array(rows),
      "info": [
        "seed": .string(quirks.contains(.otherSeed) ? "another" : seed), "results": .integer(count),
        "page": Int(exactly: said).map(JSON.integer) ?? .number(said), "version": "1.4",
      ],
    ]
  }

  /// What is no whole number from 1 to 5000 is 1.
  private static func count(_ text: String?) -> Int {
    text.flatMap { Double($0) }.flatMap { Int(exactly: $0) }.flatMap { 1...5000 ~= $0 ? $0 : nil }
      ?? 1
  }

  /// What is no number from 1 to 10 000 is 1.
  private static func page(_ text: String?) -> Double {
    text.flatMap { Double($0) }.flatMap { 1...10_000 ~= $0 ? $0 : nil } ?? 1
  }
}
