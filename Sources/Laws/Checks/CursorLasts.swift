import AggregatorKit

extension Law {
  /// A cursor can be kept.
  static let cursorLasts = Law(
    "cursor-lasts",
    "A cursor that was kept as text leads to the same page again, in another process as well.",
    isCheap: true, given: [walkStable], CursorLasts())
}

private struct CursorLasts: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    var wasFollowed = false
    for query in [nil, subject.search == .none ? nil : subject.query] {
      let start = PageRequest(matching: query, limit: 2)
      guard let next = try await subject.source.page(start).next else { continue }
      wasFollowed = true
      guard let kept = Cursor(next.description), kept == next else {
        context.note(expected: "a token", found: "'\(next)'", at: start.text)
        continue
      }
      let request = start.after(kept)
      let page = try await subject.source.page(request)
      try await context.expect(page, again: request, of: subject.source, "the second time")
      guard let anew = subject.anew else { continue }
      try await context.expect(page, again: request, of: try anew(), "of the source made anew")
    }
    if !wasFollowed { context.exempt("one page holds everything") }
  }
}

extension LawContext {
  fileprivate mutating func expect<Item: Record>(
    _ page: Page<Item>, again request: PageRequest, of source: any DataSource<Item>,
    _ occasion: String
  ) async throws(SourceError) {
    let found: String
    do throws(SourceError) {
      let other = try await source.page(request)
      guard other.records != page.records else { return }
      guard other.provenance.origin == page.provenance.origin else { throw .otherTier }
      found = other.records.idsInWords
    } catch {
      guard error.code == .invalidCursor else { throw error }
      found = error.text
    }
    note(
      expected: page.records.idsInWords, found: "\(found), \(occasion)", at: request.text)
  }
}

extension Collection where Element: Identifiable, Element.ID: CustomStringConvertible {
  /// The ids in words, at most five of them: `'1', '2'`.
  var idsInWords: String {
    guard !isEmpty else { return "nothing" }
    return prefix(5).map { "'\($0.id)'" }.joined(separator: ", ") + (count > 5 ? " …" : "")
  }
}
