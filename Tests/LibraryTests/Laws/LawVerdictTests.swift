import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@Suite struct LawVerdictTests {
  @Test(arguments: [
    SourceError.Code.timedOut, .unreachable, .serverError, .malformed, .rateLimited, .circuitOpen,
  ])
  func `a failing service violates no law`(code: SourceError.Code) async throws {
    let failing = Diary().subject(
      page: { _ throws(SourceError) in throw .because(code) },
      item: { _ throws(SourceError) in throw .because(code) })
    let report = await LawReport(on: failing)
    #expect(report.violations.isEmpty, "\(report)")
    for entry in report.entries {
      switch entry.verdict {
      case .inconclusive(let error): #expect(error.code == code)
      // The error contains no secret.
      case .holds: #expect(entry.law.name == "no-secret")
      case .notApplicable: #expect(["search-pages", "fields-filled"].contains(entry.law.name))
      default: Issue.record("\(entry.law.name): \(entry.verdict)")
      }
    }
  }

  @Test(arguments: 1...30)
  func `a service that fails once violates no law`(call: Int) async throws {
    let diary = Diary()
    let calls = Counter()
    for law in Law.all {
      calls.add(-calls.value)
      let failing = diary.subject(page: { request throws(SourceError) in
        calls.add()
        if calls.value == call { throw .because(.connectionLost) }
        return try await diary.page(request)
      })
      let verdict = await law.check(failing)
      #expect(verdict.violations.isEmpty, "\(law.name): \(verdict)")
    }
  }

  @Test func `violations before a failure stand`() async throws {
    let diary = Diary(Diary.notes.prefix(3) + Diary.notes)
    let failing = diary.subject(page: { request throws(SourceError) in
      let page = try await diary.page(request)
      if page.next == nil { throw .because(.timedOut) }
      return page
    })
    let verdict = try await Self.law("ids-unique").check(failing)
    #expect(verdict.violations.map(\.message) == ["page 1 has \"1\" twice"])
    let other = try await Self.law("pagination-stable").check(failing)
    #expect("\(other)" == "inconclusive: timedOut: a test says timedOut")
  }

  @Test func `answers from different origins are not compared`() async throws {
    let diary = Diary()
    let starts = Counter()
    let bundle = BundledSource("bundle", items: [Note(99)], fields: Note.fields)
    let subject = diary.subject(page: { request throws(SourceError) in
      if request.cursor == nil { starts.add() }
      guard starts.value.isMultiple(of: 2) else {
        var page = try await diary.page(request)
        page.provenance = Provenance(.live)
        return page
      }
      var page = try await bundle.page(request)
      page.provenance.reason = .because(.timedOut)
      return page
    })
    for name in ["pagination-stable", "any-page-size", "search-within-list", "search-complete"] {
      let verdict = try await Self.law(name).check(subject)
      #expect(verdict.violations.isEmpty, "\(name): \(verdict)")
    }
    #expect("\(try await Self.law("pagination-stable").check(subject))".contains("timedOut"))
  }

  @Test func `records listed by a fallback may be unknown`() async throws {
    let diary = Diary()
    let subject = diary.subject(
      page: { request throws(SourceError) in
        var page = try await diary.page(request)
        page.provenance.reason = .because(.offline)
        return page
      }, item: { id throws(SourceError) in throw .notFound(id, in: "diary") })
    guard case .inconclusive(let error) = try await Self.law("listed-id-found").check(subject)
    else {
      Issue.record("judged")
      return
    }
    #expect(error.code == .offline)
  }

  @Test func `a fallback for an endless source may end`() async throws {
    let diary = Diary()
    let subject = diary.subject(page: { request throws(SourceError) in
      var page = try await diary.page(request)
      page.provenance.reason = .because(.unreachable)
      return page
    }).with { $0.isEndless = true }
    guard case .inconclusive(let error) = try await Self.law("pagination-ends").check(subject)
    else {
      Issue.record("judged")
      return
    }
    #expect(error.code == .unreachable)
  }

  @Test func `results of a service's search are not checked`() async throws {
    let diary = Diary()
    let subject = diary.subject(page: { request throws(SourceError) in
      // Returns everything for every query.
      guard request.query != nil, request.cursor == nil else {
        return try await diary.page(request)
      }
      return try await diary.page(PageRequest(limit: request.limit))
    }).with { $0.search = .service }
    for name in ["search-matches", "search-within-list", "search-complete"] {
      #expect(
        "\(try await Self.law(name).check(subject))" == "not applicable: search is not local")
    }
  }

  @Test func `fields that may have any value need no text`() async throws {
    let subject = Diary().subject().with {
      $0.fields = [
        Field("half", "Half", .any, about: "A number.", isSearchable: true) {
          .number(Double($0.id) + 0.5)
        }
      ]
    }
    #expect(
      "\(try await Self.law("searchable-text").check(subject))"
        == "not applicable: no record has text")
  }

  @Test func `declared properties are not violations`() async throws {
    let repeating = Diary(Diary.notes + Diary.notes).subject().with { $0.repeatsRecords = true }
    let report = await LawReport(on: repeating)
    #expect(report.violations.isEmpty, "\(report)")
    let endless = ScriptedSource<Note>(page: { request throws(SourceError) in
      let start = request.cursor?.place ?? 0
      return Page.notes(start + 1...start + request.limit, next: .place(start + request.limit))
    })
    var subject = LawSubject("endless", source: endless, fields: Note.fields)
    #expect(
      "\(try await Self.law("pagination-ends").check(subject))".hasPrefix(
        "not applicable: the first 2000 records were read"))
    subject.isEndless = true
    #expect("\(try await Self.law("pagination-ends").check(subject))" == "holds")
    let limit = 2000 / 5 + 25
    #expect(endless.requests.count <= limit)
  }

  @Test func `a violation names the call`() async throws {
    let subject = Diary(Diary.notes + [Note(5, "Beta 5")]).subject()
    let violations = try await Self.law("ids-unique").check(subject).violations
    #expect(violations.map(\.law) == ["ids-unique"])
    #expect(violations.first?.message == "page 5 repeats \"5\" of page 1")
    #expect(violations.first?.call == "list, limit 5, page 5 of 5")
  }

  @Test func `no report shows a raw cursor`() async throws {
    let diary = Diary()
    // Every page differs from the same page before, and no cursor is ever rejected.
    let count = Counter()
    let subject = diary.subject(page: { request throws(SourceError) in
      count.add()
      var page = try await diary.page(PageRequest(limit: request.limit))
      page.records = [Note(1000 + count.value)] + page.records
      return page
    })
    let next = try #require(try await diary.page(PageRequest(limit: 2)).next)
    // A damaged cursor is what that law is about.
    let laws = Law.all.filter { $0.name != "cursor-damaged" }
    let report = await LawReport(on: subject, of: laws)
    #expect(!report.violations.isEmpty && !"\(report)".contains(next.description), "\(report)")
    for (law, call) in [
      ("cursor-lasts", "list, limit 2, page 2"),
      ("cursor-foreign", "list, limit 1, with the cursor of another source"),
    ] {
      let violations = try await Self.law(law).check(subject).violations
      #expect(violations.map(\.call).contains(call), "\(violations)")
    }
  }

  @Test func `a leaked secret is redacted in reports`() async throws {
    let diary = Diary()
    let subject = diary.subject(item: { id throws(SourceError) in
      throw SourceError(.invalidRequest, "the key \(Diary.key) cannot ask for \(id)")
    })
    let report = await LawReport(on: subject)
    #expect(report.violations.contains { $0.law == "no-secret" })
    #expect(report.violations.contains { $0.law == "unknown-not-found" })
    #expect(!"\(report)".contains("canary"))
    let failing = diary.subject(page: { _ throws(SourceError) in
      throw SourceError(.timedOut, "no answer for \(Diary.key)")
    })
    #expect(!"\(await LawReport(on: failing))".contains("canary"))
  }

  static func law(_ name: String) throws -> Law {
    try #require(Law.all.first { $0.name == name })
  }
}

