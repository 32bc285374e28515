public import AggregatorCore
public import Foundation

/// What has been set, and by whom.
///
/// ``SettingsLoader`` fills it from files, the environment and options. A test writes one down:
///
/// ```swift
/// let settings = Settings(["COMIC_VINE_URL": "http://127.0.0.1:8080"])
/// ```
public struct Settings: Sendable {
  /// Where a value comes from.
  public enum Origin: Hashable, Sendable, CustomStringConvertible {
    /// An option of the command line, or a value written down in code.
    case option
    /// A variable of the process environment.
    case environment
    /// A line of a settings file; 1-based.
    case file(path: String, line: Int)
    /// Nobody set it.
    case standard

    /// The origin in words: `environment`, `Configuration/Debug.xcconfig:3`.
    public var description: String {
      switch self {
      case .option: "option"
      case .environment: "environment"
      case .file(let path, let line): "\(path):\(line)"
      case .standard: "default"
      }
    }
  }

  /// A value and where it comes from.
  ///
  /// Which values are secret only a ``Setting`` knows, so an entry shows none of them.
  public struct Entry: Sendable {
    fileprivate let value: Secret

    /// Where the value comes from.
    public let origin: Origin

    /// A value.
    ///
    /// - Parameters:
    ///   - text: The value.
    ///   - origin: Where it comes from.
    public init(_ text: String, origin: Origin) {
      value = Secret(text)
      self.origin = origin
    }
  }

  private var entries: [String: Entry]

  /// What a loader found.
  ///
  /// - Parameter entries: The values by key.
  public init(entries: [String: Entry]) { self.entries = entries }

  /// Values written down in code.
  ///
  /// - Parameter values: The values by key.
  public init(_ values: [String: String] = [:]) {
    self.init(entries: values.mapValues { Entry($0, origin: .option) })
  }

  /// These settings, some with another value.
  ///
  /// - Parameter values: The values by key; they count as written down in code.
  /// - Returns: The settings.
  package func replaced(_ values: [String: String]) -> Settings {
    var settings = self
    settings.entries.merge(Settings(values).entries) { $1 }
    return settings
  }

  /// Where the value of a setting comes from.
  ///
  /// - Parameter setting: What to look up.
  /// - Returns: `.standard` if nobody set it.
  public func origin(of setting: Setting) -> Origin { entries[setting.key]?.origin ?? .standard }

  /// The value of a setting that may be shown.
  ///
  /// - Parameter setting: What to look up; for a secret use ``secret(_:)``.
  /// - Returns: The value set, else the default; `nil` for a secret, an empty value, or none at all.
  public func text(_ setting: Setting) -> String? {
    guard !setting.isSecret else { return nil }
    return raw(setting)
  }

  /// The value of a secret setting.
  ///
  /// - Parameter setting: What to look up.
  /// - Returns: `nil` if it is not set, is empty, or is still the placeholder of an example file.
  public func secret(_ setting: Setting) -> Secret? {
    raw(setting).flatMap { Self.isPlaceholder($0) ? nil : Secret($0) }
  }

  /// Whether a secret still has the value of an example file, such as `your_api_key_here`.
  ///
  /// - Parameter setting: What to look up.
  /// - Returns: `true` if it is a secret that is set, but to a placeholder.
  public func isPlaceholder(_ setting: Setting) -> Bool {
    setting.isSecret && raw(setting).map(Self.isPlaceholder) ?? false
  }

  /// The address in a setting.
  ///
  /// - Parameter setting: A setting of the form `url`.
  /// - Returns: An `http` or `https` address with a host and without a query.
  /// - Throws: ``SourceError`` with code `badSettings` if it is something else.
  public func url(_ setting: Setting) throws(SourceError) -> URL {
    guard let text = text(setting) else { throw wrong(setting, "is not set") }
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
      ["http", "https"].contains(scheme), url.host()?.isEmpty == false
    else {
      let cut = ["http:", "https:"].contains(text.lowercased())
      throw wrong(
        setting, "is '\(text)', which is no http address",
        remedy: cut ? "in an .xcconfig file, // starts a comment: write \(text)/$()/host" : nil)
    }
    guard url.query() == nil, url.fragment() == nil, url.user() == nil, url.password() == nil else {
      throw wrong(setting, "must be an address without user, password, query or fragment")
    }
    return url
  }

  /// The rate in a setting.
  ///
  /// - Parameter setting: A setting of the form `rate`.
  /// - Returns: The rate; `nil` if it is switched off.
  /// - Throws: ``SourceError`` with code `badSettings` if it is something else.
  public func rate(_ setting: Setting) throws(SourceError) -> Rate? {
    guard let text = text(setting), text.lowercased() != "off" else { return nil }
    guard let rate = Rate(text) else {
      throw wrong(setting, "is '\(text)', which is no rate", remedy: "write '1/s 200/h', or 'off'")
    }
    return rate
  }

  /// The number in a setting.
  ///
  /// - Parameter setting: A setting of the form `count`.
  /// - Returns: A number in the setting's range.
  /// - Throws: ``SourceError`` with code `badSettings` if it is something else.
  public func count(_ setting: Setting) throws(SourceError) -> Int {
    guard case .count(let range) = setting.form else {
      preconditionFailure("\(setting.key) is not of the form count")
    }
    let text = text(setting) ?? ""
    guard let count = Int(text), range.contains(count) else {
      throw wrong(
        setting, "is '\(text)'",
        remedy: "write a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return count
  }

  /// The directory in a setting.
  ///
  /// - Parameter setting: A setting of the form `directory`.
  /// - Returns: An absolute path; `nil` if none is set.
  /// - Throws: ``SourceError`` with code `badSettings` if the path is relative.
  public func directory(_ setting: Setting) throws(SourceError) -> String? {
    guard let text = text(setting) else { return nil }
    guard text.hasPrefix("/") else {
      throw wrong(setting, "is '\(text)', which is no absolute path", remedy: "begin it with /")
    }
    return text
  }

  /// Sees whether the value of a setting makes sense.
  ///
  /// - Parameter setting: What to look up.
  /// - Throws: ``SourceError`` with code `badSettings` if there is a value, but none of its form.
  package func check(_ setting: Setting) throws(SourceError) {
    guard text(setting) != nil else { return }
    switch setting.form {
    case .url: _ = try url(setting)
    case .rate: _ = try rate(setting)
    case .count: _ = try count(setting)
    case .directory: _ = try directory(setting)
    case .text, .secret: break
    }
  }

  /// The complaint about a value that makes no sense, with the place where it was set.
  private func wrong(_ setting: Setting, _ what: String, remedy: Remedy? = nil) -> SourceError {
    let origin = origin(of: setting)
    let place = origin == .option ? "" : "\(origin): "
    return SourceError(.badSettings, "\(place)\(setting.key) \(what)", remedy: remedy)
  }

  private func raw(_ setting: Setting) -> String? {
    let text = entries[setting.key]?.value.reveal(\.self) ?? setting.defaultValue
    return text?.isEmpty == true ? nil : text
  }

  static func isPlaceholder(_ text: String) -> Bool {
    let folded = text.lowercased()
    return folded.hasPrefix("your_") || folded.hasPrefix("your-") || folded.hasPrefix("<your")
  }
}
