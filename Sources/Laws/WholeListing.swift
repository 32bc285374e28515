import AggregatorKit
import Synchronization

/// A list, or a search, that was read to its end, and the requests that it took.
struct WholeListing<Item: SourceRecord>: Sendable {
  let listing: CollectedListing<Item>

  /// Empty if requests are not counted.
  let requests: [HTTPRequest]

  /// False if there are, or may be, more records.
  var isWhole: Bool { listing.end == .exhausted && depthLimit == nil }

  /// The warning that the service lists only its first records.
  var depthLimit: Warning? {
    listing.pages.last?.page.warnings.first { $0.code == .depthLimit }
  }

  /// The IDs as the source sent them, also those that it sent again.
  var keys: [RecordKey] { listing.pages.flatMap { $0.page.records.map(\.key) } }

  /// The number of rows, also of those that could not be read or were left out.
  var rowCount: Int { listing.pages.reduce(0) { $0 + $1.page.rowCount } }

  /// The number of pages of the service.
  var pageCount: Int { requests.isEmpty ? listing.pages.count : requests.count }

  /// The last page: `list, limit 5, page 4 of 4`.
  var lastCall: String { listing.text(ofPage: max(listing.pages.count - 1, 0)) }

  /// The total that the service reports on each page that has rows.
  var totals: [(page: Int, total: Int)] {
    listing.pages.enumerated().compactMap { index, step in
      guard let total = step.page.reportedTotal ?? step.page.total,
        step.page.rowCount > 0 || index == 0
      else { return nil }
      return (index + 1, total)
    }
  }

  /// The first page that repeats records, and what it repeats; `nil` if no ID occurs twice.
  var repetition: (text: String, call: String)? {
    var pages: [RecordKey: Int] = [:]
    for (index, (_, page)) in listing.pages.enumerated() {
      let call = listing.text(ofPage: index)
      let again = page.records.filter { pages[$0.key] != nil }
      if let other = again.first.flatMap({ pages[$0.key] }) {
        let isSame = page.records.map(\.key) == listing.pages[other].page.records.map(\.key)
        let text =
          "page \(index + 1) repeats \(isSame ? "" : "\(again.idList) of ")page \(other + 1)"
        return (text + hint(isSame && other == 0 && index == 1, again.count, after: index), call)
      }
      for record in page.records where pages.updateValue(index, forKey: record.key) != nil {
        return ("page \(index + 1) has \"\(record.id)\" twice", call)
      }
    }
    return nil
  }

  /// The likely cause of a repetition.
  private func hint(_ isFirstPage: Bool, _ count: Int, after index: Int) -> String {
    let known = Set(listing.pages[...index].flatMap { $0.page.records.map(\.key) })
    let goesOn = listing.pages[(index + 1)...].contains { step in
      step.page.records.contains { !known.contains($0.key) }
    }
    if isFirstPage {
      return goesOn
        ? ": does its paging start one page too early?"
        : ": does the service ignore what its paging sends?"
    }
    return count > 1 ? ": do its pages overlap?" : ""
  }
}

extension Page {
  /// The number of rows, also of those that could not be read or were left out.
  var rowCount: Int { records.count + hidden + unreadable.count }
}

/// The list that the laws of one report have read.
final class ListMemory<Item: SourceRecord>: Sendable {
  fileprivate let list = Mutex<WholeListing<Item>?>(nil)

  func forget() { list.withLock { $0 = nil } }
}

extension LawSubject {
  /// The list, read to its end within a bound of its own; once for all laws of a report.
  func wholeList() async -> WholeListing<Item> {
    if let known = memory?.list.withLock({ $0 }) { return known }
    let list = await readWhole()
    // Another law may find it without a failure.
    if list.listing.failure == nil { memory?.list.withLock { $0 = list } }
    return list
  }

  /// Reads the list, or a search, to its end, within a bound of its own.
  func readWhole(_ query: SearchQuery? = nil) async -> WholeListing<Item> {
    let bound = pageSize == nil || isEndless ? bound : PaginationBound(items: 2000)
    let start = PageRequest(matching: query, limit: pageSize ?? sizes.max() ?? 7)
    func read() async -> CollectedListing<Item> {
      await CollectedListing(source, from: start, upTo: bound)
    }
    guard isRemote, let requestCounter else {
      return WholeListing(listing: await read(), requests: [])
    }
    let (listing, requests) = await requestCounter.requests(during: read)
    return WholeListing(listing: listing, requests: requests)
  }

  /// The records of the list that the request of another page leads to, read in the place of the first page;
  /// `nil` if the reply says neither that there are records nor that there are none.
  func records(
    at number: Int, of parameter: PageParameter, matching query: SearchQuery? = nil
  ) async throws(SourceError) -> [Item]? {
    guard let requestCounter else { return nil }
    let start = PageRequest(matching: query, limit: pageSize ?? sizes.max() ?? 7)
    let outcome = await requestCounter.replacing({ parameter.request($0, at: number) }) {
      await Result { () async throws(SourceError) in try await source.page(start) }
    }
    do throws(SourceError) { return try outcome.get().records } catch {
      switch error.code {
      case .cancelled: throw error
      // By these statuses services answer the request of a page that does not exist.
      case .notFound, .invalidRequest: return []
      case .rejected where !requestCounter.isSpent: return []
      default: return nil
      }
    }
  }
}
