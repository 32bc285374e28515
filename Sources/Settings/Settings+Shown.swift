public import AggregatorCore

extension Settings {
  /// What may be shown of a setting's value.
  public enum Shown: Hashable, Sendable, CustomStringConvertible {
    /// The value; no secret.
    case text(String)
    /// A secret that is set.
    case secret(Secret)
    /// A secret that still has the value of an example file.
    case placeholder
    /// Nothing is set, and there is no default.
    case notSet

    /// The value in words: `https://host/api`, `set (…a1f9)`, `placeholder`, `not set`.
    public var description: String {
      switch self {
      case .text(let text): text
      case .secret(let secret): secret.description
      case .placeholder: "placeholder"
      case .notSet: "not set"
      }
    }
  }

  /// What may be shown of the value of a setting.
  ///
  /// - Parameter setting: What to look up.
  /// - Returns: The value, or for a secret only whether there is one; see also ``origin(of:)``.
  public func shown(_ setting: Setting) -> Shown {
    if isPlaceholder(setting) { return .placeholder }
    if setting.isSecret { return secret(setting).map(Shown.secret) ?? .notSet }
    return text(setting).map(Shown.text) ?? .notSet
  }
}
