public import AggregatorCore
public import AggregatorHTTP
public import AggregatorSettings

extension PluginEnvironment {
  /// The same environment, which also writes down what is sent and received.
  ///
  /// Its ``now`` goes by the time of the latest exchange, as it will be in the replay. What is stored from
  /// earlier runs answers without a request, so nothing of that is recorded: give it an empty store.
  ///
  /// - Parameters:
  ///   - directory: Where; made if it is missing.
  ///   - known: All settings there are: the values of those that are secret are never written.
  /// - Returns: The environment.
  /// - Throws: ``SourceError`` with code `storage` if the directory cannot be made or written.
  public func recording(
    into directory: String, hiding known: [Setting]
  ) throws(SourceError) -> PluginEnvironment {
    let transport = try RecordingTransport(
      transport, into: directory, hiding: known.filter(\.isSecret).compactMap(settings.secret),
      now: now)
    var environment = self
    environment.transport = transport
    environment.now = transport.now
    return environment
  }

  /// The same environment, in which a recording answers every request.
  ///
  /// - ``now`` is the recorded time, so that ages and freshness come out the same.
  /// - Waits take no time, and rates are off.
  /// - Random bits are zero, so that a choice is always the same one, and no wait before a retry is so
  ///   long that the retry, which was recorded, does not come.
  /// - Secrets are replaced by a placeholder: a source that wants a key works without one, and a key
  ///   that is set never gets near a replay.
  ///
  /// What is stored from other runs would answer in the recording's place: give it an empty store.
  ///
  /// - Parameters:
  ///   - recording: What answers.
  ///   - known: All settings there are.
  /// - Returns: The environment.
  public func replaying(_ recording: Recording, knowing known: [Setting]) -> PluginEnvironment {
    let transport = ReplayingTransport(recording)
    var environment = self
    environment.settings = settings.replaced(
      known.reduce(into: [:]) { values, setting in
        switch setting.form {
        case .secret: values[setting.key] = "replayed"
        case .rate: values[setting.key] = "off"
        default: break
        }
      })
    environment.transport = transport
    environment.clock = transport.clock
    environment.now = transport.now
    environment.random = { 0 }
    return environment
  }
}
