import AggregatorFormats
package import AggregatorKit
import AggregatorText

/// The kinds of values that a format sends as text, such as numbers and truth values, by their paths in a row.
///
/// Text that is not of its kind stays text, as do numbers that would lose digits, such as 007.
package struct ValueKinds: Hashable, Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    case number, boolean
    /// A number as most of Europe writes it: `1.234,50` or `1 234,50`.
    case decimalComma = "decimal-comma"
    /// A date such as `31.12.2024` or `31/12/2024 14:30`, which becomes one of ISO 8601.
    case dayFirst = "day-month-year"
    /// A date such as `12/31/2024`.
    case monthFirst = "month-day-year"

    /// The values of this kind: `numbers`.
    package var words: String {
      switch self {
      case .number: "numbers"
      case .boolean: "true or false"
      case .decimalComma: "numbers with a decimal comma"
      case .dayFirst: "dates with the day first"
      case .monthFirst: "dates with the month first"
      }
    }
  }

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

  /// Adds the kinds that others have at some paths.
  package mutating func add(_ others: ValueKinds, at paths: [JSONPath]) {
    for (path, kind) in others.paths where paths.contains(path) {
      _ = set(kind, at: path.components[...])
    }
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

  /// The kinds that all texts of rows have, if one of the texts can have no other: `1,500` and `01/02/2024` tell nothing.
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
    /// The kinds that one of them proves.
    private var proven: Set<Kind> = []
    private var members: [(name: String, texts: Texts)] = []
    private var places: [String: Int] = [:]

    var kinds: ValueKinds {
      ValueKinds(
        kind: Kind.allCases.first { common?.contains($0) == true && proven.contains($0) },
        members: members.map { Entry(name: $0.name, kinds: $0.texts.kinds) }
          .filter { !$0.kinds.isEmpty })
    }

    mutating func add(_ value: JSON) {
      switch value {
      // An empty text tells nothing.
      case .string(""): break
      case .string(let text):
        common = (common ?? Set(Kind.allCases)).filter { text.value(of: $0) != nil }
        for kind in common ?? [] where text.proves(kind) { proven.insert(kind) }
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
        utf8.count(where: { 0x30...0x39 ~= $0 }) > 15
          ? nil : Double(self).map { JSON.number($0).canonical }
      }
    case .decimalComma: DecimalComma(self)?.number.value(of: .number)
    case .dayFirst: NumericDate(self)?.iso(month: 1, day: 0).map(JSON.string)
    case .monthFirst:
      // No country writes the month first with dots.
      NumericDate(self).flatMap { $0.separator == "." ? nil : $0.iso(month: 0, day: 1) }
        .map(JSON.string)
    }
  }

  /// True if a text of the kind is of no other one that is written alike.
  fileprivate func proves(_ kind: ValueKinds.Kind) -> Bool {
    switch kind {
    case .number, .boolean: true
    case .decimalComma: DecimalComma(self)?.isCertain == true
    case .dayFirst: NumericDate(self).map { $0.separator == "." || !$0.mayBeMonth(0) } == true
    case .monthFirst: NumericDate(self).map { !$0.mayBeMonth(1) } == true
    }
  }
}

/// A number with a comma before its decimals, and perhaps dots or spaces between groups of digits.
private struct DecimalComma {
  /// As JSON writes it.
  let number: String
  /// False for a text such as `1,500`, which may have a comma between its groups.
  let isCertain: Bool

  init?(_ text: String) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let groups = parts[0].split(omittingEmptySubsequences: false) {
      ". \u{A0}\u{202F}".contains($0)
    }
    let decimals = parts.dropFirst().first
    let digits = groups[0].drop { $0 == "-" }
    guard parts.count <= 2, groups.count == 1 || digits.count <= 3,
      groups.dropFirst().allSatisfy({ $0.count == 3 }),
      ([digits] + groups.dropFirst() + parts.dropFirst()).allSatisfy(\.isDigits)
    else { return nil }
    number = groups.joined() + (decimals.map { "." + $0 } ?? "")
    isCertain = decimals.map { $0.count != 3 || groups.count > 1 } ?? false
  }
}

/// A date of three numbers, of which the last is the year, and perhaps a time of day.
private struct NumericDate {
  let separator: Character
  private let parts: [Substring]
  private let time: Substring

  init?(_ text: String) {
    guard text.utf8.count <= 40, let separator = text.first(where: { !("0"..."9" ~= $0) }),
      "./-".contains(separator)
    else { return nil }
    let halves = text.split(separator: " ", maxSplits: 1)
    parts = halves[0].split(separator: separator, omittingEmptySubsequences: false)
    (self.separator, time) = (separator, halves.dropFirst().first ?? "")
    guard parts.count == 3, parts.allSatisfy(\.isDigits), parts[0].count <= 2, parts[1].count <= 2,
      parts[2].count == 4
    else { return nil }
  }

  func mayBeMonth(_ index: Int) -> Bool { Int(parts[index]).map { 1...12 ~= $0 } ?? false }

  /// The date in the form of ISO 8601, with the month and the day at these places; `nil` if there is no such day or time.
  func iso(month: Int, day: Int) -> String? {
    let twoDigits = { parts[$0].count == 1 ? "0" + parts[$0] : parts[$0] }
    let date =
      "\(parts[2])-\(twoDigits(month))-\(twoDigits(day))" + (time.isEmpty ? "" : "T\(time)")
    return Period(date) == nil ? nil : date
  }
}

extension Substring {
  fileprivate var isDigits: Bool { !isEmpty && utf8.allSatisfy { 0x30...0x39 ~= $0 } }
}
