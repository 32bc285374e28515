import AggregatorKit
import AggregatorSinger

/// The streams and fields that a catalog selects.
struct TapCatalog: Sendable {
  fileprivate struct Stream {
    var isSelected: Bool
    /// By the names of properties that the catalog says something of.
    var fields: [String: Bool]
  }

  private let streams: [String: Stream]

  /// The names of the selected streams, in alphabetical order.
  var selected: [String] { streams.filter(\.value.isSelected).keys.sorted() }

  /// - Throws: ``SourceError`` with code `invalidRequest`, or `storage` if the file cannot be read.
  init(reading path: String) throws(SourceError) {
    let file = TapFile(path, "catalog", .invalidRequest)
    guard let entries = try file.read()?["streams"]?.array else {
      throw file.failure("\"streams\" is not a list")
    }
    var streams: [String: Stream] = [:]
    for entry in entries {
      guard let name = (entry["tap_stream_id"] ?? entry["stream"])?.string else {
        throw file.failure("a stream has no \"tap_stream_id\"")
      }
      guard streams[name] == nil else { throw file.failure("\"\(name)\" is there twice") }
      guard let stream = Stream(entry) else {
        throw file.failure("the metadata of \"\(name)\" is invalid")
      }
      streams[name] = stream
    }
    self.streams = streams
  }

  func isSelected(_ stream: String) -> Bool { streams[stream]?.isSelected ?? false }

  /// True unless the catalog leaves out the field.
  func isSelected(_ field: String, of stream: String) -> Bool {
    streams[stream]?.fields[field] ?? true
  }
}

extension TapCatalog.Stream {
  /// Reads the metadata, or the members `selected` of old catalogs; `nil` if it is invalid.
  fileprivate init?(_ entry: JSON) {
    let schema = entry["schema"]
    guard let metadata = (entry["metadata"] ?? []).array,
      let old = Self.selection(entry, or: Self.selection(schema ?? [:], or: metadata.isEmpty))
    else { return nil }
    (isSelected, fields) = (old, [:])
    for property in schema?["properties"]?.members ?? [] {
      // Old catalogs alone have it there.
      if let bool = property.value["selected"]?.bool { fields[property.name] = bool }
    }
    for part in metadata {
      guard let path = part["breadcrumb"]?.array, let values = part["metadata"], values.isObject
      else { return nil }
      switch path.count {
      case 0:
        guard let selected = Self.selection(values, or: old) else { return nil }
        isSelected = selected
      case 2 where path[0] == "properties":
        guard let name = path[1].string, let selected = Self.selection(values, or: true) else {
          return nil
        }
        fields[name] = selected
      default: continue
      }
    }
  }

  /// False if it is unsupported, or not selected; `nil` if that is said in an unknown way.
  private static func selection(_ values: JSON, or other: Bool?) -> Bool? {
    switch values["inclusion"]?.string {
    case "unsupported": return false
    case "automatic": return true
    default: break
    }
    switch values["selected"] ?? values["selected-by-default"] {
    case .bool(let bool): return bool
    case nil, .null: return other
    default: return nil
    }
  }
}

extension StreamWriter {
  /// The entry of the stream in a catalog.
  var catalogEntry: JSON {
    func metadata(_ path: JSON, _ values: JSON) -> JSON {
      ["breadcrumb": path, "metadata": values]
    }
    let stream = metadata(
      [],
      [
        "inclusion": "available", "selected-by-default": true,
        "table-key-properties": [.string(key)], "forced-replication-method": "LOG_BASED",
      ])
    let fields = fields.map { field in
      metadata(
        ["properties", .string(field)],
        field == key
          ? ["inclusion": "automatic"] : ["inclusion": "available", "selected-by-default": true])
    }
    return [
      "tap_stream_id": .string(self.stream), "stream": .string(self.stream), "schema": schema,
      "key_properties": [.string(key)], "metadata": .array([stream] + fields),
    ]
  }
}
