import AggregatorKit
import AggregatorTestSupport
import Foundation

struct ComicVineHandler {
  var characters: [FakeCharacter]
  let quirks: Set<ComicVineQuirk>
  let searchLimit: Int
  let isCompressed: Bool
  let servesPictures: Bool

  func reply(to request: LoopbackRequest) -> LoopbackReply {
    if servesPictures, request.path.hasPrefix("/a/uploads/") { return FakePictures.reply }
    let query = request.query
    let agent = request.header("user-agent") ?? ""
    if agent.isEmpty || ["curl", "python", "CFNetwork"].contains(where: agent.contains) {
      return ComicVineFault.blocked.reply
    }
    guard request.path.hasSuffix("/") else {
      let place = "http://\(request.header("host") ?? "")\(request.path)/"
      return .redirect(to: "\(place)?\(request.rawQuery ?? "")", status: 301)
    }
    // Invalid parameters return a web page.
    guard ["limit", "offset", "page"].allSatisfy({ query[$0].map { Int($0) != nil } ?? true })
    else {
      return ComicVineFault.page.reply
    }
    return withPictures(at: request).answer(to: request.path, query).reply(
      format: query["format"], isCompressed: isCompressed && request.accepts("gzip"))
  }

  /// The handler whose pictures are at the host of a request, if it serves them.
  private func withPictures(at request: LoopbackRequest) -> ComicVineHandler {
    guard servesPictures else { return self }
    var handler = self
    handler.characters = characters.map { $0.drawn(at: request.origin) }
    return handler
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
    let rows = listed(query).lazy.map { $0.json(FakeCharacter.listFields, query["field_list"]) }
    return window(rows, limit, offset)
  }

  /// The characters in the requested range, in the requested order; unknown filters and orders are ignored.
  private func listed(_ query: [String: String]) -> [FakeCharacter] {
    var listed = characters
    let filter = (query["filter"] ?? "").wholeMatch(of: /date_last_updated:([^|]*)\|(.*)/)
    if let filter, !quirks.contains(.ignoresFilter) {
      listed.removeAll { !("\(filter.1)"..."\(filter.2)").contains($0.updated) }
    }
    if query["sort"] == "date_last_updated:asc", !quirks.contains(.ignoresSort) {
      listed.sort { ($0.updated, $0.id) < ($1.updated, $1.id) }
    }
    return listed
  }

  /// Terms are ORed; characters with more of them come first.
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
    let rows = ranked.lazy.map { character, _ in
      character.json(FakeCharacter.listFields, query["field_list"], isFound: true)
    }
    return window(rows, limit, max(page - 1, 0) * limit)
  }

  private func single(_ id: Int, _ query: [String: String]) -> ComicVineAnswer {
    guard let character = characters.first(where: { $0.id == id }) else { return .unknown }
    let json = character.json(FakeCharacter.detailFields, query["field_list"])
    return ComicVineAnswer(
      limit: 1, count: 1, total: 1, results: quirks.contains(.wrongShape) ? [json] : json)
  }

  /// A page of the rows, with the quirks applied; others are not made.
  private func window(_ all: some Collection<JSON>, _ limit: Int, _ offset: Int) -> ComicVineAnswer
  {
    let limit =
      quirks.contains(.ownLimit) ? 7 : quirks.contains(.silentLimit) ? min(limit, 7) : limit
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
    if quirks.contains(.silentLimit) { answer.limit = nil }
    if quirks.contains(.pageTotal) { answer.total = start + rows.count }
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

/// Comic Vine's envelope.
struct ComicVineAnswer {
  var status = 200
  var code = 1
  var words = "OK"
  /// `nil` to leave it out.
  var limit: Int? = 0
  var offset = 0
  var count = 0
  var total = 0
  var results: JSON = []

  static let invalidKey = ComicVineAnswer(status: 401, code: 100, words: "Invalid API Key")
  static let unknown = ComicVineAnswer(code: 101, words: "Object Not Found")
  static let badPath = ComicVineAnswer(status: 404, code: 102, words: "Error in URL Format")
  static let noCallback = ComicVineAnswer(
    code: 103, words: "'jsonp' format requires a 'json_callback' argument")

  /// The reply, in XML unless JSON is requested.
  func reply(format: String?, isCompressed: Bool) -> LoopbackReply {
    let isXML = format == nil || format == "xml"
    var headers = [
      ("Content-Type", isXML ? "text/xml; charset=utf-8" : "application/json; charset=utf-8"),
      ("Cache-Control", "public, max-age=1200"), ("Server", "cloudflare"),
      ("CF-Cache-Status", "MISS"), ("Set-Cookie", "__cf_bm=abc; path=/; HttpOnly"),
    ]
    let body = Data((isXML ? xml : json.asciiText).utf8)
    guard isCompressed else { return .status(status, body, headers: headers) }
    headers.append(("Content-Encoding", "gzip"))
    return .status(status, body.gzipped, headers: headers)
  }

  private var json: JSON {
    let members: [JSON.Member] =
      [.init("error", .string(words))] + (limit.map { [.init("limit", .integer($0))] } ?? []) + [
        .init("offset", .integer(offset)), .init("number_of_page_results", .integer(count)),
        .init("number_of_total_results", .integer(total)), .init("status_code", .integer(code)),
        .init("results", results),
      ]
    // Errors have no version.
    return .object(members + (code == 1 ? [.init("version", "1.0")] : []))
  }

  private var xml: String {
    """
    <?xml version="1.0" encoding="utf-8"?>
    <response><error><![CDATA[\(words)]]></error><status_code>\(code)</status_code></response>
    """
  }
}

extension JSON {
  /// JSON as PHP encodes it: minified, with `\/` for a slash and `\u` for non-ASCII.
  var asciiText: String {
    text.unicodeScalars.map { scalar in
      if scalar == "/" { return #"\/"# }
      if scalar.isASCII { return String(scalar) }
      return String(scalar).utf16.map { unit in
        let hex = String(unit, radix: 16)
        return #"\u"# + String(repeating: "0", count: 4 - hex.count) + hex
      }.joined()
    }.joined()
  }
}

extension Data {
  /// Gzip (RFC 1952) in stored blocks: not smaller, but it must be decompressed.
  var gzipped: Data {
    var packed = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
    var rest = self[...]
    repeat {
      let block = rest.prefix(0xFFFF)
      rest = rest.dropFirst(block.count)
      let length = UInt16(block.count)
      packed.append(rest.isEmpty ? 1 : 0)
      packed.append(contentsOf: length.littleEndianBytes + (~length).littleEndianBytes + block)
    } while !rest.isEmpty
    let check = reduce(~UInt32(0)) { check, byte in
      (0..<8).reduce(check ^ UInt32(byte)) { value, _ in
        let divisor: UInt32 = value & 1 == 1 ? 0xEDB8_8320 : 0
        return value >> 1 ^ divisor
      }
    }
    return packed + (~check).littleEndianBytes + UInt32(count).littleEndianBytes
  }
}

extension FixedWidthInteger {
  fileprivate var littleEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
  }
}
