package import AggregatorKit

extension Law {
  package static let recordRoundTrip = Law(
    "record-round-trip",
    "A record encoded as JSON decodes to an equal record, which encodes to the same bytes.",
    RecordRoundTrip())

  package static let fieldKinds = Law(
    "field-kinds", "Every field value is of the declared kind, or null.", FieldKinds())

  package static let fieldStored = Law(
    "field-stored",
    "Every stored field is in the record's JSON, at the field's path.", given: [recordRoundTrip],
    FieldAtPath())

  package static let searchableText = Law(
    "searchable-text", "If texts are searchable, some record has text in them.",
    SearchableText())

  package static let fieldsFilled = Law(
    "fields-filled", "A field that bundled records usually have is in some record of the list.",
    given: [paginationEnds], FieldsFilled())
}

private struct RecordRoundTrip: LawCheck {
  func run<Item: SourceRecord>(
    on subject: LawSubject<Item>, _ law: inout LawContext
  ) async throws(SourceError) {
    let page = try await subject.source.page(PageRequest(limit: 20))
    if page.records.isEmpty { law.notApplicable("there are no records") }
    for record in page.records {
      let call = "\"\(record.id)\" as JSON"
      do {
        let json = try CanonicalJSON.bytes(of: record)
        let copy = try JSONText(json)?.read(Item.self)
        guard try copy != record || CanonicalJSON.bytes(of: copy) != json else { continue }
        let lost = subject.fields.filter { field in copy.map { field[$0] } != field[record] }
        let what = lost.isEmpty ? "" : ": \(lost.map(\.name).joined(separator: ", "))"
        law.violation(
          "the record changes when it is stored as JSON and read again\(what)", at: call)
      } catch {
        law.violation(
          "the record's own JSON cannot be decoded: \("\(error)".oneLine(atMost: 120))", at: call)
      }
      // Others would only repeat it.
      if law.isViolated { return }
    }
  }
}

private struct FieldKinds: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    let records = try await subject.sampleRecords()
    if records.isEmpty { law.notApplicable("there are no records") }
    for field in subject.fields {
      let wrong = records.filter { !field[$0].matches(field.kind) }
      guard let record = wrong.first else { continue }
      law.violation(
        "the field \(field.name) is declared as \(field.kind.rawValue), but is \(field[record].excerpt)"
          + others(wrong.count), at: "\"\(record.id)\"")
    }
  }
}

extension JSON {
  fileprivate func matches(_ kind: FieldKind) -> Bool {
    switch (self, kind) {
    case (_, .any), (.null, _), (.string, .text), (.integer, .integer), (.integer, .number),
      (.number, .number), (.bool, .bool):
      true
    case (.array(let values), .list): values.allSatisfy { $0.matches(.text) && $0 != .null }
    default: false
    }
  }

  /// True if both are the same value: `2.0` is encoded as `2`.
  fileprivate func isSame(as other: JSON) -> Bool {
    switch (self, other) {
    case (.integer(let integer), .number(let number)),
      (.number(let number), .integer(let integer)):
      Double(integer) == number
    default: self == other
    }
  }

  package var excerpt: String { text.oneLine(atMost: 60) }
}

private struct FieldAtPath: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    let records = try await subject.sampleRecords()
    let fields = subject.fields.compactMap { field in field.path.map { (field, $0) } }
    if records.isEmpty { law.notApplicable("there are no records") }
    if fields.isEmpty { law.notApplicable("no fields are stored") }
    // `record-round-trip` checks that it can be encoded.
    let stored = records.compactMap { record in
      (try? CanonicalJSON.bytes(of: record)).flatMap { JSON(reading: $0) }.map { (record, $0) }
    }
    for (field, path) in fields {
      let values = stored.map { record, json in
        (record, path.split(separator: ".").reduce(json) { $0[String($1)] ?? .null })
      }
      let wrong = values.filter { record, value in
        // Stores read the text of an integer as one.
        !value.isSame(as: field[record])
          && !(field.kind == .integer && value == .string(field[record].text))
      }
      guard let (record, value) = wrong.first else { continue }
      law.violation(
        "the field \(field.name) is \(field[record].excerpt), but \(value.excerpt) at \"\(path)\" of the "
          + "stored record\(others(wrong.count))", at: "\"\(record.id)\"")
    }
  }
}

/// ` (and 4 other records)`.
private func others(_ count: Int) -> String {
  count > 1 ? ", and so in \((count - 1).of("other record"))" : ""
}

extension FieldKind {
  fileprivate var isText: Bool { self == .text || self == .list }
}

private struct SearchableText: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    guard subject.fields.contains(where: \.isSearchable) else {
      return law.notApplicable("no fields are searchable")
    }
    let request = PageRequest(limit: 20)
    let page = try await subject.source.page(request)
    if page.records.isEmpty { return law.notApplicable("there are no records") }
    if page.records.allSatisfy({ subject.fields.searchableText(of: $0).text.nonBlank == nil }) {
      // Fields of any kind, as those of an added source, may have nothing but numbers.
      guard subject.fields.contains(where: { $0.isSearchable && $0.kind.isText }) else {
        return law.notApplicable("no record has text")
      }
      let names = subject.fields.filter(\.isSearchable).map(\.name).joined(separator: ", ")
      law.violation("no record has text in the searchable fields: \(names)", at: request.text)
    }
  }
}

/// A service that renames a member only empties a column.
private struct FieldsFilled: LawCheck {
  func run<Item: SourceRecord>(
    on subject: LawSubject<Item>, _ law: inout LawContext
  ) async throws(SourceError) {
    guard let sample = subject.sample else {
      return law.notApplicable("there are no bundled records to compare with")
    }
    let usual = UsualFields(of: subject.fields, in: sample)
    if await usual.fields.isEmpty {
      return law.notApplicable("there are no bundled records to compare with")
    }
    let list = await subject.wholeList().listing
    if let failure = list.failure { throw failure }
    guard list.records.count >= UsualFields<Item>.fewest else {
      return law.notApplicable(
        "\(list.records.count.of("record")) are too few to tell empty fields from rare ones")
    }
    for sentence in await usual.missing(in: list.records) {
      law.violation(sentence, at: list.start.text)
    }
  }
}
