import AggregatorKit
import AggregatorSourceTesting
import Foundation

/// Answers requests as Comic Vine does.
struct ComicVineHandler {
  let characters: [FakeCharacter]
  let quirks: Set<ComicVineQuirk>
  let searchLimit: Int
  let isCompressed: Bool

  func reply(to request: LoopbackRequest) -> LoopbackReply {
    let query = request.query
    let agent = request.header("user-agent") ?? ""
    if agent.isEmpty || ["curl", "python", "CFNetwork"].contains(where: agent.contains) {
      return ComicVineFault.blocked.reply
    }
    guard request.path.hasSuffix("/") else {
      let place = "http://\(request.header("host") ?? "")\(request.path)/"
      return .redirect(to: "\(place)?\(request.rawQuery ?? "")", status: 301)
    }
    // Parameters that make no sense get a page for people.
    guard ["limit", "offset", "page"].allSatisfy({ query[$0].map { Int($0) != nil } ?? true })
    else {
      return ComicVineFault.page.reply
    }
    return answer(to: request.path, query).reply(
      format: query["format"], isCompressed: isCompressed && request.accepts("gzip"))
  }

  private func answer(to path: String, _ query: [String: String]) -> ComicVineAnswer {
    guard query["api_key"] == FakeComicVine.key else { return .invalidKey }
    if query["format"] == "jsonp" { return .noCallback }
    switch path {
    case "/api/characters/": return list(query)
    case "/api/search/": return search(query)
    default:
      guard let match = path.wholeMatch(of: /\/api\/character\/4005-(\d+)\//),
        let id = Int(match.1)
      else { return .badPath }
      return single(id, query)
    }
  }

  private func list(_ query: [String: String]) -> ComicVineAnswer {
    let asked = query["limit"].flatMap { Int($0) } ?? 100
    let limit = 1...100 ~= asked ? asked : 100
    let offset = max(0, query["offset"].flatMap { Int($0) } ?? 0)
    let rows = characters.map { $0.json(FakeCharacter.listFields, query["field_list"]) }
    return window(rows, limit, offset)
  }

  /// Terms are ORed, and who has more of them comes first.
  private func search(_ query: [String: String]) -> ComicVineAnswer {
    let asked = query["limit"].flatMap { Int($0) } ?? 10
    let limit = 1...searchLimit ~= asked ? asked : searchLimit
    let page = max(1, query["page"].flatMap { Int($0) } ?? 1)
    guard query["resources"] == "character" else {
      return ComicVineAnswer(limit: limit, count: 10, total: 945)
    }
    let terms = (query["query"] ?? "").lowercased().split(separator: " ")
    let ranked = characters.map { ($0, $0.relevance(of: terms)) }.filter { $0.1 > 0 }
      .sorted { ($1.1, $0.0.id) < ($0.1, $1.0.id) }
    let rows = ranked.map { character, _ in
      character.json(FakeCharacter.listFields, query["field_list"], isFound: true)
    }
    return window(rows, limit, (page - 1) * limit)
  }

  private func single(_ id: Int, _ query: [String: String]) -> ComicVineAnswer {
    guard let character = characters.first(where: { $0.id == id }) else { return .unknown }
    let json = character.json(FakeCharacter.detailFields, query["field_list"])
    return ComicVineAnswer(
      limit: 1, count: 1, total: 1, results: quirks.contains(.wrongShape) ? [json] : json)
  }

  /// A part of all rows, and what is wrong with it.
  private func window(_ all: [JSON], _ limit: Int, _ offset: Int) -> ComicVineAnswer {
    let limit = quirks.contains(.ownLimit) ? 7 : limit
    var start = offset
    if quirks.contains(.ignoresOffset) { start = 0 }
    if quirks.contains(.shifting) { start = max(0, start - 1) }
    var rows = Array(all.dropFirst(start).prefix(limit + (quirks.contains(.generous) ? 3 : 0)))
    if quirks.contains(.shortPage), offset == 0 { rows = rows.dropLast() }
    if quirks.contains(.badRows), offset == 0, rows.count > 3 {
      rows[1...3] = [["id": 1, "name": nil], ["id": "two", "name": "Two"], nil]
    }
    var answer = ComicVineAnswer(
      limit: limit, offset: offset, count: rows.count, total: all.count, results: .array(rows))
    if quirks.contains(.emptyPromise) {
      (answer.count, answer.total, answer.results) = (10, 945, [])
    }
    if quirks.contains(.miscounted) { answer.count += 7 }
    if quirks.contains(.lowTotal) { answer.total = 3 }
    if quirks.contains(.wrongShape) { answer.results = rows.first ?? [:] }
    return answer
  }
}

extension LoopbackRequest {
  fileprivate func accepts(_ coding: String) -> Bool {
    header("accept-encoding")?.contains(coding) ?? false
  }
}
