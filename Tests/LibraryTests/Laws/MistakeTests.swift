import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import Testing

/// A source, or a service, with one deliberate mistake.
struct Mistake: Sendable, CustomTestStringConvertible {
  let what: String
  /// The law, and the beginning of what it says.
  let cause: String
  let report: @Sendable () async throws -> FaultReport

  init<Item: SourceRecord>(
    _ what: String, _ cause: String, _ plugin: PapersPlugin<Item>, _ service: PapersService,
    knowing ids: [Item.ID]? = nil
  ) {
    self.what = what
    self.cause = cause
    report = { try await Self.report(on: plugin, service, knowing: ids) }
  }

  init(
    _ what: String, _ cause: String, knowing ids: [String]? = nil,
    plugin: (inout PapersPlugin<Paper>) -> Void = { _ in },
    service: (inout PapersService) -> Void = { _ in }
  ) {
    self.init(what, cause, PapersPlugin<Paper>(plugin), PapersService(service), knowing: ids)
  }

  var testDescription: String { what }

  static func report<Item: SourceRecord>(
    on plugin: PapersPlugin<Item>, _ service: PapersService, knowing ids: [Item.ID]? = nil,
    _ scenarios: [FaultScenario] = FaultScenario.all
  ) async throws -> FaultReport {
    let server = try LoopbackServer(service.handler)
    defer { server.stop() }
    let environment = PluginEnvironment(
      settings: SourceSettings([PapersPlugin<Item>.key: "canary-7f3a-9c51"]),
      transport: LocalTransport(server: server))
    return try await FaultReport(
      of: plugin, in: environment, scenarios, knowing: ids, maxWait: .seconds(60))
  }

  static let all = totals + repetitions + starts + ends + lookups + searches + records
}

/// Sends every request to a server on this machine.
private struct LocalTransport: Transport {
  let server: LoopbackServer

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    var request = request
    var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
    parts?.scheme = "http"
    parts?.host = "127.0.0.1"
    parts?.port = server.port
    request.url = parts?.url ?? request.url
    return try await LongTimeoutTransport().send(request)
  }
}

extension Mistake {
  private static let totals = [
    Mistake(
      "a total that is too big",
      "list-complete: the service reports 30 records, the source yields 23, and no page follows"
    ) { _ in
    } service: {
      $0.total = { count, _ in count + 7 }
    },
    Mistake(
      "a total that is too big, of a list with tokens",
      "list-complete: the service reports 30 records, the source yields 23: the last page is missing?"
    ) {
      $0.step = .token(.query("cursor"), start: nil)
    } service: {
      $0.paging = .token
      $0.total = { count, _ in count + 7 }
    },
    Mistake(
      "a total that is too small",
      "list-complete: the service reports 20 records, the source yields 23"
    ) { _ in
    } service: {
      $0.total = { count, _ in count - 3 }
    },
    Mistake(
      "a total below the first page",
      "list-complete: the service reports 3 records, the source yields 23"
    ) { _ in
    } service: {
      $0.total = { _, _ in 3 }
    },
    Mistake(
      "the number of pages as total",
      "list-complete: the service reports 5 records, the source yields 23: is that the number of its pages?"
    ) { _ in
    } service: {
      $0.total = { _, _ in 5 }
    },
    Mistake(
      "the number of rows as total",
      "list-complete: the service reports 5 records on page 1, but 3 on page 5"
    ) { _ in
    } service: {
      $0.total = { _, onPage in onPage }
    },
  ]

  private static let repetitions = [
    Mistake(
      "an offset that counts pages",
      #"pagination-ends: page 2 repeats "2", "3", "4", "5" of page 1: do its pages overlap?"#
    ) {
      $0.step = .page(.query("offset"), start: 0)
    } service: {
      $0.paging = .offset
    },
    Mistake(
      "pages that overlap by a record", #"ids-unique: page 2 repeats "5" of page 1"#
    ) { _ in
    } service: {
      $0.overlap = 1
    },
    Mistake(
      "a page parameter that the service ignores",
      "pagination-ends: page 2 repeats page 1: does the service ignore what its paging sends?"
    ) { $0.step = .page(.query("p"), start: 1) },
    Mistake(
      "IDs made up anew",
      #"pagination-stable: IDs differ between two reads of the same page: "#
    ) { _ in
    } service: {
      $0.renamesRows = true
    },
  ]

