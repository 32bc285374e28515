import AggregatorKit
import DeclaredSource

/// The properties of a record in Swift: the members of rows that a manifest names, with the types that rows show.
struct RecordShape {
  /// The type of a property.
  enum Kind: String {
    case text = "String"
    case integer = "Int"
    case number = "Double"
    case bool = "Bool"
    case texts = "[String]"
    /// Any JSON: values of several types, or none was seen.
    case any = "JSON"
  }

  /// A property, and the member of a row that it is read from.
  struct Property {
    let member: String
    let name: String
    /// False for a part of the ID, without which a row is no record.
    let isOptional: Bool
    let value: Value

    indirect enum Value {
      case plain(Kind)
      case object(type: String, [Property])
    }

    /// The name of its type, without `?`.
    var typeName: String {
      switch value {
      case .plain(let kind): kind.rawValue
      case .object(let type, _): type
      }
    }
  }

  /// A path of the manifest: the members that are properties, and the steps inside the JSON of the last one.
  struct Target {
    let members: [String]
    let rest: [JSONPathComponent]
  }

  private(set) var properties: [Property] = []

  /// The names of the properties that a list does not have, only a single record.
  private(set) var details: [String] = []

  /// The fields of the manifest that the record cannot have, with the reasons.
  private(set) var leftOut: [(path: JSONPath, reason: String)] = []

  private var targets: [JSONPath: Target] = [:]
  private let rows: [JSON]

  /// - Parameters:
  ///   - id: The paths that identify a row.
  ///   - others: The paths of fields and of what the layout shows.
  ///   - item: A row that was requested by itself; `nil` if there is none.
  ///   - type: The name of the record's type.
  init(
    id: [JSONPath], others: [JSONPath], rows: [JSON], item: JSON?, type: String
  ) throws(SourceError) {
    self.rows = rows + [item].compactMap(\.self)
    for path in id {
      let target = target(path)
      guard target.rest.isEmpty, !target.members.isEmpty else {
        throw SourceError(
          .unsupported, "the ID \"\(path)\" is inside a list, which a record in Swift cannot have",
          remedy: "name another member of a row as its \"id\"")
      }
      targets[path] = target
    }
    let parts = id.compactMap { targets[$0]?.members }
    guard Set(parts).count == parts.count else {
      throw SourceError(.invalidSettings, "\"id\" names a member twice")
    }
    for path in others where targets[path] == nil {
      let target = target(path)
      if target.members.isEmpty {
        leftOut.append((path, "it is the whole row"))
      } else if parts.contains(where: { $0.starts(with: target.members) && $0 != target.members }) {
        leftOut.append((path, "its member is the ID"))
      } else if parts.contains(where: {
        target.members.starts(with: $0) && (target.members != $0 || !target.rest.isEmpty)
      }) {
        leftOut.append((path, "it is inside the ID"))
      } else {
        targets[path] = target
      }
    }
    mergeTargets(parts)
    var types = SwiftNames(avoiding: Self.reservedTypes.union([type]))
    let kinds = Dictionary(
      targets.map { ($0.value.members, kind(of: $0.value, parts, others)) },
      uniquingKeysWith: { $0 == $1 ? $0 : .any })
    let order = (id + others).compactMap { targets[$0]?.members }
    properties = Self.properties(order, at: 0, kinds, parts, &types)
    guard let item else { return }
    details = properties.filter { property in
      property.isOptional && rows.allSatisfy { $0[property.member] == nil }
        && item[property.member] != nil
    }.map(\.name)
  }

  /// A target whose member is a value of its own, too, is read from the JSON of that.
  private mutating func mergeTargets(_ ids: [[String]]) {
    let ends = Set(targets.values.map(\.members))
    for (path, target) in targets where !ids.contains(target.members) {
      guard
        let end = (1..<target.members.count).lazy.map({ Array(target.members.prefix($0)) })
          .first(where: ends.contains)
      else { continue }
      let inside = target.members.dropFirst(end.count).map(JSONPathComponent.member)
      targets[path] = Target(members: end, rest: inside + target.rest)
    }
  }

