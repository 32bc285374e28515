import AggregatorKit

/// What is known of a listing once it ended.
struct ListingSummary: Sendable {
  /// How many records were written.
  var count: Int

  /// How many records the whole answer has, if that is known and cheap to know.
  var total: Int?

  /// Where to go on; `nil` at the end.
  var next: Cursor?

  /// Who answered; `nil` if nobody did.
  var provenance: CombinedProvenance?

  /// What the reader should know.
  var warnings: [SourceWarning]

  /// What there is to know of each source, where there are several.
  var sources: [JSON.Member] = []

  /// A summary.
  ///
  /// - Parameters:
  ///   - count: How many records were written.
  ///   - total: How many records the whole answer has, if known.
  ///   - next: Where to go on.
  ///   - provenance: Who answered.
  ///   - warnings: What the reader should know.
  init(
    count: Int, total: Int? = nil, next: Cursor? = nil, provenance: CombinedProvenance? = nil,
    warnings: [SourceWarning] = []
  ) {
    self.count = count
    self.total = total
    self.next = next
    self.provenance = provenance
    self.warnings = warnings
  }

  /// The member `page` of the JSON envelope.
  var page: JSON {
    [
      "count": .integer(count), "total": total.json, "next": (next?.description).json,
    ]
  }
}

/// A warning, and the source that it is about; `nil` where it is about none.
struct SourceWarning: Hashable, Sendable {
  /// The source's name.
  var source: String?

  /// The warning.
  var warning: Warning

  /// A warning about a source.
  ///
  /// - Parameters:
  ///   - source: The source's name.
  ///   - warning: The warning.
  init(_ source: String?, _ warning: Warning) {
    self.source = source
    self.warning = warning
  }

  /// The warning in the JSON envelope.
  var json: JSON {
    [
      "code": .string(warning.code), "source": source.json, "message": .string(warning.message),
    ]
  }
}
