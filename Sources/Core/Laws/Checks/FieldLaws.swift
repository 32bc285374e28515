extension Law {
  /// Fields have the kinds that they say.
  static let fieldKinds = Law(
    "field-kinds", "Every field of every record is of the kind that it declares, or null.",
    isCheap: true, FieldKinds())

  /// There is something to search in.
  static let searchableText = Law(
    "searchable-text", "Where fields are searchable, some record has text in them.", isCheap: true,
    SearchableText())
}

private struct FieldKinds: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ trial: inout Trial
  ) async throws(SourceError) {
    let records = try await subject.sampleRecords()
    if records.isEmpty { trial.exempt("no record is known") }
    for record in records {
      for field in subject.fields where !field[record].isOf(field.kind) {
        trial.note(
          expected: "\(field.name) to be \(field.kind.rawValue)", found: field[record].excerpt,
          at: "'\(record.id)'")
      }
    }
  }
}

extension JSON {
  /// Whether a field of this kind may have this value.
  fileprivate func isOf(_ kind: FieldKind) -> Bool {
    switch (self, kind) {
    case (.null, _), (.string, .text), (.integer, .integer), (.integer, .number),
      (.number, .number), (.bool, .bool):
      true
    case (.array(let values), .list): values.allSatisfy { $0.isOf(.text) && $0 != .null }
    default: false
    }
  }
}

private struct SearchableText: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ trial: inout Trial
  ) async throws(SourceError) {
    guard subject.fields.contains(where: \.isSearchable) else {
      return trial.exempt("no field is searchable")
    }
    let request = PageRequest(limit: 20)
    let page = try await subject.source.page(request)
    if page.records.isEmpty { return trial.exempt("no record is known") }
    if page.records.allSatisfy({ subject.fields.searchableText(of: $0).text.nonBlank == nil }) {
      trial.note(expected: "text to search in", found: "none", at: request.inWords)
    }
  }
}
