package import AggregatorKit
import DeclaredSource

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
      return columns(at: paths, values).prefix(Manifest.maxFields).map(Self.field)
    }
    var columns: [(path: JSONPath, score: Double)] = []
    for path in paths {
      guard let values = values[path], !values.isEmpty else { continue }
      columns.append((path, score(of: path, values) - Double(columns.count) * 0.01))
    }
    let best = columns.sorted { $0.score > $1.score }.prefix(Manifest.maxFields)
    return best.map { Self.field(at: $0.path) }
  }

  /// The columns that have a name or a value; empty ones without a name are those of separators at the ends of lines.
  private func columns(at paths: [JSONPath], _ values: [JSONPath: [JSON]]) -> [JSONPath] {
    paths.filter {
      values[$0]?.isEmpty == false || $0.fieldName.wholeMatch(of: /column_[0-9]+/) == nil
    }
  }

  private static func field(at path: JSONPath) -> Manifest.DeclaredField {
    Manifest.DeclaredField(name: path.fieldName, path: path)
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
      for member in row.firstMembers {
        let path = JSONPath.root.appending(member.name)
        if member.value != .null, member.value != "" { values[path]?.append(member.value) }
        for inner in member.value.firstMembers where inner.value != .null && inner.value != "" {
          values[path.appending(inner.name)]?.append(inner.value)
        }
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
  /// The paths of scalars and lists of scalars of a row, down to one object inside.
  fileprivate var fieldPaths: [JSONPath] {
    members.flatMap { member -> [JSONPath] in
      let path = JSONPath.root.appending(member.name)
      switch member.value {
      case .array(let elements):
        let isList = !elements.isEmpty && elements.allSatisfy { !$0.isObject && $0.array == nil }
        return isList ? [path] : []
      case .object: return member.value.scalars(below: path, depth: 0).map(\.path)
      default: return [path]
      }
    }
  }

  /// The paths of lists and objects in a row that are not ``fieldPaths``.
  fileprivate var nestedPaths: [JSONPath] {
    members.flatMap { member -> [JSONPath] in
      let path = JSONPath.root.appending(member.name)
      if let elements = member.value.array {
        return elements.contains { $0.isObject || $0.array != nil } ? [path] : []
      }
      return member.value.members.filter { $0.value.array?.isEmpty == false || $0.value.isObject }
        .map { path.appending($0.name) }
    }
  }

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

extension Manifest.Table {
  /// Finds the fields of the elements in rows that a service has sent; returns the elements.
  mutating func inferFields(from rows: [JSON]) -> [JSON] {
    let elements = rows.flatMap(elements)
    let objects = elements.filter(\.isObject)
    // With values that are no objects in between, nothing but the whole element has them all.
    guard fields.isEmpty, objects.count == elements.count else { return elements }
    fields = FieldInference(rows: objects, id: []).fields.map { field in
      var field = field
      if Self.isTaken(field.name) { field.name = "\(name).\(field.name)" }
      return field
    }
    return elements
  }
}
