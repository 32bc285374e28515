import AggregatorKit
import AggregatorLaws

extension Law {
  /// Positions ahead lead where they say.
  static let positionsTrue = Law(
    "positions-true",
    "Where a cursor ahead is offered, it leads to the records that a walk finds there.",
    given: [walkStable, anyPageSize], PositionsTrue())
}

private struct PositionsTrue: LawCheck {
  /// How many records are looked at where a position leads.
  private static let sample = 3

  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    if subject.repeatsRecords {
      return context.exempt("the service is known to repeat records, so positions are guesses")
    }
    let reference = await subject.walk()
    var isOffered = false
    // From the start, and from the second page.
    for (passed, after) in [(0, nil), (reference.passed, reference.pages.first?.page.next)]
    where passed == 0 || after != nil {
      for count in [1, 2, 7, 20] where passed + count < reference.records.count {
        let start = PageRequest(after: after, limit: Self.sample)
        guard let cursor = subject.source.cursor(skipping: count, from: start) else { continue }
        isOffered = true
        let landed = await CollectedPages(
          subject.source, from: start.after(cursor),
          upTo: PaginationBound(items: Self.sample, pages: 3))
        let expected = reference.records.dropFirst(passed + count).prefix(Self.sample)
        try context.expect(landed, expected, "\(start.text), skipping \(count)", reference)
      }
    }
    if let failure = reference.failure { throw failure }
    if !isOffered { context.exempt("it offers no cursor ahead") }
  }
}

extension CollectedPages {
  /// How many records the first page had.
  fileprivate var passed: Int { pages.first?.page.records.count ?? 0 }
}

extension LawContext {
  fileprivate mutating func expect<Item>(
    _ landed: CollectedPages<Item>, _ expected: ArraySlice<Item>, _ place: String,
    _ reference: CollectedPages<Item>
  ) throws(SourceError) {
    if let failure = landed.failure, failure.code != .invalidCursor { throw failure }
    guard
      !landed.records.elementsEqual(expected.prefix(landed.records.count))
        || landed.records.isEmpty
    else { return }
    try landed.expectTier(of: reference)
    note(
      expected: expected.first.map { "'\($0.id)' and what follows" } ?? "nothing",
      found: landed.failure?.text ?? landed.records.idsInWords, at: place)
  }
}

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
