import AggregatorKit
import DeclaredSource

/// A place where the records of a response may be.
struct RowsCandidate: Sendable {
  let path: Manifest.RowsPath
  let rows: [JSON]
  let score: Double

  /// The number of member names that all rows share.
  let sharedNames: Int
}

extension Exchange {
  /// The places where the records may be, likeliest first; empty if there is no list of objects.
  func rowsCandidates() -> [RowsCandidate] {
    var finder = RowsFinder(exchange: self)
    finder.search(document, at: .root)
    // A list inside a record is no list of records.
    if let keyed = finder.keyedEntries { return [keyed] }
    // Rows that are the entries of an object are a last resort: most objects are records themselves.
    if finder.candidates.isEmpty { finder.searchEntries(document, at: .root) }
    if finder.candidates.isEmpty { finder.addEmptyLists(besideID: isRecord) }
    return finder.candidates.sorted { $0.score > $1.score }
  }

  /// True if the document has an ID, so that it is a single record unless it has a list.
  var isRecord: Bool {
    document.members.contains { normalized($0.name) == "id" && $0.value.kind == "scalar" }
  }

  /// The first object of two or more whose members are all objects, or else all numbers, such as rates of currencies, which
  /// may be records or the parts of one, and their names; `nil` for none.
  var objectOfEntries: (path: Manifest.RowsPath, kind: String, names: String)? {
    func find(
      _ kind: String, _ value: JSON, at path: JSONPath = .root, depth: Int = 0,
      where isEntry: @escaping (JSON) -> Bool
    ) -> (path: Manifest.RowsPath, kind: String, names: String)? {
      let members = value.members
      if members.count > 1, members.allSatisfy({ isEntry($0.value) }) {
        let names = members.prefix(4).map { $0.name.oneLine(atMost: 40) }.joined(separator: ", ")
        let rows = Manifest.RowsPath(path, isEntries: true)
        return (rows, kind, members.count > 4 ? "\(names), …" : names)
      }
      guard depth < 2 else { return nil }
      return members.lazy.compactMap {
        find(
          kind, $0.value, at: path.appending($0.name), depth: depth + 1, where: isEntry)
      }.first
    }
    return find("objects", document, where: \.isObject)
      ?? find("numbers", document) { value in
        switch value {
        case .integer, .number: true
        default: false
        }
      }
  }

  /// The longest list whose elements are lists of values, as of a table whose columns are named beside it; `nil` for none.
  var listOfLists: JSONPath? {
    var longest: (path: JSONPath, count: Int)?
    func search(_ value: JSON, at path: JSONPath) {
      if let rows = value.array {
        if rows.count > longest?.count ?? 0, rows.allSatisfy(\.isListOfValues) {
          longest = (path, rows.count)
        }
      } else if path.components.count < 4 {
        for member in value.firstMembers { search(member.value, at: path.appending(member.name)) }
      }
    }
    search(document, at: .root)
    return longest?.path
  }

  /// An element for which the longest list with objects is no list of them, in words; `nil` for no such list.
  var mixedList: String? {
    var finder = RowsFinder(exchange: self)
    finder.search(document, at: .root)
    guard let (path, elements) = finder.mixedLists.max(by: { $0.1.count < $1.1.count }),
      let odd = elements.firstIndex(where: { !$0.isObject && $0 != .null })
    else { return nil }
    return "element \(odd) of \(path) is \(elements[odd].text.oneLine(atMost: 40))"
  }
}

private struct RowsFinder {
  /// Computed once: there may be thousands of candidates.
  private let sizes: Set<Int>
  private let noun: String?
  private let document: JSON
  private(set) var candidates: [RowsCandidate] = []
  private var emptyLists: [JSONPath] = []
  /// Lists of objects and at least as many others.
  private(set) var mixedLists: [(path: JSONPath, elements: [JSON])] = []

