import AggregatorKit

/// A record of the program's own, such as a source or a setting, shown by the same means as any other.
protocol Entry: Record {
  /// What can be read of it; all of it is shown.
  static var fields: [Field<Self>] { get }
}

/// A field, for `--fields help`.
struct FieldEntry: Entry {
  let id: String
  let kind: String
  let about: String

  init(_ field: Field<some Any>) {
    id = field.name
    kind = field.kind.rawValue
    about = field.about
  }

  static let fields: [Field<FieldEntry>] = [
    Field("name", "Name", \.id, about: "The name for --fields, a JSON key."),
    Field("kind", "Kind", \.kind, about: "text, integer, number, bool or list."),
    Field("about", "About", \.about, about: "What it is."),
  ]
}
