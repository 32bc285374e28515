import AggregatorCore

/// The place of a page in a list, as ``RESTSource`` requests it and as its cursors carry it.
public struct RESTPosition: Codable, Hashable, Sendable {
  package enum Start: Codable, Hashable, Sendable {
    case first
    case page(Int)
    case offset(Int)
    case token(String)
    /// Path and query; with a scheme and a host only if the host is another.
    case link(String)
    case parameters([String: String])

    /// True for what the reply before named.
    var isToken: Bool {
      switch self {
      case .token, .link, .parameters: true
      case .first, .page, .offset: false
      }
    }
  }

  var start = Start.first

  /// The page size that is requested, which page numbers count in; `nil` if the service has none.
  public internal(set) var size: Int?

  /// The number of rows before the page, as far as it is known.
  public internal(set) var passed = 0

  var skip = 0

  /// The number of rows from the start that are left out, because a list that started over has passed them.
  var known: Int?

  /// The depth at which the list started over last.
  var restart: Int?

  /// The number of all records, as the service said it last.
  var total: Int?

  /// The number of rows of the page before, if it was smaller than another one.
  var short: Int?

  var largest: Int?

  /// True if the page before said that there is another one.
  var isPromised: Bool?

  private enum CodingKeys: String, CodingKey {
    case start = "a", size = "z", skip = "s", passed = "n", known = "k", restart = "r", total = "t",
      short = "e", largest = "l", isPromised = "m"
  }

  /// The number that the request of the page sends: that of the page, or of its first row; `nil` if the service
  /// counts neither.
  public var number: Int? {
    switch start {
    case .page(let number), .offset(let number): number
    case .first, .token, .link, .parameters: nil
    }
  }

  /// True for a later page that was requested by its number, which may be past the end.
  var mayBePastEnd: Bool { number != nil && passed > 0 }

  /// The number of records to leave out of a page of `count`.
  func known(among count: Int) -> Int { min(max((known ?? 0) - passed, 0), count) }

  /// False if the list would only start over at the same depth again.
  var hasAdvanced: Bool { start.isToken && restart.map { $0 < passed + skip } ?? true }

  /// The position in a list that starts over.
  var restarted: RESTPosition {
    RESTPosition(known: max(passed + skip, known ?? 0), restart: passed + skip, total: total)
  }
}

extension RESTPaging {
  static let validRows = 0...1_000_000_000

  /// The position in a cursor, or of the first page for `nil`, with the page size to request.
  ///
  /// - Throws: ``SourceError`` with code `invalidCursor` if the cursor is not of this list or paging.
  func position(
    in cursor: PageCursor?, with seal: CursorSeal, limit: Int
  ) throws(SourceError) -> RESTPosition {
    var position: RESTPosition
    if hasPlaces {
      let place = try seal.open(cursor, as: RESTPlace.self)
      guard let opened = place.map(self.position) ?? first else { throw .damaged(cursor) }
      position = opened
    } else {
      position = try seal.open(cursor, as: RESTPosition.self) ?? first
      // Cursors of earlier versions.
      if position.start == .first { position.start = first.start }
    }
    guard accepts(position) else { throw .damaged(cursor) }
    if followsLimit {
      position.size = position.size ?? size.map { min(limit, $0.rows) }
    } else {
      if case .page = step, let own = position.size, own != size?.rows { throw .resized }
      position.size = size?.rows
    }
    return position
  }

  func cursor(of position: RESTPosition, with seal: CursorSeal) throws(SourceError) -> PageCursor {
    if hasPlaces, let place = place(of: position) { return try seal.close(place) }
    var position = position
    // Where pages are not counted, the size matters only to a page that is being cut.
    let matters = if case .page = step { true } else { followsLimit && position.skip > 0 }
    if !matters { position.size = nil }
    return try seal.close(position)
  }

  /// The position `count` rows ahead, if all pages are as large as requested; `nil` if it cannot be computed.
  func skipping(_ count: Int, from position: RESTPosition) -> RESTPosition? {
    let (rows, overflow) = position.skip.addingReportingOverflow(count)
    guard count >= 0, !overflow, Self.validRows ~= rows else { return nil }
    var next = position
    switch step {
    case .single:
      next.skip = rows
    case .page(_, let start):
      guard let size = position.size, let number = position.number else { return nil }
      next.start = .page(number + rows / size)
      next.skip = rows % size
      next.passed = (number - start) * size + rows - next.skip
    case .offset:
      guard let offset = position.number, let size = position.size else { return nil }
      // A page may begin at any row, unless pages of one size are cut.
      next.skip = followsLimit ? 0 : rows % size
      next.start = .offset(offset + rows - next.skip)
      next.passed = position.passed + rows - next.skip
    case .token, .link: return nil
    }
    return accepts(next) ? next : nil
  }

