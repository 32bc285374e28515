package import AggregatorKit

/// Writes the document of `--json`: an indented envelope with one record a line.
package struct EnvelopeWriter<Item: Identifiable & Sendable>: RecordWriter
where Item.ID: CustomStringConvertible {
  private let listing: Listing<Item>
  private var isFirst = true

  package init(_ listing: Listing<Item>) { self.listing = listing }

  package mutating func begin() -> String {
    """
    {
      "schema": "aggregator/1",
      "source": \(listing.source.json.text),
      "verb": \(JSON.string(listing.verb).text),
      "query": \(listing.query.json.text),
      "items": [
    """
  }

  package mutating func append(_ records: [Item]) -> String {
    var text = ""
    for record in records {
      text += isFirst ? "\n    " : ",\n    "
      isFirst = false
      listing.object(of: record).write(to: &text)
    }
    return text
  }

  package mutating func finish(_ summary: ListingSummary) -> String {
    """
    \(isFirst ? "" : "\n  ")],
      "page": \(summary.page.text),\(sources(summary))
      "provenance": \((summary.provenance?.json ?? .null).text),
      "warnings": \(JSON.array(summary.warnings.map(\.json)).text)
    }

    """
  }

  private func sources(_ summary: ListingSummary) -> String {
    summary.sources.isEmpty ? "" : "\n  \"sources\": \(JSON.object(summary.sources).text),"
  }
}

extension Array {
  /// A record as a JSON object with these fields, in this order; unknown values are null.
  package func object<Item>(of record: Item) -> JSON where Element == Field<Item> {
    // In place: copying a field costs more than reading it.
    .object(
      withUnsafeBufferPointer { fields in
        var members: [JSON.Member] = []
        members.reserveCapacity(fields.count)
        for index in fields.indices {
          members.append(JSON.Member(fields[index].name, fields[index][record]))
        }
        return members
      })
  }
}
