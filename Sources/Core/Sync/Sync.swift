import Foundation

/// Fetches the pages of a service into the store, one transaction each.
struct Sync<Base: DataSource>: Syncing {
  let base: Base
  let shelf: Shelf<Base.Item>
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

  /// The name of the place where it goes on.
  private var placeName: String {
    switch course {
    case .pass(let collection): "sync \(collection)"
    case .growth(let collection): Intake<Base>.place(of: collection)
    }
  }

  func sync(
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
    guard written != Intake<Base>.end else {
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
      let step: WalkStep<Written<Base.Item>>?
      do { step = try await walk.next() } catch .invalidCursor where place.cursor != nil {
        // Upstream counts in another way now. What is known stays known.
        try await startOver(from: written)
        result.hasRestarted = true
        return true
      }
      guard let step else { return false }
      // Whoever went on would never come back to these records.
      guard !step.page.isUnreadable else { throw .unreadable(step.page.unreadable) }
      if let end = step.end, end.isStall { throw .stalled(end) }
      let next = place.after(step.page, at: now())
      let move = move(from: written, place, to: next, isLast: step.page.next == nil)
      let changes = try await shelf.save(
        written: step.page.records, move: move, at: next.date)
      result.add(step.page, changes)
      guard changes.hasMoved else { return true }
      (written, place) = (move.to, next)
      result.passed = next.records
      if step.page.next == nil {
        result.isComplete = true
        if isPass { result.doubt = next.doubt ?? changes.shortCensus.map(next.doubt(met:)) }
      }
      progress(result)
      if step.end != nil { return false }
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
        placeName, from: written, to: next.cursor?.description ?? Intake<Base>.end)
    }
  }

  /// Forgets the place, if it is still this one.
  private func startOver(from written: String?) async throws(SourceError) {
    _ = try await shelf.save([], move: PlaceMove(placeName, from: written, to: nil), at: now())
  }
}
