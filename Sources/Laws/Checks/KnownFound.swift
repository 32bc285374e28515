import AggregatorKit

extension Law {
  /// A record of the list can be looked up.
  static let knownFound = Law(
    "known-found", "A record of the list is found by its id, and is that record.", isCheap: true,
    KnownFound())
}

private struct KnownFound: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let page = try await subject.source.page(PageRequest(limit: 1))
    let ids = [subject.known, page.records.first?.id].compactMap(\.self)
    guard !ids.isEmpty else { return context.exempt("no record is known") }
    for id in ids {
      let found: String
      do throws(SourceError) {
        let item = try await subject.source.item(id).item
        guard item.id != id else { continue }
        found = "'\(item.id)'"
      } catch {
        if error.code == .unsupported { return context.exempt("it cannot look up one record") }
        guard error.code == .notFound else { throw error }
        // What another tier listed, this one need not know.
        if let reason = page.provenance.reason { throw reason }
        found = error.text
      }
      context.note(expected: "the record '\(id)'", found: found, at: "show \(id)")
    }
  }
}
