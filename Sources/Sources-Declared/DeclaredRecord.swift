public import AggregatorKit

/// A record of a declared source: a JSON object and its ID.
public struct DeclaredRecord: SourceRecord {
  public let id: String

  /// The row that the service sent, in canonical form, so that a stored record equals the fetched one.
  package private(set) var row: JSON

  /// The names of the members that only the record's own URL sends, sorted: lists often send a shorter form.
  ///
  /// Of a record from there, all of its members, until it is known which of them lists send, too.
  private(set) var details: [String] = []

  /// Keeps the details of an earlier form; another member that lists no longer send has vanished.
  public func merged(over known: DeclaredRecord) -> DeclaredRecord {
    guard case .object(let members) = row, case .object(let old) = known.row else { return self }
    let names = Set(members.map(\.name))
    let isDetailed = !details.isEmpty
    let kept = old.filter {
      !names.contains($0.name) && (isDetailed || known.details.contains($0.name))
    }
    var merged = self
    if !kept.isEmpty { merged.row = JSON.object(members + kept).canonical }
    let listed = Set(old.map(\.name)).subtracting(known.details)
    merged.details =
      isDetailed ? details.filter { !listed.contains($0) } : kept.map(\.name).sorted()
    return merged
  }
}

extension DeclaredRecord: RowRecord {
  package static let rowMember = "row"
}

extension DeclaredRecord: Codable {
  private enum CodingKeys: String, CodingKey { case id, row, details }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(String.self, forKey: .id)
    row = try container.decode(JSON.self, forKey: .row)
    details = try container.decodeIfPresent([String].self, forKey: .details) ?? []
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(row, forKey: .row)
    if !details.isEmpty { try container.encode(details, forKey: .details) }
  }
}

extension DeclaredRecord: CanonicalJSONWritable {
  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !details.isEmpty {
      writer.beginMember("details")
      writer.beginArray()
      for name in details {
        writer.beginElement()
        writer.write(string: name)
      }
      writer.endArray()
    }
    writer.beginMember("id")
    writer.write(string: id)
    writer.beginMember("row")
    row.write(to: &writer, isCanonical: true)
    writer.endObject()
  }
}

extension DeclaredRecord {
  /// This record as its own URL sends it.
  var detailed: DeclaredRecord {
    var record = self
    record.details = row.members.map(\.name).sorted()
    return record
  }

  /// A row in canonical form, and its ID.
  package init(canonical row: JSON, id: String) { (self.row, self.id) = (row, id) }

  /// Reads a row; throws a text that says why it has no ID.
  ///
  /// - Parameter number: The ID of a row that nothing else identifies.
  package init(
    _ row: JSON, id paths: [JSONPath], isCanonical: Bool = false, number: Int? = nil
  ) throws(SourceError) {
    var parts: [String] = []
    if let number {
      guard row.isObject else { throw SourceError(.malformed, "not an object") }
      parts = ["\(number)"]
    }
    for path in paths {
      guard let value = path.value(in: row), value.isIdentifying else {
        if !row.isObject, case .member? = path.components.first {
          throw SourceError(.malformed, "not an object")
        }
        throw SourceError(
          .malformed,
          "\(path.description.oneLine(atMost: 80)) is missing, or is neither text nor a whole number"
        )
      }
      parts.append(value.idText)
    }
    // A part may contain the separator.
    let isComposite = parts.count > 1
    id =
      isComposite
      ? parts.map { $0.replacing("%", with: "%25").replacing("/", with: "%2F") }
        .joined(separator: "/") : parts.first ?? ""
    self.row = isCanonical ? row : row.canonical
  }
}
