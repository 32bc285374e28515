import AggregatorKit

extension Law {
  /// A damaged cursor is refused.
  static let cursorDamaged = Law(
    "cursor-damaged", "A damaged cursor is an invalid one, never a start from the beginning.",
    isCheap: true, CursorDamaged())
}

private struct CursorDamaged: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let request = PageRequest(limit: 1)
    let next = try await subject.source.page(request).next
    let tokens = ["x", "c.", "cMQ.000000000"] + (next?.description.damaged ?? [])
    for cursor in tokens.compactMap({ Cursor($0) }) where cursor != next {
      try await context.expectInvalid(cursor, in: request, of: subject.source)
    }
  }
}

extension String {
  /// This token with one character changed, lost or added, in several places.
  fileprivate var damaged: [String] {
    let places = [index(startIndex, offsetBy: count / 2), index(before: endIndex)]
    let changed = places.map { place in
      self[..<place] + (self[place] == "a" ? "b" : "a") + self[index(after: place)...]
    }
    return changed.map { String($0) } + [String(dropLast()), self + "a"]
  }
}
