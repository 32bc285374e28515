package import AggregatorKit

/// A record of the program itself, such as a source or a setting.
package protocol Entry: Record {
  /// The fields; all of them are shown.
  static var fields: [Field<Self>] { get }
}

package struct FieldEntry: Entry {
  package let id: String
  package let kind: String
  package let about: String

  package init(_ field: Field<some Any>) {
    id = field.name
    kind = field.kind.rawValue
    about = field.about
  }

  package static let fields: [Field<FieldEntry>] = [
    Field("name", "Name", \.id, about: "The name for --fields, and the JSON key."),
    Field("kind", "Kind", \.kind, about: "text, integer, number, bool, list or any."),
    Field("about", "Description", \.about, about: "The description."),
  ]
}
