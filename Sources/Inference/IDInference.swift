import AggregatorKit
import DeclaredSource

/// Finds the ID of rows: a scalar that is present and different in all of them, or a combination.
struct IDInference {
  let rows: [JSON]

  /// The name of a record, in the singular, lower case.
  let noun: String?

  /// True if the members are the columns of a table, in its order.
  var isTable = false

  /// Words in the names of IDs of something else that belongs to a row.
  private static let references: Set<String> = [
    "image", "photo", "picture", "thumbnail", "media", "asset", "revision", "version", "parent",
    "user", "owner", "author", "creator", "account", "session", "request", "batch",
  ]

  /// Names of what a name is unique within.
  private static let scopes: Set<String> = ["namespace", "owner", "vendor", "scope", "group"]

  /// Names of what may be a number of the row, which is an ID only where no two rows have the same.
  private static let numbers: Set<String> = ["number", "num", "no", "nr", "nummer"]

  /// Fewer points are a coincidence: any text or number may differ in a few rows.
  private static let enough = 30

  /// As many points have other identifiers, which a damaged `id` does not replace.
  private static let certain = 70

  /// Last words of names that distinguish records of one `id`.
  private static let editions: Set<String> = ["version", "revision", "language", "lang", "locale"]

  /// The paths whose values identify a row, best first: one, or the fewest together; `nil` for none.
  var best: [JSONPath]? {
    let columns = columns
    let single = columns.filter(\.isUnique).max { $0.score < $1.score }
    if single?.score ?? 0 < Self.certain, let id = damagedID(among: columns) { return [id.path] }
    if let single, single.score >= Self.enough {
      // Names repeat sooner than the whole numbers with which a table begins.
      if isTable, single.isNamed(["name", "title"]), let first = columns.first, first.isUnique,
        first.isNumber, first.path.lastName == rows.first?.members.first?.name
      {
        return [first.path]
      }
      return [single.path]
    }
    return composite(of: columns)
  }

  /// The member `id`, if it is missing or repeated in no more than one of twenty rows, so that these are damaged.
  private func damagedID(among columns: [Column]) -> Column? {
    guard
      let id = columns.first(where: { $0.path.components.count == 1 && $0.isNamed(["id"]) }),
      !id.isUnique
    else { return nil }
    let distinct = Set(id.values.filter { $0 != .null }.map(\.idText)).count
    guard (rows.count - distinct) * 20 <= rows.count else { return nil }
    let isPart = columns.contains { column in
      Self.editions.contains(words(of: column.path.lastName).last ?? "") && isUnique([id, column])
    }
    return isPart ? nil : id
  }

  /// The reason the member that is named most like an ID is none, in words; `nil` if there is no such member.
  var repeated: String? {
    let named = columns.filter { !$0.isUnique && $0.score >= Self.enough }
    return named.max { $0.score < $1.score }?.repetition ?? faultOfID
  }

  /// The reason the member `id` is none, in words; `nil` if there is no such member, or it is one.
  var faultOfID: String? {
    let names = rows.lazy.flatMap { $0.members.map(\.name) }
    guard let name = names.first(where: { normalized($0) == "id" }) else { return nil }
    let values = rows.map { row -> JSON in
      row[name].flatMap { $0.isIdentifying && !$0.idText.isEmpty ? $0 : nil } ?? .null
    }
    let missing = values.count { $0 == .null }
    // A list or an object is no value at all.
    guard missing < rows.count else { return nil }
    return Self.repetition(of: values, at: .root.appending(name))
      ?? (missing > 0 ? "\(name) has no value in \(missing) of \(rows.count) rows" : nil)
  }

  /// The member that differs in the most rows, and a value that repeats, in words; `nil` if no member is in nearly all
  /// rows.
  var nearest: String? {
    let counted = columns.map { (column: $0, count: Set($0.values.map(\.idText)).count) }
    return counted.max { $0.count < $1.count }?.column.repetition
  }

  /// The first value that repeats, in words; `nil` if none does.
  private static func repetition(of values: [JSON], at path: JSONPath) -> String? {
    var seen: Set<String> = []
    let twice = values.map(\.idText).first { !$0.isEmpty && !seen.insert($0).inserted }
    return twice.map { "\(path) is \($0.oneLine(atMost: 40)) in more than one row" }
  }

