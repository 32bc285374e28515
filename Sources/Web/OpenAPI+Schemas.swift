import AggregatorKit
import AggregatorQueries

extension OpenAPI {
  private static let text: JSON = ["type": "string"]
  private static let optionalText: JSON = ["type": ["string", "null"]]
  private static let optionalTime: JSON = ["type": ["string", "null"], "format": "date-time"]

  /// The schemas of a record and of a page of them.
  static func schemas(of source: some ServedSource) -> [JSON.Member] {
    let fields = source.fields.map { JSON.Member($0.id, schema(of: $0)) }
    let record: JSON = ["type": "object", "properties": .object(fields)]
    return [
      .init(source.name, record),
      .init(
        "\(source.name).page",
        page(of: reference("schemas", source.name), from: ["const": .string(source.name)])),
    ]
  }

  static var commonSchemas: [JSON.Member] {
    let hit: JSON = ["type": "object", "properties": ["source": text], "required": ["source"]]
    return [
      .init("Problem", problem), .init("Page", position), .init("Provenance", provenance),
      .init("Warning", warning),
      .init("SearchPage", page(of: hit, from: ["type": "null"], results: results)),
      .init("SourcesPage", page(of: source, from: ["type": "null"])),
    ]
  }

  /// Any value can be null.
  private static func schema(of field: FieldEntry) -> JSON {
    let description = JSON.Member("description", .string(field.about))
    let type: JSON.Member? =
      switch FieldKind(rawValue: field.kind) {
      case .text: .init("type", ["string", "null"])
      case .integer: .init("type", ["integer", "null"])
      case .number: .init("type", ["number", "null"])
      case .bool: .init("type", ["boolean", "null"])
      case .list: .init("type", ["array", "null"])
      case .any, nil: nil
      }
    let items = field.kind == FieldKind.list.rawValue ? [JSON.Member("items", text)] : []
    return .object([description, type].compactMap(\.self) + items)
  }

  /// The envelope of `--json`.
  private static func page(
    of record: JSON, from source: JSON, results: JSON? = nil
  ) -> JSON {
    var properties: [JSON.Member] = [
      .init("schema", ["const": "aggregator/1"]),
      .init("source", source),
      .init("verb", ["enum": ["list", "search", "show", "sources"]]),
      .init("query", optionalText),
      .init("items", ["type": "array", "items": record]),
      .init("page", reference("schemas", "Page")),
      .init("provenance", ["anyOf": [reference("schemas", "Provenance"), ["type": "null"]]]),
      .init("warnings", ["type": "array", "items": reference("schemas", "Warning")]),
    ]
    if let results { properties.append(.init("sources", results)) }
    return object(properties)
  }

  /// The results of a search by source.
  private static var results: JSON {
    let error = object([.init("code", text), .init("message", text)])
    let result = object([
      .init("page", reference("schemas", "Page")),
      .init("provenance", ["anyOf": [reference("schemas", "Provenance"), ["type": "null"]]]),
      .init("error", ["anyOf": [error, ["type": "null"]]]),
    ])
    return ["type": "object", "additionalProperties": result]
  }

  private static var source: JSON {
    let field = object([.init("name", text), .init("kind", text), .init("about", text)])
    let flag: JSON = ["type": "boolean"]
    return object([
      .init("name", text), .init("summary", text),
      .init("fields", ["type": "array", "items": field]), .init("images", flag),
      .init("endless", flag),
    ])
  }

  private static var position: JSON {
    object([
      .init("count", ["type": "integer", "description": "The number of records of this page."]),
      .init(
        "total",
        ["type": ["integer", "null"], "description": "The number of all of them, if it is known."]),
      .init(
        "next",
        [
          "type": ["string", "null"],
          "description": "The cursor of the next page; null at the end.",
        ]
      ),
    ])
  }

  private static var provenance: JSON {
    object([
      .init("origin", ["enum": ["live", "cached", "bundled", "mixed"]]),
      .init("fetchedAt", optionalTime),
      .init(
        "reason",
        [
          "type": ["string", "null"],
          "description": "The code of the failure because of which the data is not live.",
        ]),
      .init("endpoint", optionalText),
    ])
  }

  private static var warning: JSON {
    object([.init("code", text), .init("source", optionalText), .init("message", text)])
  }

  /// Problem details (RFC 9457).
  private static var problem: JSON {
    object([
      .init("type", text), .init("title", text), .init("status", ["type": "integer"]),
      .init("detail", text),
      .init("code", ["type": "string", "description": "For programs, such as `invalidCursor`."]),
      .init("hint", ["type": ["string", "null"], "description": "The remedy."]),
    ])
  }

  /// A schema of an object whose properties are all required.
  private static func object(_ properties: [JSON.Member]) -> JSON {
    [
      "type": "object", "properties": .object(properties),
      "required": .array(properties.map { .string($0.name) }),
    ]
  }
}
