package import AggregatorKit
import AggregatorTerminal

/// A record of any source, as the API and the page show it.
package struct ServedRecord: Record {
  /// A label and a value.
  package struct Line: Hashable, Codable, Sendable {
    package let label: String
    package let value: String
    /// True if the value is a web address of the service, which may be a link if its scheme is `http` or `https`.
    var isLink = false
  }

  package let id: String

  /// The name or title; the ID if it has none.
  package let name: String

  /// The fields that were asked for, or all, as `--json` prints them.
  package let object: JSON

  /// The other columns of a list, beside the name; empty for programs.
  package let summary: [Line]

  /// All fields of the card that have a value; empty for programs.
  package let card: [Line]

  /// The web page of the record at its service, an `http` or `https` URL; `nil` if it has none.
  package let link: String?

  let hasImage: Bool
}