  /// Members up to the first list.
  private func target(_ path: JSONPath) -> Target {
    var members: [String] = []
    var values = rows
    for component in path.components {
      guard case .member(let name) = component, !values.contains(where: { $0.array != nil }),
        Int(name) == nil || values.contains(where: \.isObject)
      else { break }
      members.append(name)
      values = values.compactMap { $0[name] }
    }
    return Target(members: members, rest: Array(path.components.dropFirst(members.count)))
  }

  private func kind(of target: Target, _ ids: [[String]], _ others: [JSONPath]) -> Kind {
    guard target.rest.isEmpty else { return .any }
    let path = JSONPath(target.members.map(JSONPathComponent.member))
    let values = rows.compactMap { path.value(in: $0) }.filter { $0 != .null && $0 != "" }
    let kind = Kind(of: values)
    guard ids.contains(target.members) else { return kind }
    // A number in a field stays one; an ID that is nothing else is text.
    return kind == .integer && target.members != ["id"] && others.contains(path) ? .integer : .text
  }

  private static func properties(
    _ paths: [[String]], at depth: Int, _ kinds: [[String]: Kind], _ ids: [[String]],
    _ types: inout SwiftNames
  ) -> [Property] {
    var names = SwiftNames(
      avoiding: depth == 0 && !ids.contains(["id"]) ? reserved.union(["id"]) : reserved)
    var seen: Set<String> = []
    // The ID keeps its name, whatever else would be called so.
    let first = paths.filter { $0[depth] == "id" } + paths
    var known: [String: String] = [:]
    for path in first where known[path[depth]] == nil {
      known[path[depth]] = names.property(path[depth])
    }
    return paths.compactMap { path in
      let member = path[depth]
      guard seen.insert(member).inserted else { return nil }
      let prefix = Array(path.prefix(depth + 1))
      let isOptional = !ids.contains { $0.starts(with: prefix) }
      let value: Property.Value
      if let kind = kinds[prefix] {
        value = .plain(kind)
      } else {
        let type = types.type(member)
        let inner = paths.filter { $0.starts(with: prefix) && $0.count > depth + 1 }
        value = .object(
          type: type, properties(inner, at: depth + 1, kinds, ids, &types))
      }
      return Property(
        member: member, name: known[member] ?? member, isOptional: isOptional, value: value)
    }
  }

  /// Names that the members of a record cannot have.
  private static let reserved: Set<String> = [
    "encode", "hashValue", "init", "merged", "self",
  ]

  /// Types that the code of a record names, which one inside it would hide.
  private static let reservedTypes: Set<String> = [
    "Any", "Array", "Bool", "Codable", "CodingKey", "CodingKeys", "Decodable", "Decoder", "Double",
    "Encodable", "Encoder", "Hashable", "Hasher", "ID", "Int", "JSON", "Optional", "Protocol",
    "Self", "Sendable", "SourceRecord", "String", "Swift", "Type",
  ]
}

extension RecordShape.Kind {
  /// The type that holds all of these values.
  init(of values: [JSON]) {
    func all(_ test: (JSON) -> Bool) -> Bool { !values.isEmpty && values.allSatisfy(test) }
    let isInteger = { (value: JSON) in if case .integer = value { true } else { false } }
    let isNumber = { (value: JSON) in
      switch value {
      case .integer, .number: true
      default: false
      }
    }
    let isBool = { (value: JSON) in if case .bool = value { true } else { false } }
    let isTexts = { (value: JSON) in value.array?.allSatisfy { $0.string != nil } ?? false }
    if all({ $0.string != nil }) {
      self = .text
    } else if all(isInteger) {
      self = .integer
    } else if all(isNumber) {
      self = .number
    } else if all(isBool) {
      self = .bool
    } else if all(isTexts), values.contains(where: { !$0.children.isEmpty }) {
      self = .texts
    } else {
      self = .any
    }
  }
}

// MARK: - Code

extension RecordShape {
  /// A value of the record, as an expression after the record: `location?.city`.
  struct Expression {
    /// `id`, `location?.city`.
    let path: String
    let kind: Kind
    let isOptional: Bool
    /// The steps inside a JSON value.
    let rest: [JSONPathComponent]
    /// True if lists do not have it.
    let isDetail: Bool
  }

