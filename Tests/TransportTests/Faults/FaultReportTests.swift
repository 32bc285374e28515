import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct FaultReportTests {
  private func report(
    on plugin: LeafPlugin, in scenarios: String..., servedBy handler: LoopbackServer.Handler? = nil,
    key: String? = nil,
    maxWait: Duration = .seconds(60)
  ) async throws -> FaultReport {
    let server = try LoopbackServer(handler ?? LeafPlugin.serve())
    defer { server.stop() }
    var values = [LeafPlugin.url.key: server.baseURL.absoluteString]
    values[LeafPlugin.key.key] = key
    let settings = SourceSettings(values)
    return try await FaultReport(
      of: plugin, in: PluginEnvironment(settings: settings, transport: LongTimeoutTransport()),
      FaultScenario.all.filter { scenarios.contains($0.name) }, maxWait: maxWait)
  }

  private func expect(
    _ report: FaultReport, _ guarantees: ScenarioGuarantee...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let broken = Set(report.entries.flatMap(\.violations).map(\.guarantee))
    #expect(broken == Set(guarantees), "\(report.details)", sourceLocation: sourceLocation)
    #expect(!report.passed, sourceLocation: sourceLocation)
  }

  @Test func `reports nothing for a correct source`() async throws {
    try await expectLawsUnderFaults(of: LeafPlugin(), servedBy: LeafPlugin.serve())
  }

  @Test func `detects a failure instead of notFound`() async throws {
    let serve = LeafPlugin.serve()
    let report = try await report(on: LeafPlugin(), in: "no-fault") { request in
      let id = request.path.split(separator: "/").last.flatMap { Int($0) }
      return id.map { 1...40 ~= $0 } == false ? .status(410) : serve(request)
    }
    #expect(!report.passed)
    #expect(report.details.allSatisfy { $0.contains(": inconclusive: rejected: ") })
    #expect(report.details.contains { $0.contains("unknown-not-found") })
  }

  @Test func `detects a key that a service repeats`() async throws {
    let key = "canary/0f+leaves"
    let good = try await report(on: LeafPlugin(), in: "echoed-key", key: key)
    #expect(good.passed, "\(good.details)")
    #expect(good.entries.map(\.hasEffect) == [true])
    let bad = try await report(on: LeafPlugin(leaksKey: true), in: "echoed-key", key: key)
    #expect(Set(bad.entries[0].laws?.violations.map(\.law) ?? []) == ["no-secret"])
    #expect(!"\(bad.details)".contains("canary"))
    let keyless = try await report(on: LeafPlugin(), in: "echoed-key")
    #expect(keyless.passed && keyless.entries.map(\.hasEffect) == [false])
  }

  @Test(arguments: [
    (
      false,
      "terminates: list: expected the end, or a policy that is endless, found record limit reached after 5000 records"
    ),
    (
      true,
      "pagination-ends: the list does not end: 3 consecutive pages had no new records "
        + "(list, limit 5, page 11 of 11)"
    ),
  ])
  func `detects a list that does not end, once`(isEmpty: Bool, found: String) async throws {
    let plugin = LeafPlugin(breaking: { base in
      Broken(base) { request, outcome in
        let seal = CursorSeal("leaves", for: nil)
        guard let skip = try? seal.openOffset(request.cursor) else { return outcome }
        return outcome.map { page in
          var page = page
          if !isEmpty, page.records.isEmpty {
            page.records = (1...request.limit).map { Leaf(skip + $0, "leaf") }
          }
          page.next = try? seal.close(skip + (isEmpty ? request.limit : page.records.count))
          return page
        }
      }
    })
    let report = try await report(on: plugin, in: "no-fault", "503-persistent")
    #expect(report.entries.map(\.scenario.name) == ["no-fault"], "a fault would only repeat it")
    #expect(report.details == ["leaves in no-fault: \(found)"])
  }

  @Test func `lists the laws that do not apply, with the reason`() async throws {
    let report = try await report(on: LeafPlugin(), in: "no-fault")
    #expect(report.passed)
    #expect(
      report.notApplicable.contains(
        "no-secret: not applicable: there are no secrets of 8 or more characters"))
  }

  @Test func `detects a call that never ends`() async throws {
    let gate = Gate()
    defer { gate.open() }
    let plugin = LeafPlugin(breaking: { base in
      Broken(base) { _, outcome in
        // An unstructured task is not cancelled with this one.
        if case .failure = outcome { _ = await Task { try? await gate.pass() }.value }
        return outcome
      }
    })
    let report = try await report(on: plugin, in: "reset", maxWait: .seconds(1))
    expect(report, .terminates)
    #expect(report.entries.first?.laws == nil)
    #expect(report.table.contains("VIOLATED 1  –           –"))
  }

  @Test func `detects made-up records`() async throws {
    let plugin = LeafPlugin(breaking: { base in
      Broken(base) { _, outcome in
        outcome.map { page in
          var page = page
          if page.unreadable.count > 0, !page.records.isEmpty { page.records[0].title = "?" }
          return page
        }
      }
    })
    // What it made up is cached, too.
    expect(try await report(on: plugin, in: "bad-row"), .recordsIntact, .storeConsistent)
  }

  @Test func `detects a hidden failure`() async throws {
    let plugin = LeafPlugin(breaking: { base in
      Broken(base) { _, outcome in
        .success((try? outcome.get()) ?? Page([], provenance: Provenance(.live)))
      }
    })
    // Its empty page is cached, and replaces what was cached before.
    expect(try await report(on: plugin, in: "503-persistent"), .recordsIntact, .failuresReported)
  }

  @Test func `detects hidden unreadable rows`() async throws {
    let plugin = LeafPlugin(breaking: { base in
      Broken(base) { _, outcome in
        outcome.map { page in
          var page = page
          page.unreadable = .none
          return page
        }
      }
    })
    expect(try await report(on: plugin, in: "bad-row"), .failuresReported)
  }

  @Test func `detects good rows lost with a bad one`() async throws {
    let plugin = LeafPlugin(breaking: { base in
      Broken(base) { _, outcome in
        outcome.flatMap { page in
          page.unreadable.count > 0
            ? .failure(SourceError(.malformed, "a row cannot be read")) : .success(page)
        }
      }
    })
    expect(try await report(on: plugin, in: "bad-row"), .failuresReported)
  }

  @Test func `detects a retry time longer than announced`() async throws {
    let plugin = LeafPlugin(breaking: { base in
      Broken(base) { _, outcome in
        outcome.mapError { error in
          var error = error
          error.retryAfter = .seconds(3600)
          return error
        }
      }
    })
    expect(try await report(on: plugin, in: "429-seconds"), .failuresReported)
  }

  @Test func `detects records changed by the store`() async throws {
    let cause = try await report(on: LeafPlugin(), in: "no-fault", servedBy: LeafPlugin.serve("~"))
    #expect(
      cause.details == [
        "leaves in no-fault: record-round-trip: the record changes when it is stored as JSON and read again: title "
          + "(\"1\" as JSON)"
      ])
    let later = try await report(
      on: LeafPlugin(), in: "503-transient", servedBy: LeafPlugin.serve("~"))
    expect(later, .storeConsistent)
  }

  @Test func `detects a source that does not recover`() async throws {
    let plugin = LeafPlugin(breaking: { base in
      let first = Mutex<SourceError?>(nil)
      return Broken(base) { _, outcome in
        if let error = first.withLock(\.self) { return .failure(error) }
        if case .failure(let error) = outcome { first.withLock { $0 = error } }
        return outcome
      }
    })
    expect(try await report(on: plugin, in: "503-persistent", "html-200"), .recovers)
  }

  @Test func `reports which law is broken, and in which scenario`() async throws {
    let plugin = LeafPlugin(breaking: { base in
      Broken(base) { _, outcome in
        outcome.map { page in
          var page = page
          if page.unreadable.count > 0 { page.records += page.records }
          return page
        }
      }
    })
    let report = try await report(on: plugin, in: "no-fault", "bad-row")
    #expect(report.entries.map(\.passed) == [true, false])
    #expect(report.entries.flatMap(\.violations).isEmpty)
    #expect(Set(report.entries[1].laws?.violations.map(\.law) ?? []) == ["limit-respected"])
    #expect(report.details.allSatisfy { $0.hasPrefix("leaves in bad-row: limit-respected: ") })
  }

  @Test func `a crash would name the source, the scenario and the call`() async throws {
    let names = Mutex<Set<String?>>([])
    let plugin = LeafPlugin(breaking: { base in
      Broken(base) { _, outcome in
        names.withLock { _ = $0.insert(RunningCheck.name) }
        return outcome
      }
    })
    _ = try await report(on: plugin, in: "empty-page")
    #expect(names.withLock(\.self).contains("leaves in empty-page: list, second page"))
  }

  @Test func `fits a table into 100 columns`() async throws {
    let report = try await report(
      on: LeafPlugin(), in: "no-fault", "503-persistent", "shrinking-total")
    let lines = report.table.split(separator: "\n")
    #expect(lines.count == 4)
    #expect(lines.allSatisfy { $0.count <= 100 })
    #expect(lines[1].hasPrefix("no-fault            ok          ok "))
    #expect(report.passed && report.details.isEmpty)
  }

  @Test func `throws if the service fails without a fault`() async throws {
    let error = await #expect(throws: SourceError.self) {
      try await report(on: LeafPlugin(), in: "no-fault", servedBy: { _ in .status(500) })
    }
    #expect(error?.code == .serverError)
  }
}

/// A source whose pages are changed.
private struct Broken: DataSource {
  typealias Outcome = Result<Page<Leaf>, SourceError>

  let base: any DataSource<Leaf>
  let change: @Sendable (PageRequest, Outcome) async -> Outcome

  init(
    _ base: any DataSource<Leaf>,
    _ change: @escaping @Sendable (PageRequest, Outcome) async -> Outcome
  ) {
    self.base = base
    self.change = change
  }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Leaf> {
    let outcome = await Result { () async throws(SourceError) in try await base.page(request) }
    return try await change(request, outcome).get()
  }

  func item(_ id: Int, cachePolicy: CachePolicy) async throws(SourceError) -> LookupResult<Leaf> {
    try await base.item(id, cachePolicy: cachePolicy)
  }
}
