public import AggregatorCore
public import AggregatorSettings

/// A description of one source: everything the rest of the program needs to offer it.
///
/// A plugin is a value, not a type: some are written in code, others may be read from files. It gives
/// the two ends of an answer, the ``remote(in:)`` service and the ``bundled`` data;
/// ``source(in:reading:deadline:)`` builds the chain between them. A plugin never prints and never
/// exits, and reaches the outside world only through its ``PluginEnvironment``.
public protocol Plugin<Item>: Sendable {
  /// What this source gives.
  associatedtype Item: Record

  /// The word a person types: lower-case letters, digits and `-`.
  var name: String { get }

  /// What there is, in one line without a full stop: `superheroes and villains of Comic Vine`.
  var summary: String { get }

  /// What to type to see something, for help.
  var example: PluginExample { get }

  /// What can be set.
  var settings: [Setting] { get }

  /// What can be read of a record, in the order of columns and JSON keys.
  var fields: [Field<Item>] { get }

  /// How a person sees a record.
  var layout: Layout<Item> { get }

  /// How the service is treated.
  var policy: Policy { get }

  /// What only this source can do.
  var verbs: [Verb<Item>] { get }

  /// The service.
  ///
  /// - Parameter environment: Everything that the source may touch.
  /// - Returns: The bare service: no retry, no rate, no fallback.
  /// - Throws: ``SourceError``; `missingKey` and `badSettings` if the settings do not suffice.
  func remote(in environment: PluginEnvironment) throws(SourceError) -> any DataSource<Item>

  /// The data compiled into the program, which answers when nothing else can.
  var bundled: any DataSource<Item> { get }
}

extension Plugin {
  /// No verb of its own.
  public var verbs: [Verb<Item>] { [] }
}

/// What to type to see something of a source, for help: it should be found in bundled data.
public struct PluginExample: Hashable, Sendable {
  /// A word to search for.
  public let query: String

  /// The id of a record.
  public let id: String

  /// An example.
  ///
  /// - Parameters:
  ///   - query: A word to search for.
  ///   - id: The id of a record.
  public init(query: String, id: String) {
    self.query = query
    self.id = id
  }
}
