package import AggregatorKit
package import AggregatorTerminal

extension CommandError {
  package init(_ error: SourceError, of plugin: some Plugin) {
    let sync: Hint? = error.code == .nothingCached ? .command(plugin.syncArguments) : nil
    self.init(
      ExitCode(error), "\(plugin.name): \(error.message)",
      hint: error.hint(settings: plugin.settings) ?? sync)
  }

  /// Any error of a command; one that nobody expected is a bug.
  package init(_ error: any Error, of plugin: some Plugin) {
    switch error {
    case let error as CommandError: self = error
    case let error as SourceError: self.init(error, of: plugin)
    default: self.init(.bug, "\(error)")
    }
  }

  /// The value of an expression, whose failures are those of a source.
  package static func wrapping<Value>(
    of plugin: some Plugin, _ value: @autoclosure () throws(SourceError) -> Value
  ) throws(CommandError) -> Value {
    do { return try value() } catch { throw CommandError(error, of: plugin) }
  }
}

extension SourceError {
  package func hint(settings: [Setting]) -> Hint? {
    if let advice = cause as? LookupAdvice { return advice.hint }
    let words = remedy.map(Hint.init)
    return switch code {
    case .missingKey, .invalidKey:
      setting(among: settings).map { setting in
        // A variable takes precedence over what that command saves, unless it is empty.
        let isVariable = code == .invalidKey && getenv(setting.key)?.pointee ?? 0 != 0
        let set: Hint =
          isVariable
          ? .words("change or unset the environment variable \(setting.key)")
          : .command("config set \(setting.key)")
        return code == .missingKey ? words.map { .steps($0, set) } ?? set : set
      } ?? words
    case .rateLimited where (cause as? LocalRateLimitError)?.pauseReason != nil, .circuitOpen:
      remedy.map { .words("\($0); --refresh retries now") }
    default: words
    }
  }

  /// The setting that the message names, or the only secret.
  private func setting(among settings: [Setting]) -> Setting? {
    let words = message.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
    let secrets = settings.filter(\.isSecret)
    return settings.first { words.contains($0.key) } ?? (secrets.count == 1 ? secrets.first : nil)
  }

  /// The text is not a valid ID, so no record can have it.
  package static func invalidID<P: Plugin>(_ text: String, of plugin: P) -> SourceError {
    let rule = P.Item.ID.self is any BinaryInteger.Type ? ": must be a number" : ""
    return SourceError(
      .invalidRequest, "invalid \(plugin.noun.one) ID \"\(text)\"\(rule)",
      cause: LookupAdvice(hint: plugin.searchHint(text)))
  }
}

/// The cause of a failed lookup whose remedy is a command line of this source.
struct LookupAdvice: Error {
  let hint: Hint
}