  private static let starts =
    [true, false].flatMap { hasTotal in
      let total: @Sendable (Int, Int) -> Int? = { count, _ in hasTotal ? count : nil }
      let suffix = hasTotal ? "" : ", without a total"
      return [
        Mistake(
          "page 0 instead of 1\(suffix)",
          "ids-unique: page 2 repeats page 1: does its paging start one page too early?"
        ) {
          $0.step = .page(.query("page"), start: 0)
        } service: {
          $0.total = total
        },
        Mistake(
          "page 2 instead of 1\(suffix)",
          #"list-complete: the list lacks "1", "2", "3", "4", "5" of page=1, before its first page"#
        ) {
          $0.step = .page(.query("page"), start: 2)
        } service: {
          $0.total = total
        },
        Mistake(
          "page 1 instead of 0\(suffix)",
          #"list-complete: the list lacks "1", "2", "3", "4", "5" of page=0, before its first page"#
        ) { _ in
        } service: {
          $0.paging = .page(first: 0)
          $0.total = total
        },
        Mistake(
          "offset 1 instead of 0\(suffix)",
          #"list-complete: the list lacks "1" of offset=0, before its first page"#
        ) {
          $0.step = .offset(.query("offset"), start: 1)
        } service: {
          $0.paging = .offset
          $0.total = total
        },
        Mistake(
          "a token that skips the first page\(suffix)",
          "list-complete: the list lacks 5 of the service's 23 records, the first ones",
          knowing: (1...23).map(String.init)
        ) {
          $0.step = .token(.query("cursor"), start: "t5")
        } service: {
          $0.paging = .token
          $0.total = total
        },
      ]
    } + [
      Mistake(
        "page 0 instead of 1, which is empty",
        "list-complete: the service reports 23 records, the source yields 0: does its paging start at another page?"
      ) {
        $0.step = .page(.query("page"), start: 0)
      } service: {
        $0.paging = .page(first: 1, earlier: .empty)
      }
    ]

  private static let ends = [23, 25].flatMap { count in
    [true, false].flatMap { hasTotal in
      let total: @Sendable (Int, Int) -> Int? = { count, _ in hasTotal ? count : nil }
      let suffix =
        ", which is \(count == 25 ? "full" : "short")\(hasTotal ? "" : ", without a total")"
      // The last page begins with the 21st record.
      let ending: @Sendable (any DataSource<Paper>) -> any DataSource<Paper> = { base in
        ChangedSource(
          base: base,
          page: { request, page in
            if request.query == nil, page.records.contains(where: { $0.id == "20" }) {
              page.next = nil
            }
          })
      }
      return [
        Mistake(
          "a dropped last page\(suffix)",
          #"list-complete: the list lacks "21", "22", "23""#
        ) {
          $0.breaking = ending
        } service: {
          $0.count = count
          $0.total = total
        },
        Mistake(
          "a dropped last page of a list with links\(suffix)",
          #"list-complete: the list lacks "21", "22", "23""#
        ) {
          $0.step = .link
          $0.breaking = ending
        } service: {
          $0.paging = .link
          $0.count = count
          $0.total = total
        },
        Mistake(
          "a dropped last page of a known list\(suffix)",
          "list-complete: the list lacks \(count - 20) of the service's \(count) records, the last ones",
          knowing: (1...count).map(String.init)
        ) {
          $0.breaking = ending
        } service: {
          $0.count = count
          $0.total = total
        },
      ]
    }
  }

