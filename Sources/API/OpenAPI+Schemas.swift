import AggregatorKit
import AggregatorQueries

extension OpenAPI {
  private static let text: JSON = ["type": "string"]
  private static let optionalText: JSON = ["type": ["string", "null"]]

  static func schemas(of described: Source) -> [JSON.Member] {
    let source = described.source
    let fields = source.fields.map {
      JSON.Member($0.id, schema(of: $0, described.kinds[$0.id] ?? []))
    }
    let record: JSON = ["type": "object", "properties": .object(fields)]
    return [
      .init("\(described.identifier)Record", record),
      .init(
        "\(described.identifier)Page",
        page(of: described.record, from: ["const": .string(source.name)])),
    ]
  }

  static var commonSchemas: [JSON.Member] {
    let flag: JSON = ["type": "boolean"]
    let field = object(["name": text, "kind": text, "about": text])
    let source = object([
      "name": text, "summary": text, "fields": ["type": "array", "items": field],
      "images": flag, "endless": flag,
      "cached": described(
        "The number of cached records, without deleted ones; null without a store that can be read.",
        "integer", "null"),
    ])
    // By source.
    let result = object([
      "page": reference("schemas", "Page"),
      "provenance": ["anyOf": [reference("schemas", "Provenance"), ["type": "null"]]],
      "error": ["anyOf": [object(["code": text, "message": text]), ["type": "null"]]],
    ])
    let results: JSON = ["type": "object", "additionalProperties": result]
    let hit: JSON = ["type": "object", "properties": ["source": text], "required": ["source"]]
    let schemaChange = object([
      "change": ["enum": ["appeared", "vanished", "changed"]],
      "member": described("The path of the member, such as `owner.login`.", "string"),
      "before": described("The kinds of its values before.", "string", "null"),
      "after": described("The kinds of its values now.", "string", "null"),
      "foundAt": ["type": "string", "format": "date-time"],
    ])
    let change = object([
      "change": ["enum": .array(ChangeEntry.Kind.allCases.map { .string($0.rawValue) })],
      "id": text, "name": text,
      "fields": ["type": "array", "items": text],
      "before": described("The earlier values of these fields.", "object", "null"),
      "after": described("Their present values.", "object", "null"),
      "record": described("The record now, or when it was removed.", "object"),
      "foundAt": ["type": "string", "format": "date-time"],
    ])
    let value = object([
      "value": described("The value, or what its range is called.", "string"),
      "count": described("The number of records with it.", "integer"),
      "where": described("The condition of these records.", "string"),
    ])
    let facet = object([
      "field": text, "label": text,
      "range": described("True for ranges, in ascending order.", "boolean"),
      "values": ["type": "array", "items": value],
      "others": described("The number of values that are left out.", "integer"),
      "missing": described("The number of records without a value.", "integer"),
    ])
    let sync = object([
      "source": text,
      "state": ["enum": ["running", "done", "failed", "cancelled", "interrupted"]],
      "worker": described("The machine and the process that run it.", "string"),
      "startedAt": ["type": "string", "format": "date-time"],
      "updatedAt": ["type": "string", "format": "date-time"],
      "waiting": described(
        "What it waits for at the moment, such as \"rate limit 1/s: waiting 12 s\".", "string",
        "null"),
      "waitingUntil": ["type": ["string", "null"], "format": "date-time"],
      "expected": described("The number of records of the last complete sync.", "integer", "null"),
      "result": described("The counts so far, as those of `sync --json`.", "object"),
      "error": [
        "anyOf": [
          object([
            "code": text, "message": text,
            "hint": described("The remedy.", "string", "null"),
          ]), ["type": "null"],
        ]
      ],
    ])
    return [
      // Problem details (RFC 9457).
      .init(
        "Problem",
        object([
          "type": text, "title": text, "status": ["type": "integer"], "detail": text,
          "code": described("For programs, such as `invalidCursor`.", "string"),
          "hint": described("The remedy.", "string", "null"),
        ])),
      .init(
        "Page",
        object([
          "count": described("The number of records of this page.", "integer"),
          "total": described(
            "The number of all of them. Lists of cached records and of completely cached sources have it, others only if the service names it.",
            "integer", "null"),
          "next": described(
            "The cursor of the next page; null at the end. A search of all sources has none: `sources` has that of each, for its own list with the same `query`.",
            "string", "null"),
        ])),
      .init(
        "Provenance",
        object([
          "origin": ["enum": ["live", "cached", "bundled", "mixed"]],
          "fetchedAt": ["type": ["string", "null"], "format": "date-time"],
          "reason": described(
            "The code of the failure because of which the data is not live.", "string", "null"),
          "endpoint": described(
            "The URL of the service; null for records of several.", "string", "null"),
        ])),
      .init("Warning", object(["code": text, "source": optionalText, "message": text])),
      .init("SearchPage", page(of: hit, from: ["type": "null"], results: results)),
      .init(
        "SQLPage",
        page(of: ["type": "object", "additionalProperties": true], from: ["type": "null"])),
      .init(
        "SummaryPage",
        page(of: ["type": "object", "additionalProperties": true], from: text)),
      .init("SourcesPage", page(of: source, from: ["type": "null"])),
      .init("ChangesPage", page(of: change, from: text)),
      .init("SchemaChangesPage", page(of: schemaChange, from: text)),
      .init("FacetsPage", page(of: facet, from: text)),
      .init("SyncsPage", page(of: sync, from: optionalText)),
    ]
  }

