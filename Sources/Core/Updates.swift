extension DataSource {
  /// The page of the cached or bundled data at once, however slow the service is, and then the one that the
  /// request's own policy gives, if it differs.
  ///
  /// Pages differ if their records, total or next cursor do, or their provenance: a page of the service that has
  /// the same records as the cached one says that they are current. With fresh cached data, the normal policy
  /// gives it again, so that there is no second page.
  ///
  /// ```swift
  /// for try await page in heroes.updates(for: PageRequest()) { show(page) }
  /// ```
  ///
  /// While the service is asked, the cached page names no reason. A failure is thrown after it. The second call begins
  /// when the second page is awaited.
  public func updates(
    for request: PageRequest
  ) -> some AsyncSequence<Page<Item>, SourceError> & Sendable {
    var cached = request
    cached.cachePolicy = .offline
    let isAsking = request.cachePolicy.mayAskService
    return Updates(cached: { [cached] () throws(SourceError) in
      var page = try await page(cached)
      if isAsking { page.provenance.withdrawOffline() }
      return page
    }) {
      () throws(SourceError) in
      try await page(request)
    } areEqual: {
      $0.records == $1.records && $0.total == $1.total && $0.next == $1.next
        && $0.provenance.isAlike($1.provenance)
    }
  }

  /// The cached or bundled record at once, however slow the service is, and then the one that the policy gives, if
  /// it or its provenance differs.
  public func updates(
    for id: Item.ID, cachePolicy: CachePolicy = .normal
  ) -> some AsyncSequence<LookupResult<Item>, SourceError> & Sendable {
    Updates(cached: { () throws(SourceError) in
      var found = try await item(id, cachePolicy: .offline)
      if cachePolicy.mayAskService { found.provenance.withdrawOffline() }
      return found
    }) {
      () throws(SourceError) in
      try await item(id, cachePolicy: cachePolicy)
    } areEqual: {
      $0.item == $1.item && $0.provenance.isAlike($1.provenance)
    }
  }
}

extension Provenance {
  /// Removes the reason of an answer that was made offline while the service is being asked: nobody is offline.
  package mutating func withdrawOffline() { if reason?.code == .offline { reason = nil } }

  /// True if a reader learns nothing from the other one: also a chain may be offline that was asked for the service's data.
  fileprivate func isAlike(_ other: Provenance) -> Bool {
    origin == other.origin && fetchedAt == other.fetchedAt && endpoint == other.endpoint
      && reason?.code == other.reason?.code
  }
}

private struct Updates<Answer: Sendable>: AsyncSequence, Sendable {
  typealias Call = @Sendable () async throws(SourceError) -> Answer

  let cached: Call
  let current: Call
  let areEqual: @Sendable (Answer, Answer) -> Bool

  struct Iterator: AsyncIteratorProtocol {
    var calls: ArraySlice<Call>
    let areEqual: @Sendable (Answer, Answer) -> Bool
    var last: Answer?

    mutating func next() async throws(SourceError) -> Answer? {
      try await next(isolation: #isolation)
    }

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(SourceError) -> Answer? {
      while let call = calls.popFirst() {
        do {
          let answer = try await call()
          if let last, areEqual(last, answer) { return nil }
          last = answer
          return answer
        } catch {
          // If nothing is cached, only the service can answer.
          guard !calls.isEmpty, error.code != .cancelled else {
            calls = []
            throw error
          }
        }
      }
      return nil
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(calls: [cached, current], areEqual: areEqual) }
}
