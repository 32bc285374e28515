public import AggregatorKit

/// A record of a declared source: a JSON object and its ID.
public struct DeclaredRecord: Record {
  public let id: String

  /// The row that the service sent, in canonical form, so that a stored record equals the fetched one.
  let row: JSON

  private enum CodingKeys: String, CodingKey { case id, row }

  /// Members that only `known` has are kept: lists often send a shorter form.
  public func merged(over known: DeclaredRecord) -> DeclaredRecord {
    guard case .object(let members) = row, case .object(let old) = known.row else { return self }
    let names = Set(members.map(\.name))
    let kept = old.filter { !names.contains($0.name) }
    return kept.isEmpty ? self : DeclaredRecord(id: id, row: JSON.object(members + kept).canonical)
  }
}

extension DeclaredRecord {
  /// Reads a row; throws a text that says why it has no ID.
  init(_ row: JSON, id paths: [JSONPath], isCanonical: Bool = false) throws(SourceError) {
    var parts: [String] = []
    for path in paths {
      guard let value = path.value(in: row), value.isIdentifying else {
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
