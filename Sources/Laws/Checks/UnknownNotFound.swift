import AggregatorKit

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
