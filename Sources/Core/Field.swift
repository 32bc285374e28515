/// One thing that can be read of a record: its name, what it is, and how to read it.
///
/// A source lists its fields once; tables, TSV, JSON, `--fields` and local search are all made from them.
public struct Field<Item>: Sendable {
  /// The name that programs use, a JSON key: `realName`.
  public let name: String

  /// The name that people see: `Real name`.
  public let label: String

  /// What kind of values it has.
  public let kind: FieldKind

  /// What it is, in one sentence.
  public let about: String

  /// Whether a list shows it where nobody asks for fields by name.
  public let isShown: Bool

  /// Whether local search looks into it.
  public let isSearchable: Bool

  /// Where its value is in the record's stored JSON: names of members, joined by dots; `nil` where it
  /// is not.
  ///
  /// By default a property is stored under the field's name, and what is computed is not stored.
  /// Queries see the fields that are stored.
  public private(set) var path: String?

  private let read: @Sendable (Item) -> JSON

  /// A field that is computed.
  ///
  /// - Parameters:
  ///   - name: The name that programs use.
  ///   - label: The name that people see.
  ///   - kind: What kind of values it has.
  ///   - about: What it is, in one sentence.
  ///   - isShown: Whether a list shows it where nobody asks for fields by name.
  ///   - isSearchable: Whether local search looks into it.
  ///   - read: How to read it.
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

  /// A field that is a property of the record.
  ///
  /// - Parameters:
  ///   - name: The name that programs use.
  ///   - label: The name that people see.
  ///   - path: The property.
  ///   - about: What it is, in one sentence.
  ///   - isShown: Whether a list shows it where nobody asks for fields by name.
  ///   - isSearchable: Whether local search looks into it.
  public init<Value: FieldValue>(
    _ name: String, _ label: String, _ path: any KeyPath<Item, Value> & Sendable, about: String,
    isShown: Bool = true, isSearchable: Bool = false
  ) {
    self.init(
      name, label, Value.fieldKind, about: about, isShown: isShown, isSearchable: isSearchable
    ) { $0[keyPath: path].json }
    self.path = name
  }

  /// The same field, with its value somewhere else in the stored record.
  ///
  /// - Parameter path: Names of members, joined by dots, as in `location.city`; `nil` for a property
  ///   that is computed and not stored.
  /// - Returns: The field.
  public func stored(at path: String?) -> Field {
    var field = self
    field.path = path
    return field
  }

  /// The value of this field.
  public subscript(item: Item) -> JSON { read(item) }
}

extension Sequence {
  /// The searchable text of a record, folded: each searchable field on a line of its own.
  ///
  /// - Parameter item: The record.
  /// - Returns: Folded text for ``Folded/containsAll(_:)``.
  public func searchableText<Item>(of item: Item) -> Folded where Element == Field<Item> {
    var lines = SearchableLines()
    for field in self where field.isSearchable { lines.add(field[item]) }
    return Folded(lines.text)
  }
}

/// Lines that grow in place: for each new record of a sync, joining them takes as long as all the folding.
private struct SearchableLines {
  private(set) var text = ""
  private var isEmpty = true

  mutating func add(_ value: JSON) {
    switch value {
    case .string(let line): add(line)
    case .integer(let integer): add(String(integer))
    case .array(let values): for value in values { add(value) }
    default: break
    }
  }

  private mutating func add(_ line: String) {
    if isEmpty { isEmpty = false } else { text += "\n" }
    text += line
  }
}
