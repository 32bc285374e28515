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
    return object(.object(properties))
  }

  /// The results of a search by source.
  private static var results: JSON {
    let result = object([
      "page": reference("schemas", "Page"),
      "provenance": ["anyOf": [reference("schemas", "Provenance"), ["type": "null"]]],
      "error": ["anyOf": [object(["code": text, "message": text]), ["type": "null"]]],
    ])
    return ["type": "object", "additionalProperties": result]
  }

  private static var source: JSON {
    let flag: JSON = ["type": "boolean"]
    let field = object(["name": text, "kind": text, "about": text])
    return object([
      "name": text, "summary": text, "fields": ["type": "array", "items": field],
      "images": flag, "endless": flag,
    ])
  }

  private static var position: JSON {
    let next = "The cursor of the next page; null at the end."
    return object([
      "count": ["type": "integer", "description": "The number of records of this page."],
      "total": [
        "type": ["integer", "null"], "description": "The number of all of them, if it is known.",
      ],
      "next": ["type": ["string", "null"], "description": .string(next)],
    ])
  }

  private static var provenance: JSON {
    let reason = "The code of the failure because of which the data is not live."
    return object([
      "origin": ["enum": ["live", "cached", "bundled", "mixed"]], "fetchedAt": optionalTime,
      "reason": ["type": ["string", "null"], "description": .string(reason)],
      "endpoint": optionalText,
    ])
  }

  private static var warning: JSON {
    object(["code": text, "source": optionalText, "message": text])
  }

  /// Problem details (RFC 9457).
  private static var problem: JSON {
    object([
      "type": text, "title": text, "status": ["type": "integer"], "detail": text,
      "code": ["type": "string", "description": "For programs, such as `invalidCursor`."],
      "hint": ["type": ["string", "null"], "description": "The remedy."],
    ])
  }

  /// A schema of an object whose properties are all required.
  private static func object(_ properties: JSON) -> JSON {
    guard case .object(let members) = properties else { return properties }
    return [
      "type": "object", "properties": properties,
      "required": .array(members.map { .string($0.name) }),
    ]
  }
}
