import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Testing

/// A source that violates one law.
struct Breach: Sendable, CustomTestStringConvertible {
  let law: String
  let how: String
  let subject: @Sendable () -> LawSubject<Note>

  init(_ law: String, _ how: String, _ subject: @escaping @Sendable () -> LawSubject<Note>) {
    self.law = law
    self.how = how
    self.subject = subject
  }

  var testDescription: String { "\(law): \(how)" }

  static let all = walks + cursors + searches + records + manners
}

extension Breach {
  private static let walks = [
    Breach("ids-unique", "the last record is the fifth again") {
      Diary(Diary.notes + [Diary.notes[4]]).subject()
    },
    Breach("pagination-stable", "every other walk begins with the second record") {
      let diary = Diary()
      let starts = Counter()
      return diary.subject(page: { request throws(SourceError) in
        var page = try await diary.page(request)
        guard request.cursor == nil, request.query == nil, page.records.count > 1 else {
          return page
        }
        starts.add()
        if starts.value.isMultiple(of: 2) { page.records.swapAt(0, 1) }
        return page
      })
    },
    Breach("pagination-ends", "the last page leads to an earlier one") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        var page = try await diary.page(request)
        guard request.query == nil, page.next == nil else { return page }
        page.next = diary.source.cursor(skipping: request.limit, from: PageRequest())
        return page
      })
    },
    Breach("pagination-ends", "it is declared endless") {
      Diary().subject().with { $0.isEndless = true }
    },
    Breach("pagination-ends", "it is declared endless and stalls") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        var page = try await diary.page(request)
        guard request.query == nil, page.next == nil else { return page }
        page.next = diary.source.cursor(skipping: request.limit, from: PageRequest())
        return page
      }).with { $0.isEndless = true }
    },
    Breach("list-complete", "it ends before its total") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        var page = try await diary.page(request)
        if request.query == nil { page.total = page.total.map { $0 + 7 } }
        return page
      })
    },
    Breach("list-complete", "its total is too small") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        var page = try await diary.page(request)
        if request.query == nil { page.total = 3 }
        return page
      })
    },
    Breach("any-page-size", "large pages lack a record") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        var page = try await diary.page(request)
        if request.limit >= 20, request.query == nil {
          page.records.removeAll { $0.id == 20 }
          page.total = nil
        }
        return page
      })
    },
    Breach("any-page-size", "small pages lack all that follows the tenth") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        var page = try await diary.page(request)
        if request.limit == 3, page.records.contains(where: { $0.id == 12 }) { page.next = nil }
        return page
      })
    },
    Breach("limit-respected", "who asks for one gets two") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        var request = request
        request.limit = max(request.limit, 2)
        return try await diary.page(request)
      })
    },
    Breach("skip-consistent", "one record too far") {
      let diary = Diary()
      return diary.subject(skip: { count, request in
        diary.source.cursor(skipping: count + 1, from: request)
      })
    },
    Breach("skip-consistent", "the cursor cannot be followed") {
      Diary().subject(skip: { _, _ in PageCursor("nowhere") })
    },
  ]

  private static let cursors = [
    Breach("cursor-lasts", "a cursor can be followed once") {
      let diary = Diary()
      let used = CursorSet()
      return diary.subject(
        page: { request throws(SourceError) in
          if let cursor = request.cursor, !used.add(cursor) { throw .damaged(cursor) }
          let page = try await diary.page(request)
          if let next = page.next { used.remove(next) }
          return page
        },
        skip: { count, request in
          let cursor = diary.source.cursor(skipping: count, from: request)
          if let cursor { used.remove(cursor) }
          return cursor
        })
    },
    Breach("cursor-lasts", "another process gives other records") {
      Diary().subject().with { subject in
        let other = Diary(Diary.notes.reversed())
        subject.recreate = { () throws(SourceError) in other.source }
      }
    },
    Breach("cursor-foreign", "a search begins recreate with what it does not know") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        do throws(SourceError) { return try await diary.page(request) } catch {
          guard error.code == .invalidCursor, request.query != nil else { throw error }
          return try await diary.source.page(request.after(nil))
        }
      })
    },
    Breach("cursor-foreign", "what is foreign is called bad usage") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        do throws(SourceError) { return try await diary.page(request) } catch {
          guard error.code == .invalidCursor, request.query != nil else { throw error }
          throw SourceError(.invalidRequest, "foreign")
        }
      })
    },
    Breach("cursor-damaged", "the list begins recreate with what cannot be read") {
      let diary = Diary()
      return diary.subject(
        page: { request throws(SourceError) in
          do throws(SourceError) { return try await diary.page(request) } catch {
            guard error.code == .invalidCursor, error.message.contains("damaged") else {
              throw error
            }
            return try await diary.source.page(request.after(nil))
          }
        }, skip: { _, _ in nil })
    },
    Breach("one-state", "five records ahead is one too far") {
      let diary = Diary()
      return diary.subject(skip: { count, request in
        diary.source.cursor(skipping: count == 5 ? 6 : count, from: request)
      })
    },
  ]

  private static let searches = [
    Breach("search-matches", "the last page has one that does not match") {
      searching { page in if page.next == nil { page.records.append(Diary.notes[1]) } }
    },
    Breach("search-uses-words", "every other word finds the list") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        guard let query = request.query, request.cursor == nil, query != (try SearchQuery("gamma"))
        else {
          return try await diary.page(request)
        }
        return try await diary.page(PageRequest(limit: request.limit))
      }).with { $0.search = .service }
    },
    Breach("search-pages", "the search ends after its first page") {
      searching { page in page.next = nil }.with { $0.search = .service }
    },
    Breach("search-within-list", "it finds what is not listed") {
      searching { page in if page.next == nil { page.records.append(Note(99, "Gamma alpha")) } }
    },
    Breach("search-complete", "it does not find the sixth") {
      searching { page in page.records.removeAll { $0.id == 6 } }
    },
    Breach("searchable-text", "what is searchable is blank") {
      Diary().subject().with { subject in
        subject.search = .none
        subject.fields = [
          Field("title", "Title", .text, about: "Blank.", isSearchable: true) { _ in " \n" }
        ]
      }
    },
    Breach("fields-filled", "no record has what the sample has") {
      let blank = (1...20).map { Note($0, "") }
      let fields: [Field<Note>] = [Field(\.id), Field(\.title)]
      let diary = BundledSource("diary", items: blank, fields: fields)
      var subject = LawSubject("diary", source: diary, fields: fields)
      subject.sample = notebook(3)
      return subject
    },
  ]

  /// A source whose search results are changed.
  private static func searching(
    _ change: @escaping @Sendable (inout Page<Note>) -> Void
  ) -> LawSubject<Note> {
    let diary = Diary()
    return diary.subject(page: { request throws(SourceError) in
      var page = try await diary.page(request)
      if request.query != nil { change(&page) }
      return page
    })
  }
}

