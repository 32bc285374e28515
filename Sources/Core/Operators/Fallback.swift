extension DataSource {
  /// Asks a second source for what this one fails to give.
  ///
  /// Only the *first* page of a walk, or a record, falls back; the reason is kept in the provenance and
  /// in the cursor, so that the second page, and the next process, still know it. A cursor belongs to
  /// whoever made it, so a walk never mixes the two; a failure in the middle of a walk is a failure.
  /// Where the second source fails too, the first one's failure is thrown; also where it does not know an
  /// id, because then nobody could say that there is no such record.
  ///
  /// - Parameters:
  ///   - second: Who is asked instead.
  ///   - condition: Which of the failures that allow it (see ``SourceError/allowsFallback``) it stands
  ///     in for; all by default.
  /// - Returns: This source, else `second`.
  public func fallback(
    to second: some DataSource<Item>,
    when condition: @escaping @Sendable (SourceError) -> Bool = { _ in true }
  ) -> some DataSource<Item> {
    Fallback(first: self, second: second, condition: { $0.allowsFallback && condition($0) })
  }

  /// This source alone, with the cursors that it would have with a ``fallback(to:when:)``.
  ///
  /// A walk that began with the one goes on with the other. If the second source made the cursor, the
  /// call fails.
  ///
  /// - Returns: This source.
  package func withoutFallback() -> some DataSource<Item> {
    let refusal = SourceError(
      .unreachable, "the listing began on data at hand, which is not to be used")
    return Fallback(
      first: self, second: UnavailableSource(refusal), condition: { _ in false }, isShown: false)
  }
}

struct Fallback<First: DataSource, Second: DataSource<First.Item>>: DataSource,
  CustomStringConvertible
{
  let first: First
  let second: Second
  let condition: @Sendable (SourceError) -> Bool
  /// Whether it is named in the description.
  var isShown = true

  func page(_ request: PageRequest) async throws(SourceError) -> Page<First.Item> {
    switch try Tier(of: request.cursor) {
    case .first(let cursor):
      return try tagged(await first.page(request.after(cursor)), nil)
    case .second(let cursor, let reason):
      return try tagged(await second.page(request.after(cursor)), reason)
    case nil:
      let page: Page<First.Item>
      do { page = try await first.page(request) } catch let error where condition(error) {
        Observer.current(.fellBack(error))
        return try tagged(await standIn(for: request, after: error), error)
      }
      return try tagged(page, nil)
    }
  }

  func item(_ id: First.Item.ID) async throws(SourceError) -> LookupResult<First.Item> {
    do { return try await first.item(id) } catch let error where condition(error) {
      let reason = error
      Observer.current(.fellBack(reason))
      do {
        let found = try await second.item(id)
        return LookupResult(
          found.item, provenance: found.provenance.because(reason), warnings: found.warnings)
      } catch let error where error.code == .notFound || error.allowsFallback {
        throw reason
      }
    }
  }

  /// The second source's first page.
  ///
  /// Where it fails as well, the first one's failure is the one to tell: it says what to do.
  private func standIn(
    for request: PageRequest, after reason: SourceError
  ) async throws(SourceError) -> Page<First.Item> {
    do { return try await second.page(request) } catch let error where error.allowsFallback {
      throw reason
    }
  }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    guard request.cursor != nil else {
      return first.cursor(skipping: count, from: request)?.tagged(Tier.firstTag)
    }
    return switch try? Tier(of: request.cursor) {
    case .first(let cursor):
      first.cursor(skipping: count, from: request.after(cursor))?.tagged(Tier.firstTag)
    case .second(let cursor, let reason):
      second.cursor(skipping: count, from: request.after(cursor))?.tagged(reason.code.description)
    case nil: nil
    }
  }

  private func tagged(
    _ page: Page<First.Item>, _ reason: SourceError?
  ) throws(SourceError) -> Page<First.Item> {
    var page = page
    if let next = page.next {
      page.next = next.tagged(reason?.code.description ?? Tier.firstTag)
      // Without its cursor this page would look like the last.
      guard page.next != nil else { throw .positionTooLong }
    }
    if let reason { page.provenance = page.provenance.because(reason) }
    return page
  }

  var description: String { isShown ? chained(first, "fallback(to: \(second))") : "\(first)" }
}

/// Who made a cursor: the source that it goes back to, and the cursor that this source knows.
private enum Tier {
  case first(Cursor)
  case second(Cursor, because: SourceError)

  static let firstTag = "ok"

  /// `nil` for the start of a walk.
  init?(of cursor: Cursor?) throws(SourceError) {
    guard let cursor else { return nil }
    let parts = cursor.description.split(
      separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let inner = Cursor(String(parts[1])) else { throw .damaged(cursor) }
    if parts[0] == Self.firstTag {
      self = .first(inner)
    } else if let code = SourceError.Code(String(parts[0])) {
      self = .second(inner, because: SourceError(code, code.text))
    } else {
      throw .damaged(cursor)
    }
  }
}

extension Cursor {
  /// This token with a short word in front; `nil` if that makes it too long.
  fileprivate func tagged(_ tag: String) -> Cursor? { Cursor(joining: [tag, description]) }
}
