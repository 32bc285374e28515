package import AggregatorKit
package import DeclaredSource

/// Finds the fields of rows, most useful first, or in the order of the columns of a table.
struct FieldInference {
  let rows: [JSON]
  let id: [JSONPath]
  var isTable = false

  /// The fields without the ID: titles first, then short values that differ, then the rest; of a table all columns.
  var fields: [Manifest.DeclaredField] {
    let paths = paths(\.fieldPaths)
    let values = values(at: paths)
    guard !isTable else {
      return columns(at: paths, values).prefix(Manifest.maxFields).map {
        Self.field(at: $0, with: values[$0] ?? [])
      }
    }
    var columns: [(path: JSONPath, score: Double)] = []
    for path in paths {
      guard let values = values[path], !values.isEmpty else { continue }
      columns.append((path, score(of: path, values) - Double(columns.count) * 0.01))
    }
    let best = columns.sorted { $0.score > $1.score }.prefix(Manifest.maxFields)
    return best.map { Self.field(at: $0.path, with: values[$0.path] ?? []) }
  }

  /// The columns that have a name or a value; empty ones without a name are those of separators at the ends of lines.
  private func columns(at paths: [JSONPath], _ values: [JSONPath: [JSON]]) -> [JSONPath] {
    paths.filter {
      values[$0]?.isEmpty == false || $0.fieldName.wholeMatch(of: /column_[0-9]+/) == nil
    }
  }

  /// The mean length above which texts are left out of lists; a few with several lines are as long.
  private static let maxShownLength = 60

  private static func field(at path: JSONPath, with values: [JSON]) -> Manifest.DeclaredField {
    let texts = values.compactMap(\.string)
    let length = texts.reduce(0) { $0 + $1.unicodeScalars.count }
    let areLines = texts.count { $0.utf8.contains(0x0A) } * 2 > texts.count
    return Manifest.DeclaredField(
      name: path.fieldName, path: path,
      isShown: length <= maxShownLength * texts.count && !areLines)
  }

  /// The members of rows that are not among `fields`: of values one by one, and of what has values inside.
  func leftOut(of fields: [Manifest.DeclaredField]) -> (values: [JSONPath], nested: [JSONPath]) {
    let chosen = Set(fields.map(\.path))
    let (all, nested) = (paths(\.fieldPaths), paths(\.nestedPaths))
    let values = values(at: all)
    let known = isTable ? columns(at: all, values) : all.filter { values[$0]?.isEmpty == false }
    return (
      known.filter { !chosen.contains($0) },
      nested.filter { !chosen.contains($0) && !all.contains($0) }
    )
  }

  private func paths(_ paths: (JSON) -> [JSONPath]) -> [JSONPath] {
    // Every record has a field `id`.
    var seen: Set<JSONPath> = id == [.root.appending("id")] ? Set(id) : []
    return rows.prefix(100).flatMap(paths).filter { seen.insert($0).inserted }
  }

  /// The values of the rows at paths of fields, as far as they have any.
  ///
  /// Row by row: finding each path in each row would take the square of the number of members.
  private func values(at paths: [JSONPath]) -> [JSONPath: [JSON]] {
    var values: [JSONPath: [JSON]] = [:]
    for path in paths { values[path] = [] }
    for row in rows {
      row.forEachValue { path, value in
        if value != .null, value != "" { values[path]?.append(value) }
      }
    }
    return values
  }

  /// Members of so many names that mean the same are tried.
  private static let maxSynonyms = 8

  /// The path of the first field with one of these last names and values that pass a test; a value of the
  /// record itself before one of something that it refers to.
  func path(named names: [String], where test: (JSON) -> Bool) -> JSONPath? {
    let paths = (rows.first?.scalars(depth: 2).map(\.path) ?? []).sorted {
      $0.components.count < $1.components.count
    }
    var synonyms: [String: [JSONPath]] = [:]
    for path in paths {
      for name in Set([normalized(path.lastName), normalized(path.fieldName)]) {
        synonyms[name, default: []].append(path)
      }
    }
    for name in names {
      let match = synonyms[name]?.prefix(Self.maxSynonyms).first { path in
        let values = rows.compactMap { path.value(in: $0) }.filter { $0 != .null && $0 != "" }
        return !values.isEmpty && values.allSatisfy(test)
      }
      if let match { return match }
    }
    return nil
  }

