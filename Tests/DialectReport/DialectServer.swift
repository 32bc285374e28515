import AggregatorInference
import AggregatorKit
import AggregatorSourceTesting
import Foundation

@testable import DeclaredSource

/// One of the recorded dialects, served with its true paging behavior over several pages.
///
/// The rows are those of the recording, repeated with other values where they differ.
struct Dialect: Sendable {
  /// The paging of the service.
  enum Behavior: Sendable {
    /// All rows in every response.
    case single
    /// `at` is the path of the echo of the position, if there is one.
    case page(String, start: Int, at: String? = nil)
    case offset(String, start: Int, at: String? = nil)
    /// The `Link` header, with this parameter of the page.
    case linkHeader(String)
    /// The URL of the next page at a path, with this parameter.
    case link(String, at: String)
    /// A list of links with relations at a path.
    case links(String, at: String)
    /// A token at a path, which is taken by a parameter.
    case token(String, at: String, more: String? = nil)
    /// Parameters to add at a path.
    case merge(String, at: String)
    /// The ID of the last row; `max_id` in the `Link` header if `inHeader`.
    case lastID(String, more: String?, inHeader: Bool)
  }

  let name: String
  let about: JSON
  let page: JSON
  let behavior: Behavior
  let rows: [JSON]
  let size: Int

  static let behaviors: [String: (Behavior, size: String?, standard: Int)] = [
    "countries-gist": (.single, nil, 60), "elm-packages": (.single, nil, 60),
    "restcountries-v2": (.single, nil, 60), "jsonplaceholder": (.single, nil, 60),
    "dummyjson": (.offset("skip", start: 0, at: "skip"), "limit", 30),
    "finna": (.page("page", start: 1), "limit", 20),
    "forgejo-issues": (.linkHeader("page"), "limit", 30),
    "gbif-dataset": (.offset("offset", start: 0, at: "offset"), "limit", 20),
    "gbif-statistics": (.offset("offset", start: 0, at: "offset"), "limit", 20),
    "github-graphql": (
      .token(
        "variables.after", at: "data.repository.discussions.pageInfo.endCursor",
        more: "data.repository.discussions.pageInfo.hasNextPage"), "variables.first", 30
    ),
    "github-issues": (.linkHeader("page"), "per_page", 30),
    "github-search": (.linkHeader("page"), "per_page", 30),
    "google-books": (.offset("startIndex", start: 0), "maxResults", 10),
    "hal-dryad": (.link("page", at: "_links.next.href"), "per_page", 20),
    "inaturalist-species": (.page("page", start: 1, at: "page"), "per_page", 30),
    "inventaire": (.offset("offset", start: 0), "limit", 10),
    "jira-search": (.offset("startAt", start: 0, at: "startAt"), "maxResults", 50),
    "libris": (.offset("start", start: 1, at: "xsearch.from"), "n", 10),
    "mastodon": (.lastID("max_id", more: nil, inHeader: true), "limit", 20),
    "mediawiki-search": (.merge("sroffset", at: "continue"), "srlimit", 10),
    "nasa-images": (.links("page", at: "collection.links"), "page_size", 100),
    "natureserve": (
      .page("pagingOptions.page", start: 0, at: "resultsSummary.page"),
      "pagingOptions.recordsPerPage",
      20
    ),
    "notion-search": (
      .token("start_cursor", at: "next_cursor", more: "has_more"), "page_size", 100
    ),
    "openalex": (.page("page", start: 1, at: "meta.page"), "per-page", 25),
    "openvsx": (.offset("offset", start: 0, at: "offset"), "size", 18),
    "pokeapi": (.link("offset", at: "next"), "limit", 20),
    "slack-conversations": (.token("cursor", at: "response_metadata.next_cursor"), "limit", 20),
    "socrata": (.offset("$offset", start: 0), "$limit", 25),
    "stripe": (.lastID("starting_after", more: "has_more", inHeader: false), "limit", 10),
    "swapi": (.link("page", at: "next"), nil, 10),
    "timdex-graphql": (.offset("variables.from", start: 0), "variables.perPage", 20),
    "tmdb": (.page("page", start: 1, at: "page"), nil, 20),
    "trello-actions": (.lastID("before", more: nil, inHeader: false), "limit", 50),
    "wordpress": (.linkHeader("page"), "per_page", 10),
    "worldbank": (.page("page", start: 1, at: "0.page"), "per_page", 50),
    "youtube-search": (.token("pageToken", at: "nextPageToken"), "maxResults", 5),
    "zendesk-offset": (.link("page", at: "next_page"), "per_page", 100),
  ]

