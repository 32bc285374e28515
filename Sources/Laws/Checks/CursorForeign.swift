import AggregatorKit

extension Law {
  /// A cursor is good for its own source and query only.
  static let cursorForeign = Law(
    "cursor-foreign", "A cursor of another source or query is an invalid one.", isCheap: true,
    CursorForeign())
}

private struct CursorForeign: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let list = PageRequest(limit: 1)
    let next = try await subject.source.page(list).next
    let stranger = try CursorSeal("another source", for: nil).close(7)
    try await context.expectInvalid(stranger, in: list, of: subject.source)
    if let dressed = next.flatMap(stranger.dressed) {
      try await context.expectInvalid(dressed, in: list, of: subject.source)
    }
    guard subject.search != .none, let query = subject.query else { return }
    let search = PageRequest(matching: query, limit: 1)
    if let next { try await context.expectInvalid(next, in: search, of: subject.source) }
    guard let found = try await subject.source.page(search).next else { return }
    let other = PageRequest(matching: try Query("\(query) \(query)"), limit: 1)
    for request in [list, other] {
      try await context.expectInvalid(found, in: request, of: subject.source)
    }
  }
}

extension Cursor {
  /// This sealed token with the words in front that a chain puts before `other`'s.
  fileprivate func dressed(as other: Cursor) -> Cursor? {
    let words = other.description.split(separator: ".").dropLast(2)
    return words.isEmpty ? nil : Cursor(joining: words.map(String.init) + [description])
  }
}

extension LawContext {
  /// Expects a request with `cursor` to be refused for its sake.
  ///
  /// - Throws: A failure of the service, which says nothing about the cursor.
  mutating func expectInvalid<Item: Record>(
    _ cursor: Cursor, in request: PageRequest, of source: any DataSource<Item>
  ) async throws(SourceError) {
    let request = request.after(cursor)
    let found: String
    do throws(SourceError) {
      let page = try await source.page(request)
      found = "a page of \(page.records.count.records)"
    } catch {
      if error.code == .invalidCursor { return }
      if error.isTheServices { throw error }
      found = error.text
    }
    note(expected: "the failure invalidCursor", found: found, at: request.text)
  }
}
