import AggregatorFoundation
import AggregatorText

/// The members of the rows that a service sends, with those of objects inside, and the kinds of their values.
public struct RowSchema: Hashable, Codable, Sendable {
  public enum Kind: String, CaseIterable, Codable, Sendable {
    case text, number, boolean, list, object
  }

  /// The kinds of each member, in the order of ``Kind``; none for one that was always `null`.
  ///
  /// A member of an object inside has its path, such as `owner.login`. An object whose names are keys, such as IDs or
  /// dates, is a map: `prices.*` stands for all of its members.
  public private(set) var members: [String: [Kind]] = [:]

  /// `nil` if members are missing: there are too many, or an earlier version, which did not look into objects, has
  /// stored them.
  private var isWhole: Bool? = true

  /// The number of members that are compared.
  private static let maxMembers = 1000

  /// An object inside with more names is a map.
  private static let maxNames = 100

  private enum CodingKeys: String, CodingKey { case members = "m", isWhole = "w" }

  public init() {}

  private mutating func add(_ path: String, _ kinds: [Kind]) {
    guard let known = members[path] else {
      if members.count < Self.maxMembers { members[path] = kinds } else { isWhole = nil }
      return
    }
    guard kinds.contains(where: { !known.contains($0) }) else { return }
    members[path] = Kind.allCases.filter { known.contains($0) || kinds.contains($0) }
  }

  /// Adds the members of other rows.
  public mutating func add(_ other: RowSchema) {
    guard other != self else { return }
    if other.isWhole == nil { isWhole = nil }
    var other = other
    other.fold(maps)
    // An object comes before its members.
    for path in other.members.keys.sorted() { add(path, other.members[path] ?? []) }
    fold(maps)
  }

  /// The object that has a member; `nil` for a member of the row itself.
  private func parent(of path: String) -> String? {
    var path = path[...]
    while let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) {
      path = path[..<dot]
      // A dot may also be a part of a quoted name.
      if members[String(path)] != nil { return String(path) }
    }
    return nil
  }

  private var maps: [String] {
    var counts: [String: Int] = [:]
    for path in members.keys {
      guard let parent = parent(of: path) else { continue }
      counts[parent, default: 0] += path.hasSuffix(".*") ? Self.maxNames + 1 : 1
    }
    return counts.keys.filter { counts[$0, default: 0] > Self.maxNames }.sorted()
  }

  private mutating func fold(_ maps: [String]) {
    for map in maps {
      let inner = members.keys.filter { $0.hasPrefix("\(map).") }
      guard !inner.isEmpty else { continue }
      let kinds = inner.filter { parent(of: $0) == map }.flatMap { members[$0] ?? [] }
      for path in inner { members[path] = nil }
      members["\(map).*"] = Kind.allCases.filter(kinds.contains)
    }
  }

  /// The differences of these rows from earlier ones, by the paths of the members.
  ///
  /// A member is gone only if these are `all` rows. Of an object that appears or vanishes, the members are not named.
  package func changes(since earlier: RowSchema, all: Bool) -> [SchemaChange] {
    guard self != earlier else { return [] }
    var (old, new, both) = (earlier, self, self)
    both.add(earlier)
    let maps = both.maps
    old.fold(maps)
    new.fold(maps)
    func isInside(_ parent: String?, of other: RowSchema) -> Bool {
      parent.map { other.members[$0]?.contains(.object) == true } ?? true
    }
    let isWhole = earlier.isWhole == true && isWhole == true
    return Set(new.members.keys).union(old.members.keys).sorted().compactMap { path in
      switch (old.members[path], new.members[path]) {
      case (nil, let kinds?):
        guard earlier.isWhole == true, isInside(new.parent(of: path), of: old) else { return nil }
        return SchemaChange(path, .appeared, before: [], after: kinds)
      case (let kinds?, nil):
        guard all, isWhole, isInside(old.parent(of: path), of: new) else { return nil }
        return SchemaChange(path, .vanished, before: kinds, after: [])
      case (let before?, let after?):
        // A member that was always null has no kind yet.
        let isNew = after.contains { !before.contains($0) }
        let isLess = all && before.contains { !after.contains($0) }
        guard !before.isEmpty, !after.isEmpty, isNew || isLess else { return nil }
        return SchemaChange(path, .changed, before: before, after: after)
      case (nil, nil): return nil
      }
    }
  }

  /// Reads row after row; most have the members of the one before, which costs a comparison of their names.
  public struct Reader: Sendable {
    private var row = Level()

    public init() {}

    public mutating func add(_ row: JSON) {
      if case .object(let members) = row { self.row.add(members, depth: 1) }
    }

    public var schema: RowSchema {
      var schema = RowSchema()
      // Level by level: if there are too many members, those deep inside are left out.
      var levels = [(prefix: "", level: row)]
      while !levels.isEmpty {
        levels = levels.flatMap { prefix, level in
          level.members.compactMap { member in
            let name = level.isMap ? JSONPathComponent.each : .member(member.name)
            let path = prefix + name.description
            schema.add(path, Kind.allCases.filter { member.kinds & $0.bit != 0 })
            return member.inner.members.isEmpty ? nil : ("\(path).", member.inner)
          }
        }
      }
      return schema
    }
  }

  /// The members of the objects at one place of the rows.
  private struct Level: Sendable {
    struct Member: Sendable {
      let name: String
      /// The bits of the kinds.
      var kinds: UInt8 = 0
      var inner = Level()
    }

    /// Deeper objects are not looked into.
    private static let maxDepth = 4

    private(set) var members: [Member] = []
    private var positions: [String: Int] = [:]
    private(set) var isMap = false

    mutating func add(_ row: [JSON.Member], depth: Int) {
      var next = 0
      // Iteration would retain each element.
      for index in row.indices {
        next = position(of: row[index].name, near: next, mayBeKey: depth > 1)
        members[next].kinds |= row[index].value.kind?.bit ?? 0
        if depth < Self.maxDepth, !isMap, case .object(let inner) = row[index].value {
          members[next].inner.add(inner, depth: depth + 1)
        }
        next += 1
      }
    }

    private mutating func position(of name: String, near guess: Int, mayBeKey: Bool) -> Int {
      if isMap { return 0 }
      if guess < members.count, members[guess].name == name { return guess }
      if let position = positions[name] { return position }
      if mayBeKey, members.count == RowSchema.maxNames || name.isKey {
        isMap = true
        members = [Member(name: "", kinds: members.reduce(0) { $0 | $1.kinds })]
        return 0
      }
      positions[name] = members.count
      members.append(Member(name: name))
      return members.count - 1
    }
  }
}