  init(exchange: Exchange) {
    sizes = exchange.requestedSizes
    noun = exchange.noun
    document = exchange.document
  }

  private static let maxDepth = 6

  /// Names that services give to their lists.
  private static let usual: Set<String> = [
    "results", "result", "items", "data", "records", "rows", "entries", "list", "nodes", "docs",
    "hits", "objects", "elements", "content", "values", "collection", "resources", "edges",
    "features",
  ]

  /// Names of lists beside the records.
  private static let unusual: Set<String> = [
    "included", "includes", "facets", "facet", "meta", "metadata", "links", "link", "aggregations",
    "errors", "normalized", "warnings", "filters", "groupby", "breadcrumbs", "suggestions",
    "schemas", "columns", "fields", "messages", "sort", "parameters", "redirects",
  ]

  private static let failures: Set<String> = ["error", "errors"]

  mutating func search(_ value: JSON, at path: JSONPath, depth: Int = 0) {
    guard depth <= Self.maxDepth else { return }
    switch value {
    case .array(let elements):
      let objects = elements.filter(\.isObject)
      let others = elements.filter { !$0.isObject && $0 != .null }
      // Where most elements are objects, the others are damaged rows.
      let areRows = objects.count > others.count
      if areRows, others.isEmpty || elements.count > 4 {
        add(objects, Manifest.RowsPath(path), depth)
      } else if elements.isEmpty {
        emptyLists.append(path)
      } else if elements.count > 4, !objects.isEmpty {
        mixedLists.append((path, elements))
      } else if elements.count <= 4 {
        let known = candidates.count
        // A few elements of different kinds are an envelope: `[{"total": 7}, […]]`.
        for (index, element) in elements.enumerated() {
          search(element, at: path.appending(String(index)), depth: depth + 1)
        }
        if areRows, candidates.count == known, !others.contains(where: { $0.array != nil }) {
          add(objects, Manifest.RowsPath(path), depth)
        }
      }
    case .object:
      // An error is never a record.
      for member in value.firstMembers where !Self.failures.contains(normalized(member.name)) {
        search(member.value, at: path.appending(member.name), depth: depth + 1)
      }
    default: break
    }
  }

  /// Takes empty lists for those of the records, except what is beside records by its name; beside an ID, as in the
  /// answers of JSON-RPC, only lists with a usual name.
  mutating func addEmptyLists(besideID: Bool) {
    for path in emptyLists {
      let name = normalized(path.lastName)
      guard besideID ? Self.usual.contains(name) : !Self.unusual.contains(name) else { continue }
      add([], Manifest.RowsPath(path), path.components.count)
    }
  }

  /// The entries of the object that holds all lists that were found, each in an entry that is named like an ID, so that
  /// they belong to its records; `nil` if lists are elsewhere.
  var keyedEntries: RowsCandidate? {
    let paths = candidates.map(\.path.path.components)
    guard let first = paths.first else { return nil }
    var finder = self
    for length in 0..<min(3, first.count) {
      let object = first.prefix(length)
      // A list that is an entry itself belongs to none.
      guard paths.allSatisfy({ $0.count > length + 1 && $0.starts(with: object) }) else {
        return nil
      }
      let entries = Set(paths.map { $0[length] })
      // More than one of them has such a list, so that it is nothing of its own.
      guard entries.count > 1 else { continue }
      finder.candidates = []
      finder.searchEntries(document, at: .root)
      return finder.candidates.first {
        $0.path.isEntries && $0.path.path.components == Array(object)
          && $0.rows.allSatisfy { $0["id"]?.isCode ?? false }
      }
    }
    return nil
  }