  /// The paths of the values that differ in all rows, in the order of the row that has the most.
  var unique: [JSONPath] { columns.filter(\.isUnique).map(\.path) }

  private struct Column {
    let path: JSONPath
    /// Of each row; null where it has none.
    let values: [JSON]
    let score: Int
    let isUnique: Bool

    func isNamed(_ names: Set<String>) -> Bool { names.contains(normalized(path.lastName)) }

    var isNumber: Bool { values.allSatisfy(\.isWholeNumber) }

    var repetition: String? { IDInference.repetition(of: values, at: path) }

    var isConstant: Bool { values.count > 1 && Set(values.map(\.idText)).count == 1 }
  }

  /// The reduction of the score of a column that some rows lack.
  private static let gapPenalty = 25

  /// The scalars that all rows have, or nearly all if they are named like an ID, in the order of the first row.
  private var columns: [Column] {
    // The row with the most scalars: the first may be the one that is not as the others.
    let scalars = rows.prefix(5).map { $0.scalars(depth: 2) + $0.scalarsInFirstElements }
    guard let first = scalars.max(by: { $0.count < $1.count }) else { return [] }
    let paths = first.map(\.path)
    let siblings = Set(paths.map { normalized($0.lastName) })
    // Row by row: finding each path in each row would take the square of the number of members.
    var found: [JSONPath: [Int: JSON]] = [:]
    for path in paths { found[path] = [:] }
    for (index, row) in rows.enumerated() {
      for scalar in row.scalars(depth: 2) + row.scalarsInFirstElements
      where scalar.value.isIdentifying && found[scalar.path]?[index] == nil {
        found[scalar.path]?[index] = scalar.value
      }
    }
    return paths.compactMap { path in
      guard let known = found[path], known.count * 10 >= rows.count * 9 else { return nil }
      let values = known.sorted { $0.key < $1.key }.map(\.value)
      var score = score(of: path, values, siblings)
      if known.count < rows.count {
        score -= Self.gapPenalty
        guard score >= Self.enough else { return nil }
      }
      return Column(
        path: path, values: rows.indices.map { known[$0] ?? .null }, score: score,
        isUnique: Set(values.map(\.idText)).count == known.count)
    }
  }

  /// A score of a name and its values as an identifier's, 0 to 100.
  private func score(of path: JSONPath, _ values: [JSON], _ siblings: Set<String>) -> Int {
    let name = normalized(path.lastName)
    let words = words(of: path.lastName)
    let depth = path.components.count
    let isNumber = values.allSatisfy(\.isWholeNumber)
    var score: Int
    switch name {
    case "id": score = depth == 1 ? 100 : path.firstName.map(normalized) == noun ? 72 : 68
    case "uuid", "guid", "uid", "sid", "objectid": score = 90
    case "key", "pk", "identifier", "nasaid": score = 80
    case "code", "pageid": score = 75
    case "slug", "symbol", "ticker", "sku", "isbn", "doi", "ean": score = 72
    case "login", "username", "handle": score = 62
    case "url", "uri", "href", "self", "link": score = 55
    case "name" where !isNumber:
      // A name within a namespace is not unique, whatever these rows say.
      let isScoped =
        !siblings.isDisjoint(with: Self.scopes) && !values.contains { $0.idText.contains("/") }
      score = isScoped ? 20 : values.allSatisfy(\.isSlug) ? 66 : 40
    case "htmlurl", "weburl": score = 45
    case "title" where !isNumber: score = 30
    default:
      if depth == 1, Self.numbers.contains(name) || path.lastName == "#",
        values.allSatisfy(\.isCode), Set(values.map(\.idText)).count == values.count
      {
        score = 67
      } else if words.count > 1, words.last == "id" || words.last == "uuid" {
        let isOwn = noun.map { words.contains($0) } ?? false
        // Inside another object it is what that object refers to.
        score =
          path.firstName.map(normalized) == "id"
          ? 78
          : depth > 1
            ? (isOwn ? 66 : 50)
            : isOwn ? 85 : Self.references.isDisjoint(with: words) ? 70 : 45
      } else if words.count > 1, let last = words.last, ["name", "number"].contains(last),
        values.allSatisfy({ last == "name" ? $0.isSlug : $0.isCode }),
        last == "number" || noun.map({ words.contains($0) }) ?? false
      {
        // `FunctionName` of a function, `systemNumber`.
        score = last == "name" ? 72 : 58
      } else if words.count > 1, let last = words.last,
        ["key", "code2", "code3"].contains(last) || last.hasSuffix("code")
      {
        score = 60
      } else if name.hasSuffix("id"), values.allSatisfy(\.isCode) {
        // `safetyreportid`: words that nothing separates.
        score = 50
      } else {
        score = isNumber ? 5 : 15
      }
    }
    // Deeper values belong to something that the row refers to.
    return depth > 1 && name != "id" && words.last != "id" ? max(score - 25, 1) : score
  }

