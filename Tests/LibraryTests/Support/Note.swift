import AggregatorKit

/// The record type of these tests.
struct Note: SourceRecord {
  let id: Int
  var title: String

  init(_ id: Int, _ title: String? = nil) {
    self.id = id
    self.title = title ?? "note \(id)"
  }

  static let fields: [Field<Note>] = [
    Field("id", "Id", \.id, about: "The number."),
    Field("title", "Title", \.title, about: "The words.", isSearchable: true),
  ]

  static let text: @Sendable (Note) -> FoldedText = { FoldedText($0.title) }
}

extension Page<Note> {
  static func notes(_ ids: some Sequence<Int>, next: PageCursor? = nil, hidden: Int = 0) -> Page {
    Page(ids.map { Note($0) }, next: next, provenance: Provenance(.live), hidden: hidden)
  }
}

/// Notes 1 to `count`, in pages that can be skipped.
func notebook(_ count: Int) -> BundledSource<Note> {
  BundledSource("notes", items: (0..<count).map { Note($0 + 1) }, fields: Note.fields)
}

extension PageCursor {
  /// A token for a made-up source.
  static func place(_ number: Int) -> PageCursor? { PageCursor("place-\(number)") }

  /// The number in ``place(_:)``.
  var place: Int? { Int(description.dropFirst("place-".count)) }
}

extension DataSource<Note> {
  /// The numbers of all notes, by following `next` until it ends.
  func everyID(
    matching query: SearchQuery? = nil, limit: Int, atMost pages: Int = 10_000
  ) async throws(SourceError) -> [Int] {
    var ids: [Int] = []
    var cursor: PageCursor?
    for _ in 0..<pages {
      let page = try await page(PageRequest(matching: query, after: cursor, limit: limit))
      ids += page.records.map(\.id)
      cursor = page.next
      guard cursor != nil else { return ids }
    }
    throw SourceError(.noProgress, "more than \(pages) pages")
  }

  /// The failure of the first page; `nil` if it did not fail.
  func failure(of request: PageRequest = PageRequest()) async -> SourceError? {
    do {
      _ = try await page(request)
      return nil
    } catch {
      return error
    }
  }
}

extension SourceError {
  static func because(_ code: Code, retryAfter: Duration? = nil) -> SourceError {
    SourceError(code, "a test says \(code)", retryAfter: retryAfter)
  }
}

/// A record that comes in a short form in lists, and in a long one on its own.
struct Card: SourceRecord {
  let id: Int
  var title: String
  var detail: String?

  init(_ id: Int, _ title: String? = nil, detail: String? = nil) {
    self.id = id
    self.title = title ?? "card \(id)"
    self.detail = detail
  }

  func merged(over known: Card) -> Card {
    Card(id, title, detail: detail ?? known.detail)
  }

  static let text: @Sendable (Card) -> FoldedText = { FoldedText("\($0.title) \($0.detail ?? "")") }
}
