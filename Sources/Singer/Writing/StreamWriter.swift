package import AggregatorKit

/// The messages of one stream, as lines of text: its schema before the first record, and again if a record has a
/// value of a kind that the schema does not name.
package struct StreamWriter<Item: SourceRecord> {
  private struct Property {
    let field: Field<Item>
    let isKey: Bool
    var kinds: ValueKinds
  }

  /// The time at which a record was deleted, null for one that is there: a property of every stream.
  package static var deletion: String { "_sdc_deleted_at" }

  package let stream: String
  /// The name of the property that is the ID.
  package let key: String

  private var properties: [Property]
  private var hasSchema = false
  private var writer = JSONWriter(escaping: .invisible)

  /// A stream of the fields of a source.
  ///
  /// The ID is the field whose values are the IDs of the records of a sample, or else a property of its own.
  ///
  /// - Parameters:
  ///   - sample: Some records: by them the kinds of values that are not declared are known.
  ///   - history: The kinds that syncs have found; `nil` if none are known.
  ///   - isSelected: False for a field that is left out, unless it is the ID.
  package init(
    _ stream: String, of fields: [Field<Item>], sample: [Item], _ history: SchemaHistory?,
    selecting isSelected: (_ field: String) -> Bool = { _ in true }
  ) {
    let fields = fields.filter { $0.name != Self.deletion }
    let keys = fields.filter { field in sample.allSatisfy { field[$0].cell == $0.id.description } }
    let named = keys.first { $0.name == "id" }
    let own = Field<Item>(
      fields.contains { $0.name == "id" } ? "_id" : "id", "ID", .text, about: "The record's ID."
    ) { .string($0.id.description) }
    let id = named ?? (sample.isEmpty ? nil : keys.first) ?? own
    self.stream = stream
    key = id.name
    let all = fields.contains { $0.name == id.name } ? fields : [id] + fields
    properties = all.filter { $0.name == id.name || isSelected($0.name) }.map { field in
      var kinds = ValueKinds(named: field.kind.rawValue)
      // Rows as the service sends them, which only added sources store as they are.
      if field.kind == .any, let path = field.path, path.hasPrefix("row.") {
        for kind in history?.kinds(of: String(path.dropFirst(4))) ?? [] {
          kinds.formUnion(ValueKinds(named: kind.rawValue))
        }
      }
      for item in sample { kinds.formUnion(ValueKinds(of: field[item])) }
      return Property(field: field, isKey: field.name == id.name, kinds: kinds)
    }
  }

  /// The types of all properties, by their names: one that has no values any more keeps its type.
  package var types: JSON {
    get {
      .object(properties.map { JSON.Member($0.field.name, .array($0.kinds.types)) })
    }
    set {
      for index in properties.indices {
        for type in newValue[properties[index].field.name]?.array ?? [] {
          properties[index].kinds.formUnion(ValueKinds(named: type.string ?? ""))
        }
      }
    }
  }

  /// The names of the properties that are fields of the source.
  package var fields: [String] { properties.map(\.field.name) }

  /// The JSON Schema of a record.
  package var schema: JSON {
    let members = properties.map { property in
      JSON.Member(
        property.field.name, property.kinds.schema(property.field, isKey: property.isKey))
    }
    let deletion: JSON = ["type": ["string", "null"], "format": "date-time"]
    return ["type": "object", "properties": .object(members + [.init(Self.deletion, deletion)])]
  }

  /// Writes the schema, unless it was written and is still true.
  package mutating func begin() {
    guard !hasSchema else { return }
    hasSchema = true
    write([
      "type": "SCHEMA", "stream": .string(stream), "schema": schema,
      "key_properties": [.string(key)],
    ])
  }

  /// Writes a record.
  ///
  /// - Parameters:
  ///   - date: The time at which the service had it.
  ///   - deletion: The time at which it was deleted; `nil` if it is there.
  package mutating func write(
    _ item: Item, version: Int, extractedAt date: Date, deletedAt deletion: Date? = nil
  ) {
    let values = properties.map { $0.field[item] }
    for (index, value) in values.enumerated() {
      let kinds = properties[index].kinds
      properties[index].kinds.formUnion(ValueKinds(of: value))
      if properties[index].kinds != kinds { hasSchema = false }
    }
    begin()
    writer.beginObject()
    member("type", "RECORD")
    member("stream", stream)
    writer.beginMember("record")
    writer.beginObject()
    for (index, value) in values.enumerated() {
      writer.beginMember(properties[index].field.name)
      value.write(to: &writer)
    }
    writer.beginMember(Self.deletion)
    JSON(deletion).write(to: &writer)
    writer.endObject()
    writer.beginMember("version")
    writer.write(literal: String(version))
    member("time_extracted", date.iso8601)
    writer.endObject()
    writer.write(literal: "\n")
  }

  /// Tells the target that records of earlier versions are gone.
  package mutating func activate(_ version: Int) {
    begin()
    write([
      "type": "ACTIVATE_VERSION", "stream": .string(stream), "version": .integer(version),
    ])
  }

  /// Tells the target that everything before is delivered.
  package mutating func write(state: JSON) { write(["type": "STATE", "value": state]) }

  /// The lines written since the last call.
  package mutating func take() -> String {
    defer { writer = JSONWriter(escaping: .invisible) }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private mutating func write(_ message: JSON) {
    message.write(to: &writer)
    writer.write(literal: "\n")
  }

  private mutating func member(_ name: String, _ text: String) {
    writer.beginMember(name)
    writer.write(string: text)
  }
}

extension JSON {
  fileprivate init(_ date: Date?) { self = date.map { .string($0.iso8601) } ?? .null }
}

/// The kinds of values that a property may have besides null.
private struct ValueKinds: OptionSet {
  let rawValue: UInt8

  /// The types of JSON Schema; an integer is also a number.
  private static let all: [(type: String, kinds: ValueKinds)] = [
    ("string", ValueKinds(rawValue: 1)), ("number", ValueKinds(rawValue: 6)),
    ("integer", ValueKinds(rawValue: 2)), ("boolean", ValueKinds(rawValue: 8)),
    ("array", list), ("object", ValueKinds(rawValue: 32)),
  ]

  static let list = ValueKinds(rawValue: 16)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// - Parameter name: A type of JSON Schema, or the name of a kind of fields or rows; any other has no values.
  init(named name: String) {
    let type = ["text": "string", "bool": "boolean", "list": "array"][name] ?? name
    self = Self.all.first { $0.type == type }?.kinds ?? []
  }

  init(of value: JSON) {
    rawValue =
      switch value {
      case .null: 0
      case .string: 1
      case .integer: 2
      case .number: 6
      case .bool: 8
      case .array: 16
      case .object: 32
      }
  }

  var types: [JSON] {
    let integers = contains(ValueKinds(rawValue: 6)) ? "integer" : ""
    return Self.all.filter { contains($0.kinds) && $0.type != integers }.map { .string($0.type) }
  }

  /// The schema of a property; that of one without any value is the one of a text.
  func schema(_ field: Field<some Any>, isKey: Bool) -> JSON {
    let types = isEmpty ? ["string"] : types
    var members: [JSON.Member] = [
      .init("type", .array(isKey ? types : types + ["null"])),
      .init("description", .string(field.about)),
    ]
    if contains(.list) {
      members.append(.init("items", field.kind == .list ? ["type": "string"] : [:]))
    }
    return .object(members)
  }
}
