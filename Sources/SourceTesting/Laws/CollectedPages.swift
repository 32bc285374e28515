import AggregatorKit
import AggregatorLaws

/// A walk that is over: what it found, and how it ended.
struct CollectedPages<Item: Record> {
  /// The pages as they came.
  private(set) var pages: [(request: PageRequest, page: Page<Item>)] = []

  /// The records, each once, in the order of their coming.
  private(set) var records: [Item] = []

  /// Why it ended; `nil` if the source failed.
  private(set) var end: PaginationEnd?

  /// The failure that ended it.
  private(set) var failure: SourceError?

  /// What was asked for first.
  let start: PageRequest

  /// Walks until the end, the bound, or a failure.
  init(_ source: some DataSource<Item>, from start: PageRequest, upTo bound: PaginationBound) async
  {
    self.start = start
    var request = start
    let walk = source.pages(
      matching: start.query, after: start.cursor, size: start.limit, upTo: bound, ahead: 0)
    do throws(SourceError) {
      for try await step in walk {
        pages.append((request, step.page))
        records += step.items
        end = step.end
        request = request.after(step.page.next)
      }
    } catch {
      failure = error
    }
  }

  /// Whether there may be more than it found.
  var isOpen: Bool { end == nil || end == .itemLimit || end == .pageLimit }

  /// Who answered the first page, and so decided who answers the walk.
  var origin: Provenance.Origin? { pages.first?.page.provenance.origin }

  /// Why no better tier answered.
  var reason: SourceError? { pages.first?.page.provenance.reason }
}

extension LawSubject {
  /// Walks through the source, within the bound.
  func walk(matching query: Query? = nil, size: Int = 7) async -> CollectedPages<Item> {
    await CollectedPages(source, from: PageRequest(matching: query, limit: size), upTo: bound)
  }
}

extension LawContext {
  /// Expects two walks to find the same, as far as both went.
  ///
  /// - Throws: The failure that ended one of them, or that another tier answered it.
  mutating func expectSame<Item>(
    _ walk: CollectedPages<Item>, as reference: CollectedPages<Item>
  ) throws(SourceError) {
    let pair = zip(walk.records, reference.records).enumerated().first { $1.0 != $1.1 }
    let isShort = walk.records.count < reference.records.count ? !walk.isOpen : !reference.isOpen
    let isLength = pair == nil && walk.records.count != reference.records.count && isShort
    if pair != nil || isLength { try walk.expectTier(of: reference) }
    if let (index, (found, expected)) = pair {
      let differs = found.id == expected.id ? ", otherwise" : ""
      note(
        expected: "'\(expected.id)' as record \(index + 1), as with \(reference.start.text)",
        found: "'\(found.id)'\(differs)", at: walk.start.text)
    } else if isLength {
      note(
        expected: "\(reference.records.count.records), as with \(reference.start.text)",
        found: walk.records.count.records, at: walk.start.text)
    }
    if let failure = walk.failure ?? reference.failure { throw failure }
  }
}

extension CollectedPages {
  /// Refuses to compare what different tiers answered.
  func expectTier(of other: CollectedPages) throws(SourceError) {
    guard let origin, let theirs = other.origin, origin != theirs else { return }
    throw reason ?? other.reason ?? .otherTier
  }
}

extension SourceError {
  /// Two answers that cannot be compared.
  static var otherTier: SourceError {
    SourceError(.unsupported, "the answers to be compared came from different tiers")
  }
}
