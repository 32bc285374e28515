import AggregatorKit

extension Law {
  /// No id comes twice in a walk.
  static let idsUnique = Law("ids-unique", "No id comes twice in a walk.", IDsUnique())
}

private struct IDsUnique: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ trial: inout Trial
  ) async throws(SourceError) {
    if subject.repeatsRecords { return trial.exempt("the service is known to repeat records") }
    let walk = await subject.walk()
    var places: [Item.ID: String] = [:]
    for (request, page) in walk.pages {
      for record in page.records {
        if let place = places.updateValue(request.inWords, forKey: record.id) {
          trial.note(
            expected: "every id once", found: "'\(record.id)' again, after \(place)",
            at: request.inWords)
        }
      }
    }
    if let failure = walk.failure { throw failure }
  }
}
