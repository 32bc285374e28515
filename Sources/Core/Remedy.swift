/// What a person can do about a ``SourceError``.
///
/// Most remedies are text. Those that depend on the program, such as where it stores data, also name
/// an ``Action``, so that a program can say which of its own options or settings does it.
public struct Remedy: Hashable, Sendable {
  /// Something that only the program knows how to do.
  ///
  /// New actions may come: switch with a `default`.
  public struct Action: Hashable, Sendable {
    private enum Name { case allowMoreTime, moveStore, nameSettingsFile, record }
    private let name: Name

    /// Allow the call more time.
    public static let allowMoreTime = Action(name: .allowMoreTime)
    /// Keep the store in another directory.
    public static let moveStore = Action(name: .moveStore)
    /// Name the settings file explicitly.
    public static let nameSettingsFile = Action(name: .nameSettingsFile)
    /// Record the exchange.
    public static let record = Action(name: .record)
  }

  /// What to do: a phrase without a full stop.
  public var text: String

  /// What only the program knows how to do; `nil` if the text says it all.
  public var action: Action?

  /// A remedy.
  public init(_ text: String, _ action: Action? = nil) {
    self.text = text
    self.action = action
  }
}

extension Remedy: ExpressibleByStringInterpolation {
  /// A remedy that is text alone.
  public init(stringLiteral text: String) { self.init(text) }
}

extension Remedy: CustomStringConvertible {
  /// The text.
  public var description: String { text }
}
