import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StoreLawTests {
  @Test(arguments: StoreLaw.all)
  func `a file of SQLite keeps every promise`(law: StoreLaw) async throws {
    let directory = try StoreDirectory()
    let verdicts = await expectStoreLaws([law]) { directory.store() }
    #expect(verdicts.map { "\($0.verdict)" } == ["holds"])
  }

  @Test func `a file of SQLite keeps all promises beside one another`() async throws {
    let directory = try StoreDirectory()
    for (law, verdict) in await expectStoreLaws(of: { directory.store() }) {
      #expect("\(verdict)" == "holds", "\(law)")
    }
    #expect(try await directory.store().inconsistencies() == [])
    #expect(try directory.database().isSound())
    #expect(directory.warnings.isEmpty)
  }

  @Test func `a store in memory keeps every promise, and no history`() async {
    let store = InMemoryStore()
    for (law, verdict) in await expectStoreLaws(of: { store }) {
      let expected = law.name == "history-tells" ? "not applicable: no history is kept" : "holds"
      #expect("\(verdict)" == expected, "\(law)")
    }
  }

  @Test(arguments: StoreFlaw.all)
  func `a store that breaks a promise is found`(flaw: StoreFlaw) async throws {
    let law = try #require(StoreLaw.all.first { $0.name == flaw.law })
    let verdict = await law.check(try flaw.open())
    #expect(verdict.violations.first?.law == flaw.law, "\(verdict)")
  }

  @Test func `every law is broken by some test`() {
    let names = StoreLaw.all.map(\.name)
    #expect(Set(StoreFlaw.all.map(\.law)) == Set(names))
    #expect(Set(names).count == names.count)
  }

  @Test func `a store that fails is judged no further`() async throws {
    let law = try #require(StoreLaw.all.first)
    let verdict = await law.check {
      FlawedStore(save: { _, _, _, _ throws(SourceError) in throw SourceError(.busy, "locked") })
    }
    #expect("\(verdict)" == "inconclusive: busy: locked")
    let unopened = await law.check { throw SourceError(.storage, "nowhere") }
    #expect("\(unopened)" == "inconclusive: storage: nowhere")
  }

  @Test func `a violation is an issue that names its law`() async throws {
    let flaw = try #require(StoreFlaw.all.first { $0.law == "status-counts" })
    let open = try flaw.open()
    await withKnownIssue {
      await expectStoreLaws(StoreLaw.all.filter { $0.name == flaw.law }, of: open)
    } matching: { issue in
      issue.comments.contains { "\($0)".hasPrefix("status-counts: expected") }
        && issue.sourceLocation?.fileName == "StoreLawTests.swift"
    }
  }
}
