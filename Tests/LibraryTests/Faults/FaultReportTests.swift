import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(3))) struct FaultReportTests {
  private func report(
    on plugin: LeafPlugin, in scenarios: String..., servedBy handler: LoopbackServer.Handler? = nil,
    maxWait: Duration = .seconds(10)
  ) async throws -> FaultReport {
    let server = try LoopbackServer(handler ?? LeafPlugin.serve())
    defer { server.stop() }
    let settings = Settings([LeafPlugin.address.key: server.baseURL.absoluteString])
    return try await FaultReport(
      of: plugin, in: PluginEnvironment(settings: settings, transport: HTTPTransport.standard),
      FaultScenario.all.filter { scenarios.contains($0.name) }, maxWait: maxWait)
  }

  private func expect(
    _ report: FaultReport, _ promise: ScenarioPromise,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let broken = Set(report.entries.flatMap(\.violations).map(\.promise))
    #expect(broken == [promise], "\(report.details)", sourceLocation: sourceLocation)
    #expect(!report.passed, sourceLocation: sourceLocation)
  }

  @Test func `reports nothing for a correct source`() async throws {
    try await expectLawsUnderFaults(of: LeafPlugin(), servedBy: LeafPlugin.serve())
  }

  @Test func `detects a failure instead of notFound`() async throws {
    let serve = LeafPlugin.serve()
    let report = try await report(on: LeafPlugin(), in: "fair") { request in
      let id = request.path.split(separator: "/").last.flatMap { Int($0) }
      return id.map { 1...40 ~= $0 } == false ? .status(410) : serve(request)
    }
    #expect(!report.passed)
    #expect(report.details.allSatisfy { $0.contains(": inconclusive: rejected: ") })
    #expect(report.details.contains { $0.contains("unknown-not-found") })
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
    #expect(report.table.contains("VIOLATED (1) –            –"))
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
    expect(try await report(on: plugin, in: "bad-row"), .kept)
  }

  @Test func `detects a hidden failure`() async throws {
    let plugin = LeafPlugin(breaking: { base in
      Broken(base) { _, outcome in
        .success((try? outcome.get()) ?? Page([], provenance: Provenance(.live)))
      }
    })
    expect(try await report(on: plugin, in: "503-for-ever"), .reason)
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
    expect(try await report(on: plugin, in: "bad-row"), .reason)
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
    expect(try await report(on: plugin, in: "bad-row"), .reason)
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
    expect(try await report(on: plugin, in: "429-seconds"), .reason)
  }

  @Test func `detects records changed by the store`() async throws {
    let report = try await report(
      on: LeafPlugin(), in: "fair", "reset", servedBy: LeafPlugin.serve("~"))
    expect(report, .store)
    #expect(report.entries.first?.laws?.violations.first?.law == "record-round-trip")
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
    expect(try await report(on: plugin, in: "503-for-ever", "html-200"), .recovers)
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
    let report = try await report(on: plugin, in: "fair", "bad-row")
    #expect(report.entries.map(\.passed) == [true, false])
    #expect(report.entries.flatMap(\.violations).isEmpty)
    #expect(Set(report.entries[1].laws?.violations.map(\.law) ?? []) == ["limit-kept"])
    #expect(report.details.allSatisfy { $0.hasPrefix("leaves in bad-row: limit-kept: ") })
  }

  @Test func `fits a table into 100 columns`() async throws {
    let report = try await report(on: LeafPlugin(), in: "fair", "503-for-ever", "shrinking-total")
    let lines = report.table.split(separator: "\n")
    #expect(lines.count == 4)
    #expect(lines.allSatisfy { $0.count <= 100 })
    #expect(lines[1].hasPrefix("fair            ok           ok "))
    #expect(report.passed && report.details.isEmpty)
  }

  @Test func `throws if the service fails without a fault`() async throws {
    let error = await #expect(throws: SourceError.self) {
      try await report(on: LeafPlugin(), in: "fair", servedBy: { _ in .status(500) })
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

  func item(_ id: Int) async throws(SourceError) -> LookupResult<Leaf> { try await base.item(id) }
}
