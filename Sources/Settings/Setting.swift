/// One thing that a person can set: its key, its default and what it is for.
public struct Setting: Hashable, Sendable {
  /// What kind of text the value is.
  public enum Form: Hashable, Sendable {
    /// Any text.
    case text
    /// The `http` or `https` address of a service.
    case url
    /// A rate such as `1/s 200/h`, or `off`; see ``Rate``.
    case rate
    /// A whole number in this range.
    case count(ClosedRange<Int>)
    /// A directory of this machine; never taken from a file in the working directory.
    case directory
    /// A key or password; see ``Secret``.
    case secret
  }

  /// The key, in the manner of environment variables: `COMIC_VINE_URL`.
  public let key: String

  /// The value where nobody sets one; `nil` if there is none.
  public let defaultValue: String?

  /// What kind of text the value is.
  public let form: Form

  /// What it is for, in a few words.
  public let about: String

  /// Whether the value must never be shown.
  public var isSecret: Bool { form == .secret }

  /// A setting.
  ///
  /// - Parameters:
  ///   - key: The key, in the manner of environment variables.
  ///   - form: What kind of text the value is.
  ///   - defaultValue: The value where nobody sets one.
  ///   - about: What it is for, in a few words.
  public init(_ key: String, _ form: Form, default defaultValue: String? = nil, about: String) {
    self.key = key
    self.form = form
    self.defaultValue = defaultValue
    self.about = about
  }
}
