import AggregatorKit
import AggregatorLaws

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

extension Law {
  /// An unknown id is no failure.
  static let unknownNotFound = Law(
    "unknown-not-found", "An id that there is not is answered with notFound.", isCheap: true,
    UnknownNotFound())
}

private struct UnknownNotFound: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    guard let id = subject.unknown ?? subject.inventedID else {
      return context.exempt("no id is known that there is not")
    }
    let found: String
    do throws(SourceError) {
      found = "the record '\(try await subject.source.item(id).item.id)'"
    } catch {
      switch error.code {
      case .notFound: return
      case .unsupported: return context.exempt("it cannot look up one record")
      case _ where error.isTheServices: throw error
      default: found = error.text
      }
    }
    context.note(expected: "the failure notFound", found: found, at: "show \(id)")
  }
}

extension LawSubject {
  /// An id that hardly any source has, in the first of some usual forms that is one.
  var inventedID: Item.ID? {
    let forms = [
      "00000000-0000-4000-8000-00000000dead", "2147483646", "no.such.record@example.invalid", "ZZ",
    ]
    return forms.lazy.compactMap { Item.ID($0) }.first
  }
}

extension Law {
  /// A short form never erases what a long one told.
  static let mergeKeeps = Law(
    "merge-keeps",
    "A listed record merged over the same record alone keeps its id and all that was known.",
    isCheap: true, given: [knownFound], MergeKeeps())
}

private struct MergeKeeps: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let page = try await subject.source.page(PageRequest(limit: 3))
    if page.records.isEmpty { context.exempt("no record is known") }
    for short in page.records {
      // Where it cannot be looked up, a record must at least survive itself.
      let long = try await subject.item(short.id) ?? short
      judge(short, over: long, subject.fields, &context)
    }
  }

  private func judge<Item: Record>(
    _ short: Item, over long: Item, _ fields: [Field<Item>], _ context: inout LawContext
  ) {
    let merged = short.merged(over: long)
    let place = "'\(short.id)' merged"
    if merged.id != short.id {
      context.note(expected: "the same id", found: "'\(merged.id)'", at: place)
    }
    if short.merged(over: merged) != merged {
      context.note(expected: "nothing new", found: "another record", at: "\(place) once more")
    }
    for field in fields where field[short] == .null && field[merged] != field[long] {
      context.note(
        expected: "\(field.name) \(field[long].excerpt)", found: field[merged].excerpt, at: place)
    }
  }
}
