import AggregatorKit
import AggregatorLaws
import Foundation
import Synchronization

extension Law {
  static let oneState = Law(
    "one-state",
    "A cached list of a service that changed after it was cached is one of its states, not a mix.",
    given: [anyPageSize, skipConsistent, cursorLasts], OneState())
}

/// Fills a cache page by page, lets records appear at the top of the service, and reads the list again.
private struct OneState: LawCheck {
  private static let freshness = Duration.seconds(1200)
  private static let bound = PaginationBound(pages: 3)

  /// The times of the second pass, in seconds: all pages fresh, the first one stale, all stale.
  private static let times = [400.0, 1250, 1700]

  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    if subject.repeatsRecords { return law.notApplicable("the service repeats records") }
    let size = try await subject.source.page(PageRequest(limit: 7)).records.count
    // Not a whole page.
    let inserted = size - 2
    guard inserted > 0 else { return law.notApplicable("pages are too small") }
    let start = PageRequest(limit: size)
    guard let ahead = subject.source.cursor(skipping: inserted, from: start) else {
      return law.notApplicable("the source cannot skip ahead")
    }
    let list = await CollectedListing(subject.source, from: start, upTo: Self.bound)
    if let failure = list.failure { throw failure }
    guard list.pages.count > 1, list.records.count > inserted else {
      return law.notApplicable("there is only one page")
    }
    // Otherwise the number of records does not tell the position.
    let shifted = await CollectedListing(
      subject.source, from: start.after(ahead), upTo: Self.bound)
    if let failure = shifted.failure { throw failure }
    let pages = (list.pages + shifted.pages).map(\.page)
    guard pages.allSatisfy({ $0.next == nil || $0.records.count == size }) else {
      return law.notApplicable("pages are short")
    }
    let new = list.records.map(\.id)
    let old = Array(new.dropFirst(inserted))
    for time in Self.times {
      let collected = try await collectPages(
        of: subject, from: start, inserting: inserted, at: time)
      let ids = collected.records.map(\.id)
      guard ![old, new].contains(where: { collected.shows($0, isWhole: !list.isTruncated) }) else {
        continue
      }
      let pair = zip(ids, ids.first == new.first ? new : old).first { $0 != $1 }
      let difference =
        pair.map { "\"\($0.0)\" follows instead of \"\($0.1)\"" }
        ?? "it has \(ids.count.of("record")) instead of \(new.count) or \(old.count)"
      return law.violation(
        "a cached list mixes two states of the service: \(difference)",
        at: "\(start.text), cached, \(Int(time)) s after its first page")
    }
  }

  private func collectPages<Item: SourceRecord>(
    of subject: LawSubject<Item>, from start: PageRequest, inserting inserted: Int, at time: Double
  ) async throws(SourceError) -> CollectedListing<Item> {
    let home = URL.temporaryDirectory.appending(path: "law-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    let service = ChangingSource(base: subject.source, inserted: inserted)
    let recordStore = RecordStore<Item>(
      "law", in: SQLiteStore(at: home.appending(path: "store.sqlite"))
    ) { [fields = subject.fields] in fields.searchableText(of: $0) }
    func cached(at seconds: Double) -> some DataSource<Item> {
      let date = Date(timeIntervalSince1970: 1_700_000_000 + seconds)
      return service.cached(in: recordStore, freshFor: Self.freshness, now: { date })
        .cachePolicy(.noFallback)
    }
    var request = start
    for number in 0..<(Self.bound.pages ?? 1) {
      guard let next = try await cached(at: Double(number) * 100).page(request).next else { break }
      request = request.after(next)
    }
    service.change()
    let collected = await CollectedListing(cached(at: time), from: start, upTo: Self.bound)
    if let failure = collected.failure { throw failure }
    guard service.origins.count < 2 else { throw .differentOrigins }
    return collected
  }
}

extension CollectedListing {
  /// True if these are the first records of `state`, or all if it `isWhole`.
  fileprivate func shows(_ state: [Item.ID], isWhole: Bool) -> Bool {
    let ids = records.map(\.id)
    return ids.starts(with: state) && (!isWhole || ids.count == state.count)
      || isTruncated && state.starts(with: ids)
  }
}

/// A source whose first records appear when it changes.
private final class ChangingSource<Item: SourceRecord>: DataSource {
  private let base: any DataSource<Item>
  private let inserted: Int
  private let state = Mutex((hasChanged: false, origins: Set<Provenance.Origin>()))

  init(base: any DataSource<Item>, inserted: Int) {
    self.base = base
    self.inserted = inserted
  }

  /// The origins of all pages so far.
  var origins: Set<Provenance.Origin> { state.withLock(\.origins) }

  func change() { state.withLock { $0.hasChanged = true } }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    let hasChanged = state.withLock(\.hasChanged)
    let shifted = hasChanged ? request.cursor : base.cursor(skipping: inserted, from: request)
    var page = try await base.page(request.after(shifted))
    state.withLock { _ = $0.origins.insert(page.provenance.origin) }
    if !hasChanged, page.next != nil {
      page.next = base.cursor(skipping: request.limit, from: request)
    }
    return page
  }

  func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    try await base.item(id, cachePolicy: cachePolicy)
  }
}