extension Breach {
  static let records = [
    Breach("listed-id-found", "no record is found alone") {
      Diary().subject(item: { id throws(SourceError) in throw .notFound(id, in: "diary") })
    },
    Breach("listed-id-found", "another record is found") {
      let diary = Diary()
      return diary.subject(item: { id throws(SourceError) in
        try await diary.item(id == 1 ? 2 : id)
      })
    },
    Breach("listed-id-found", "the record that is known is not there") {
      Diary().subject().with { $0.known = 4711 }
    },
    Breach("unknown-not-found", "every id has a record") {
      let diary = Diary()
      return diary.subject(item: { id throws(SourceError) in
        let found = try await diary.item(min(id, 20))
        return LookupResult(Note(id, found.item.title), provenance: found.provenance)
      })
    },
    Breach("unknown-not-found", "the caller is blamed") {
      let diary = Diary()
      return diary.subject(item: { id throws(SourceError) in
        guard id <= 20 else { throw SourceError(.invalidRequest, "no such number") }
        return try await diary.item(id)
      })
    },
    Breach("field-kinds", "text is declared a number") {
      Diary().subject().with { subject in
        subject.fields.append(
          Field("length", "Length", .integer, about: "Wrong.") { .string($0.title) })
      }
    },
    Breach("field-kinds", "a list holds numbers") {
      Diary().subject().with { subject in
        subject.fields.append(Field("ids", "Ids", .list, about: "Wrong.") { [.integer($0.id)] })
      }
    },
    Breach("field-stored", "a field is stored under another name") {
      Diary().subject().with { subject in
        subject.fields.append(Field("words", "Words", \.title, about: "Wrong."))
      }
    },
    Breach("field-stored", "a path leads to another field") {
      Diary().subject().with { subject in
        subject.fields.append(
          Field("number", "Number", \.id, about: "Wrong.").stored(at: "title"))
      }
    },
  ]

  static let manners = [
    Breach("cancellation", "it answers whoever went away") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        do throws(SourceError) { return try await diary.page(request) } catch {
          guard error.code == .cancelled else { throw error }
          return Page.notes([1])
        }
      })
    },
    Breach("cancellation", "it answers whoever went away while it asked") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        guard !Task.isCancelled else { throw .cancelled }
        do throws(SourceError) { return try await diary.page(request) } catch {
          guard error.code == .cancelled else { throw error }
          return Page.notes([1])
        }
      })
    },
    Breach("cancellation", "it finds a record for whoever went away") {
      let diary = Diary()
      return diary.subject(item: { id throws(SourceError) in
        guard !Task.isCancelled else { throw SourceError(.invalidRequest, "too late") }
        return try await diary.item(id)
      })
    },
    Breach("one-request", "a page takes two requests") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        try await diary.send()
        return try await diary.page(request)
      })
    },
    Breach("one-request", "looking for nothing takes two requests") {
      let diary = Diary()
      return diary.subject(item: { id throws(SourceError) in
        if id > 20 { try await diary.send() }
        return try await diary.item(id)
      })
    },
    Breach("no-secret", "the endpoint has the key") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        var page = try await diary.page(request)
        page.provenance.endpoint = "https://diary.example/?key=canary%2f7f3a%209c51"
        return page
      })
    },
    Breach("no-secret", "a failure has the key") {
      let diary = Diary()
      return diary.subject(item: { id throws(SourceError) in
        do throws(SourceError) { return try await diary.item(id) } catch {
          throw SourceError(error.code, "none", cause: SourceError(.rejected, Diary.key))
        }
      })
    },
    Breach("no-secret", "an event has the key") {
      let diary = Diary()
      return diary.subject(page: { request throws(SourceError) in
        Observer.current(.waiting(.zero, reason: "for \(Diary.key)"))
        return try await diary.page(request)
      })
    },
    Breach("no-secret", "its description has the key") {
      Diary().subject().with { $0.source = LeakySource(base: $0.source) }
    },
  ]
}

/// A source whose description leaks a secret.
private struct LeakySource: DataSource, CustomStringConvertible {
  let base: any DataSource<Note>

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Note> {
    try await base.page(request)
  }

  func item(_ id: Int, cachePolicy: CachePolicy) async throws(SourceError) -> LookupResult<Note> {
    try await base.item(id, cachePolicy: cachePolicy)
  }

  func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    base.cursor(skipping: count, from: request)
  }

  var description: String { "Diary(key: \(Diary.key))" }
}