  mutating func searchEntries(_ value: JSON, at path: JSONPath, depth: Int = 0) {
    let members = value.members
    guard depth <= 2, value.names.count == members.count else { return }
    let kinds = Set(members.map(\.value.kind))
    // Two objects of the same members may as well be parts of a record, unless their names are like IDs.
    let areKeyed =
      members.count == 2 && members.allSatisfy { JSON.string($0.name).isCode && $0.value.isObject }
      && Set(members.map(\.value.names)).count == 1
    if members.count >= 3 || areKeyed, kinds.count == 1, kinds != ["scalar"] {
      let alike = kinds == ["array"] ? 1 : similarity(of: members.map(\.value))
      if alike >= 0.6, let rows = Manifest.RowsPath(.root, isEntries: true).rows(in: value) {
        add(rows, Manifest.RowsPath(path, isEntries: true), depth)
      }
    }
    for member in members where !Self.failures.contains(normalized(member.name)) {
      searchEntries(member.value, at: path.appending(member.name), depth: depth + 1)
    }
  }

  private mutating func add(_ rows: [JSON], _ path: Manifest.RowsPath, _ depth: Int) {
    let names = rows.map(\.names)
    let shared = names.dropFirst().reduce(names.first ?? []) { $0.intersection($1) }
    var score = 3 * similarity(of: rows) - 0.5 * Double(depth)
    score += min(log2(Double(rows.count) + 1), 4) * 0.5
    // Rows of records have several members; links and pairs of label and value have few.
    score += min(Double(shared.count), 6) * 0.25
    if IDInference(rows: rows, noun: nil).best != nil { score += 2 }
    if sizes.contains(rows.count) { score += 3 }
    if case .member(let name)? = path.path.components.last {
      let name = normalized(name)
      if Self.usual.contains(name) { score += 1.5 }
      if Self.unusual.contains(name) { score -= 4 }
      if let noun, singular(name).hasSuffix(noun) { score += 2 }
    }
    if names.allSatisfy({ $0.isSubset(of: ["rel", "href", "prompt", "type", "title", "method"]) }) {
      score -= 4
    }
    candidates.append(
      RowsCandidate(path: path, rows: rows, score: score, sharedNames: shared.count))
  }

  /// The similarity of the names of the members of objects, 0 to 1: those in all of them, over the average.
  private func similarity(of rows: [JSON]) -> Double {
    let names = rows.map(\.names)
    let average = Double(names.map(\.count).reduce(0, +)) / Double(max(names.count, 1))
    guard average > 0 else { return 0 }
    var counts: [String: Int] = [:]
    for name in names.joined() { counts[name, default: 0] += 1 }
    // Optional members are usual, so those of most rows count.
    return min(Double(counts.values.count { $0 * 2 > rows.count }) / average, 1)
  }
}

extension Exchange {
  /// Names of the parameter, or the member of a response, that is the page size.
  static let sizeNames: Set<String> = [
    "limit", "perpage", "pagesize", "size", "maxresults", "take", "rows", "pagelimit",
    "recordsperpage", "resultsperpage", "itemsperpage", "first", "num", "n", "count", "top",
    "srlimit", "hitsperpage", "ps", "pagelen",
  ]

  /// True for the name of a parameter that is the page size: `per_page`, `page[size]`.
  static func isSize(_ name: String) -> Bool {
    sizeNames.contains(normalized(name))
      || name.hasSuffix("]")
        && sizeNames.contains(normalized(name.split(separator: "[").last ?? ""))
  }

  /// Numbers that may be the page size: of the request, and as echoed in the response.
  var requestedSizes: Set<Int> {
    let asked = query.filter { Exchange.isSize($0.name) }.compactMap { Int($0.value) }
    // Services echo the size; `count` and the like may as well be the length of another list.
    let echoed = (document.scalars(depth: 3)).filter {
      ["limit", "perpage", "pagesize", "itemsperpage", "maxresults"].contains(normalized($0.name))
    }
    let sent = sent.filter { Self.sizeNames.contains(normalized($0.name)) }
    return Set(asked + (sent + echoed).compactMap(\.integer)).subtracting([0])
  }
}