@Suite struct ExpectLawsTests {
  @Test func `a correct source records no issue`() async {
    let report = await expectLaws(of: Diary().subject())
    #expect(report.entries.count == Law.all.count)
  }

  @Test func `a violation is an issue that names its law`() async {
    await withKnownIssue {
      await expectLaws(of: Diary(Diary.notes + [Diary.notes[4]]).subject())
    } matching: { issue in
      issue.comments.contains {
        "\($0)".contains("ids-unique of diary: page 5 repeats \"5\" of page 1 (list,")
      }
        && issue.sourceLocation?.fileName == "LawVerdictTests.swift"
    }
  }

  @Test func `while a law is checked, a crash would name the source and the law`() async throws {
    let diary = Diary()
    let names = Mutex<Set<String?>>([])
    let subject = diary.subject(page: { request throws(SourceError) in
      names.withLock { _ = $0.insert(RunningCheck.name) }
      return try await diary.page(request)
    })
    await expectLaws(of: subject, [try LawVerdictTests.law("search-matches")])
    #expect(names.withLock(\.self) == ["diary: search-matches"])
  }

  @Test func `an inconclusive law is an issue`() async throws {
    let inconclusive = Diary().subject(page: { _ throws(SourceError) in throw .because(.timedOut) })
    let law = try LawVerdictTests.law("pagination-ends")
    await withKnownIssue {
      await expectLaws(of: inconclusive, [law])
    } matching: { issue in
      issue.comments.contains { "\($0)".contains("pagination-ends of diary: inconclusive") }
    }
  }

  @Test func `a law that does not apply is not an issue`() async throws {
    let law = try LawVerdictTests.law("search-matches")
    await expectLaws(of: Diary().subject().with { $0.search = .none }, [law])
  }
}
