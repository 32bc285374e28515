import AggregatorKit

extension FaultScenario {
  /// The pages of the service are not what they should be.
  static let pages = [
    FaultScenario(
      "repeated-page", "The second page is the first one again.", .strange, says: [.malformed],
      play: .change { $0.number == 2 ? $0.before : nil }),
    FaultScenario(
      "ignored-offset", "Every page is the first one.", .strange, says: [.malformed],
      play: .change { $0.number > 1 ? $0.first : nil }),
    FaultScenario(
      "empty-page", "The second page has no rows.", .strange, says: [.malformed],
      play: .change { $0.number == 2 ? $0.body?.replacingRows { _ in [] } : nil }),
    FaultScenario(
      "shrinking-total", "Each page tells a smaller total.", .strange, says: [.malformed],
      play: .change { $0.number > 1 ? $0.body?.dividingTotals(by: $0.number) : nil }),
    FaultScenario(
      "rows-gone", "Between two pages a row in front of them goes.", .strange, says: [.malformed],
      play: .change { page in
        page.number > 1 ? page.body?.replacingRows { Array($0.dropFirst()) } : nil
      }),
    FaultScenario(
      "rows-come", "Between two pages a row in front of them comes.", .strange, says: [.malformed],
      play: .change { page in
        guard page.number > 1, let last = page.before?.rows?.last else { return nil }
        return page.body?.replacingRows { [last] + $0.dropLast() }
      }),
    FaultScenario(
      // The others can be, so that no failure is in order.
      "bad-row", "The first row of every page cannot be read.", .unreadable,
      play: .change { $0.body?.replacingRows { [.null] + $0.dropFirst() } }),
    FaultScenario(
      "bad-rows", "No row can be read.", .unreadable, says: [.malformed],
      play: .change { $0.body?.replacingRows { $0.map { _ in .object([]) } } }),
  ]
}
