package import AggregatorKit
import AggregatorTestSupport
import Foundation
import Synchronization

/// A JSON API of 60 lamps on 127.0.0.1, whose pages follow one another in one of many ways.
///
/// Deinitialisation stops it.
package final class FakeAPI: FakeService {
  /// The paging of the service.
  package enum Paging: String, CaseIterable, Sendable {
    case offset, page, token, tokenOnce, lastID, link, linkHeader
    /// The parameters are members of a JSON body.
    case bodyOffset, bodyPage, bodyToken
    case single
  }

  package static let count = 60
  package static let pageSize = 10

  package let server: InterruptibleServer
  package let paging: Paging

  package init(_ paging: Paging, first: Int = 1000) throws(SourceError) {
    self.paging = paging
    let handler = FakeAPIHandler(paging, first: first)
    server = try InterruptibleServer { handler.reply(to: $0) }
  }

  package var url: URL { server.baseURL.appending(path: "lamps") }

  package var settings: [String: String] { ["LAMP_KEY": Self.key] }

  /// The key that every request must send.
  package static let key = "lamp-key-4711-0815"

  package static func row(_ id: Int) -> JSON {
    [
      "id": .integer(id), "name": .string("lamp \(id)"), "price": .number(Double(id % 7) + 0.5),
      "watts": .integer(id % 5 * 20), "lit": .bool(id.isMultiple(of: 2)),
      "tags": .array(id.isMultiple(of: 3) ? ["old", "brass, polished"] : ["new"]),
      "maker": ["name": .string("Lumen \(id % 4)"), "city": "Graz"],
    ]
  }

  /// The manifest as its file has it.
  package var manifest: String {
    let how =
      switch paging {
      case .offset, .bodyOffset:
        #""offset": "skip=0", "size": "limit=10", "total": "total", "paging": "proved""#
      case .page, .bodyPage:
        #""page": "page=1", "size": "limit=10", "total": "total", "paging": "proved""#
      case .token, .bodyToken: #""next": "next", "token": "after", "size": "limit=10""#
      case .tokenOnce:
        #""next": "next", "token": "after", "tokenOnce": true, "size": "limit=10""#
      case .lastID: #""next": "last.id", "token": "after", "more": "more", "size": "limit=10""#
      case .link: #""next": "next", "total": "total""#
      case .linkHeader: #""next": "header:Link""#
      case .single: #""paging": "single""#
      }
    let body = isPost ? #""body": {"lang": "en"}, "# : ""
    return """
      {"url": "\(url)", "headers": {"Authorization": "Bearer ${LAMP_KEY}"}, \(body)"rows": "lamps", \
      "id": "id", "fields": ["name", "price", "watts", "lit", "tags", "maker", "maker.name"], \
      "item": "\(url)/{id}", "rate": "off", \(how)}
      """
  }

  private var isPost: Bool { paging.rawValue.hasPrefix("body") }
}

private final class FakeAPIHandler: Sendable {
  private let paging: FakeAPI.Paging
  private let rows: [JSON]
  /// The number of tokens that were sent, and those that were not used yet, with their positions.
  private let tokens = Mutex<(count: Int, unused: [String: Int])>((0, [:]))

  init(_ paging: FakeAPI.Paging, first: Int) {
    self.paging = paging
    rows = (first..<first + FakeAPI.count).map(FakeAPI.row)
  }

  func reply(to request: LoopbackRequest) -> LoopbackReply {
    guard request.header("authorization") == "Bearer \(FakeAPI.key)" else {
      return .json(#"{"error": "who are you?"}"#, status: 401)
    }
    if request.method == "GET", request.path.hasPrefix("/lamps/") {
      let id = request.path.dropFirst("/lamps/".count)
      guard let row = rows.first(where: { $0["id"]?.text == String(id) }) else {
        return .json(#"{"error": "no such lamp"}"#, status: 404)
      }
      return .json((["data": row] as JSON).text)
    }
    guard request.path == "/lamps" else { return .json("{}", status: 404) }
    var values = request.query
    if case .object(let members)? = JSON(reading: request.body) {
      for member in members {
        if case .string(let text) = member.value { values[member.name] = text }
        if case .integer(let integer) = member.value { values[member.name] = "\(integer)" }
      }
    }
    return page(values)
  }

  private func page(_ values: [String: String]) -> LoopbackReply {
    func number(_ name: String, _ standard: Int) -> Int {
      max(values[name].flatMap { Int($0) } ?? standard, 0)
    }
    let size = paging == .single ? rows.count : min(max(number("limit", FakeAPI.pageSize), 1), 25)
    let start: Int
    switch paging {
    case .offset, .bodyOffset: start = number("skip", 0)
    case .page, .bodyPage, .link, .linkHeader: start = (max(number("page", 1), 1) - 1) * size
    case .token, .bodyToken: start = number("after", 0)
    case .tokenOnce:
      guard let token = values["after"] else {
        start = 0
        break
      }
      guard let known = tokens.withLock({ $0.unused.removeValue(forKey: token) }) else {
        return .json(#"{"error": "unknown token"}"#, status: 410)
      }
      start = known
    case .lastID:
      start =
        values["after"].map { id in
          (rows.firstIndex { $0["id"]?.text == id } ?? rows.count - 1) + 1
        } ?? 0
    case .single: start = 0
    }
    let slice = rows.dropFirst(start).prefix(size)
    let end = min(start + size, rows.count)
    let hasMore = end < rows.count
    var members = [JSON.Member("lamps", .array(Array(slice)))]
    var headers: [(String, String)] = []
    switch paging {
    case .offset, .page, .bodyOffset, .bodyPage:
      members.append(JSON.Member("total", .integer(rows.count)))
    case .token, .bodyToken:
      members.append(JSON.Member("next", hasMore ? .string("\(end)") : .null))
    case .tokenOnce:
      members.append(JSON.Member("next", hasMore ? .string(token(for: end)) : .null))
    case .lastID: members.append(JSON.Member("more", .bool(hasMore)))
    case .link:
      members.append(JSON.Member("total", .integer(rows.count)))
      members.append(
        JSON.Member("next", hasMore ? .string("?page=\(start / size + 2)") : .null))
    case .linkHeader where hasMore:
      headers.append(("Link", "</lamps?page=\(start / size + 2)>; rel=\"next\""))
    case .linkHeader, .single: break
    }
    return .json(JSON.object(members).text, headers: headers)
  }

  private func token(for position: Int) -> String {
    tokens.withLock { tokens in
      tokens.count += 1
      let token = "t\(tokens.count)"
      tokens.unused[token] = position
      return token
    }
  }
}
