/// The paths of the API: a word in braces stands for any segment, and the first path that fits counts.
package enum APIPath: String, CaseIterable {
  case root = "/api/v1"
  case sources = "/api/v1/sources"
  case search = "/api/v1/search"
  case sql = "/api/v1/sql"
  case syncs = "/api/v1/sync"
  case sync = "/api/v1/sync/{source}"
  case list = "/api/v1/{source}"
  case record = "/api/v1/{source}/{id}"
  case image = "/api/v1/{source}/{id}/image"
  case restore = "/api/v1/{source}/{id}/restore"
  /// One segment less would be a record.
  case changes = "/api/v1/{source}/records/changes"
  case schemaChanges = "/api/v1/{source}/schema/changes"
  case facets = "/api/v1/{source}/schema/facets"
  case summary = "/api/v1/{source}/schema/summary"

  package var methods: [String] {
    switch self {
    case .root, .search, .syncs, .image, .changes, .schemaChanges, .facets, .summary: ["GET"]
    case .sources, .sql: ["GET", "POST"]
    case .sync: ["GET", "POST", "DELETE"]
    case .list, .record: ["GET", "DELETE"]
    case .restore: ["POST"]
    }
  }

  /// True for what `GET` has in no other format.
  var isJSONOnly: Bool {
    switch self {
    case .root, .sources, .search, .syncs, .record, .schemaChanges, .facets: true
    // A sync may also be a stream of events.
    case .sync, .sql, .list, .image, .restore, .changes, .summary: false
    }
  }
}

/// The paths that describe the server, and the one for agents, which describes itself.
package enum CommonPath: String, CaseIterable {
  case health = "/healthz"
  case document = "/openapi.json"
  case metrics = "/metrics"
  /// The Model Context Protocol.
  case agents = "/mcp"

  package var methods: [String] { self == .agents ? ["POST"] : ["GET"] }
}

package struct RoutePath<Pattern>: Hashable, Sendable
where Pattern: Hashable & Sendable & CaseIterable & RawRepresentable<String> {
  package let pattern: Pattern
  /// The segments at the words in braces, in order.
  private let values: [String]

  package init(_ pattern: Pattern, _ values: String...) {
    self.pattern = pattern
    self.values = values
  }

  /// `nil` for a path that leads nowhere.
  package init?(_ segments: [String]) {
    for pattern in Pattern.allCases {
      let pairs = zip(Self.words(of: pattern), segments)
      guard Self.words(of: pattern).count == segments.count,
        pairs.allSatisfy({ Self.isAny($0) || $0 == $1 })
      else { continue }
      self.pattern = pattern
      values = pairs.filter { Self.isAny($0.0) }.map(\.1)
      return
    }
    return nil
  }

  package var source: String { values.first ?? "" }

  package var id: String { values.last ?? "" }

  package var segments: [String] {
    var rest = values[...]
    return Self.words(of: pattern).map { Self.isAny($0) ? rest.popFirst() ?? "" : String($0) }
  }

  /// The segments as a path, which nothing in them needs to be encoded for.
  package var text: String { "/" + segments.joined(separator: "/") }

  private static func words(of pattern: Pattern) -> [Substring] {
    pattern.rawValue.split(separator: "/")
  }

  private static func isAny(_ word: Substring) -> Bool { word.hasPrefix("{") }
}
