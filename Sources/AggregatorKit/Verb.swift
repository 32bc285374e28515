public import AggregatorCore
public import AggregatorStore

/// Something that only one source can do, such as `countries deal`.
///
/// Its parameters are data and its result is a value, so that every front end can offer it: a verb
/// never prints.
public struct Verb<Item: Record>: Sendable {
  /// The word a person types.
  public let name: String

  /// What it does, in one line without a full stop.
  public let summary: String

  /// What it takes as options.
  public let parameters: [Parameter]

  /// What it takes as a word of its own, which may be left out; `nil` for nothing.
  public let argument: Parameter?

  /// Does it.
  public let run: @Sendable (VerbCall<Item>) async throws(SourceError) -> VerbResult<Item>

  /// A verb.
  ///
  /// - Parameters:
  ///   - name: The word a person types.
  ///   - summary: What it does, in one line without a full stop.
  ///   - parameters: What it takes as options.
  ///   - argument: What it takes as a word of its own, which may be left out.
  ///   - run: Does it.
  public init(
    _ name: String, _ summary: String, parameters: [Parameter] = [], argument: Parameter? = nil,
    run: @escaping @Sendable (VerbCall<Item>) async throws(SourceError) -> VerbResult<Item>
  ) {
    self.name = name
    self.summary = summary
    self.parameters = parameters
    self.argument = argument
    self.run = run
  }
}

/// Something that a ``Verb`` takes: `--seed N`.
public struct Parameter: Hashable, Sendable {
  /// The option's name without its dashes: `seed`.
  public let name: String

  /// What the value stands for in help: `N`.
  public let placeholder: String

  /// Which numbers it takes.
  public let range: ClosedRange<Int>

  /// What it does, in one line without a full stop.
  public let about: String

  /// A parameter that is a whole number.
  ///
  /// - Parameters:
  ///   - name: The option's name without its dashes.
  ///   - placeholder: What the value stands for in help.
  ///   - range: Which numbers it takes.
  ///   - about: What it does, in one line without a full stop.
  public init(_ name: String, _ placeholder: String, in range: ClosedRange<Int>, about: String) {
    self.name = name
    self.placeholder = placeholder
    self.range = range
    self.about = about
  }
}

/// What a ``Verb`` has to work with.
public struct VerbCall<Item: Record>: Sendable {
  /// The values given, by parameter name.
  public let values: [String: Int]

  /// The source's whole chain.
  public let source: any DataSource<Item>

  /// What fetches more of a source that grows; `nil` where nothing is remembered.
  public let upstreamLoader: UpstreamLoader<Item>?

  /// Settings, clock, random numbers.
  public let environment: PluginEnvironment

  /// A call.
  ///
  /// - Parameters:
  ///   - values: The values given, by parameter name.
  ///   - source: The source's whole chain.
  ///   - intake: What fetches more of a source that grows.
  ///   - environment: Settings, clock, random numbers.
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

/// What a ``Verb`` did.
public enum VerbResult<Item: Record>: Sendable {
  /// Records to show, and a title for people.
  case records(Page<Item>, title: String?)

  /// Something was done: what, for people, and the failure that ended it before all was done.
  case done(String, failure: SourceError?)
}