  /// The smallest combination that identifies a row: an identifier and what distinguishes its repetitions.
  private func composite(of columns: [Column]) -> [JSONPath]? {
    let columns = columns.filter { $0.path.components.count == 1 }
    if let name = columns.first(where: { $0.isNamed(["name"]) }),
      let scope = columns.first(where: { $0.isNamed(Self.scopes) }), isUnique([scope, name])
    {
      return [scope.path, name.path]
    }
    let candidates = columns.filter { !$0.isConstant }
      .filter { $0.score >= 55 || Self.dimensions.contains(words(of: $0.path.lastName).last ?? "") }
      .prefix(8)
    // An identifier that never changes still belongs into it: it may change on other pages.
    let leading = columns.filter { $0.score >= 55 }.max { $0.score < $1.score }
    guard let leading else { return nil }
    let others = candidates.filter { $0.path != leading.path }
    for one in others where isUnique([leading, one]) { return [leading.path, one.path] }
    for (index, one) in others.enumerated() {
      for two in others.dropFirst(index + 1) where isUnique([leading, one, two]) {
        return [leading.path, one.path, two.path]
      }
    }
    return nil
  }

  /// Last words of names that distinguish repetitions of one identifier.
  private static let dimensions: Set<String> = [
    "date", "time", "timestamp", "day", "month", "year", "week", "hour", "type", "kind", "version",
    "language", "lang", "locale", "index", "position", "period", "country",
  ]

  private func isUnique(_ columns: [Column]) -> Bool {
    let keys = rows.indices.map { row in columns.map { $0.values[row].idText } }
    return Set(keys).count == rows.count
  }
}

extension JSON {
  /// True for a text of lower-case letters, digits and `-_./@`, as names in a registry are.
  fileprivate var isSlug: Bool {
    guard let text = string else { return false }
    return text.utf8.allSatisfy { byte in
      0x61...0x7A ~= byte || 0x30...0x39 ~= byte || "-_./@".utf8.contains(byte)
    }
  }

  fileprivate var isWholeNumber: Bool { if case .integer = self { true } else { false } }

  /// True for a whole number, or a text without spaces that has a digit.
  var isCode: Bool {
    guard let text = string else { return true }
    return text.contains(where: \.isNumber) && !text.contains(where: \.isWhitespace)
  }

  /// The scalars of an object that is the only element of an array: `data.0.nasa_id`.
  fileprivate var scalarsInFirstElements: [Scalar] {
    members.flatMap { member -> [Scalar] in
      guard let elements = member.value.array, elements.count == 1, elements[0].isObject else {
        return []
      }
      let path = JSONPath([.member(member.name), .member("0")])
      return elements[0].scalars(below: path, depth: 0)
    }
  }
}

extension [JSON] {
  /// True for rows of a table whose columns have names as a record has values.
  ///
  /// That is a date over dates, or a number over whole numbers in the first column. Numbers and dates over other values
  /// are the columns of a wide table.
  var lackHeader: Bool {
    guard let columns = first?.members.map(\.name) else { return false }
    let date = /[0-9]{4}-[0-9]{2}-[0-9]{2}([ T].*)?/
    return columns.enumerated().contains { index, name in
      let values = compactMap { $0[name]?.idText }.filter { !$0.isEmpty }
      guard !values.isEmpty else { return false }
      return index == 0 && Int(name) != nil && values.allSatisfy { Int($0) != nil }
        || name.wholeMatch(of: date) != nil && values.allSatisfy { $0.wholeMatch(of: date) != nil }
    }
  }
}

extension JSONPath {
  fileprivate var firstName: String? {
    if case .member(let name)? = components.first, components.count > 1 { name } else { nil }
  }
}
