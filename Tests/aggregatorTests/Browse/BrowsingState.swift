import AggregatorKit
import Foundation

@testable import AggregatorBrowse
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorTerminal

/// A state without a terminal and without sources: events in, effects and screens out.
struct BrowsingState {
  var state: BrowseState
  var effects: [BrowseEffect] = []

  static let now = Date(timeIntervalSince1970: 1_800_000_000)

  static let columns = [
    BrowsedColumn("id", "ID", isNumeric: true), BrowsedColumn("name", "Name"),
    BrowsedColumn("publisher", "Publisher"),
  ]

  init(
    _ names: [String] = ["countries", "heroes"], isOffline: Bool = true,
    refusal: @escaping @Sendable (ListRequest) -> String? = { _ in nil }
  ) {
    state = BrowseState(
      names.map { .init($0, fields: Self.columns, refusal: refusal) }, isOffline: isOffline,
      now: Self.now)
  }

  /// A record in these columns.
  static func row(_ id: Int, _ name: String, _ publisher: String = "Marvel") -> BrowsedRow {
    BrowsedRow(
      id: "\(id)", name: name, cells: ["\(id)", name, publisher],
      card: [
        .init("Name", name), .init("Publisher", publisher),
        .init(
          "Biography",
          "A mutant with keen senses, retractable claws and a body that mends almost any wound.\n\nHe left."
        ),
      ], link: "https://example.com/\(id)")
  }

  static func rows(_ range: Range<Int>) -> [BrowsedRow] { range.map { row($0, "Hero \($0)") } }

  mutating func open(_ name: String?, width: Int = 80, height: Int = 24) {
    effects = state.start(name) { _ in }
    _ = state.handle(.resized(width: width, height: height))
  }

  mutating func pick(
    _ name: String = "heroes", takesSeveral: Bool = true, matching query: String = ""
  ) {
    state = BrowseState(
      [.init(name, fields: Self.columns)], isOffline: state.isOffline, now: Self.now)
    effects = state.start(.init(takesSeveral: takesSeveral), matching: query)
    _ = state.handle(.resized(width: 80, height: 24))
  }

  @discardableResult mutating func handle(_ events: BrowseEvent...) -> [BrowseEffect] {
    effects = events.flatMap { state.handle($0) }
    return effects
  }

  @discardableResult mutating func press(_ keys: Key...) -> [BrowseEffect] {
    effects = keys.flatMap { state.handle(.input(.key($0))) }
    return effects
  }

  /// Types each character of a text.
  @discardableResult mutating func type(_ text: String) -> [BrowseEffect] {
    effects = text.flatMap { state.handle(.input(.key(.character($0)))) }
    return effects
  }

  /// Types each character of a text, and answers all requests for rows after each.
  mutating func type(
    _ text: String, of total: Int, _ row: (Int) -> BrowsedRow = { Self.row($0, "Hero \($0)") }
  ) {
    for character in text {
      press(.character(character))
      answer(total: total, row)
    }
  }

  /// Answers all requests for rows out of a list of `total` heroes, as long as there are any.
  mutating func answer(total: Int, _ row: (Int) -> BrowsedRow = { Self.row($0, "Hero \($0)") }) {
    while let (request, start, count) = effects.lazy.compactMap(\.window).first {
      let range = start..<min(total, start + count)
      let window = BrowsedWindow(
        columns: Self.columns, rows: range.map(row), total: total, warnings: [])
      effects = state.handle(.window(request, start: start, .success(window)))
    }
  }

  func screen(_ theme: Theme = Theme(hasColor: false, hasUTF8: true)) -> Screen {
    var view = BrowseView(state, theme)
    return view.draw()
  }

  var text: String { screen().lines.map { $0 + "\n" }.joined() }
}

extension BrowseEffect {
  var window: (request: ListRequest, start: Int, count: Int)? {
    if case .window(let request, let start, let count) = self {
      (request, start, count)
    } else {
      nil
    }
  }
}
