public import AggregatorCore
public import AggregatorFoundation
public import AggregatorImages
public import AggregatorSettings

/// A data source: its service, its bundled data, and how to show, search and treat them.
///
/// A plugin is a value, not a type: some are written in code, others may be read from files. It provides
/// the two ends of a chain, the ``remote(in:)`` service and the ``bundled`` data;
/// ``source(in:deadline:)`` builds the chain between them. A plugin never prints and never exits,
/// and has access to the outside world only through its ``PluginEnvironment``.
public protocol Plugin<Item>: Sendable {
  associatedtype Item: SourceRecord

  /// The source's name as typed: lower-case letters, digits and `-`.
  var name: String { get }

  /// A one-line summary without a full stop: `superheroes and villains of Comic Vine`.
  var summary: String { get }

  var example: PluginExample { get }

  /// The settings, in the order of help; none by default.
  var settings: [Setting] { get }

  /// The fields of a record, in the order of columns and JSON keys.
  var fields: [Field<Item>] { get }

  /// The lists in a record that SQL and an export have as tables of their own; none by default.
  var tables: [NestedTable<Item>] { get }

  var layout: RecordLayout<Item> { get }

  var policy: Policy { get }

  var verbs: [Verb<Item>] { get }

  /// The client or user whose requests the service counts, or the names of the settings that hold the key, which are
  /// the default.
  ///
  /// Sources with the same host and account share their rate limit, and the pauses that the service demands of two of
  /// them. A source that signs in returns ``Authorization/account``. It is stored, so it must not be a secret, or made of
  /// one. Where it names a secret setting as `${NAME}`, another value is another account; a mark of 16 bits is stored with the name.
  var account: String { get }

  /// A text that differs if, with the same settings, the service would have other records, so that cached
  /// ones are not used for it; empty by default.
  func scope(in settings: SourceSettings) -> String

  /// The URLs of the service that are not settings; none by default.
  ///
  /// Images on this machine or in a private network are accepted only from a service that is there itself.
  var serviceURLs: [URL] { get }

  /// The URL below which the service has its resources; `nil`, the default, for the first of its settings that is a URL, or
  /// else the host of its service.
  var resourceBase: URL? { get }

  /// The partitions of the list, such as the records of another source; `nil`, the default, if it is one list.
  var partitions: Partitions? { get }

  /// The remote source: without retries, rate limits and fallbacks.
  ///
  /// With ``partitions`` it is that of ``PluginEnvironment/partition``, whose records have IDs of
  /// ``Partition/recordID(_:)``.
  ///
  /// - Throws: ``SourceError``: `missingKey` or `invalidSettings` if the settings do not suffice.
  func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Item>

  /// The way to ask for changed records alone; `nil`, the default, if every sync has to read all.
  var changes: ChangeTracking? { get }

  /// The remote source for a sync, if ``changes`` is not `nil`: its pages have ``Page/changeMarks``.
  ///
  /// - Parameter mark: To list only what changed at that time or later; `nil` for everything.
  /// - Throws: As ``remote(in:)``.
  func remote(
    in environment: PluginEnvironment, changedSince mark: String?
  ) throws(SourceError) -> any DataSource<Item>

  /// The version of what reads the records of a page from its response; `nil`, the default, if they depend on anything
  /// else, such as the time.
  ///
  /// With a version, a sync does not read a page again whose request and response are those of the last time, if that
  /// was less than a week ago and the program and the secret settings are the same. Nor is it sent if the service says by
  /// its `ETag` or `Last-Modified` that it would be. A new program needs no other version.
  var decoderVersion: String? { get }

  /// The data compiled into the program, the last fallback; none by default.
  var bundled: any DataSource<Item> { get }
}

extension Plugin {
  public var settings: [Setting] { [] }

  public var tables: [NestedTable<Item>] { [] }

  public var layout: RecordLayout<Item> { RecordLayout() }

  public var policy: Policy { Policy() }

  /// No data, so that there is none without the service before a sync.
  public var bundled: any DataSource<Item> {
    UnavailableSource(SourceError(.nothingCached, "no cached records"))
  }

  /// False if ``bundled`` is the default, without data.
  package var hasBundled: Bool { !(bundled is UnavailableSource<Item>) }

  public var verbs: [Verb<Item>] { [] }

  public var partitions: Partitions? { nil }

  public var changes: ChangeTracking? { nil }

  public var decoderVersion: String? { nil }

  public func remote(
    in environment: PluginEnvironment, changedSince mark: String?
  ) throws(SourceError) -> any DataSource<Item> {
    try remote(in: environment)
  }

  public var account: String { keyNames }

  /// The names of the secret settings, which machines agree on.
  package var keyNames: String {
    settings.filter(\.isSecret).map { "${\($0.key)}" }.sorted().joined(separator: " ")
  }

  public func scope(in settings: SourceSettings) -> String { "" }

  public var serviceURLs: [URL] { [] }

  public var resourceBase: URL? { nil }
}

/// An example for a source's help; bundled data should have a match.
public struct PluginExample: Hashable, Sendable {
  public let query: String
  public let id: String

  /// Placeholders for a source of which no record is known.
  package static let unknown = PluginExample(query: "WORD", id: "ID")

  public init(query: String, id: String) {
    self.query = query
    self.id = id
  }
}

/// The appearance of a record on a terminal, in a list and alone.
public struct RecordLayout<Item>: Sendable {
  /// The appearance of a record in a list.
  public enum Row: Sendable {
    /// One line of a table whose columns are the fields shown.
    case columns
    /// One line of a table, or a block where the table does not fit: a heading on the left that wraps when it
    /// is long, a badge at the right edge that is never cut, and an indented detail below.
    case block(
      heading: @Sendable (Item) -> String, badge: @Sendable (Item) -> String,
      detail: @Sendable (Item) -> String?)
  }

  public let row: Row

  /// The names of the fields that a record shows alone, in order, one label and value a line; empty for all fields.
  public let card: [String]

  /// Returns the URL of a record's web page; `nil` if records have none.
  public let link: (@Sendable (Item) -> String?)?

  /// Returns the URLs of a record's image in a size, best first; `nil` if records have none.
  ///
  /// Texts of the service can be returned as they are: invalid URLs are skipped.
  public let images: (@Sendable (Item, ImageSize) -> [String])?

  /// Creates a layout; a table row, and a card of all fields, by default.
  public init(
    _ row: Row = .columns, card: [String] = [], link: (@Sendable (Item) -> String?)? = nil,
    images: (@Sendable (Item, ImageSize) -> [String])? = nil
  ) {
    self.row = row
    self.card = card
    self.link = link
    self.images = images
  }

  /// Creates a layout whose records have one image, of one size.
  public init(
    _ row: Row = .columns, card: [String] = [], link: (@Sendable (Item) -> String?)? = nil,
    image: @escaping @Sendable (Item) -> String?
  ) {
    self.init(row, card: card, link: link) { record, _ in [image(record)].compactMap(\.self) }
  }

  /// The fields of a card, in order.
  package func cardFields(among fields: [Field<Item>]) -> [Field<Item>] {
    card.isEmpty ? fields : card.compactMap { name in fields.first { $0.name == name } }
  }
}
