public import AggregatorCore
package import Foundation

/// Fetches the pages of a service into the store, those that came together in one transaction.
public struct Sync<Item: Record>: Sendable {
  let base: any DataSource<Item>
  let shelf: Shelf<Item>
  /// How many records upstream is asked for at a time.
  let size: Int
  let course: SyncCourse
  let clock: any Clock<Duration>
  let now: @Sendable () -> Date
  /// Who is told that it waits.
  let observer: Observer

  /// How long to wait at first, and at most, where the service does not say until when.
  private static var firstWait: Duration { .seconds(60) }
  private static var longestWait: Duration { .seconds(15 * 60) }

  package init(
    base: any DataSource<Item>, shelf: Shelf<Item>, size: Int, course: SyncCourse,
    clock: any Clock<Duration>, now: @escaping @Sendable () -> Date, observer: Observer
  ) {
    self.base = base
    self.shelf = shelf
    self.size = size
    self.course = course
    self.clock = clock
    self.now = now
    self.observer = observer
  }

  /// The name of the place where it goes on.
  private var placeName: String {
    switch course {
    case .pass(let collection): "sync \(collection)"
    case .growth(let collection): Intake<Item>.place(of: collection)
    }
  }

  /// Fetches page after page, from where the last run stopped.
  ///
  /// Each page's records are stored in one transaction with where the next run goes on. Whatever ends it, even
  /// `kill -9`, all pages before that are kept and are not fetched again.
  ///
  /// - Parameters:
  ///   - pages: How many pages at most, 1 or more; `nil` for all.
  ///   - jobs: How many pages are asked for at a time, 1 or more; they are stored in order all the same.
  ///     More than one takes effect where pages can be addressed ahead.
  ///   - waits: Whether to wait until the service, or our own limit, lets us go on; otherwise that ends
  ///     it with `rateLimited`.
  ///   - progress: Called after each transaction.
  /// - Returns: What it did, and why it did no more.
  public func run(
    upTo pages: Int?, jobs: Int, waits: Bool, progress: @Sendable (SyncResult) -> Void
  ) async -> SyncResult {
    var result = SyncResult()
    var patience = Self.firstWait
    while true {
      let before = result.pages
      let bound = pages.map { $0 - result.pages }
      do throws(SourceError) {
        guard bound.map({ $0 > 0 }) ?? true,
          try await walk(upTo: bound, jobs, &result, progress)
        else { return result }
      } catch {
        guard waits, error.code == .rateLimited else {
          result.failure = error
          return result
        }
        // Many services say that it is too much, and not until when.
        if result.pages > before { patience = Self.firstWait }
        let asked = error.retryAfter ?? .zero
        let wait = asked > .zero ? asked : patience
        if asked <= .zero { patience = min(patience * 2, Self.longestWait) }
        observer(.waiting(wait, reason: error.message))
        do { try await clock.sleep(for: wait) } catch {
          result.failure = .cancelled
          return result
        }
      }
    }
  }

  /// Walks from where the last run stopped.
  ///
  /// - Returns: Whether another process went on in the meantime, so that this one has to look again.
  private func walk(
    upTo bound: Int?, _ jobs: Int, _ result: inout SyncResult,
    _ progress: (SyncResult) -> Void
  ) async throws(SourceError) -> Bool {
    var written = try await shelf.store.place(placeName, of: shelf.source)
    guard written != Intake<Item>.end else {
      result.isComplete = true
      return false
    }
    var place = known(written)
    if result.pages == 0 { result.earlierPages = place.pages }
    if written != nil, place.cursor == nil { result.hasRestarted = true }
    let walk = Writing(base: base, shelf: shelf).pages(
      after: place.cursor, size: size, upTo: WalkBound(pages: bound),
      // One job fetches and stores in turns, so that at most one page is ever fetched in vain.
      ahead: jobs > 1 ? jobs : 0, passing: place.cursor == nil ? 0 : place.records,
      remembering: .pages
    ).makeAsyncIterator()
    while true {
      var batch = SyncBatch<Item>(from: place)
      let end = await fill(&batch, from: walk)
      if batch.pages > 0 {
        let move = move(from: written, place, to: batch.place, isLast: batch.isLast)
        let changes = try await shelf.save(
          written: batch.records, move: move, at: batch.place.date)
        result.add(batch, changes)
        guard changes.hasMoved else { return true }
        (written, place) = (move.to, batch.place)
        result.passed = place.records
        if batch.isLast {
          result.isComplete = true
          if isPass { result.doubt = place.doubt ?? changes.shortCensus.map(place.doubt(met:)) }
        }
        progress(result)
      }
      switch end {
      case nil: continue
      case .success: return false
      case .failure(.invalidCursor) where place.cursor != nil:
        // Upstream counts in another way now. What is known stays known.
        try await startOver(from: written)
        result.hasRestarted = true
        return true
      case .failure(let error): throw error
      }
    }
  }

  /// Takes the next page, and those after it that have come already.
  ///
  /// - Returns: How the walk ended; `nil` if it goes on.
  private func fill(
    _ batch: inout SyncBatch<Item>, from walk: Walk<Written<Item>>.Iterator
  ) async -> Result<Void, SourceError>? {
    do throws(SourceError) {
      repeat {
        guard let step = try await walk.next() else { return .success(()) }
        // Whoever went on would never come back to these records.
        guard !step.page.isUnreadable else { throw .unreadable(step.page.unreadable) }
        if let end = step.end, end.isStall { throw .stalled(end) }
        batch.add(step.page, at: now())
        if step.end != nil { return .success(()) }
      } while batch.hasRoom && walk.isNextHere
      return nil
    } catch {
      return .failure(error)
    }
  }

  private var isPass: Bool { if case .pass = course { true } else { false } }

  /// Where the last run stopped.
  private func known(_ written: String?) -> SyncPlace {
    let beginning = SyncPlace(at: now())
    guard let written else { return beginning }
    switch course {
    case .pass: return SyncPlace(written, at: now()) ?? beginning
    case .growth:
      var place = beginning
      place.cursor = Cursor(written)
      return place
    }
  }

  private func move(
    from written: String?, _ place: SyncPlace, to next: SyncPlace, isLast: Bool
  ) -> PlaceMove {
    switch course {
    case .pass:
      let isTrusted = isLast && next.doubt == nil
      let census = Census(
        begins: place.cursor == nil,
        completion: isTrusted ? .init(began: next.began, least: next.least) : nil)
      return PlaceMove(
        placeName, from: written, to: isLast ? nil : next.text, census: census,
        replacesPages: isLast)
    case .growth:
      return PlaceMove(
        placeName, from: written, to: next.cursor?.description ?? Intake<Item>.end)
    }
  }

  /// Forgets the place, if it is still this one.
  private func startOver(from written: String?) async throws(SourceError) {
    _ = try await shelf.save([], move: PlaceMove(placeName, from: written, to: nil), at: now())
  }
}

/// What it fetches, of which of upstream's collections, where settings choose.
package enum SyncCourse: Hashable, Sendable {
  /// All that there is, again and again; at the end of each pass it is known what has vanished.
  case pass(of: String)
  /// More of what has no end, from where the last sync or ``Intake`` ended.
  case growth(of: String)
}
