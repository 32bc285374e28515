public import AggregatorCore
public import AggregatorFoundation

/// The definition of a setting.
public struct Setting: Hashable, Sendable {
  /// The form of a value.
  public enum Form: Hashable, Sendable {
    case text
    /// The `http` or `https` address of a service.
    case url
    /// A rate such as `1/s 200/h`, or `off`; see ``Rate``.
    case rate
    /// An age and a number of changes such as `30d 5000`, or `off`; see ``HistoryLimit``.
    case history
    /// A whole number in this range.
    case count(ClosedRange<Int>)
    /// A local directory; never taken from a file in the working directory.
    case directory
    /// The place of a store: an absolute path, or the URL of a database, which may contain a password; never
    /// taken from a file in the working directory.
    case store
    /// An API key or password; see ``Secret``.
    case secret
    /// Identifies the user to a service, such as an email address in `User-Agent`: it selects no records and
    /// is not recorded.
    case contact
  }

  /// The key, named like an environment variable: `COMIC_VINE_URL`.
  public let key: String

  /// The value if the setting is not set; `nil` for none.
  public let defaultValue: String?

  public let form: Form
  public let about: String

  /// `true` if the value must never be shown.
  public var isSecret: Bool { form == .secret }

  /// `true` if the value may contain a secret.
  package var isConfidential: Bool { isSecret || form == .store }

  public init(_ key: String, _ form: Form, default defaultValue: String? = nil, about: String) {
    self.key = key
    self.form = form
    self.defaultValue = defaultValue
    self.about = about
  }
}

/// The values of settings and their origins.
///
/// ``SettingsLoader`` loads them from files, the environment and options. A test writes them as code:
///
/// ```swift
/// let settings = SourceSettings([HeroesPlugin.url: "http://127.0.0.1:8080"])
/// ```
public struct SourceSettings: Sendable {
  /// The origin of a value.
  public enum Origin: Hashable, Sendable, CustomStringConvertible {
    /// An option of the command line, or code.
    case option
    case environment
    /// A line of a settings file; 1-based.
    case file(path: String, line: Int)
    /// The default: the setting is not set.
    case standard

    /// The origin as text: `environment`, `Configuration/Debug.xcconfig:3`.
    public var description: String {
      switch self {
      case .option: "option"
      case .environment: "environment"
      case .file(let path, let line): "\(path):\(line)"
      case .standard: "default"
      }
    }
  }

  /// A value and its origin.
  ///
  /// Its description hides the value, since only a ``Setting`` determines which values are secret.
  package struct Entry: Sendable {
    fileprivate let value: Secret

    package let origin: Origin

    package init(_ text: String, origin: Origin) {
      value = Secret(text)
      self.origin = origin
    }
  }

  private var entries: [String: Entry]

  package init(entries: [String: Entry]) { self.entries = entries }

  public init(_ values: [String: String] = [:]) {
    self.init(entries: values.mapValues { Entry($0, origin: .option) })
  }

  /// The values of settings that a source names, such as `HeroesPlugin.key`.
  ///
  /// Generic, because an empty literal could be either dictionary otherwise.
  public init(_ values: [Setting: some StringProtocol]) {
    self.init(Dictionary(values.map { ($0.key, String($1)) }, uniquingKeysWith: { $1 }))
  }

  /// These settings with another value of one of them, such as a key that a person has typed.
  public func setting(_ setting: Setting, to value: some StringProtocol) -> SourceSettings {
    replaced([setting.key: String(value)])
  }

  package func replaced(_ values: [String: String]) -> SourceSettings {
    var settings = self
    settings.entries.merge(SourceSettings(values).entries) { $1 }
    return settings
  }

  /// The origin of a setting's value; `.standard` if it is not set.
  public func origin(of setting: Setting) -> Origin { entries[setting.key]?.origin ?? .standard }

  /// The value of a setting or its default; `nil` for an empty value, and for a secret or a store, see
  /// ``secret(_:)``.
  public func text(_ setting: Setting) -> String? {
    guard !setting.isConfidential else { return nil }
    return raw(setting)
  }

  /// The value of a secret setting, or of a store; `nil` if it is not set, empty, or the placeholder of an example file.
  public func secret(_ setting: Setting) -> Secret? {
    raw(setting).flatMap { Self.isPlaceholder($0) ? nil : Secret($0) }
  }

  /// The value of a secret setting without which a service refuses all requests.
  ///
  /// - Parameter remedy: How to get one: `get a key at https://service.example`.
  /// - Throws: ``SourceError`` with code `missingKey` if ``secret(_:)`` has none.
  public func required(
    _ setting: Setting, remedy: Remedy? = nil
  ) throws(SourceError) -> Secret {
    if let secret = secret(setting) { return secret }
    let problem = isPlaceholder(setting) ? "still the example placeholder" : "not set"
    throw SourceError(.missingKey, "\(setting.key) is \(problem)", remedy: remedy)
  }

