extension DataSource {
  /// Uses a second source if this one fails.
  ///
  /// Only the *first* page of a listing, or a single record, falls back. The provenance and the cursor
  /// carry the reason, so that the second page, even in another process, still has it. A cursor belongs
  /// to the source that made it, so one listing never mixes the two: a failure in the middle is a failure.
  /// If the second source fails too, or does not know an id, the first one's error is thrown: then the
  /// record may well exist. If the second source is malformed, the error says that too.
  ///
  /// A call whose policy forbids it (see ``CachePolicy/mayFallBack``) does not fall back, and cannot continue a
  /// listing of the second source.
  ///
  /// Fallbacks that follow each other directly act as one chain, and tag each cursor once.
  ///
  /// - Parameters:
  ///   - second: The source to fall back to.
  ///   - condition: Selects the errors that fall back, among those that may (see
  ///     ``SourceError/allowsFallback``); all by default.
  public func fallback(
    to second: any DataSource<Item>,
    when condition: @escaping @Sendable (SourceError) -> Bool = { _ in true }
  ) -> some DataSource<Item> {
    Fallback<Item>(
      base: (self as? ErasedSource<Item>) ?? erased, second: second,
      condition: { $0.allowsFallback && condition($0) })
  }
}

/// A chain of sources: tier 0 is the service, each further one stands in for those before it.
private struct Fallback<Item: SourceRecord>: Decorator {
  // Without its type, so that a chain is found by a type, and not by a protocol, which takes a search of all conformances.
  let base: ErasedSource<Item>
  let second: any DataSource<Item>
  let condition: @Sendable (SourceError) -> Bool

  var label: String { "fallback(to: \(second))" }
  var replacements: [AsyncStream<Void>] { base.replacements + second.replacements }

  /// The number of the last tier.
  private var lastTier: Int { ((base.base as? Fallback<Item>)?.lastTier ?? 0) + 1 }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    guard let cursor = request.cursor else {
      let page: Page<Item>
      do { page = try await base.page(request) } catch let error
        where request.cachePolicy.mayFallBack && condition(error)
      {
        Observer.current(.fellBack(error))
        return try tagged(await secondPage(request, after: error), because: error)
      }
      return try tagged(page, because: nil)
    }
    let (inner, reason) = try opened(cursor)
    guard let reason else {
      return try tagged(await base.page(request.after(inner)), because: nil)
    }
    guard request.cachePolicy.mayFallBack else {
      throw SourceError(
        .unreachable, "cannot continue a listing of local data: fallback is disabled")
    }
    return try tagged(await second.page(request.after(inner)), because: reason)
  }

  func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    do { return try await base.item(id, cachePolicy: cachePolicy) } catch let error
      where cachePolicy.mayFallBack && condition(error)
    {
      let reason = error
      Observer.current(.fellBack(reason))
      do {
        let found = try await second.item(id, cachePolicy: cachePolicy)
        return LookupResult(
          found.item, provenance: found.provenance.because(reason), warnings: found.warnings)
      } catch let error where error.code == .notFound || error.allowsFallback {
        throw reason.adding(error)
      }
    }
  }

  func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    guard let cursor = request.cursor else {
      return base.cursor(skipping: count, from: request).flatMap { tagged($0, because: nil) }
    }
    guard let (inner, reason) = try? opened(cursor) else { return nil }
    let request = request.after(inner)
    let ahead =
      reason == nil
      ? base.cursor(skipping: count, from: request) : second.cursor(skipping: count, from: request)
    return ahead.flatMap { tagged($0, because: reason) }
  }

  /// The second source's first page, or the first one's error, whose remedy matters.
  private func secondPage(
    _ request: PageRequest, after reason: SourceError
  ) async throws(SourceError) -> Page<Item> {
    do { return try await second.page(request) } catch let error where error.allowsFallback {
      throw reason.adding(error)
    }
  }

  // MARK: - Tags

  /// The number of this tier is part of a tag only where the chain has more than two.
  private var tierSuffix: String { lastTier == 1 ? "" : "\(lastTier)" }

  /// The cursor in the form that its source made, and the reason if that is the second source.
  private func opened(_ cursor: PageCursor) throws(SourceError) -> (
    PageCursor, because: SourceError?
  ) {
    let parts = cursor.description.split(
      separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let inner = PageCursor(String(parts[1])) else { throw .damaged(cursor) }
    if parts[0].hasSuffix(tierSuffix),
      let code = SourceError.Code(String(parts[0].dropLast(tierSuffix.count)))
    {
      return (inner, SourceError(code, code.text))
    }
    if lastTier > 1 { return (cursor, nil) }  // the tag of a tier before
    guard parts[0] == "ok" else { throw .damaged(cursor) }
    return (inner, nil)
  }

  /// A cursor with a tag: `ok` for tier 0, else the reason's code and the tier's number from 2 on.
  private func tagged(_ cursor: PageCursor, because reason: SourceError?) -> PageCursor? {
    if let reason {
      return PageCursor(joining: ["\(reason.code)\(tierSuffix)", cursor.description])
    }
    return lastTier > 1 ? cursor : PageCursor(joining: ["ok", cursor.description])
  }

  private func tagged(
    _ page: Page<Item>, because reason: SourceError?
  ) throws(SourceError) -> Page<Item> {
    var page = page
    if let next = page.next {
      page.next = tagged(next, because: reason)
      // Without its cursor this page would look like the last.
      guard page.next != nil else { throw .positionTooLong }
    }
    if let reason { page.provenance = page.provenance.because(reason) }
    return page
  }
}

extension SourceError {
  /// This error, which also names a fallback that cannot be read: unlike an unreachable service, only
  /// the author of the source can mend it.
  fileprivate func adding(_ fallback: SourceError) -> SourceError {
    guard fallback.code == .malformed else { return self }
    var error = self
    error.message += "; \(fallback.message)"
    error.cause = error.cause ?? fallback
    return error
  }
}
