import AggregatorFoundation
public import AggregatorJSON
import AggregatorText

/// The members of the rows that a service sends, and the kinds of their values.
public struct RowSchema: Hashable, Codable, Sendable {
  public enum Kind: String, CaseIterable, Codable, Sendable {
    case text, number, boolean, list, object
  }

  /// The kinds of each member, in the order of ``Kind``; none for one that was always `null`.
  public private(set) var members: [String: [Kind]] = [:]

  /// The number of members that are compared: larger objects are maps.
  private static let maxMembers = 1000

  private enum CodingKeys: String, CodingKey { case members = "m" }

  public init() {}

  fileprivate mutating func add(_ name: String, _ kinds: [Kind]) {
    guard let known = members[name] else {
      if members.count < Self.maxMembers { members[name] = kinds }
      return
    }
    guard kinds.contains(where: { !known.contains($0) }) else { return }
    members[name] = Kind.allCases.filter { known.contains($0) || kinds.contains($0) }
  }

  /// Adds the members of other rows.
  public mutating func add(_ other: RowSchema) {
    for (name, kinds) in other.members { add(name, kinds) }
  }

  /// The differences of these rows from earlier ones, by the names of the members.
  ///
  /// A member is gone only if these are `all` rows.
  package func changes(since earlier: RowSchema, all: Bool) -> [SchemaChange] {
    let names = Set(members.keys).union(earlier.members.keys).sorted()
    return names.compactMap { name in
      switch (earlier.members[name], members[name]) {
      case (nil, let kinds?): return SchemaChange(name, .appeared, before: [], after: kinds)
      case (let kinds?, nil):
        // A full list of names says nothing of the members that did not fit.
        let isKnown = all && members.count < Self.maxMembers
        return isKnown ? SchemaChange(name, .vanished, before: kinds, after: []) : nil
      case (let before?, let after?):
        // A member that was always null has no kind yet.
        let isNew = after.contains { !before.contains($0) }
        let isLess = all && before.contains { !after.contains($0) }
        guard !before.isEmpty, !after.isEmpty, isNew || isLess else { return nil }
        return SchemaChange(name, .changed, before: before, after: after)
      case (nil, nil): return nil
      }
    }
  }

  /// Reads row after row; most have the members of the one before, which costs a comparison of their names.
  public struct Reader: Sendable {
    public private(set) var schema = RowSchema()
    private var last: [(name: String, kind: Kind?)] = []

    public init() {}

    public mutating func add(_ row: JSON) {
      guard case .object(let members) = row else { return }
      let isSame =
        members.count == last.count
        && zip(members, last).allSatisfy { $0.value.kind == $1.kind && $0.name == $1.name }
      guard !isSame else { return }
      last = members.map { ($0.name, $0.value.kind) }
      for (name, kind) in last { schema.add(name, kind.map { [$0] } ?? []) }
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
