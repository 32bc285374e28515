import AggregatorKit
import AggregatorLaws

extension Law {
  static let skipConsistent = Law(
    "skip-consistent",
    "A cursor that skips ahead leads to the records that paging reaches there.",
    given: [anyPageSize], SkipConsistent())

  static let cursorLasts = Law(
    "cursor-lasts",
    "A cursor stored as text leads to the same page again, also in another process.",
    given: [listComplete], CursorLasts())

  static let cursorForeign = Law(
    "cursor-foreign", "A cursor of another source or query is rejected with invalidCursor.",
    CursorForeign())

  static let cursorDamaged = Law(
    "cursor-damaged", "A damaged cursor is rejected with invalidCursor, never ignored.",
    CursorDamaged())
}

private struct SkipConsistent: LawCheck {
  private static let sampleSize = 3

  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    if subject.repeatsRecords {
      return law.notApplicable("the service repeats records, so positions are estimates")
    }
    let reference = await subject.collectPages()
    var isOffered = false
    // From the start, and from the second page.
    for (passed, after) in [(0, nil), (reference.passed, reference.pages.first?.page.next)]
    where passed == 0 || after != nil {
      for count in [1, 2, 7, 20] where passed + count < reference.records.count {
        let start = PageRequest(after: after, limit: Self.sampleSize)
        guard let cursor = subject.source.cursor(skipping: count, from: start) else { continue }
        isOffered = true
        let reached = await CollectedListing(
          subject.source, from: start.after(cursor),
          upTo: PaginationBound(items: Self.sampleSize, pages: 3))
        let expected = reference.records.dropFirst(passed + count).prefix(Self.sampleSize)
        let call = start.text + (after == nil ? "" : ", page 2")
        try law.expect(reached, expected, "\(call), skipping \(count)", reference)
      }
    }
    if let failure = reference.failure { throw failure }
    if !isOffered { law.notApplicable("the source cannot skip ahead") }
  }
}

extension CollectedListing {
  fileprivate var passed: Int { pages.first?.page.records.count ?? 0 }
}

extension LawContext {
  fileprivate mutating func expect<Item>(
    _ reached: CollectedListing<Item>, _ expected: ArraySlice<Item>, _ call: String,
    _ reference: CollectedListing<Item>
  ) throws(SourceError) {
    if let failure = reached.failure, failure.code != .invalidCursor { throw failure }
    guard
      !reached.records.elementsEqual(expected.prefix(reached.records.count))
        || reached.records.isEmpty
    else { return }
    try reached.requireSameOrigin(as: reference)
    violation(
      "skipping ahead leads to \(reached.failure?.text ?? reached.records.idList) instead of "
        + (expected.first.map { "\"\($0.id)\" and the following records" } ?? "the end"), at: call)
  }

  fileprivate mutating func expect<Item: SourceRecord>(
    _ page: Page<Item>, again request: PageRequest, of source: any DataSource<Item>,
    _ occasion: String
  ) async throws(SourceError) {
    let found: String
    do throws(SourceError) {
      let other = try await source.page(request)
      guard other.records != page.records else { return }
      guard other.provenance.origin == page.provenance.origin else { throw .differentOrigins }
      found = other.records.idList
    } catch {
      guard error.code == .invalidCursor else { throw error }
      found = error.text
    }
    violation(
      "a stored cursor leads to \(found) instead of \(page.records.idList), \(occasion)",
      at: "\(request.text), page 2")
  }

  /// Expects `invalidCursor`; throws a failure of the service, which says nothing about the cursor.
  mutating func expectInvalid<Item: SourceRecord>(
    _ cursor: PageCursor, _ label: String, in request: PageRequest, of source: any DataSource<Item>
  ) async throws(SourceError) {
    let request = request.after(cursor)
    let found: String
    do throws(SourceError) {
      let page = try await source.page(request)
      found = "a page of \(page.records.count.of("record"))"
    } catch {
      if error.code == .invalidCursor { return }
      if error.isServiceFailure { throw error }
      found = error.text
    }
    violation(
      "an invalid cursor leads to \(found) instead of the error invalidCursor",
      at: "\(request.text), with \(label)")
  }
}

private struct CursorLasts: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    if subject.spendsTokens { return law.notApplicable(LawContext.spentTokens) }
    var wasFollowed = false
    for query in [nil, subject.search == .none ? nil : subject.query] {
      let start = PageRequest(matching: query, limit: 2)
      guard let next = try await subject.source.page(start).next else { continue }
      wasFollowed = true
      guard let stored = PageCursor(next.description), stored == next else {
        law.violation("the cursor \"\(next)\" cannot be read again from its text", at: start.text)
        continue
      }
      let request = start.after(stored)
      let page = try await subject.source.page(request)
      try await law.expect(page, again: request, of: subject.source, "on the second request")
      guard let recreate = subject.recreate else { continue }
      try await law.expect(
        page, again: request, of: try recreate(), "from a recreated source")
    }
    if !wasFollowed { law.notApplicable("there is only one page") }
  }
}

private struct CursorForeign: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    let list = PageRequest(limit: 1)
    let next = try await subject.source.page(list).next
    let foreign = try CursorSeal("another source", for: nil).close(7)
    let owner = "the cursor of another source"
    try await law.expectInvalid(foreign, owner, in: list, of: subject.source)
    if let wrapped = next.flatMap(foreign.wrapped) {
      try await law.expectInvalid(wrapped, owner, in: list, of: subject.source)
    }
    guard subject.search != .none, let query = subject.query else { return }
    let search = PageRequest(matching: query, limit: 1)
    if let next {
      try await law.expectInvalid(next, "the list's cursor", in: search, of: subject.source)
    }
    guard let found = try await subject.source.page(search).next else { return }
    let other = PageRequest(matching: try SearchQuery("\(query) \(query)"), limit: 1)
    for request in [list, other] {
      try await law.expectInvalid(
        found, "the cursor of \(search.text)", in: request, of: subject.source)
    }
  }
}

extension PageCursor {
  /// This sealed token with the prefixes that a chain adds to `other`.
  fileprivate func wrapped(as other: PageCursor) -> PageCursor? {
    let words = other.description.split(separator: ".").dropLast(2)
    return words.isEmpty ? nil : PageCursor(joining: words.map(String.init) + [description])
  }
}

private struct CursorDamaged: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    let request = PageRequest(limit: 1)
    let next = try await subject.source.page(request).next
    let tokens = ["x", "c.", "cMQ.000000000"] + (next?.description.damaged ?? [])
    for cursor in tokens.compactMap({ PageCursor($0) }) where cursor != next {
      try await law.expectInvalid(
        cursor, "the damaged cursor \"\(cursor)\"", in: request, of: subject.source)
    }
  }
}

extension String {
  /// This token with one character changed, removed or added, in several positions.
  fileprivate var damaged: [String] {
    let positions = [index(startIndex, offsetBy: count / 2), index(before: endIndex)]
    let changed = positions.map { position in
      self[..<position] + (self[position] == "a" ? "b" : "a") + self[index(after: position)...]
    }
    return changed.map { String($0) } + [String(dropLast()), self + "a"]
  }
}
