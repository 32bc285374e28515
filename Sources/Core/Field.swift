public import AggregatorFoundation
public import AggregatorText

/// A named, readable property of a record.
///
/// A source lists its fields once; tables, TSV, JSON, `--fields` and local search are derived from them.
public struct Field<Item>: Sendable {
  /// The JSON key: `realName`.
  public let name: String

  /// The label for people: `Real name`.
  public let label: String

  public let kind: FieldKind

  /// A one-sentence description.
  public let about: String

  /// True if a list shows the field by default.
  public let isShown: Bool

  /// True if local search looks into the field.
  public let isSearchable: Bool

  /// The path of the value in the record's stored JSON: member names, joined by dots; `nil` if the value is not stored.
  ///
  /// By default a property is stored under the field's name, and a computed field is not stored.
  /// SQL queries read stored fields at their paths and compute the others.
  public private(set) var path: String?

  /// Computes the value from the record's stored JSON, so that a store shows the field to other programs; `nil` if it
  /// has a ``path``, or only Swift can compute it.
  public private(set) var expression: FieldExpression?

  /// True if services send the field only with a single record: in a list, null may mean not fetched.
  public private(set) var isDetail = false

  /// True if its value is the name of a record, wherever it is among the fields.
  package private(set) var isName = false

  private let read: @Sendable (Item) -> JSON

  /// Creates a computed field.
  public init(
    _ name: String, _ label: String, _ kind: FieldKind, about: String, isShown: Bool = true,
    isSearchable: Bool = false, read: @escaping @Sendable (Item) -> JSON
  ) {
    self.name = name
    self.label = label
    self.kind = kind
    self.about = about
    self.isShown = isShown
    self.isSearchable = isSearchable
    self.read = read
  }

  /// Creates a field from a property of the record: `Field("id", "ID", \.id, about: "The ID.")`.
  public init<Value: FieldValue>(
    // Of a function no key path is made at run time, which takes longer than all the rest, and reads slower.
    _ name: String, _ label: String, _ property: @escaping @Sendable (Item) -> Value, about: String,
    isShown: Bool = true, isSearchable: Bool = false
  ) {
    self.init(
      name, label, Value.fieldKind, about: about, isShown: isShown, isSearchable: isSearchable
    ) { property($0).json }
    self.path = name
  }

  /// Creates a field from a property, whose name is said nowhere else: ``name``, ``label`` and ``path`` follow from it.
  ///
  /// ```swift
  /// Field(\.createdAt)  // createdAt, "Created at"
  /// Field(\.location?.city, isSearchable: true)  // city, "City", stored at location.city
  /// Field(\.age, "Age in years")  // computed: ageInYears, not stored
  /// ```
  ///
  /// - Parameters:
  ///   - label: By default the property's name in words. A computed property has no name at run time, nor has any in a
  ///     program without reflection metadata: there the name follows from the label, which must be given.
  ///   - about: The label by default.
  public init<Value: FieldValue>(
    _ path: any KeyPath<Item, Value> & Sendable, _ label: String? = nil, about: String? = nil,
    isShown: Bool = true, isSearchable: Bool = false
  ) {
    let names = path.propertyNames
    guard let name = names?.last ?? label?.asPropertyName else {
      preconditionFailure("a field of a computed property needs a label")
    }
    let label = label ?? name.asLabel
    self.init(
      name, label, Value.fieldKind, about: about ?? "\(label).", isShown: isShown,
      isSearchable: isSearchable
    ) { $0[keyPath: path].json }
    self.path = names?.joined(separator: ".")
  }

  /// Returns this field with another ``path``, such as `location.city`; `nil` for a property that is
  /// computed and not stored.
  public func stored(at path: String?) -> Field {
    var field = self
    field.path = path
    return field
  }

  /// Returns this field with an ``expression``, which must have the same value as the field.
  public func computed(as expression: FieldExpression) -> Field {
    var field = self
    field.expression = expression
    return field
  }

  /// Returns this field as one that lists do not include; see ``isDetail``.
  public func onlyInDetails() -> Field {
    var field = self
    field.isDetail = true
    return field
  }

  /// Returns this field as the one whose value is the name of a record.
  package func asName() -> Field {
    var field = self
    field.isName = true
    return field
  }

  public subscript(item: Item) -> JSON { read(item) }
}

/// The kind of a ``Field``'s values; any of them may also be null.
public enum FieldKind: String, Hashable, Sendable {
  case text
  case integer
  case number
  case bool
  /// Several texts.
  case list
  /// Any JSON value: that of a service whose kinds are not declared.
  case any

  /// True for integers and other numbers.
  package var isNumeric: Bool { self == .integer || self == .number }
}

extension AnyKeyPath {
  /// The names of the stored properties that it follows: `location`, `city`; `nil` if one is not stored, or nothing is
  /// known of it.
  ///
  /// The description, `\Person.location?.city`, is the only place where Swift tells them (SE-0369). Interpolation, which
  /// looks for other descriptions first, takes half a millisecond for the fields of a source.
  fileprivate var propertyNames: [String]? {
    // The first part is the type of the record.
    let names = debugDescription.split(separator: ".").dropFirst().map { name in
      name.last == "?" || name.last == "!" ? name.dropLast() : name
    }
    let isNamed = names.allSatisfy { $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } }
    return isNamed && !names.isEmpty ? names.map(String.init) : nil
  }
}

