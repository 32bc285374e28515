package import AggregatorKit
package import AggregatorQueries
import AggregatorTerminal
import DeclaredSource

extension CommandContext {
  /// Saves a setting, or a secret with others of its source; of a source, the secrets are tried with one request first.
  ///
  /// - Parameter isTrial: True to save nothing.
  /// - Returns: The host to which alone the secret is sent, and why it could not be verified.
  package func save(
    _ values: [String: String], of setting: Setting, verifiedBy source: (any Plugin)?,
    in environment: PluginEnvironment?, isTrial: Bool = false
  ) async throws -> (host: String?, unverified: SourceError?) {
    let path = try userSettingsFile()
    do throws(SourceError) {
      let host = try catalog.bind(setting)
      for other in source?.settings ?? [] where other != setting && values[other.key] != nil {
        _ = try catalog.bind(other)
      }
      var unverified: SourceError?
      if let source, let environment {
        do throws(SourceError) {
          unverified = try await source.verify(values, in: environment)
        } catch {
          guard error.code == .invalidKey, source.names(anotherThan: values.keys, in: error) else {
            throw error
          }
          unverified = error
        }
      }
      if isTrial {
        for setting in source?.settings ?? [] {
          if let value = values[setting.key] { try SettingsFile.checked(value, for: setting) }
        }
        return (host, unverified)
      }
      let file = SettingsFile(path, settings: catalog.settings)
      for (key, value) in values.sorted(by: { $0.key < $1.key }) { try file.set(key, to: value) }
      return (host, unverified)
    } catch {
      var failure = CommandError(error)
      // The invalid value comes from the command line, not from a file.
      if error.code == .invalidSettings { failure.code = .usage }
      if error.code == .invalidKey {
        failure.message += "; nothing was changed"
        failure.hint = .words("check the key, or save it anyway with --no-verify")
      }
      throw failure
    }
  }
}

extension Plugin {
  /// True if the service refuses a secret that it names, and that is none of these.
  fileprivate func names(
    anotherThan keys: some Sequence<String>, in refusal: SourceError
  ) -> Bool {
    let words = Set(
      refusal.message.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
    let refused = words.intersection(settings.filter(\.isSecret).map(\.key))
    return !refused.isEmpty && refused.isDisjoint(with: keys)
  }
}

extension SourceCatalog {
  /// Binds a secret of added sources to their host; `nil` for any other setting.
  fileprivate func bind(_ setting: Setting) throws(SourceError) -> String? {
    // A manifest cannot have the secret of another source, or of the program, by naming it.
    guard let manifests, setting.isSecret,
      !ownSettings.contains(where: { $0.key == setting.key }),
      plugins.allSatisfy({ $0 is DeclaredPlugin || !$0.settings.contains { $0.key == setting.key } }
      )
    else { return nil }
    return try manifests.bind(setting.key)
  }
}

extension Plugin {
  /// Sends one request with secrets that are about to be saved.
  ///
  /// - Returns: The failure of a service that said nothing about the secrets.
  /// - Throws: ``SourceError`` with code `invalidKey` if the service rejects one.
  fileprivate func verify(
    _ values: [String: String], in environment: PluginEnvironment
  ) async throws(SourceError) -> SourceError? {
    var environment = environment
    environment.settings = environment.settings.replaced(values)
    do throws(SourceError) {
      let remote = try remote(in: environment).timeout(.seconds(10), clock: environment.clock)
      _ = try await remote.page(PageRequest(limit: 1))
      return nil
    } catch {
      guard error.code == .invalidKey else { return error }
      throw error
    }
  }
}
