import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Testing

@Suite struct ExpectLawsTests {
  @Test func `a source that keeps every law raises no issue`() async {
    let report = await expectLaws(of: Diary().subject())
    #expect(report.entries.count == Law.all.count)
  }

  @Test func `a violation is an issue that names its law`() async {
    await withKnownIssue {
      await expectLaws(of: Diary(Diary.notes + [Diary.notes[4]]).subject())
    } matching: { issue in
      issue.comments.contains { "\($0)".contains("ids-unique of diary: list, limit 7, after c") }
        && issue.sourceLocation?.fileName == "ExpectLawsTests.swift"
    }
  }

  @Test func `what cannot be judged is an issue`() async throws {
    let unjudged = Diary().subject(page: { _ throws(SourceError) in throw .because(.timedOut) })
    let law = try LawVerdictTests.law("walk-ends")
    await withKnownIssue {
      await expectLaws(of: unjudged, [law])
    } matching: { issue in
      issue.comments.contains { "\($0)".contains("walk-ends of diary: could not be judged") }
    }
  }

  @Test func `what does not apply is no issue`() async throws {
    let law = try LawVerdictTests.law("search-matches")
    await expectLaws(of: Diary().subject().with { $0.search = .none }, [law])
  }
}
