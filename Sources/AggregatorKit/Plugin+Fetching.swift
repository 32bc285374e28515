public import AggregatorCore
public import AggregatorStore

extension Plugin {
  /// What fetches more of a source that grows, for verbs that do.
  ///
  /// - Parameters:
  ///   - environment: Everything that the source may touch.
  ///   - reading: Whether the service may be asked.
  ///   - deadline: How long one page may take, with its retries.
  /// - Returns: `nil` without a store.
  /// - Throws: ``SourceError`` with code `badSettings`.
  public func upstreamLoader(
    in environment: PluginEnvironment, reading: CachePolicy = .normal, deadline: Duration? = nil
  ) throws(SourceError) -> UpstreamLoader<Item>? {
    guard let store = environment.store else { return nil }
    return UpstreamLoader(
      base: try fetching(in: environment, reading, deadline), recordStore: recordStore(in: store),
      size: try upstreamPageSize(in: environment),
      collection: collection(in: environment.settings), now: environment.now)
  }

  /// What fetches all that the service has into the store.
  ///
  /// It is the chain below everything that may stand in for the service: nothing bundled or stored could
  /// make a record look vanished, or known.
  ///
  /// - Parameters:
  ///   - store: Where it is put.
  ///   - environment: Everything that the source may touch.
  ///   - reading: Whether the service may be asked.
  ///   - deadline: How long one page may take, with its retries.
  /// - Returns: What fetches it.
  /// - Throws: ``SourceError`` with code `badSettings`.
  public func sync(
    into store: any Store, in environment: PluginEnvironment, reading: CachePolicy = .normal,
    deadline: Duration? = nil
  ) throws(SourceError) -> Sync<Item> {
    // A pass goes on by pages of any size.
    let mode: SyncMode =
      policy.isEndless
      ? .growth(of: collection(in: environment.settings))
      : .pass(of: collection(in: environment.settings, bySize: false))
    return Sync(
      base: try fetching(in: environment, reading, deadline), recordStore: recordStore(in: store),
      size: try syncPageSize(in: environment), mode: mode,
      clock: environment.clock, now: environment.now, observer: environment.observer)
  }

  /// The service, whose calls are told of.
  private func fetching(
    in environment: PluginEnvironment, _ reading: CachePolicy, _ deadline: Duration?
  ) throws(SourceError) -> any DataSource<Item> {
    try service(in: environment, reading: reading, deadline: deadline ?? policy.deadline)
      .observed(by: environment.observer, as: name)
  }

  private func syncPageSize(in environment: PluginEnvironment) throws(SourceError) -> Int {
    guard let size = policy.syncPageSize else { return try upstreamPageSize(in: environment) }
    return try size.value(in: environment.settings)
  }
}
