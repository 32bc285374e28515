package import AggregatorKit

package struct CollectedListing<Item: SourceRecord> {
  package private(set) var pages: [(request: PageRequest, page: Page<Item>)] = []

  /// Each record once, in order of arrival.
  package private(set) var records: [Item] = []

  /// `nil` if the source failed.
  package private(set) var end: PaginationEnd?

  package private(set) var failure: SourceError?

  package let start: PageRequest

  /// Fetches pages until the end, the bound, or a failure.
  package init(
    _ source: some DataSource<Item>, from start: PageRequest, upTo bound: PaginationBound
  ) async {
    self.start = start
    var request = start
    let steps = source.pages(
      matching: start.query, after: start.cursor, size: start.limit, upTo: bound, ahead: 0)
    do throws(SourceError) {
      for try await step in steps {
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
  package var isTruncated: Bool { end == nil || end == .itemLimit || end == .pageLimit }

  /// The call of a page: `list, limit 7, page 2 of 7`.
  package func text(ofPage index: Int) -> String {
    pages.count > 1 ? "\(start.text), page \(index + 1) of \(pages.count)" : start.text
  }

  /// The origin of the first page, which decides the origin of the others.
  package var origin: Provenance.Origin? { pages.first?.page.provenance.origin }

  package var reason: SourceError? { pages.first?.page.provenance.reason }

  /// Throws if the origins differ, because such answers cannot be compared.
  package func requireSameOrigin(as other: CollectedListing) throws(SourceError) {
    guard let origin, let theirs = other.origin, origin != theirs else { return }
    throw reason ?? other.reason ?? .differentOrigins
  }
}

extension LawSubject {
  package func collectPages(
    matching query: SearchQuery? = nil, size: Int? = nil
  ) async -> CollectedListing<Item> {
    let start = PageRequest(matching: query, limit: size ?? smallSize)
    return await CollectedListing(source, from: start, upTo: bound)
  }

  /// True if each cursor leads to its page only once.
  package var spendsTokens: Bool { !source.readsAhead }
}

extension LawContext {
  package static var spentTokens: String { "the service sends each page only once" }

  /// The records read may be all, if another request would have shown the end.
  static func unreachedEnd(after count: Int) -> String {
    "the first \(count.of("record")) were read, and the end was not reached within the bound"
  }

  /// Compares the records that both collected; throws the failure that ended one of
  /// them, or if their origins differ.
  package mutating func expectSame<Item>(
    _ collected: CollectedListing<Item>, as reference: CollectedListing<Item>
  ) throws(SourceError) {
    let pair = zip(collected.records, reference.records).enumerated().first { $1.0 != $1.1 }
    let isShort =
      collected.records.count < reference.records.count
      ? !collected.isTruncated : !reference.isTruncated
    let isLength = pair == nil && collected.records.count != reference.records.count && isShort
    if pair != nil || isLength { try collected.requireSameOrigin(as: reference) }
    let isAgain = collected.start == reference.start
    let other = isAgain ? "before" : "with \(reference.start.text)"
    if let (index, (found, expected)) = pair {
      let isSameID = found.id == expected.id
      let what =
        isSameID
        ? "the record \"\(found.id)\" has other details than \(other)"
        : isAgain
          ? "IDs differ between two reads of the same page: \"\(found.id)\" instead of \"\(expected.id)\""
          : "record \(index + 1) is \"\(found.id)\", but \"\(expected.id)\" \(other)"
      violation(what, at: collected.start.text)
    } else if isLength {
      violation(
        "the list has \(collected.records.count.of("record")), but \(reference.records.count) \(other)",
        at: collected.start.text)
    }
    if let failure = collected.failure ?? reference.failure { throw failure }
  }
}

extension SourceError {
  package static var differentOrigins: SourceError {
    SourceError(.unsupported, "answers from different origins cannot be compared")
  }
}
