import AggregatorKit

/// A record of any source, as the API and the page show it.
struct ServedRecord: Record {
  /// A label and a value.
  struct Line: Hashable, Codable, Sendable {
    let label: String
    let value: String
    /// True if the value is a web address of the service, which may be a link if its scheme is `http` or `https`.
    var isLink = false
  }

  let id: String

  /// The name or title; the ID if it has none.
  let name: String

  /// The fields that were asked for, or all, as `--json` prints them.
  let object: JSON

  /// The other columns of a list, beside the name; empty for programs.
  let summary: [Line]

  /// All fields of the card that have a value; empty for programs.
  let card: [Line]

  /// The web page of the record at its service, an `http` or `https` URL; `nil` if it has none.
  let link: String?

  let hasImage: Bool
}
