package import AggregatorKit
package import AggregatorTerminal

/// A change of the members of the rows, as `diff --schema`, `watch --exec` and the API write it.
package struct SchemaEntry: Entry {
  private let change: SchemaChange
  /// The time of the sync, in ISO 8601.
  package let date: String

  package init(_ entry: SchemaHistory.Entry) { self.init(entry.change, at: entry.date) }

  package init(_ change: SchemaChange, at date: Date) {
    (self.change, self.date) = (change, date.iso8601)
  }

  package var id: String { change.member }
  private var kind: String { change.kind.rawValue }
  private var before: String? { change.before.isEmpty ? nil : change.before.text }
  private var after: String? { change.after.isEmpty ? nil : change.after.text }

  package static let fields: [Field<SchemaEntry>] = [
    Field("change", "Change", \.kind, about: "appeared, vanished or changed."),
    Field("member", "Member", \.id, about: "The path of the member, such as owner.login."),
    Field("before", "Before", \.before, about: "The kinds of its values before."),
    Field("after", "After", \.after, about: "The kinds of its values now."),
    Field("foundAt", "Found", \.date, about: "The end of the sync that has found it."),
  ]

  /// The object of `--json`.
  package var object: JSON { Self.fields.object(of: self) }

  /// The change in words, with the time of the sync.
  package var text: String { "\(date): \(change.text.safeLine)" }

  package var paragraph: Paragraph {
    let sign =
      switch change.kind {
      case .appeared: "+"
      case .vanished: "−"
      case .changed: "~"
      }
    let role: Style.Role = change.kind == .vanished ? .error : .warning
    return Paragraph(sign: sign, role: role, text: text)
  }
}
