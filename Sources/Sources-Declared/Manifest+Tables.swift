package import AggregatorKit

extension Manifest {
  /// A list in a record as a table of its own in SQL.
  package struct Table: Hashable, Sendable {
    package var name: String
    /// The path of the list in a row, of names of members.
    package var path: JSONPath
    /// The columns; empty for one column `value` with the whole element.
    package var fields: [DeclaredField] = []

    /// The names that a table can have.
    static func isName(_ text: String) -> Bool {
      text.wholeMatch(of: /[a-z0-9_]{1,32}/) != nil
    }

    /// The table in the stored records.
    var nested: NestedTable<DeclaredRecord> {
      let names = ["row"] + (path.components.plainNames ?? [])
      let element = Field<JSON>("value", "value", .any, about: "The element.") { $0 }
      return NestedTable(
        name, at: names.joined(separator: "."),
        fields: fields.isEmpty
          ? [element.stored(at: "")] : fields.map { $0.field(storedIn: nil) { $0 } }
      ) { elements(of: $0.row) }
    }

    /// The elements of the list in a row.
    ///
    /// In XML a list of one is its element, so that counts in all formats.
    package func elements(of row: JSON) -> [JSON] {
      switch path.value(in: row) ?? .null {
      case .null: []
      case .array(let elements): elements
      case let element: [element]
      }
    }

    /// True for the name of the column that each table has.
    package static func isTaken(_ field: String) -> Bool { field.lowercased() == "position" }
  }
}

extension Manifest.DeclaredField {
  /// This field of an item with a JSON value, which is stored as a member if it has a name.
  ///
  /// Text that is not of its kind stays text, so that the field may have any value.
  func field<Item>(
    storedIn member: String?, isShown: Bool = true, of kind: ValueKinds.Kind? = nil,
    _ json: @escaping @Sendable (Item) -> JSON
  ) -> Field<Item> {
    let path = path
    let place = path.description.oneLine(atMost: 80)
    let about: String
    switch kind {
    case .number?, .decimalComma?: about = "The number at \(place)."
    case .dayFirst?, .monthFirst?: about = "The date at \(place)."
    case .boolean?: about = "The truth value at \(place)."
    // The name says as much.
    case nil: about = place == name ? "" : "The value at \(place)."
    }
    let computed = Field<Item>(
      name, name, .any, about: about, isShown: isShown, isSearchable: isSearchable
    ) { path.value(in: json($0)) ?? .null }
    let stored = (member.map { [.member($0)] } ?? []) + path.components
    guard let members = stored.plainNames else { return computed.computed(as: .value(at: stored)) }
    return computed.stored(at: members.joined(separator: "."))
  }
}

extension ManifestReader {
  private static let maxTables = 32

  /// The tables of `tables`.
  func tables() throws(SourceError) -> [Manifest.Table] {
    guard let value = values["tables"], value != .null else { return [] }
    guard value.isObject, value.members.count <= Self.maxTables else {
      throw failure("tables", "an object of at most \(Self.maxTables) names and paths of lists")
    }
    let name = text.parts.firstIndex { Int($0.start) == offsets["tables"] } ?? 0
    return try members(of: value, at: name + 1, allowing: nil).map { member throws(SourceError) in
      guard Manifest.Table.isName(member.name) else {
        throw failure(
          at: member.offset,
          "invalid name \"\(member.name.oneLine(atMost: 40))\" in \"tables\": must be 1 to 32 lower-case letters, digits and _"
        )
      }
      return try table(member)
    }
  }

  private func table(_ member: Member) throws(SourceError) -> Manifest.Table {
    let key = "tables.\(member.name)"
    var path: JSON? = member.value
    var declared: Member?
    if member.value.isObject {
      let inner = try members(of: member.value, at: member.index, allowing: ["path", "fields"])
      path = inner.first { $0.name == "path" }?.value
      declared = inner.first { $0.name == "fields" }
    }
    guard let list = path?.string.flatMap({ JSONPath($0) }), list != .root,
      list.components.plainNames != nil
    else {
      throw failure(
        at: member.offset,
        "\"\(key)\" must be the path of a list, of names such as \"order.line_items\", or an object with \"path\" and \"fields\""
      )
    }
    var table = Manifest.Table(name: member.name, path: list)
    if let declared {
      table.fields = declared.value.array?.compactMap(field) ?? []
      let names = Set(table.fields.map { $0.name.lowercased() })
      guard names.count == declared.value.array?.count, 1...256 ~= names.count,
        table.fields.allSatisfy({
          $0.isSearchable && $0.isShown && !Manifest.Table.isTaken($0.name)
        })
      else {
        throw failure(
          at: declared.offset,
          "\"fields\" of \"\(key)\" must be a list of paths, or of objects with \"name\" and \"path\", none with the name \"position\""
        )
      }
    }
    return table
  }
}

extension [Manifest.Table] {
  var json: JSON? {
    guard !isEmpty else { return nil }
    return .object(
      map { table in
        let path = JSON.string(table.path.description)
        return JSON.Member(
          table.name,
          table.fields.isEmpty
            ? path : ["path": path, "fields": .array(table.fields.map(\.json))])
      })
  }
}
