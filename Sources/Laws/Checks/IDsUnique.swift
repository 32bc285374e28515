import AggregatorKit

extension Law {
  /// No id comes twice in a walk.
  static let idsUnique = Law("ids-unique", "No id comes twice in a walk.", IDsUnique())
}

private struct IDsUnique: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    if subject.repeatsRecords { return context.exempt("the service is known to repeat records") }
    let walk = await subject.walk()
    var places: [Item.ID: String] = [:]
    for (request, page) in walk.pages {
      for record in page.records {
        if let place = places.updateValue(request.text, forKey: record.id) {
          context.note(
            expected: "every id once", found: "'\(record.id)' again, after \(place)",
            at: request.text)
        }
      }
    }
    if let failure = walk.failure { throw failure }
  }
}
