import AggregatorKit

/// A record that a search of all sources found.
struct SearchHit: Record {
  /// The record's id in its source.
  let id: String

  /// The source's name.
  let source: String

  /// All of the record, with the source in front.
  let object: JSON

  private let label: String
  private let origin: String

  /// A record of a source.
  init<P: Plugin>(_ record: P.Item, of plugin: P, from origin: Provenance.Origin) {
    source = plugin.name
    let id = record.id.description
    self.id = id
    let shown = plugin.fields.lazy.filter(\.isShown).map { $0[record].cell }
    label = shown.first { !$0.isEmpty && $0 != id } ?? ""
    self.origin = origin.rawValue
    guard case .object(let members) = plugin.fields.object(of: record) else {
      object = .null
      return
    }
    object = .object([JSON.Member("source", .string(plugin.name))] + members)
  }

  /// What is the same for the records of all sources.
  private static let common: [Field<SearchHit>] = [
    Field("source", "Source", \.source, about: "The source."),
    Field("id", "Id", \.id, about: "The record's id in its source."),
    Field("label", "Label", \.label, about: "What it is called."),
    Field("origin", "Origin", \.origin, about: "Where it came from: live, cached or bundled."),
  ]

  /// What can be read of the records of some sources; what a source does not have is null.
  static func fields(of plugins: [any Plugin]) -> [Field<SearchHit>] {
    var fields = common
    for plugin in plugins {
      for field in plugin.fieldEntries where !fields.contains(where: { $0.name == field.id }) {
        let name = field.id
        fields.append(
          Field(
            name, name, FieldKind(rawValue: field.kind) ?? .text, about: field.about,
            isShown: false
          ) { $0.object[name] ?? .null })
      }
    }
    return fields
  }
}

extension Plugin {
  fileprivate var fieldEntries: [FieldEntry] { fields.map { FieldEntry($0) } }
}
