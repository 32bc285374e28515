import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting

extension Breach {
  static let records = [
    Breach("known-found", "no record is found alone") {
      Diary().subject(item: { id throws(SourceError) in throw .notFound(id, in: "diary") })
    },
    Breach("known-found", "another record is found") {
      let diary = Diary()
      return diary.subject(item: { id throws(SourceError) in
        try await diary.item(id == 1 ? 2 : id)
      })
    },
    Breach("known-found", "the record that is known is not there") {
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
        guard id <= 20 else { throw SourceError(.badUsage, "no such number") }
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
        guard !Task.isCancelled else { throw SourceError(.badUsage, "too late") }
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
      Diary().subject().with { $0.source = Telling(base: $0.source) }
    },
  ]
}

/// A source that describes itself too well.
private struct Telling: DataSource, CustomStringConvertible {
  let base: any DataSource<Note>

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Note> {
    try await base.page(request)
  }

  func item(_ id: Int) async throws(SourceError) -> LookupResult<Note> { try await base.item(id) }

  func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    base.cursor(skipping: count, from: request)
  }

  var description: String { "Diary(key: \(Diary.key))" }
}
