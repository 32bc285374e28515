/// Some records of a ``DataSource``, and where to go on.
public struct Page<Item: Record>: Sendable {
  /// The records, in the source's order.
  public var records: [Item]

  /// Where the next page starts; `nil` when this was the last.
  public var next: Cursor?

  /// How many records the whole answer has, if that is known and cheap to know.
  public var total: Int?

  /// Who answered.
  public var provenance: Provenance

  /// The rows that were sent but could not be read.
  public var unreadable: Unreadable

  /// How many records were left out on purpose.
  ///
  /// They count as progress of a walk.
  public var hidden: Int

  /// What the reader should be told about this page, beyond its provenance.
  public var warnings: [Warning]

  /// A page.
  ///
  /// - Parameters:
  ///   - records: The records, in the source's order.
  ///   - next: Where the next page starts; `nil` when this was the last.
  ///   - total: How many records the whole answer has, if known.
  ///   - provenance: Who answered.
  ///   - unreadable: The rows that could not be read; none by default.
  ///   - hidden: How many records were left out on purpose; 0 by default.
  ///   - warnings: What else the reader should be told.
  public init(
    _ records: [Item], next: Cursor? = nil, total: Int? = nil, provenance: Provenance,
    unreadable: Unreadable = .none, hidden: Int = 0, warnings: [Warning] = []
  ) {
    self.records = records
    self.next = next
    self.total = total
    self.provenance = provenance
    self.unreadable = unreadable
    self.hidden = hidden
    self.warnings = warnings
  }
}

extension Page {
  /// Whether rows came and none of them could be read: more likely the service is out of order, or
  /// speaks another way now, than that there is nothing.
  ///
  /// One row alone tells nothing.
  package var isUnreadable: Bool { records.isEmpty && unreadable.count > 1 }
}

/// One record, and where it came from.
public struct LookupResult<Item: Record>: Sendable {
  /// The record.
  public var item: Item

  /// Who answered.
  public var provenance: Provenance

  /// What the reader should be told about it, beyond its provenance.
  public var warnings: [Warning]

  /// A found record.
  ///
  /// - Parameters:
  ///   - item: The record.
  ///   - provenance: Who answered.
  ///   - warnings: What else the reader should be told.
  public init(_ item: Item, provenance: Provenance, warnings: [Warning] = []) {
    self.item = item
    self.provenance = provenance
    self.warnings = warnings
  }
}

/// Rows of a reply that could not be read.
public struct Unreadable: Hashable, Sendable {
  /// How many rows.
  public var count: Int

  /// Why the first of them could not be read.
  public var firstReason: String?

  /// No unreadable row.
  public static let none = Unreadable(count: 0, firstReason: nil)

  /// Rows that could not be read.
  ///
  /// - Parameters:
  ///   - count: How many rows.
  ///   - firstReason: Why the first of them could not be read.
  public init(count: Int, firstReason: String?) {
    self.count = count
    self.firstReason = firstReason
  }

  /// Both together, with the earlier reason.
  public static func + (earlier: Unreadable, later: Unreadable) -> Unreadable {
    Unreadable(
      count: earlier.count + later.count, firstReason: earlier.firstReason ?? later.firstReason)
  }
}

/// Something that the reader of an answer should know and that is not a failure.
public struct Warning: Hashable, Sendable {
  /// A short word that programs can test: `bundled`, `scanned`, `unreadable`.
  public var code: String

  /// The same for people.
  public var message: String

  /// A warning.
  ///
  /// - Parameters:
  ///   - code: A short word that programs can test.
  ///   - message: The same for people.
  public init(_ code: String, _ message: String) {
    self.code = code
    self.message = message
  }
}
