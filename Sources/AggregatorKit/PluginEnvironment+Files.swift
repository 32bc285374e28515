public import AggregatorFormats
import AggregatorFoundation
import AggregatorHTTP
import AggregatorSettings
import AggregatorStore

extension PluginEnvironment {
  /// The same environment, whose transport reads the list of a source with the paging ``RESTPaging/file`` row by row.
  ///
  /// The file has at most ``maxSize``, of which little is in memory, and is received into ``downloadDirectory``. A transfer
  /// that breaks off is continued, also by another process, if the service says that the file is still the same. On Apple
  /// systems a file has at most 16 MiB.
  ///
  /// - Parameters:
  ///   - plugin: The source: the files of each account that its secret settings stand for are kept apart.
  ///   - format: The format of the rows; `nil` to recognise it. A list in JSON or XML is one response, as without this.
  public func readingFiles(
    of plugin: some Plugin, as format: BodyFormat? = nil
  ) -> PluginEnvironment {
    let folder = downloadDirectory?.path ?? Self.temporaryDirectory
    // Files of two accounts may look the same to a service that names their versions.
    let scope = plugin.recordScope(in: settings, of: plugin.secret(in: settings))
    let account = scope.fingerprint(folder).map { "-\($0)" } ?? ""
    var environment = self
    environment.transport = FilePages(
      over: transport, into: "\(folder)/\(plugin.name)\(account)",
      maxFileBytes: maxSize ?? Int(clamping: Int64(4) << 30), as: format, rowCount: pageSize)
    return environment
  }

  /// A directory that no other user can have created before.
  private static let temporaryDirectory = FileManager.default.temporaryDirectory
    .appending(path: "aggregator-downloads-\(UInt64.random(in: .min ... .max))").path
}

extension Plugin {
  /// The secrets as one; `nil` if there are none, or if one is not set.
  package func secret(in settings: SourceSettings) -> Secret? {
    let known = self.settings.filter(\.isSecret)
    let secrets = known.compactMap(settings.secret)
    guard !known.isEmpty, secrets.count == known.count else { return nil }
    return Secret(secrets.map { $0.reveal(\.self) }.joined(separator: "\0"))
  }
}