  private func score(of path: JSONPath, _ values: [JSON]) -> Double {
    let name = normalized(path.lastName)
    let depth = Double(path.components.count - 1)
    var score = 5 * Double(values.count) / Double(rows.count) - 1.5 * depth
    switch name {
    case "title", "name", "displayname", "fullname", "label", "headline", "subject": score += 6
    case "number", "status", "state", "type", "category", "description", "summary", "year", "date",
      "price", "author", "email", "country", "city":
      score += 2.5
    default: break
    }
    if name.hasSuffix("url") || name.hasSuffix("uri") || name.hasSuffix("href") { score -= 4 }
    if name.hasSuffix("id"), name.count > 2 { score -= 3 }
    if name.hasPrefix("is") || name.hasPrefix("has") { score -= 1 }
    let texts = values.map(\.idText)
    // A value that never changes says nothing.
    if rows.count > 2, Set(texts).count == 1 { score -= 3 }
    let average = texts.reduce(0) { $0 + $1.count } / max(texts.count, 1)
    if average > 80 { score -= 2 }
    if values.allSatisfy(\.isURL) { score -= 3 }
    return score
  }
}

extension JSON {
  /// The depth of objects in a row whose members are fields of their own.
  private static let maxDepth = 2

  /// Passes the values of a row and their paths, also objects before their members.
  fileprivate func forEachValue(
    below path: JSONPath = .root, depth: Int = maxDepth, _ body: (JSONPath, JSON) -> Void
  ) {
    for member in firstMembers {
      let path = path.appending(member.name)
      body(path, member.value)
      if depth > 0 { member.value.forEachValue(below: path, depth: depth - 1, body) }
    }
  }

  /// The paths of scalars and lists of scalars of a row.
  fileprivate var fieldPaths: [JSONPath] {
    var paths: [JSONPath] = []
    forEachValue { path, value in
      switch value {
      case .object: break
      case .array(let elements):
        if !elements.isEmpty, !value.hasStructures { paths.append(path) }
      default: paths.append(path)
      }
    }
    return paths
  }

  /// The paths of lists and objects in a row whose values are not at ``fieldPaths``.
  fileprivate var nestedPaths: [JSONPath] {
    var paths: [JSONPath] = []
    forEachValue { path, value in
      let isTooDeep = path.components.count > Self.maxDepth && !value.members.isEmpty
      if isTooDeep || value.hasStructures { paths.append(path) }
    }
    return paths
  }

  /// True for an array with arrays or objects.
  private var hasStructures: Bool { array?.contains { $0.isObject || $0.array != nil } == true }

  /// The members of an object, of several with one name the first, to which a path leads.
  var firstMembers: [JSON.Member] {
    var seen: Set<String> = []
    return members.filter { seen.insert($0.name).inserted }
  }

  /// True for an absolute http or https URL.
  package var isURL: Bool {
    string.map { $0.hasPrefix("https://") || $0.hasPrefix("http://") } ?? false
  }
}

extension Manifest {
  /// The fields that some rows have, and this manifest does not.
  package func otherFields(in rows: [JSON]) -> [DeclaredField] {
    let inference = FieldInference(rows: rows, id: id, isTable: format?.isTable == true)
    let others = inference.fields.filter { other in
      !fields.contains { $0.path == other.path || $0.name.lowercased() == other.name.lowercased() }
    }
    return Array(others.prefix(max(Self.maxFields - fields.count, 0)))
  }
}

extension Manifest.Table {
  /// Finds the fields of the elements in rows that a service has sent; returns the elements.
  mutating func inferFields(from rows: [JSON]) -> [JSON] {
    let elements = rows.flatMap(elements)
    let objects = elements.filter(\.isObject)
    // With values that are no objects in between, nothing but the whole element has them all.
    guard fields.isEmpty, objects.count == elements.count else { return elements }
    fields = FieldInference(rows: objects, id: []).fields.map { field in
      var field = field
      // A table has no list of columns that people see first.
      field.isShown = true
      if Self.isTaken(field.name) { field.name = "\(name).\(field.name)" }
      return field
    }
    return elements
  }
}