  private static let lookups = [
    Mistake(
      "another record for an ID", #"listed-id-found: show 1: papers returned "2" instead of "1""#
    ) { _ in
    } service: {
      $0.item = { id, count in id.flatMap { $0 < count ? $0 + 1 : nil } }
    },
    Mistake(
      "another record for an ID, which the source does not check",
      "listed-id-found: show 1 returned 2"
    ) { plugin in
      plugin.breaking = { ChangedSource(base: $0, id: { $0 == "1" ? "2" : $0 }) }
    },
    Mistake(
      "the first record for an unknown ID",
      #"unknown-not-found: show 00000000-0000-4000-8000-00000000dead: papers returned "1" instead of "#
    ) { _ in
    } service: {
      $0.item = { id, count in id.flatMap { 1...count ~= $0 ? $0 : nil } ?? 1 }
    },
  ]

  private static let searches = [
    Mistake(
      "a search that ignores the words",
      #"search-uses-words: a search for a made-up word returns the list: "1", "2""#
    ) { _ in
    } service: {
      $0.searches = false
    },
    Mistake(
      "a search without its second page",
      #"search-pages: the search ends after 5 results, but page=2 has more: "6", "7""#
    ) { $0.search = RESTPaging(.single, size: (PapersPlugin<Paper>.limit, 100)) },
    Mistake(
      "a search without its second page and without a total",
      #"search-pages: the search ends after 5 results, but page=2 has more: "6", "7""#
    ) {
      $0.search = RESTPaging(.single, size: (PapersPlugin<Paper>.limit, 100))
    } service: {
      $0.total = { _, _ in nil }
    },
    Mistake(
      "a search without its second page, with tokens",
      "search-pages: the service reports 23 results, the search yields the 5 of its first page"
    ) {
      $0.step = .token(.query("cursor"), start: nil)
      $0.breaking = { base in
        ChangedSource(
          base: base,
          page: { request, page in
            if request.query != nil { page.next = nil }
          })
      }
    } service: {
      $0.paging = .token
    },
  ]

  private static let records = [
    Mistake(
      "a limit that is ignored", "limit-respected: a page of at most 1 record has 5"
    ) { plugin in
      plugin.breaking = { base in
        ChangedSource(
          base: base,
          request: { request in
            request.after(request.cursor, limit: max(request.limit, 5))
          })
      }
    },
    Mistake(
      "a field of the wrong kind",
      "field-kinds: the field age is declared as integer, but is \"1901\", and so in ",
      PapersPlugin<Paper>([
        Field<Paper>("age", "Age", .integer, about: "Wrong.") { .string("\($0.year ?? 0)") }.stored(
          at: nil)
      ]), PapersService()),
    Mistake(
      "a field that is stored elsewhere",
      #"field-stored: the field year is 1901, but null at "published" of the stored record"#,
      PapersPlugin<Paper>([Field(\Paper.year).stored(at: "published")]), PapersService()),
    Mistake(
      "a record that loses a member",
      "record-round-trip: the record changes when it is stored as JSON and read again: year",
      PapersPlugin<LossyPaper>([Field(\LossyPaper.year)]), PapersService()),
    Mistake(
      "a secret in an error", "no-secret: a secret occurs in what is returned, thrown or logged"
    ) { $0.leaksKey = true },
  ]
}

/// A record that is encoded without its year.
private struct LossyPaper: SourceRecord {
  let id: String
  let year: Int?

  private enum CodingKeys: CodingKey { case id, year }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
  }
}

