import AggregatorKit
import Testing

@Suite struct NoticingEmptyFieldsTests {
  private struct Paper: SourceRecord {
    let id: Int
    var title: String?
    var tags: [String] = []
    var abstract: String?
  }

  private static let fields: [Field<Paper>] = [
    Field(\.id), Field(\.title), Field(\.tags), Field(\.abstract).onlyInDetails(),
  ]

  private func page(
    of papers: [Paper], comparing sample: [Paper]
  ) async throws -> Page<Paper> {
    let source = BundledSource("papers", items: papers, fields: Self.fields)
    let known = BundledSource("sample", items: sample, fields: Self.fields)
    return try await source.noticingEmptyFields(Self.fields, comparing: known)
      .page(PageRequest(limit: 100))
  }

  private let sample = [
    Paper(id: 1, title: "a", abstract: "x"), Paper(id: 2, title: "b"), Paper(id: 3),
  ]

  @Test func `a field that records usually have is missed if all of a page are without it`()
    async throws
  {
    let page = try await page(of: (1...20).map { Paper(id: $0, title: "") }, comparing: sample)
    #expect(
      page.warnings == [
        Warning(
          .emptyField, "title is empty in all 20 records: has the service renamed it?")
      ])
    #expect(page.records.count == 20)
  }

  @Test func `one record with the field is enough, and a short page proves nothing`() async throws {
    let one = (1...20).map { Paper(id: $0, title: $0 == 20 ? "c" : nil) }
    #expect(try await page(of: one, comparing: sample).warnings == [])
    let short = (1...19).map { Paper(id: $0) }
    #expect(try await page(of: short, comparing: sample).warnings == [])
  }

  @Test func `nothing is expected without a sample, or of fields that it seldom has`() async throws
  {
    let papers = (1...20).map { Paper(id: $0) }
    #expect(try await page(of: papers, comparing: []).warnings == [])
    let seldom = [Paper(id: 1, title: "a"), Paper(id: 2), Paper(id: 3)]
    #expect(try await page(of: papers, comparing: seldom).warnings == [])
  }
}