extension String {
  /// True for an ID, a date or a URL, which names of members do not look like.
  fileprivate var isKey: Bool { utf8.first.map { 48...57 ~= $0 } ?? false || utf8.count > 100 }
}

extension RowSchema.Kind {
  fileprivate var bit: UInt8 {
    switch self {
    case .text: 1
    case .number: 2
    case .boolean: 4
    case .list: 8
    case .object: 16
    }
  }
}

extension RowSchema? {
  /// That of both.
  package func merged(with other: RowSchema?) -> RowSchema? {
    guard var schema = self, let other else { return self ?? other }
    schema.add(other)
    return schema
  }
}

extension JSON {
  /// `nil` for `null`.
  fileprivate var kind: RowSchema.Kind? {
    switch self {
    case .null: nil
    case .bool: .boolean
    case .integer, .number: .number
    case .string: .text
    case .array: .list
    case .object: .object
    }
  }
}

/// A member of the rows of a service that appeared, vanished or changed its kind.
public struct SchemaChange: Hashable, Codable, Sendable {
  public enum Kind: String, Codable, Sendable { case appeared, vanished, changed }

  /// Its path, such as `owner.login`.
  public let member: String
  public let kind: Kind
  /// The kinds of its values before; none for a new member.
  public let before: [RowSchema.Kind]
  /// Those of its values now; none for one that has vanished.
  public let after: [RowSchema.Kind]

  private enum CodingKeys: String, CodingKey {
    case member = "m", kind = "k", before = "b", after = "a"
  }

  init(
    _ member: String, _ kind: Kind, before: [RowSchema.Kind], after: [RowSchema.Kind]
  ) {
    self.member = member
    self.kind = kind
    self.before = before
    self.after = after
  }

  /// In words: `rows have a new member "discount" (number)`.
  public var text: String {
    let name = member.oneLine(atMost: 80)
    switch kind {
    case .appeared:
      let kinds = after.isEmpty ? "" : " (\(after.text))"
      return "rows have a new member \"\(name)\"\(kinds)"
    case .vanished: return "rows no longer have the member \"\(name)\""
    case .changed: return "the member \"\(name)\" is \(after.text) now, and was \(before.text)"
    }
  }
}

extension [RowSchema.Kind] {
  /// `text or number`.
  package var text: String { map(\.rawValue).joined(separator: " or ") }
}
