import AggregatorKit

extension Law {
  package static let listedIDFound = Law(
    "listed-id-found", "A record of the list can be looked up by its ID.", isCheap: true,
    ListedIDFound())

  package static let unknownNotFound = Law(
    "unknown-not-found", "Looking up an unknown ID fails with notFound.", isCheap: true,
    UnknownNotFound())

  package static let mergeKeeps = Law(
    "merge-keeps",
    "Merging a listed record over its full form keeps the ID and all details.",
    isCheap: true, given: [listedIDFound], MergeKeeps())
}

private struct ListedIDFound: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let page = try await subject.source.page(PageRequest(limit: 1))
    let ids = [subject.known, page.records.first?.id].compactMap(\.self)
    guard !ids.isEmpty else { return context.notApplicable("there are no records") }
    for id in ids {
      let found: String
      do throws(SourceError) {
        let item = try await subject.source.item(id).item
        guard item.id != id else { continue }
        found = "\"\(item.id)\""
      } catch {
        if error.code == .unsupported { return context.notApplicable("lookups are unsupported") }
        guard error.code == .notFound else { throw error }
        // The list came from another origin, which may have other records.
        if let reason = page.provenance.reason { throw reason }
        found = error.text
      }
      context.violation(expected: "the record \"\(id)\"", found: found, at: "show \(id)")
    }
  }
}

private struct UnknownNotFound: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    guard let id = subject.unknown ?? subject.inventedID else {
      return context.notApplicable("no unknown ID is available")
    }
    let found: String
    do throws(SourceError) {
      found = "the record \"\(try await subject.source.item(id).item.id)\""
    } catch {
      switch error.code {
      case .notFound: return
      case .unsupported: return context.notApplicable("lookups are unsupported")
      case _ where error.isServiceFailure: throw error
      default: found = error.text
      }
    }
    context.violation(expected: "error notFound", found: found, at: "show \(id)")
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
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let page = try await subject.source.page(PageRequest(limit: 3))
    if page.records.isEmpty { context.notApplicable("there are no records") }
    for short in page.records {
      // If lookups are unsupported, a record must at least survive being merged with itself.
      let long = try await subject.item(short.id) ?? short
      judge(short, over: long, subject.fields, &context)
    }
  }

  private func judge<Item: Record>(
    _ short: Item, over long: Item, _ fields: [Field<Item>], _ context: inout LawContext
  ) {
    let merged = short.merged(over: long)
    let call = "\"\(short.id)\" merged"
    if merged.id != short.id {
      context.violation(expected: "the same ID", found: "\"\(merged.id)\"", at: call)
    }
    if short.merged(over: merged) != merged {
      context.violation(
        expected: "an unchanged record", found: "a changed one", at: "\(call) again")
    }
    for field in fields where field[short] == .null && field[merged] != field[long] {
      context.violation(
        expected: "\(field.name) \(field[long].excerpt)", found: field[merged].excerpt, at: call)
    }
  }
}