  /// `true` for a secret whose value is that of an example file, such as `your_api_key_here`.
  package func isPlaceholder(_ setting: Setting) -> Bool {
    setting.isSecret && raw(setting).map(Self.isPlaceholder) ?? false
  }

  /// The value of a setting of the form `url`: an `http` or `https` URL with a host and without a query.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` if the value is invalid.
  public func url(_ setting: Setting) throws(SourceError) -> URL {
    guard let text = text(setting) else { throw failure("\(setting.key) is not set", setting) }
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
      ["http", "https"].contains(scheme), url.host()?.isEmpty == false
    else {
      let cut = ["http:", "https:"].contains(text.lowercased())
      throw invalid(
        setting, text, "must be an http(s) URL",
        remedy: cut ? "in an .xcconfig file, // starts a comment: write \(text)/$()/host" : nil)
    }
    guard url.query() == nil, url.fragment() == nil, url.user() == nil, url.password() == nil else {
      throw failure(
        "\(setting.key) must be a URL without user, password, query or fragment", setting)
    }
    // `URL` reads a port of too many digits as none.
    let authority = url.absoluteString.split(separator: "/", maxSplits: 2).dropFirst().first ?? ""
    let port = authority.utf8.lastIndex(of: UInt8(ascii: ":")).map { authority[$0...].dropFirst() }
    let hasPort = port.map { !$0.isEmpty && $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } } ?? false
    guard url.port.map({ 1...65535 ~= $0 }) ?? !hasPort else {
      throw invalid(setting, text, "the port must be from 1 to 65535")
    }
    return url
  }

  /// The value of a setting of the form `rate`; `nil` for `off`.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` if the value is invalid.
  public func rate(_ setting: Setting) throws(SourceError) -> Rate? {
    if text(setting)?.lowercased() == "off" { return nil }
    return try parsed(setting, "must be a rate such as \"1/s 200/h\", or \"off\"", Rate.init)
  }

  /// The value of a setting of the form `history`; the standard one if it is not set.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` if the value is invalid.
  public func history(_ setting: Setting) throws(SourceError) -> HistoryLimit {
    try parsed(
      setting, "must be an age, a number of changes, or both, such as \"30d 5000\", or \"off\"",
      HistoryLimit.init) ?? .standard
  }

  /// The value of a setting of the form `count`, in the setting's range.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` if the value is invalid.
  public func count(_ setting: Setting) throws(SourceError) -> Int {
    guard case .count(let range) = setting.form else {
      preconditionFailure("\(setting.key) is not of the form count")
    }
    let text = text(setting) ?? ""
    guard let count = Int(text), range.contains(count) else {
      throw invalid(
        setting, text, "must be an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return count
  }

  /// The value of a setting of the form `directory`: an absolute path; `nil` if it is not set.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` if the path is relative.
  public func directory(_ setting: Setting) throws(SourceError) -> String? {
    try parsed(setting, "must be an absolute path") { $0.hasPrefix("/") ? $0 : nil }
  }

  private func parsed<Value>(
    _ setting: Setting, _ rule: String, _ parse: (String) -> Value?
  ) throws(SourceError) -> Value? {
    guard let text = text(setting) else { return nil }
    guard let value = parse(text) else { throw invalid(setting, text, rule) }
    return value
  }

  /// Checks that the value of a setting, if any, is valid.
  package func check(_ setting: Setting) throws(SourceError) {
    guard text(setting) != nil else { return }
    switch setting.form {
    case .url: _ = try url(setting)
    case .rate: _ = try rate(setting)
    case .history: _ = try history(setting)
    case .count: _ = try count(setting)
    case .directory: _ = try directory(setting)
    case .text, .secret, .contact, .store: break
    }
  }

  private func invalid(
    _ setting: Setting, _ value: String, _ rule: String, remedy: Remedy? = nil
  ) -> SourceError {
    failure("invalid value \"\(value)\" for \(setting.key): \(rule)", setting, remedy: remedy)
  }

  /// An error with the location where the setting is set.
  package func failure(
    _ message: String, _ setting: Setting, remedy: Remedy? = nil
  ) -> SourceError {
    let origin = origin(of: setting)
    let location = origin == .option ? "" : "\(origin): "
    return SourceError(.invalidSettings, location + message, remedy: remedy)
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

extension SourceSettings {
  /// A setting's value without secrets.
  package enum Shown: Hashable, Sendable, CustomStringConvertible {
    /// The value; of a secret its redacted description.
    case text(String)
    /// A secret with the value of an example file.
    case placeholder
    /// No value and no default.
    case notSet

    /// The value as text: `https://host/api`, `set (…a1f9)`, `placeholder`, `not set`.
    package var description: String {
      switch self {
      case .text(let text): text
      case .placeholder: "placeholder"
      case .notSet: "not set"
      }
    }
  }

  /// A setting's value without secrets; see also ``origin(of:)``.
  package func shown(_ setting: Setting) -> Shown {
    if isPlaceholder(setting) { return .placeholder }
    let text = setting.isConfidential ? secret(setting)?.description : self.text(setting)
    return text.map(Shown.text) ?? .notSet
  }
}