  init?(in directory: String, named name: String) throws {
    guard let (behavior, sizeName, standard) = Self.behaviors[name],
      let about = JSON(inOrder: try Data(contentsOf: URL(filePath: "\(directory)/request.json"))),
      let page = JSON(inOrder: try Data(contentsOf: URL(filePath: "\(directory)/page1.json"))),
      let path = Manifest.RowsPath(name == "elm-packages" ? "{}" : about["rows"]?.idText ?? ""),
      let recorded = path.rows(in: page), !recorded.isEmpty
    else { return nil }
    self.name = name
    self.about = about
    self.page = page
    self.behavior = behavior
    size = standard
    let url = URLComponents(string: about["url"]?.idText ?? "")
    let asked = url?.queryItems?.first { $0.name == sizeName }?.value.flatMap { Int($0) }
    let size = asked ?? standard
    let count = if case .single = behavior { standard } else { size * 3 + max(size / 2, 1) }
    rows =
      name == "elm-packages"
      ? recorded
      : (0..<count).map { index in
        recorded[index % recorded.count].varied(by: index / recorded.count)
      }
  }

  var rowsPath: JSONPath { JSONPath(about["rows"]?.idText ?? "$") ?? .root }

  func answer(_ request: LoopbackRequest) -> LoopbackReply {
    let host = request.header("host") ?? ""
    let body = JSON(inOrder: request.body)
    func parameter(_ name: String) -> String? {
      request.queryItems.last { $0.name == name }?.value
        ?? JSONPath(name).flatMap { path in body.flatMap { path.value(in: $0)?.idText } }
    }
    let sizeName = Self.behaviors[name]?.size
    let size = sizeName.flatMap { parameter($0) }.flatMap { Int($0) } ?? self.size
    let start: Int
    switch behavior {
    case .single: start = 0
    case .page(let name, let first, _):
      start = ((parameter(name).flatMap { Int($0) } ?? first) - first) * size
    case .offset(let name, let first, _):
      start = (parameter(name).flatMap { Int($0) } ?? first) - first
    case .linkHeader(let name), .link(let name, _), .links(let name, _):
      let number = parameter(name).flatMap { Int($0) }
      start = name == "offset" ? number ?? 0 : ((number ?? 1) - 1) * size
    case .token(let name, _, _), .merge(let name, _):
      start = parameter(name).flatMap { Int($0.drop { !$0.isNumber }) } ?? 0
    case .lastID(let name, _, _):
      let last = parameter(name)
      start =
        last.flatMap { last in rows.firstIndex { $0["id"]?.idText == last } }.map { $0 + 1 } ?? 0
    }
    guard start >= 0 else { return .json(#"{"error": "invalid position"}"#, status: 400) }
    let slice = Array(rows.dropFirst(start).prefix(self.isSingle ? rows.count : size))
    let end = start + slice.count
    let hasMore = end < rows.count && !isSingle
    var document = page
    if name != "elm-packages" { document.replace(rowsPath, with: .array(slice)) }
    var headers: [(String, String)] = []
    if let total = about["total"]?.idText, !total.isEmpty {
      if total.hasPrefix("header ") {
        headers.append((String(total.dropFirst(7)), "\(rows.count)"))
      } else if let path = JSONPath(total) {
        document.replace(path, with: .integer(rows.count))
      }
    }
    func set(_ path: String, _ value: JSON) {
      document.replace(JSONPath(path) ?? .root, with: value)
    }
    func nextURL(_ name: String, _ value: String) -> String {
      var items = request.queryItems.filter { $0.name != name }
      items.append((name, value))
      var parts = URLComponents(string: "http://\(host)\(request.path)") ?? URLComponents()
      parts.queryItems = items.map { URLQueryItem(name: $0.name, value: $0.value) }
      return parts.string ?? ""
    }
    func next(_ name: String) -> String {
      nextURL(name, name == "offset" ? "\(end)" : "\(start / size + 2)")
    }
    switch behavior {
    case .single: break
    case .page(_, let first, let echo): if let echo { set(echo, .integer(start / size + first)) }
    case .offset(_, let first, let echo): if let echo { set(echo, .integer(start + first)) }
    case .linkHeader(let name):
      if hasMore { headers.append(("Link", "<\(next(name))>; rel=\"next\"")) }
    case .link(let name, let path):
      set(
        path,
        hasMore
          ? .string(
            self.name == "hal-dryad"
              ? "/" + next(name).split(separator: "/", maxSplits: 2)[2] : next(name)) : .null)
    case .links(let name, let path):
      set(path, hasMore ? [["rel": "next", "prompt": "Next", "href": .string(next(name))]] : [])
    case .token(_, let path, let more):
      set(path, hasMore ? .string("t\(end)") : self.name.hasPrefix("slack") ? "" : .null)
      if let more { set(more, .bool(hasMore)) }
    case .merge(let name, let path):
      if hasMore {
        set(path, .object([JSON.Member(name, .integer(end)), JSON.Member("continue", "-||")]))
      } else {
        document.remove(path)
      }
    case .lastID(let name, let more, let inHeader):
      if let more { set(more, .bool(hasMore)) }
      if inHeader, hasMore, let id = slice.last?["id"]?.idText {
        headers.append(("Link", "<\(nextURL(name, id))>; rel=\"next\""))
      }
    }
    if let path = JSONPath("endOfRecords"), path.value(in: document) != nil {
      document.replace(path, with: .bool(!hasMore))
    }
    for echo in [
      "limit", "per_page", "maxResults", "meta.per_page", "resultsSummary.recordsPerPage",
    ] {
      if let path = JSONPath(echo), path.value(in: document) != nil {
        document.replace(path, with: .integer(size))
      }
    }
    return .ok(Data(document.text.utf8), headers: headers)
  }

  private var isSingle: Bool { if case .single = behavior { true } else { false } }
}

extension JSON {
  /// The same row with other values where a row has its own: texts and numbers at its top, and in objects
  /// that look like the carrier of an ID.
  fileprivate func varied(by round: Int, depth: Int = 0) -> JSON {
    guard round > 0 else { return self }
    switch self {
    case .object(let members):
      guard depth < 3 else { return self }
      return .object(
        members.map { JSON.Member($0.name, $0.value.varied(by: round, depth: depth + 1)) })
    case .array(let elements):
      return .array(elements.map { $0.varied(by: round, depth: depth + 1) })
    case .string(let text) where text.count > 1 && text.rangeOfCharacter(from: .whitespaces) == nil:
      return .string("\(text)-\(round)")
    case .integer(let integer) where integer > 0: return .integer(integer + round * 100_000)
    default: return self
    }
  }

  mutating func replace(_ path: JSONPath, with value: JSON) {
    replace(path.components[...], with: value)
  }

  private mutating func replace(_ path: ArraySlice<JSONPath.Component>, with value: JSON) {
    guard case .member(let name)? = path.first else {
      self = value
      return
    }
    switch self {
    case .array(var elements):
      guard let index = Int(name), elements.indices.contains(index) else { return }
      elements[index].replace(path.dropFirst(), with: value)
      self = .array(elements)
    case .object(var members):
      if let index = members.firstIndex(where: { $0.name == name }) {
        var inner = members[index].value
        inner.replace(path.dropFirst(), with: value)
        members[index] = Member(name, inner)
      } else {
        var inner = JSON.object([])
        inner.replace(path.dropFirst(), with: value)
        members.append(Member(name, inner))
      }
      self = .object(members)
    default:
      self = .object([])
      replace(path, with: value)
    }
  }

  mutating func remove(_ name: String) {
    guard case .object(let members) = self else { return }
    self = .object(members.filter { $0.name != name })
  }
}
