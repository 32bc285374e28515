import AggregatorFormats
package import AggregatorKit

/// The kinds of values that a format sends as text: numbers and truth values, by their paths in a row.
///
/// Text that is not of its kind stays text, as do numbers that would lose digits, such as 007.
package struct ValueKinds: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable { case number, boolean }

  private var kind: Kind?
  /// Those of members, in order; of each element of a list for a list.
  private var members: [Entry] = []

  private struct Entry: Hashable, Sendable {
    let name: String
    var kinds: ValueKinds
  }

  package static let none = ValueKinds()

  package var isEmpty: Bool { kind == nil && members.isEmpty }

  /// The paths that have a kind, in order.
  package var paths: [(path: JSONPath, kind: Kind)] {
    members.flatMap { entry in
      let own = entry.kinds.kind.map { [(JSONPath.root.appending(entry.name), $0)] } ?? []
      return own
        + entry.kinds.paths.map { (JSONPath([.member(entry.name)] + $0.path.components), $0.kind) }
    }
  }

  /// Sets the kind of the values at a path; false if the path is not one of names.
  mutating func set(_ kind: Kind, at path: ArraySlice<JSONPathComponent>) -> Bool {
    guard let first = path.first else {
      self.kind = kind
      return true
    }
    guard case .member(let name) = first else { return false }
    let index = members.firstIndex { $0.name == name } ?? members.count
    if index == members.count { members.append(Entry(name: name, kinds: .none)) }
    return members[index].kinds.set(kind, at: path.dropFirst())
  }

  /// A row whose texts have their kinds.
  package func applied(to value: JSON) -> JSON {
    switch value {
    case .string(let text): kind.flatMap { text.value(of: $0) } ?? value
    case .array(let elements) where !isEmpty: .array(elements.map(applied))
    case .object(let old) where !members.isEmpty:
      .object(
        old.map { member in
          guard let entry = members.first(where: { $0.name == member.name }) else { return member }
          return JSON.Member(member.name, entry.kinds.applied(to: member.value))
        })
    default: value
    }
  }

  // MARK: - Inference

  /// The kinds that all texts of rows have.
  package init(of rows: [JSON]) {
    var texts = Texts()
    for row in rows { texts.add(row) }
    self = texts.kinds
  }

  /// The kinds of the numbers and truth values that a described row has, and that rows have as text.
  package init(describedBy row: JSON?, sentIn rows: [JSON]) {
    for scalar in row?.scalars(depth: 2) ?? [] {
      let kind: Kind
      switch scalar.value {
      case .integer, .number: kind = .number
      case .bool: kind = .boolean
      default: continue
      }
      guard rows.contains(where: { scalar.path.value(in: $0)?.string != nil }) else { continue }
      _ = set(kind, at: scalar.path.components[...])
    }
  }

  private init() {}

  private init(kind: Kind?, members: [Entry]) {
    self.kind = kind
    self.members = members
  }

  /// The kinds that the texts at a path have in common.
  private struct Texts {
    /// The kinds that all of them have; `nil` for no text.
    private var common: Set<Kind>?
    private var members: [(name: String, texts: Texts)] = []
    private var places: [String: Int] = [:]

    var kinds: ValueKinds {
      ValueKinds(
        kind: common?.first,
        members: members.map { Entry(name: $0.name, kinds: $0.texts.kinds) }
          .filter { !$0.kinds.isEmpty })
    }

    mutating func add(_ value: JSON) {
      switch value {
      // An empty text tells nothing.
      case .string(""): break
      case .string(let text):
        common = (common ?? Set(Kind.allCases)).filter { text.value(of: $0) != nil }
      case .array(let elements): for element in elements { add(element) }
      case .object(let all):
        for member in all {
          let place = places[member.name] ?? members.count
          if place == members.count {
            places[member.name] = place
            members.append((member.name, Texts()))
          }
          members[place].texts.add(member.value)
        }
      default: break
      }
    }
  }
}

extension String {
  /// The value that the text stands for; `nil` if it is not of the kind.
  fileprivate func value(of kind: ValueKinds.Kind) -> JSON? {
    switch kind {
    case .boolean: ["true": JSON.bool(true), "false": .bool(false)][lowercased()]
    case .number:
      switch NumberKind(utf8) {
      case nil: nil
      case .integer?: Int(self).map(JSON.integer)
      // More digits than a number of JSON keeps.
      case .real?:
        utf8.count(where: { 0x30...0x39 ~= $0 }) > 15 ? nil : Double(self).map(JSON.number)
      }
    }
  }
}