extension String {
  /// The name of a property in words: `createdAt` is `Created at`, `imageURL` is `Image URL`.
  fileprivate var asLabel: String {
    var words: [String] = [""]
    for (before, character) in zip("_" + self, self) {
      let isFirst = character.isUppercase && !before.isUppercase
      if character == "_" || isFirst { words.append("") }
      if character != "_" { words[words.endIndex - 1].append(character) }
    }
    let shown = words.filter { !$0.isEmpty }.map { word in
      let capitals = word.uppercased()
      return word == capitals || ["ID", "URL"].contains(capitals) ? capitals : word.lowercased()
    }.joined(separator: " ")
    return shown.prefix(1).uppercased() + shown.dropFirst()
  }

  /// The name of a property with this label: `Created at` is `createdAt`.
  fileprivate var asPropertyName: String? {
    let words = split { !$0.isLetter && !$0.isNumber }
    guard let first = words.first else { return nil }
    return first.lowercased()
      + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
}

extension JSON {
  /// The kind of fields with this value; `nil` for null.
  package var fieldKind: FieldKind? {
    switch self {
    case .null: nil
    case .string: .text
    case .integer: .integer
    case .number: .number
    case .bool: .bool
    case .array(let values): values.allSatisfy { $0.string != nil } ? .list : .any
    case .object: .any
    }
  }
}

/// A type that a ``Field`` can read with a key path.
public protocol FieldValue: Sendable {
  static var fieldKind: FieldKind { get }

  var json: JSON { get }
}

extension String: FieldValue {
  public static var fieldKind: FieldKind { .text }
  public var json: JSON { .string(self) }
}

extension UUID: FieldValue {
  public static var fieldKind: FieldKind { .text }
  public var json: JSON { .string(uuidString) }
}

extension Int: FieldValue {
  public static var fieldKind: FieldKind { .integer }
  public var json: JSON { .integer(self) }
}

extension Double: FieldValue {
  public static var fieldKind: FieldKind { .number }
  /// The number; null if it is not finite.
  public var json: JSON { isFinite ? .number(self) : .null }
}

extension Bool: FieldValue {
  public static var fieldKind: FieldKind { .bool }
  public var json: JSON { .bool(self) }
}

extension [String]: FieldValue {
  public static var fieldKind: FieldKind { .list }
  public var json: JSON { .array(map(JSON.string)) }
}

extension Optional: FieldValue where Wrapped: FieldValue {
  public static var fieldKind: FieldKind { Wrapped.fieldKind }
  public var json: JSON { self?.json ?? .null }
}

extension Sequence {
  /// The folded text that local search looks into: each searchable field of a record on a line of its own.
  ///
  /// The first line counts as the name of the record, so a name comes first and the ID last.
  public func searchableText<Item: SourceRecord>(of item: Item) -> FoldedText
  where Element == Field<Item> { searchableText()(item) }

  /// Returns what makes ``searchableText(of:)`` of many records: copying and choosing the fields costs more than reading
  /// them, and is done once.
  package func searchableText<Item: SourceRecord>() -> @Sendable (Item) -> FoldedText
  where Element == Field<Item> {
    let searched = filter { $0.isSearchable }
    let fields = searched.filter { $0.isName } + searched.filter { !$0.isName }
    return { item in
      let id = item.id.description
      var isID = false
      // In place: for each new record of a sync, joining the lines would take as long as folding.
      var text = ""
      for field in fields {
        let value = field[item]
        if case .string(id) = value { isID = true } else { value.addLines(to: &text) }
      }
      if isID { JSON.string(id).addLines(to: &text) }
      return FoldedText(text)
    }
  }
}

extension JSON {
  fileprivate func addLines(to text: inout String) {
    switch self {
    case .string(let line): text += line
    case .integer(let integer): text += String(integer)
    case .array(let values): return values.forEach { $0.addLines(to: &text) }
    default: return
    }
    text += "\n"
  }
}

/// A value that a store computes from the stored JSON of a record, each store in its dialect of SQL.
///
/// With it a store shows a computed ``Field`` to other programs. A title that may be missing drops together with its
/// space:
///
/// ```swift
/// .joined([.coalesce(.joined([.member("title"), .text(" ")]), .text("")), .member("lastName")])
/// ```
public indirect enum FieldExpression: Hashable, Sendable {
  /// The value at a path, as text in joined values; null if there is none.
  ///
  /// A path to several values leads to the array of those that are not null; null if there is none.
  case value(at: [JSONPathComponent])

  case text(String)

  /// The texts of values, one after the other; null if one of them is null.
  case joined([FieldExpression])

  /// The first value, or the second one if it is null.
  case coalesce(FieldExpression, FieldExpression)

  /// The age today (UTC) in whole years, 0 to 150, of who was born on a day such as `1967-07-23`; null for another
  /// text or age.
  ///
  /// A birthday on 29 February counts as 1 March in other years.
  case age(bornOn: FieldExpression)

  /// The value of a member: `.member("location", "city")`.
  public static func member(_ names: String...) -> FieldExpression {
    .value(at: names.map(JSONPathComponent.member))
  }
}
