import AggregatorKit

/// A record that comes in a short form in lists, and in a long one on its own.
struct Card: Record {
  let id: Int
  var title: String
  var detail: String?

  init(_ id: Int, _ title: String? = nil, detail: String? = nil) {
    self.id = id
    self.title = title ?? "card \(id)"
    self.detail = detail
  }

  func merged(over known: Card) -> Card {
    Card(id, title, detail: detail ?? known.detail)
  }

  static let text: @Sendable (Card) -> Folded = { Folded("\($0.title) \($0.detail ?? "")") }
}
