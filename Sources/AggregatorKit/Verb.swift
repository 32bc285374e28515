public import AggregatorCore
public import AggregatorSync

/// A command that only one source has, such as `countries deal`.
///
/// Its parameters and its result are values, so that every front end can offer it. A verb never prints.
public struct Verb<Item: SourceRecord>: Sendable {
  /// A purpose for which other commands may refer to a verb.
  public enum Role: Hashable, Sendable {
    /// It downloads further records, so that a search of cached ones finds more.
    case loadsMore
  }

  /// The name as typed.
  public let name: String

  /// A one-line summary without a full stop.
  public let summary: String

  public let parameters: [Parameter]

  /// The optional positional argument; `nil` for none.
  public let argument: Parameter?

  /// True if it always contacts the service: neither offline mode nor a fallback applies.
  public let requiresService: Bool

  public let role: Role?

  /// Sentences for the help, after the description of the argument.
  public let notes: [String]

  public let run: @Sendable (VerbCall<Item>) async throws(SourceError) -> VerbResult<Item>

  public init(
    _ name: String, _ summary: String, parameters: [Parameter] = [], argument: Parameter? = nil,
    requiresService: Bool = false, role: Role? = nil, notes: [String] = [],
    run: @escaping @Sendable (VerbCall<Item>) async throws(SourceError) -> VerbResult<Item>
  ) {
    self.name = name
    self.summary = summary
    self.parameters = parameters
    self.argument = argument
    self.requiresService = requiresService
    self.role = role
    self.notes = notes
    self.run = run
  }
}

/// An integer option of a ``Verb``: `--seed N`.
public struct Parameter: Hashable, Sendable {
  /// The option's name without its dashes: `seed`.
  public let name: String

  /// The placeholder of the value in help: `N`.
  public let placeholder: String

  public let range: ClosedRange<Int>

  /// A one-line description without a full stop.
  public let about: String

  public init(_ name: String, _ placeholder: String, in range: ClosedRange<Int>, about: String) {
    self.name = name
    self.placeholder = placeholder
    self.range = range
    self.about = about
  }
}

/// A call of a ``Verb``.
public struct VerbCall<Item: SourceRecord>: Sendable {
  /// The values by parameter name.
  public let values: [String: Int]

  /// The source's complete chain.
  public let source: any DataSource<Item>

  /// Loads more records of an endless source; `nil` without a store.
  public let upstreamLoader: UpstreamLoader<Item>?

  public let environment: PluginEnvironment

  public init(
    values: [String: Int] = [:], source: any DataSource<Item>,
    upstreamLoader: UpstreamLoader<Item>? = nil,
    environment: PluginEnvironment
  ) {
    self.values = values
    self.source = source
    self.upstreamLoader = upstreamLoader
    self.environment = environment
  }
}

/// The result of a ``Verb``.
public enum VerbResult<Item: SourceRecord>: Sendable {
  /// Records to show, under a title.
  case records(Page<Item>, title: String?)

  /// A message about what was done, and the failure that cut it short, if one did.
  case done(String, failure: SourceError?)
}
