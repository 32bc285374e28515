import AggregatorKit
import AggregatorLaws

struct CollectedPages<Item: Record> {
  private(set) var pages: [(request: PageRequest, page: Page<Item>)] = []

  /// Each record once, in order of arrival.
  private(set) var records: [Item] = []

  /// `nil` if the source failed.
  private(set) var end: PaginationEnd?

  private(set) var failure: SourceError?

  let start: PageRequest

  /// Fetches pages until the end, the bound, or a failure.
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

  /// True if there may be more records.
  var isTruncated: Bool { end == nil || end == .itemLimit || end == .pageLimit }

  /// The origin of the first page, which decides the origin of the others.
  var origin: Provenance.Origin? { pages.first?.page.provenance.origin }

  var reason: SourceError? { pages.first?.page.provenance.reason }
}

extension LawSubject {
  func collectPages(matching query: Query? = nil, size: Int = 7) async -> CollectedPages<Item> {
    await CollectedPages(source, from: PageRequest(matching: query, limit: size), upTo: bound)
  }
}

extension LawContext {
  /// As far as both went; throws the failure that ended one of them, or if their origins differ.
  mutating func expectSame<Item>(
    _ walk: CollectedPages<Item>, as reference: CollectedPages<Item>
  ) throws(SourceError) {
    let pair = zip(walk.records, reference.records).enumerated().first { $1.0 != $1.1 }
    let isShort =
      walk.records.count < reference.records.count ? !walk.isTruncated : !reference.isTruncated
    let isLength = pair == nil && walk.records.count != reference.records.count && isShort
    if pair != nil || isLength { try walk.requireSameOrigin(as: reference) }
    if let (index, (found, expected)) = pair {
      let differs = found.id == expected.id ? ", with other details" : ""
      note(
        expected: "\"\(expected.id)\" as record \(index + 1), as with \(reference.start.text)",
        found: "\"\(found.id)\"\(differs)", at: walk.start.text)
    } else if isLength {
      note(
        expected: "\(reference.records.count.records), as with \(reference.start.text)",
        found: walk.records.count.records, at: walk.start.text)
    }
    if let failure = walk.failure ?? reference.failure { throw failure }
  }
}

extension CollectedPages {
  /// Throws if the origins differ, because such answers cannot be compared.
  func requireSameOrigin(as other: CollectedPages) throws(SourceError) {
    guard let origin, let theirs = other.origin, origin != theirs else { return }
    throw reason ?? other.reason ?? .differentOrigins
  }
}

extension SourceError {
  static var differentOrigins: SourceError {
    SourceError(.unsupported, "answers from different origins cannot be compared")
  }
}