extension JSON {
  /// True for a list without objects that is not empty.
  var isListOfValues: Bool { array.map { !$0.isEmpty && !$0.contains(where: \.isObject) } ?? false }

  /// The names of an object's members.
  fileprivate var names: Set<String> { Set(members.map(\.name)) }

  fileprivate var kind: String {
    switch self {
    case .object: "object"
    case .array: "array"
    default: "scalar"
    }
  }
}

extension Exchange {
  /// Names of totals, most certain first; `count` may also be the number of rows of the page.
  private static let totalNames = [
    "total", "totalcount", "totalresults", "totalitems", "totalrecords", "totalhits", "totalsize",
    "totalresultscount", "totaldocs", "totalobjects", "totalelements", "totalrows",
    "numberoftotalresults", "numfound", "resultcount", "resultscount", "recordcount", "found",
    "hits", "matches", "itemcount",
    "results", "records", "count", "size",
  ]

  private static let totalHeaders = [
    "x-total-count", "x-total", "x-wp-total", "total-count", "x-result-count", "x-total-results",
    "content-range", "x-pagination",
  ]

  /// The place of a header field, whose name is in lower case.
  static func place(ofField name: String) -> Manifest.ResponsePath {
    let words = name.split(separator: "-").map {
      $0 == "wp" ? "WP" : $0.lowercased().capitalizedFirst
    }
    return .header(words.joined(separator: "-"))
  }

  /// The lists of objects that it has, for somebody who has named another one.
  var listRemedy: Remedy? {
    let paths = rowsCandidates().prefix(5).map { "\($0.path)".oneLine(atMost: 40) }
    guard !paths.isEmpty else { return nil }
    return Remedy("lists of objects are at \(paths.joined(separator: ", "))")
  }

  /// True if the response says the number of all records by a name that cannot mean that of its page.
  func saysTotal(rows path: JSONPath) -> Bool {
    switch totalPath(rowCount: 0, rows: path) {
    case .body(let path)?:
      normalized(path.lastName).contains("total") || normalized(path.lastName) == "numfound"
    case nil: false
    default: true
    }
  }

  /// Where the number of all records is; `nil` if the response does not say it.
  ///
  /// `rowCount` is the number of rows of this page, and `path` where they are.
  func totalPath(rowCount: Int, rows path: JSONPath) -> Manifest.ResponsePath? {
    if let name = Self.totalHeaders.first(where: {
      header($0)?.fieldTotal ?? -1 >= rowCount
    }) {
      return Self.place(ofField: name)
    }
    let candidates = envelopeScalars(outside: path).compactMap { scalar -> (Scalar, Int)? in
      guard let value = scalar.integer, value >= rowCount,
        let rank = Self.totalNames.firstIndex(of: normalized(scalar.name))
      else { return nil }
      return (scalar, rank)
    }
    // Of `count` and `total` the second is the total; of equal names the one nearest to the rows.
    let best = candidates.min { one, other in
      (one.1, distance(one.0.path, path)) < (other.1, distance(other.0.path, path))
    }
    return best.map { .body($0.0.path) }
  }

  /// The scalars of the document outside of its rows, down to a usual depth, also in an envelope that is a
  /// list: `[{"total": 7}, […]]`.
  func envelopeScalars(outside rows: JSONPath) -> [Scalar] {
    let scalars: [Scalar]
    if let elements = document.array, rows != .root, elements.count <= 4 {
      scalars = elements.indices.flatMap {
        elements[$0].scalars(below: JSONPath([.member(String($0))]), depth: 3)
      }
    } else {
      scalars = document.scalars(depth: 4)
    }
    return scalars.filter { !$0.path.components.starts(with: rows.components) || rows == .root }
  }

  private func distance(_ path: JSONPath, _ rows: JSONPath) -> Int {
    let shared = zip(path.components, rows.components).prefix { $0 == $1 }.count
    return path.components.count + rows.components.count - 2 * shared
  }
}
