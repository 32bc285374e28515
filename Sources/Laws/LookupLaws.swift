import AggregatorKit

extension Law {
  package static let listedIDFound = Law(
    "listed-id-found", "A record of the list can be looked up by its ID.",
    given: [paginationStable], ListedIDFound())

  package static let unknownNotFound = Law(
    "unknown-not-found", "Looking up an unknown ID fails with notFound.",
    UnknownNotFound())

  package static let mergeKeeps = Law(
    "merge-keeps",
    "Merging a listed record over its full form keeps the ID and all details.",
    given: [listedIDFound], MergeKeeps())
}

private struct ListedIDFound: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    let page = try await subject.source.page(PageRequest(limit: 1))
    let ids = [subject.known, page.records.first?.id].compactMap(\.self)
    guard !ids.isEmpty else { return law.notApplicable("there are no records") }
    for id in ids {
      let found: String
      do throws(SourceError) {
        let item = try await subject.source.item(id).item
        guard item.id != id else { continue }
        found = " returned \(item.id)"
      } catch {
        if error.code == .unsupported { return law.notApplicable("lookups are unsupported") }
        // The service answers, as the list shows, but with something else than the record.
        guard error.code == .notFound || error.code == .malformed else { throw error }
        // The list came from another origin, which may have other records.
        if let reason = page.provenance.reason { throw reason }
        found = ": \(error.message)"
      }
      law.violation("show \(id)\(found)", at: "show \(id)")
    }
  }
}

private struct UnknownNotFound: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    guard let id = subject.unknown ?? subject.inventedID else {
      return law.notApplicable("no unknown ID is available")
    }
    let found: String
    do throws(SourceError) {
      found = " returned \(try await subject.source.item(id).item.id)"
    } catch {
      switch error.code {
      case .notFound: return
      case .unsupported: return law.notApplicable("lookups are unsupported")
      case .malformed:
        // If the service answers at all, it answers this wrongly.
        guard try await subject.source.page(PageRequest(limit: 1)).provenance.reason == nil else {
          throw error
        }
        found = ": \(error.message)"
      case _ where error.isServiceFailure: throw error
      default: found = " failed with \(error.text)"
      }
    }
    law.violation("show \(id)\(found), though no record has this ID", at: "show \(id)")
  }
}

extension LawSubject {
  /// An ID that hardly any source has, in the first usual format that is valid.
  package var inventedID: Item.ID? {
    let forms = [
      "00000000-0000-4000-8000-00000000dead", "2147483646", "no.such.record@example.invalid", "ZZ",
    ]
    return forms.lazy.compactMap { Item.ID($0) }.first
  }
}

private struct MergeKeeps: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    let page = try await subject.source.page(PageRequest(limit: 3))
    if page.records.isEmpty { law.notApplicable("there are no records") }
    for short in page.records {
      // If lookups are unsupported, a record must at least survive being merged with itself.
      let long = try await subject.item(short.id) ?? short
      let merged = short.merged(over: long)
      let call = "\"\(short.id)\" merged"
      if merged.id != short.id {
        law.violation("merging changes the ID to \"\(merged.id)\"", at: call)
      }
      if short.merged(over: merged) != merged {
        law.violation("merging again changes the record", at: "\(call) again")
      }
      for field in subject.fields where field[short] == .null && field[merged] != field[long] {
        law.violation(
          "merging changes the field \(field.name) from \(field[long].excerpt) to \(field[merged].excerpt)",
          at: call)
      }
    }
  }
}
