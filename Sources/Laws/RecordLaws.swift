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
    "Every stored field is in the record's JSON, at the field's path.", FieldAtPath())

  package static let searchableText = Law(
    "searchable-text", "If fields are searchable, some record has text in them.",
    SearchableText())
}

private struct RecordRoundTrip: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ law: inout LawContext
  ) async throws(SourceError) {
    let page = try await subject.source.page(PageRequest(limit: 20))
    if page.records.isEmpty { law.notApplicable("there are no records") }
    for record in page.records {
      let call = "\"\(record.id)\" as JSON"
      do {
        let json = try CanonicalJSON.bytes(of: record)
        let copy = try JSONText(json)?.read(Item.self)
        if copy != record {
          law.violation(expected: "an equal record", found: "a different one", at: call)
        } else if try CanonicalJSON.bytes(of: copy) != json {
          law.violation(expected: "the same bytes", found: "other bytes", at: call)
        }
      } catch {
        law.violation(
          expected: "decodable JSON", found: "\(error)".oneLine(atMost: 120), at: call)
      }
    }
  }
}

private struct FieldKinds: LawCheck {
  func run(on subject: LawSubject<some Record>, _ law: inout LawContext) async throws(SourceError) {
    let records = try await subject.sampleRecords()
    if records.isEmpty { law.notApplicable("there are no records") }
    for record in records {
      for field in subject.fields where !field[record].matches(field.kind) {
        law.violation(
          expected: "\(field.name) to be \(field.kind.rawValue)", found: field[record].excerpt,
          at: "\"\(record.id)\"")
      }
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
  func run(on subject: LawSubject<some Record>, _ law: inout LawContext) async throws(SourceError) {
    let records = try await subject.sampleRecords()
    let fields = subject.fields.compactMap { field in field.path.map { (field, $0) } }
    if records.isEmpty { law.notApplicable("there are no records") }
    if fields.isEmpty { law.notApplicable("no fields are stored") }
    for record in records {
      // `record-round-trip` checks that it can be encoded.
      guard let bytes = try? CanonicalJSON.bytes(of: record), let json = JSON(reading: bytes)
      else { continue }
      for (field, path) in fields {
        let stored = path.split(separator: ".").reduce(json) { $0[String($1)] ?? .null }
        if !stored.isSame(as: field[record]) {
          law.violation(
            expected: "\(field.name) to be \(field[record].excerpt)", found: stored.excerpt,
            at: "\"\(record.id)\" at \(path)")
        }
      }
    }
  }
}

private struct SearchableText: LawCheck {
  func run(on subject: LawSubject<some Record>, _ law: inout LawContext) async throws(SourceError) {
    guard subject.fields.contains(where: \.isSearchable) else {
      return law.notApplicable("no fields are searchable")
    }
    let request = PageRequest(limit: 20)
    let page = try await subject.source.page(request)
    if page.records.isEmpty { return law.notApplicable("there are no records") }
    if page.records.allSatisfy({ subject.fields.searchableText(of: $0).text.nonBlank == nil }) {
      law.violation(expected: "searchable text", found: "none", at: request.text)
    }
  }
}
