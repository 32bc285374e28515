extension DataSource {
  /// Asks upstream for pages of one fixed size and cuts the caller's pages out of them.
  ///
  /// For services that have no pages at all, and for those whose records depend on the page size. The
  /// upstream page read last is kept for a while, so that the next slice costs no request.
  ///
  /// - Parameters:
  ///   - size: What upstream is always asked for, 1 or more.
  ///   - name: The source's name, for cursors.
  ///   - lifetime: How long an upstream page is kept; a minute by default.
  ///   - clock: What measures it.
  /// - Returns: A source whose pages may be shorter than asked for where two upstream pages meet.
  public func sliced(
    upstream size: Int, as name: String, keptFor lifetime: Duration = .seconds(60),
    clock: some Clock<Duration> = ContinuousClock()
  ) -> some DataSource<Item> {
    Sliced(base: self, size: size, name: name, latest: LatestPage(lifetime: lifetime, clock: clock))
  }
}

struct Sliced<Base: DataSource, C: Clock<Duration>>: DataSource, CustomStringConvertible {
  let base: Base
  let size: Int
  let name: String
  let latest: LatestPage<Base.Item, C>

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    let seal = seal(for: request)
    let position = try seal.open(request.cursor, as: Position.self) ?? Position(size: size)
    guard position.size == size else { throw .resized }
    var page = try await latest.page(upstream(of: request, at: position), from: base)
    let slice = page.records.dropFirst(Int(position.skip)).prefix(request.limit)
    if slice.endIndex < page.records.endIndex {
      let skip = UInt32(clamping: slice.endIndex)
      page.next = try seal.close(Position(cursor: position.cursor, skip: skip, size: size))
    } else {
      page.next = try page.next.map { next throws(SourceError) in
        try seal.close(Position(cursor: next, size: size))
      }
    }
    page.records = Array(slice)
    // What was wrong with the upstream page is told once, with its first slice.
    if position.skip > 0 {
      page.unreadable = .none
      page.hidden = 0
      page.warnings = []
    }
    return page
  }

  func item(_ id: Base.Item.ID) async throws(SourceError) -> LookupResult<Base.Item> {
    try await base.item(id)
  }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    let seal = seal(for: request)
    guard var position = try? seal.open(request.cursor, as: Position.self) ?? Position(size: size),
      position.size == size
    else { return nil }
    let (sum, overflow) = Int(position.skip).addingReportingOverflow(count)
    guard !overflow else { return nil }
    if sum >= size {
      let skipped = base.cursor(
        skipping: sum / size * size, from: upstream(of: request, at: position))
      guard let skipped else { return nil }
      position.cursor = skipped
    }
    position.skip = UInt32(clamping: sum % size)
    return try? seal.close(position)
  }

  var description: String { chained(base, "sliced(upstream: \(size))") }

  private func seal(for request: PageRequest) -> CursorSeal {
    CursorSeal("\(name).slice", for: request.query)
  }

  private func upstream(of request: PageRequest, at position: Position) -> PageRequest {
    PageRequest(matching: request.query, after: position.cursor, limit: size)
  }

  /// An upstream page, and how far into it.
  ///
  /// Its types refuse what no slice ever sealed.
  private struct Position: Codable {
    var cursor: Cursor?
    var skip: UInt32
    /// The upstream page size, without which the rest means nothing.
    var size: Int

    init(cursor: Cursor? = nil, skip: UInt32 = 0, size: Int) {
      self.cursor = cursor
      self.skip = skip
      self.size = size
    }

    private enum CodingKeys: String, CodingKey { case cursor = "c", skip = "s", size = "n" }
  }
}
