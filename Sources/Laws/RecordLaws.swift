package import AggregatorKit
import Foundation

extension Law {
  /// A record can be kept as JSON.
  package static let recordRoundTrip = Law(
    "record-round-trip",
    "A record written as JSON reads back equal, and is written with the same bytes again.",
    isCheap: true, RecordRoundTrip())
}

private struct RecordRoundTrip: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let page = try await subject.source.page(PageRequest(limit: 20))
    if page.records.isEmpty { context.exempt("no record is known") }
    for record in page.records {
      let place = "'\(record.id)' as JSON"
      do {
        let json = try CanonicalJSON.bytes(of: record)
        let copy = try JSONText(json)?.read(Item.self)
        if copy != record {
          context.note(expected: "an equal record", found: "another", at: place)
        } else if try CanonicalJSON.bytes(of: copy) != json {
          context.note(expected: "the same bytes again", found: "others", at: place)
        }
      } catch {
        context.note(
          expected: "JSON that reads back", found: "\(error)".oneLine(atMost: 120), at: place)
      }
    }
  }
}

extension Law {
  /// Fields have the kinds that they say.
  package static let fieldKinds = Law(
    "field-kinds", "Every field of every record is of the kind that it declares, or null.",
    isCheap: true, FieldKinds())

  /// A query of the store sees what everybody else sees.
  package static let fieldStored = Law(
    "field-stored",
    "The value of every stored field is in the record's JSON where the field's path leads.",
    isCheap: true, FieldStored())

  /// There is something to search in.
  package static let searchableText = Law(
    "searchable-text", "Where fields are searchable, some record has text in them.", isCheap: true,
    SearchableText())
}

private struct FieldKinds: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let records = try await subject.sampleRecords()
    if records.isEmpty { context.exempt("no record is known") }
    for record in records {
      for field in subject.fields where !field[record].isOf(field.kind) {
        context.note(
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

private struct FieldStored: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let records = try await subject.sampleRecords()
    let fields = subject.fields.compactMap { field in field.path.map { (field, $0) } }
    if records.isEmpty { context.exempt("no record is known") }
    if fields.isEmpty { context.exempt("no field is stored") }
    for record in records {
      // A record that cannot be written is the business of a law of its own.
      guard let bytes = try? CanonicalJSON.bytes(of: record), let json = JSON(reading: bytes)
      else { continue }
      for (field, path) in fields {
        let stored = path.split(separator: ".").reduce(json) { $0[String($1)] ?? .null }
        if !stored.isSame(as: field[record]) {
          context.note(
            expected: "\(field.name) to be \(field[record].excerpt)", found: stored.excerpt,
            at: "'\(record.id)' at \(path)")
        }
      }
    }
  }
}

extension JSON {
  /// Whether the two are the same value: `2.0` is written as `2`.
  fileprivate func isSame(as other: JSON) -> Bool {
    switch (self, other) {
    case (.integer(let integer), .number(let number)),
      (.number(let number), .integer(let integer)):
      Double(integer) == number
    default: self == other
    }
  }
}

private struct SearchableText: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    guard subject.fields.contains(where: \.isSearchable) else {
      return context.exempt("no field is searchable")
    }
    let request = PageRequest(limit: 20)
    let page = try await subject.source.page(request)
    if page.records.isEmpty { return context.exempt("no record is known") }
    if page.records.allSatisfy({ subject.fields.searchableText(of: $0).text.nonBlank == nil }) {
      context.note(expected: "text to search in", found: "none", at: request.text)
    }
  }
}

extension JSON {
  /// The value as JSON, cut where it is long.
  package var excerpt: String { text.oneLine(atMost: 60) }
}
