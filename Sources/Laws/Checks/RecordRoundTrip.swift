import AggregatorKit

extension Law {
  /// A record can be kept as JSON.
  static let recordRoundTrip = Law(
    "record-round-trip",
    "A record written as JSON reads back equal, and is written with the same bytes again.",
    isCheap: true, RecordRoundTrip())
}

private struct RecordRoundTrip: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let page = try await subject.source.page(PageRequest(limit: 20))
    if page.records.isEmpty { context.exempt("no record is known") }
    for record in page.records {
      let place = "'\(record.id)' as JSON"
      do {
        let json = try CanonicalJSON.bytes(of: record)
        let copy = try JSONText(json)?.read(Item.self)
        if copy != record {
          context.note(expected: "an equal record", found: "another", at: place)
        } else if try CanonicalJSON.bytes(of: copy) != json {
          context.note(expected: "the same bytes again", found: "others", at: place)
        }
      } catch {
        context.note(
          expected: "JSON that reads back", found: "\(error)".oneLine(atMost: 120), at: place)
      }
    }
  }
}
