import AggregatorKit

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

extension JSON {
  /// The value as JSON, cut where it is long.
  var excerpt: String { text.oneLine(atMost: 60) }
}