  /// The start of the page after a position; `nil` at the end.
  ///
  /// - Parameters:
  ///   - count: The number of rows at the position.
  ///   - isShort: True if fewer rows than requested say that there are no more.
  ///   - named: The next page, as the response names it.
  func start(
    after position: RESTPosition, counting count: Int, isShort: Bool, named: RESTPosition.Start?
  ) -> RESTPosition.Start? {
    switch step {
    case .single: nil
    case .page: isShort ? nil : position.number.map { .page($0 + 1) }
    case .offset: isShort ? nil : position.number.map { .offset($0 + count) }
    case .token, .link: named
    }
  }

  /// The number of rows before the page that starts there, if that can be computed; else `count`.
  func passed(at start: RESTPosition.Start, size: Int?, counting count: Int) -> Int {
    switch (step, start) {
    case (.page(_, let first), .page(let number)) where hasPlaces: (number - first) * (size ?? 0)
    default: count
    }
  }

  private var first: RESTPosition {
    switch step {
    case .page(_, let number):
      let begin = begin ?? number
      let passed = (begin - number) * (size?.rows ?? 0)
      return RESTPosition(start: .page(begin), passed: min(passed, Self.validRows.upperBound))
    case .offset(_, let number):
      let begin = begin ?? number
      return RESTPosition(start: .offset(begin), passed: begin - number)
    case .single, .token, .link: return RESTPosition(start: .first)
    }
  }

  /// False for what no page of this list has: cursors are untrusted.
  private func accepts(_ position: RESTPosition) -> Bool {
    let isInList =
      switch (step, position.start) {
      case (.page(_, let first), .page(let number)), (.offset(_, let first), .offset(let number)):
        number >= first
      case (.page, _), (.offset, _): false
      case (.single, _), (.token, _), (.link, _): true
      }
    let largest = followsLimit ? size?.rows ?? 0 : RESTPaging.validRows.upperBound
    let rows: [Int?] = [
      position.number, position.skip, position.passed, position.known, position.restart,
      position.short, position.largest,
    ]
    return isInList && rows.allSatisfy { RESTPaging.validRows ~= $0 ?? 0 }
      && position.size.map { 1...largest ~= $0 } ?? true
      && deepest.map { position.passed < $0 } ?? true
  }

  // MARK: - Places

  /// True if a position is the place of a page and nothing else, so that equal places have equal cursors.
  private var hasPlaces: Bool {
    switch step {
    case .single: true
    case .page, .offset: predictsCursors && size != nil
    case .token, .link: false
    }
  }

  private func position(of place: RESTPlace) -> RESTPosition? {
    switch (step, place) {
    case (.single, .rows(let count)):
      RESTPosition(start: .first, skip: count)
    case (.offset(_, let first), .rows(let count)) where RESTPaging.validRows ~= count:
      RESTPosition(start: .offset(first + count), passed: count)
    case (.offset(_, let first), .page(let number, let size, let skip)) where number >= first:
      RESTPosition(start: .offset(number), size: size, passed: number - first, skip: skip)
    case (.page(_, let first), .page(let number, let size, let skip))
    where RESTPaging.validRows ~= number && RESTPaging.validRows ~= size:
      RESTPosition(
        start: .page(number), size: size, passed: (number - first) * size, skip: skip)
    case (.single, _), (.page, _), (.offset, _), (.token, _), (.link, _): nil
    }
  }

  private func place(of position: RESTPosition) -> RESTPlace? {
    switch step {
    case .single: .rows(position.skip)
    case .offset where position.skip == 0: .rows(position.passed)
    case .page, .offset:
      position.number.map { .page($0, size: position.size ?? 0, skip: position.skip) }
    case .token, .link: nil
    }
  }
}

/// A place that can be computed, as cursors carry it.
private enum RESTPlace: Codable {
  /// The number of rows before it.
  case rows(Int)
  /// A page, by the number that its request sends, and the number of its records to skip.
  case page(Int, size: Int, skip: Int)

  private enum CodingKeys: String, CodingKey { case number = "p", size = "n", skip = "s" }

  init(from decoder: any Decoder) throws {
    if let count = try? decoder.singleValueContainer().decode(Int.self) {
      self = .rows(count)
    } else {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      self = .page(
        try container.decode(Int.self, forKey: .number),
        size: try container.decode(Int.self, forKey: .size),
        skip: try container.decode(Int.self, forKey: .skip))
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .rows(let count):
      var container = encoder.singleValueContainer()
      try container.encode(count)
    case .page(let number, let size, let skip):
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(number, forKey: .number)
      try container.encode(size, forKey: .size)
      try container.encode(skip, forKey: .skip)
    }
  }
}