  private static func described(_ description: String, _ types: String...) -> JSON {
    let types = types.map { JSON.string($0) }
    return [
      "type": types.count == 1 ? types[0] : .array(types), "description": .string(description),
    ]
  }

  /// Any value can be null.
  ///
  /// - Parameter kinds: Those of a field that may have any.
  private static func schema(of field: FieldEntry, _ kinds: [RowSchema.Kind]) -> JSON {
    let kind = FieldKind(rawValue: field.kind) ?? .any
    let observed = kinds.isEmpty ? "" : "Its kinds are those that the last syncs have found."
    let types =
      switch kind {
      case .text: ["string"]
      case .integer: ["integer"]
      case .number: ["number"]
      case .bool: ["boolean"]
      case .list: ["array"]
      case .any: kinds.map(\.schemaType)
      }
    let words = [field.about, observed].filter { !$0.isEmpty }.joined(separator: " ")
    var members: [JSON.Member] =
      words.isEmpty ? [] : [.init("description", .string(words))]
    if !types.isEmpty {
      members.append(.init("type", .array((types + ["null"]).map { .string($0) })))
    }
    if types.contains("array") { members.append(.init("items", kind == .list ? text : [:])) }
    return .object(members)
  }

  private static let verbs = [
    "list", "search", "show", "sources", "diff", "facets", "sql", "sync",
  ]

  /// The envelope of `--json`.
  private static func page(
    of record: JSON, from source: JSON, results: JSON? = nil
  ) -> JSON {
    var properties: [JSON.Member] = [
      .init("schema", ["const": "aggregator/1"]),
      .init("source", source),
      .init("verb", ["enum": .array(verbs.map { .string($0) })]),
      .init("query", optionalText),
      .init("items", ["type": "array", "items": record]),
      .init("page", reference("schemas", "Page")),
      .init("provenance", ["anyOf": [reference("schemas", "Provenance"), ["type": "null"]]]),
      .init("warnings", ["type": "array", "items": reference("schemas", "Warning")]),
    ]
    if let results { properties.append(.init("sources", results)) }
    return object(.object(properties))
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

extension RowSchema.Kind {
  /// The name of JSON Schema.
  fileprivate var schemaType: String {
    switch self {
    case .text: "string"
    case .number, .boolean, .object: rawValue
    case .list: "array"
    }
  }
}