@Suite(.timeLimit(.minutes(10))) struct MistakeTests {
  @Test(arguments: Mistake.all)
  func `a mistake is found once, and its cause is named`(mistake: Mistake) async throws {
    let report = try await mistake.report()
    #expect(report.details.count == 1, "\(report.details)")
    let first = try #require(report.details.first)
    #expect(first.hasPrefix("papers in no-fault: \(mistake.cause)"), "\(report.details)")
    // With a fault it would only be found again.
    #expect(report.entries.count == 1)
  }

  /// All kinds of paging, with short and full last pages.
  @Test(arguments: [23, 25], [true, false])
  func `a source without a mistake keeps the laws`(count: Int, hasTotal: Bool) async throws {
    let steps: [(RESTPaging.Step, PapersService.Paging)] = [
      (.page(.query("page"), start: 1), .page(first: 1)),
      (.page(.query("page"), start: 1), .page(first: 1, earlier: .error)),
      (.page(.query("page"), start: 0), .page(first: 0)),
      (.offset(.query("offset"), start: 0), .offset),
      (.token(.query("cursor"), start: nil), .token), (.link, .link),
    ]
    let ids = (1...count).map(String.init)
    for (step, paging) in steps {
      for known in [nil, ids] {
        let report = try await Mistake.report(
          on: PapersPlugin<Paper> { $0.step = step },
          PapersService {
            $0.paging = paging
            $0.count = count
            $0.total = { count, _ in hasTotal ? count : nil }
          }, knowing: known, [.noFault])
        #expect(report.passed, "\(step): \(report.details)")
        let skipped = report.notApplicable.filter { $0.hasPrefix("list-complete") }
        // The page after the last token cannot be requested.
        let isUnknown = step == .token(.query("cursor"), start: nil) && !hasTotal && known == nil
        #expect(
          skipped
            == (isUnknown
              ? [
                "list-complete: not applicable: the service reports no total, so records that are missing at the end "
                  + "would not be seen"
              ] : []),
          "\(step)")
      }
    }
  }

  @Test func `a source without a mistake keeps its guarantees in all scenarios`() async throws {
    let report = try await Mistake.report(on: PapersPlugin<Paper>(), PapersService())
    #expect(report.passed, "\(report.details)")
    #expect(report.entries.count == FaultScenario.all.count)
  }

  @Test func `a failure of every request is reported once`() async throws {
    let error = await #expect(throws: SourceError.self) {
      try await Mistake.report(
        on: PapersPlugin<Paper> { $0.step = .page(.query("page"), start: 0) },
        PapersService { $0.paging = .page(first: 1, earlier: .error) })
    }
    #expect(error?.code == .rejected)
  }

  @Test func `a search without an example is for a word of the list`() async throws {
    func verdict(_ change: (inout PapersPlugin<Paper>) -> Void) async throws -> String {
      let server = try LoopbackServer(PapersService().handler)
      defer { server.stop() }
      var environment = PluginEnvironment(
        settings: SourceSettings([PapersPlugin<Paper>.key: "canary-7f3a-9c51"]),
        transport: LocalTransport(server: server))
      environment.pageSize = 5
      var subject = try LawSubject(remoteOf: PapersPlugin<Paper>(change), in: environment)
      subject.query = nil
      let law = try #require(Law.all.first { $0.name == "search-pages" })
      let verdict = await law.check(subject)
      let words = Set(server.requests.compactMap { $0.query["q"] })
      #expect(words == ["Sample"])
      return "\(verdict)"
    }
    #expect(try await verdict { _ in } == "holds")
    let single = try await verdict {
      $0.search = RESTPaging(.single, size: (PapersPlugin<Paper>.limit, 100))
    }
    #expect(single.contains("the search ends after 5 results"), "\(single)")
  }

  /// Nothing is green that was not seen.
  @Test func `names what it cannot know`() async throws {
    func reason(_ change: (inout PapersService) -> Void) async throws -> String? {
      let report = try await Mistake.report(
        on: PapersPlugin<Paper> { $0.step = .token(.query("cursor"), start: nil) },
        PapersService {
          $0.paging = .token
          change(&$0)
        }, [.noFault])
      #expect(report.passed, "\(report.details)")
      return report.notApplicable.first { $0.hasPrefix("list-complete: ") }
    }
    #expect(
      try await reason { $0.count = 7 }
        == "list-complete: not applicable: the list has only 2 pages of the service, too few to see its paging"
    )
    #expect(
      try await reason { $0.count = 2001 }
        == "list-complete: not applicable: the first 2000 records were read, and the end was not reached within the bound"
    )
  }
}