  /// The expression of a path; `nil` if the record does not have it.
  func expression(_ path: JSONPath) -> Expression? {
    guard let target = targets[path] else { return nil }
    var properties = properties
    var text = ""
    var isOptional = false
    for member in target.members {
      guard let property = properties.first(where: { $0.member == member }) else { return nil }
      text += (text.isEmpty ? "" : isOptional ? "?." : ".") + property.name
      isOptional = isOptional || property.isOptional
      switch property.value {
      case .object(_, let inner): properties = inner
      case .plain(let kind):
        return Expression(
          path: text, kind: kind, isOptional: isOptional, rest: target.rest,
          isDetail: details.contains { text.split(separator: "?")[0] == $0 })
      }
    }
    return nil
  }

  /// The declaration of the record; `id` is its computed ID, if no property is the ID.
  func declaration(of type: String, about: String, id: String?) -> String {
    var text = "/// \(about)\npublic struct \(type): SourceRecord {\n"
    var blocks = [String]()
    if let id {
      blocks.append(
        id.contains("\n")
          ? "public var id: String {\n\(id.indented(by: 2))\n}\n"
          : "public var id: String { \(id) }\n")
    }
    if !details.isEmpty {
      let lines = details.map { "  merged.\($0) = merged.\($0) ?? known.\($0)\n" }.joined()
      blocks.append(
        """
        /// Keeps what lists do not have: \(details.joined(separator: ", ")).
        public func merged(over known: \(type)) -> \(type) {
          var merged = self
        \(lines)  return merged
        }

        """)
    }
    text += members(of: properties, and: blocks, isRoot: true) + "}\n"
    return text
  }

  private func members(
    of properties: [Property], and others: [String] = [], isRoot: Bool = false
  ) -> String {
    var blocks = [
      properties.map { property in
        let keyword = isRoot && details.contains(property.name) ? "var" : "let"
        let type = "\(property.typeName)\(property.isOptional ? "?" : "")"
        return "public \(keyword) \(property.name.declaredName): \(type)\n"
      }.joined()
    ]
    blocks += others
    for property in properties {
      guard case .object(let inner, let members) = property.value else { continue }
      let body = self.members(of: members)
      let about = "The \(swiftWords(of: property.member).joined(separator: " ")) of a record."
      blocks.append(
        "/// \(about)\npublic struct \(inner): Codable, Hashable, Sendable {\n\(body)}\n")
    }
    if properties.contains(where: { $0.name != $0.member }) {
      let cases = properties.map { property in
        let value = property.name == property.member ? "" : " = \(property.member.swiftLiteral)"
        return "  case \(property.name.declaredName)\(value)\n"
      }
      blocks.append("private enum CodingKeys: String, CodingKey {\n\(cases.joined())}\n")
    }
    return blocks.joined(separator: "\n").indented(by: 2)
  }

  /// A row as the record writes itself, without what it does not have; `nil` if it is no record.
  func encoded(_ row: JSON) -> JSON? { Self.encoded(row, properties) }

  private static func encoded(_ row: JSON, _ properties: [Property]) -> JSON? {
    var members: [JSON.Member] = []
    for property in properties {
      let value = row[property.member] ?? .null
      let encoded: JSON? =
        switch property.value {
        case .plain(let kind): kind.encoded(value)
        case .object(_, let inner): value.isObject ? Self.encoded(value, inner) : nil
        }
      guard let encoded else {
        guard property.isOptional else { return nil }
        continue
      }
      members.append(JSON.Member(property.member, encoded))
    }
    return .object(members)
  }
}

extension RecordShape.Kind {
  /// A value of this kind; `nil` if it has another form, and for null and a blank text.
  fileprivate func encoded(_ value: JSON) -> JSON? {
    switch (self, value) {
    case (_, .null): nil
    case (.text, .string(let text)): text.nonBlank.map(JSON.string)
    case (.text, .integer(let integer)): .string(String(integer))
    case (.integer, .integer), (.number, .integer), (.number, .number), (.bool, .bool), (.any, _):
      value
    case (.texts, .array(let elements)): elements.allSatisfy { $0.string != nil } ? value : nil
    default: nil
    }
  }
}
