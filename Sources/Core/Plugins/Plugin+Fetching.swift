extension Plugin {
  /// What fetches more of a source that grows, for verbs that do.
  ///
  /// - Parameters:
  ///   - environment: Everything that the source may touch.
  ///   - reading: Whether the service may be asked.
  ///   - deadline: How long one page may take, with its retries.
  /// - Returns: `nil` without a store.
  /// - Throws: ``SourceError`` with code `badSettings`.
  public func intake(
    in environment: PluginEnvironment, reading: Reading = .normal, deadline: Duration? = nil
  ) throws(SourceError) -> (any Intaking)? {
    guard let (service, shelf) = try fetching(in: environment, reading, deadline) else {
      return nil
    }
    return try intake(service, into: shelf, environment)
  }

  private func intake(
    _ service: some DataSource<Item>, into shelf: Shelf<Item>, _ environment: PluginEnvironment
  ) throws(SourceError) -> any Intaking {
    Intake(
      base: service, shelf: shelf, size: try upstreamPageSize(in: environment),
      collection: collection(in: environment.settings), now: environment.now)
  }

  /// What fetches all that the service has into the store.
  ///
  /// It is the chain below everything that may stand in for the service: nothing bundled or stored could
  /// make a record look vanished, or known.
  ///
  /// - Parameters:
  ///   - environment: Everything that the source may touch.
  ///   - reading: Whether the service may be asked.
  ///   - deadline: How long one page may take, with its retries.
  /// - Returns: `nil` without a store.
  /// - Throws: ``SourceError`` with code `badSettings`.
  public func syncing(
    in environment: PluginEnvironment, reading: Reading = .normal, deadline: Duration? = nil
  ) throws(SourceError) -> (any Syncing)? {
    guard let (service, shelf) = try fetching(in: environment, reading, deadline) else {
      return nil
    }
    return try sync(service, into: shelf, environment)
  }

  private func sync(
    _ service: some DataSource<Item>, into shelf: Shelf<Item>, _ environment: PluginEnvironment
  ) throws(SourceError) -> any Syncing {
    let collection = collection(in: environment.settings)
    return Sync(
      base: service, shelf: shelf, size: try syncPageSize(in: environment),
      course: policy.isEndless ? .growth(of: collection) : .pass(of: collection),
      clock: environment.clock, now: environment.now, observer: environment.observer)
  }

  /// The service, and where what it gives is put; `nil` without a store.
  private func fetching(
    in environment: PluginEnvironment, _ reading: Reading, _ deadline: Duration?
  ) throws(SourceError) -> (service: any DataSource<Item>, shelf: Shelf<Item>)? {
    guard let store = environment.store else { return nil }
    let service = try service(
      in: environment, reading: reading, deadline: deadline ?? policy.deadline)
    return (service.observed(by: environment.observer, as: name), shelf(in: store))
  }

  private func syncPageSize(in environment: PluginEnvironment) throws(SourceError) -> Int {
    guard let size = policy.syncPageSize else { return try upstreamPageSize(in: environment) }
    return try size.value(in: environment.settings)
  }
}
