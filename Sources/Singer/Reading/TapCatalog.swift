package import AggregatorKit

/// The streams that a tap has.
package struct TapCatalog: Sendable {
  package let json: JSON
  package let streams: [TapStream]

  /// - Throws: ``SourceError`` with code `malformed` if it is no catalog.
  package init(_ json: JSON) throws(SourceError) {
    guard let entries = json["streams"]?.array else {
      throw SourceError(.malformed, "the catalog has no list \"streams\"")
    }
    self.json = json
    streams = entries.compactMap(TapStream.init)
    guard streams.count == entries.count else {
      throw SourceError(
        .malformed, "a stream of the catalog has no \"tap_stream_id\", or no \"schema\"")
    }
  }

  /// The stream of this ID, or name.
  package func stream(_ id: String) -> TapStream? {
    streams.first { $0.id == id } ?? streams.first { $0.name == id }
  }

  /// The IDs of a stream and of those whose records it is made from.
  private func lineage(of id: String) -> Set<String> {
    var (found, next) = (Set<String>(), Optional(id))
    while let id = next, found.insert(id).inserted { next = stream(id)?.parent }
    return found
  }

  /// The catalog with nothing selected but one stream, all of its columns, and the streams that it is made from.
  package func selecting(_ id: String) -> JSON {
    let selected = lineage(of: id)
    return ["streams": .array(streams.map { $0.entry(isSelected: selected.contains($0.id)) })]
  }

  /// True for the catalog of an old tap, which has no metadata: its schemas say what is selected.
  var isOld: Bool { streams.allSatisfy { $0.json["metadata"] == nil } }

  /// The catalog without the streams that others do not need.
  package func keeping(_ ids: [String]) -> JSON {
    let kept = ids.reduce(into: Set<String>()) { $0.formUnion(lineage(of: $1)) }
    return ["streams": .array(streams.filter { kept.contains($0.id) }.map(\.json))]
  }
}

/// A stream of a tap: a list of records.
package struct TapStream: Sendable {
  package let json: JSON
  package let id: String
  package let name: String

  /// True only if each run sends all records.
  package var isFullTable: Bool { method == "FULL_TABLE" }

  init?(_ json: JSON) {
    guard let id = json["tap_stream_id"]?.string ?? json["stream"]?.string, !id.isEmpty,
      json["schema"]?.isObject == true
    else { return nil }
    (self.json, self.id) = (json, id)
    name = json["stream"]?.string ?? id
  }

  private var metadata: JSON? {
    json["metadata"]?.array?.first { $0["breadcrumb"]?.array?.isEmpty == true }?["metadata"]
  }

  private func text(_ keys: String...) -> String? {
    keys.lazy.compactMap { (metadata?[$0] ?? json[$0])?.string }.first
  }

  private var method: String? {
    text("replication-method", "forced-replication-method", "replication_method")
  }

  /// The method in words.
  package var methodText: String {
    method?.lowercased().replacing("_", with: " ") ?? "method unknown"
  }

  package var replicationKey: String? { text("replication-key", "replication_key") }

  /// The stream whose records this one is made from.
  var parent: String? { text("parent-tap-stream-id", "parent_tap_stream_id") }

  /// The names of the columns that identify a record.
  package var keys: [String] {
    let lists = [
      json["key_properties"], metadata?["table-key-properties"], metadata?["view-key-properties"],
    ]
    return lists.lazy.compactMap { $0?.array?.compactMap(\.string) }.first { !$0.isEmpty } ?? []
  }

  /// The names of the columns.
  package var columns: [String] { json["schema"]?["properties"]?.members.map(\.name) ?? [] }

  /// The entry of the catalog, with all of its columns that were not left out by hand.
  fileprivate func entry(isSelected: Bool) -> JSON {
    var entries = json["metadata"]?.array ?? []
    if metadata == nil { entries.insert(["breadcrumb": [], "metadata": .object([])], at: 0) }
    entries = entries.map { entry in
      let isRoot = entry["breadcrumb"]?.array?.isEmpty == true
      let old = entry["metadata"] ?? .object([])
      let selected: JSON = isRoot ? .bool(isSelected) : old["selected"] ?? true
      return entry.setting("metadata", to: old.setting("selected", to: selected))
    }
    let schema = (json["schema"] ?? [:]).setting("selected", to: .bool(isSelected))
    return json.setting("metadata", to: .array(entries)).setting("selected", to: .bool(isSelected))
      .setting("schema", to: schema)
  }
}

extension JSON {
  fileprivate func setting(_ name: String, to value: JSON) -> JSON {
    .object(members.filter { $0.name != name } + [Member(name, value)])
  }
}
