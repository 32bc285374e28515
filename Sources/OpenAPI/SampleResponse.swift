import AggregatorKit

/// Makes up a response of what its schema says (JSON Schema, as OpenAPI 3.0 and 3.1 have it), with two elements in each
/// list, so that what is found in real responses is found in a description, too.
struct SampleResponse {
  /// The values that may still be made: schemas may refer to themselves, and be large.
  private var remaining = 20_000

  /// The deepest objects outside and inside of the elements of a list: nothing deeper is looked for.
  private static let (maxDepth, maxRowDepth) = (5, 2)

  /// The most schemas that one is composed of, one within the other.
  private static let maxParts = 16

  /// A response; `nil` if its schema says nothing of it.
  static func json(of schema: DocumentNode) throws(SourceError) -> JSON? {
    var sample = SampleResponse()
    return try sample.value(of: schema, number: 1, depth: maxDepth)
  }

  /// - Parameters:
  ///   - number: The position in a list, from 1, which makes values differ.
  ///   - depth: The number of objects that may still be one within the other.
  private mutating func value(
    of schema: DocumentNode, number: Int, depth: Int
  ) throws(SourceError) -> JSON? {
    remaining -= 1
    guard remaining > 0 else { return nil }
    let parts = try Self.parts(of: schema)
    if let value = try constant(parts, number) { return value }
    switch try Self.kind(of: parts) {
    case "object":
      guard depth > 0 else { return nil }
      var members: [JSON.Member] = []
      var names: Set<String> = []
      for part in parts {
        for property in try part.member("properties")?.members() ?? []
        where names.insert(property.name).inserted {
          if let value = try value(of: property.value, number: number, depth: depth - 1) {
            members.append(JSON.Member(property.name, value))
          }
        }
      }
      return .object(members)
    case "array":
      guard depth > 0 else { return nil }
      var items: DocumentNode?
      for part in parts where items == nil { items = try part.member("items") }
      guard let items else { return .array([]) }
      var elements: [JSON] = []
      for number in 1...2 {
        let element = try value(of: items, number: number, depth: min(depth - 1, Self.maxRowDepth))
        if let element { elements.append(element) }
      }
      return .array(elements)
    case "string": return .string(try text(parts, number))
    case "integer": return .integer(number)
    case "number": return .number(Double(number) + 0.5)
    case "boolean": return .bool(true)
    default: return nil
    }
  }

  /// The value of a constant, or one of several values.
  private func constant(_ parts: [DocumentNode], _ number: Int) throws(SourceError) -> JSON? {
    for part in parts {
      let values = try part.member("enum")?.elements() ?? []
      let constant = try part.member("const")
      let value = constant ?? (values.isEmpty ? nil : values[number % values.count])
      if let text = value?.string { return .string(text) }
      if let integer = value?.integer { return .integer(integer) }
    }
    return nil
  }

  private func text(_ parts: [DocumentNode], _ number: Int) throws(SourceError) -> String {
    for part in parts {
      switch try part.text("format") {
      case "uri", "url", "uri-reference": return "https://www.example/\(number)"
      case "date-time": return "2026-01-0\(number)T00:00:00Z"
      case "date": return "2026-01-0\(number)"
      default: continue
      }
    }
    return "text \(number)"
  }

  // MARK: - Schemas

  /// A schema, and those that it is composed of: all of `allOf`, and of `oneOf` and `anyOf` the first that is not null.
  static func parts(of schema: DocumentNode) throws(SourceError) -> [DocumentNode] {
    var parts: [DocumentNode] = []
    var waiting = [schema]
    while let part = waiting.popLast(), parts.count < maxParts {
      parts.append(part)
      waiting += try part.member("allOf")?.elements().reversed() ?? []
      for name in ["oneOf", "anyOf"] {
        let options = try part.member(name)?.elements() ?? []
        let kinds = try options.map { option throws(SourceError) in try option.text("type") }
        if let index = kinds.firstIndex(where: { $0 != "null" }) { waiting.append(options[index]) }
      }
    }
    return parts
  }

  /// The type of a value, without null; `nil` if nothing says it.
  static func kind(of parts: [DocumentNode]) throws(SourceError) -> String? {
    for part in parts {
      guard let type = try part.member("type") else { continue }
      if let kind = type.string { return kind }
      let kinds = try type.elements().compactMap(\.string)
      if let kind = kinds.first(where: { $0 != "null" }) { return kind }
    }
    for part in parts {
      let names = part.names
      if names.contains("properties") { return "object" }
      if names.contains("items") { return "array" }
    }
    return nil
  }
}
