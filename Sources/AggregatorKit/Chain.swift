public import AggregatorCore
import AggregatorFiles
import AggregatorFoundation
import AggregatorHTTP
package import AggregatorSettings
public import AggregatorStore
import AggregatorText

extension Plugin {
  /// The complete chain of this source: the remote, the store and the bundled data.
  ///
  /// From the inside out: rate limit, circuit breaker, retries, timeout, coalescing, cache (or a growing
  /// collection), paging and local search, fallbacks, deletions. The articles “Where data comes from” and
  /// “Combining sources” explain the order.
  ///
  /// The default deadline of a page, with its retries, is the policy's. Build the chain once and reuse
  /// it: calls in flight are shared within it. Each call has a ``CachePolicy`` of its own.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings`. Other failures to set up the remote are thrown
  ///   by its calls, so that fallbacks can take over.
  public func source(
    in environment: PluginEnvironment, deadline: Duration? = nil
  ) throws(SourceError) -> any DataSource<Item> {
    let remote = try resilientRemote(in: environment, deadline: deadline)
    let recordStore = environment.store.map(recordStore)
    var chain: any DataSource<Item>
    switch (policy.readOrder, recordStore) {
    case (.localFirst, let recordStore?):
      chain = remote.erased.growing(
        in: recordStore, by: try upstreamPageSize(in: environment),
        of: collection(in: environment.settings), now: environment.now)
    case (.liveFirst(let freshness), let recordStore?):
      chain = remote.erased.cached(
        in: recordStore, freshFor: freshness, of: try service(in: environment.settings),
        now: environment.now)
      chain = try shaped(
        chain.erased.lookingUpSynced(
          in: recordStore, scanning: try scanCapacity(in: environment), now: environment.now),
        in: environment)
      chain = chain.erased.synced(in: recordStore, searching: policy.localSearchBound != nil) {
        () async throws(SourceError) in try await readChangedFile(in: environment)
      }
      if searchesService { chain = chain.erased.comparingSearches(with: recordStore) }
      chain = chain.erased.fallback(
        to: searchedInPlaceOfService(recordStore.recordsInPlaceOfService(areLast: !hasBundled)))
    case (.storedOnly, let recordStore?):
      return recordStore.onlyRecords.erased.hidingDeleted(in: recordStore).erased
        .warningOfDoubts(in: recordStore).erased
        .observed(by: environment.observer, as: name)
    case (_, nil): chain = try shaped(remote, in: environment)
    }
    chain = chain.erased.fallback(to: bundled)
    if let recordStore {
      chain = chain.erased.hidingDeleted(
        in: recordStore, searchingLocally: policy.localSearchBound != nil
      ).erased.warningOfDoubts(in: recordStore)
    }
    return chain.erased.observed(by: environment.observer, as: name)
  }

  /// The remote source, rate-limited and retried, without store, bundled data and fallbacks.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings`.
  public func live(
    in environment: PluginEnvironment, deadline: Duration? = nil
  ) throws(SourceError) -> any DataSource<Item> {
    let remote = try resilientRemote(in: environment, deadline: deadline)
    return try shaped(remote, in: environment).cachePolicy(.liveOnly)
      .observed(by: environment.observer, as: name)
  }

  /// Loads more records of an endless source, for verbs that do; `nil` without a store.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings`.
  public func upstreamLoader(
    in environment: PluginEnvironment, cachePolicy: CachePolicy = .normal, deadline: Duration? = nil
  ) throws(SourceError) -> UpstreamLoader<Item>? {
    guard let store = environment.store else { return nil }
    return UpstreamLoader(
      base: try observedRemote(in: environment, deadline),
      recordStore: recordStore(in: store), size: try upstreamPageSize(in: environment),
      collection: collection(in: environment.settings), cachePolicy: cachePolicy,
      now: environment.now)
  }

  /// Downloads all records of the service into a store.
  ///
  /// It uses the chain below all caches and fallbacks: a bundled or cached page could make records look
  /// removed upstream, or known.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings`.
  public func sync(
    into store: any SourceStore, in environment: PluginEnvironment,
    cachePolicy: CachePolicy = .normal,
    deadline: Duration? = nil
  ) throws(SourceError) -> Sync<Item> {
    // A pass can resume with another page size.
    let mode: SyncMode =
      policy.isEndless
      ? .endless(of: collection(in: environment.settings))
      : .full(of: collection(in: environment.settings, bySize: false))
    let tracking = policy.isEndless ? nil : changes
    let list = try partitionList(in: environment)
    let remote = { @Sendable (listing: Listing) throws(SourceError) -> any DataSource<Item> in
      let calls =
        if let list {
          try resilientPages(of: list, in: environment, deadline, listing)
        } else {
          try resilientRemote(in: environment, deadline: deadline, listing)
        }
      return calls.observed(by: environment.observer, as: name).cachePolicy(cachePolicy)
    }
    var sync = Sync(
      base: try remote(tracking == nil ? .plain : .marked(since: nil)),
      recordStore: recordStore(in: store), size: try syncPageSize(in: environment),
      mode: mode, depth: policy.isEndless ? nil : policy.depthLimit, clock: environment.clock,
      now: environment.now, observer: environment.observer)
    sync.partitions = list
    sync.feed = try (self as? any FedPlugin<Item>)?.feed(in: environment, maxSilence: deadline)
    if sync.feed != nil, !cachePolicy.mayAskService { throw .offlineMode }
    sync.changes = tracking.map { tracking in
      ChangeSource(tracking) { since throws(SourceError) in try remote(.marked(since: since)) }
    }
    sync.readingDigest = readingDigest(in: environment.settings)
    sync.readsFirstPageAgain = policy.readsFirstPageAgain
    sync.minPagesAhead = policy.listIsFile ? 2 : 0
    return sync
  }

  /// Reads the file of this source again unless all of it was read after its last change, so that cached records are those
  /// of the file.
  ///
  /// A file that is read row by row may take long, and is left to the next sync.
  ///
  /// - Throws: ``SourceError``: why the cached records may not be those of the file.
  package func readChangedFile(in environment: PluginEnvironment) async throws(SourceError) {
    guard let path = policy.file, let store = environment.store, environment.readsChangedFiles
    else { return }
    let begun = try await recordStore(in: store).completeSync()?.begun.map(\.timeIntervalSince1970)
    // The times of files may be a little older than the clock.
    if let begun, let file = FileIdentity(path), Double(file.changed) + 1 < begun { return }
    guard !policy.listIsFile else {
      if let begun, let change = fileChange(since: begun) { throw change }
      return
    }
    let result = try await sync(into: store, in: environment).run()
    if let failure = result.failure { throw failure }
  }

  /// The reason records read at a time, in seconds since 1970, are not those of the file of this source, and its remedy;
  /// `nil` if they are.
  package func fileChange(since time: Double) -> SourceError? {
    guard let path = policy.file else { return nil }
    do throws(SourceError) {
      guard Double(try FileTransport.identity(ofFile: path).changed) > time else { return nil }
    } catch { return error }
    return SourceError(
      .rejected, "\(path.oneLine(atMost: 200)) has changed since it was read",
      remedy: Remedy("\(name) sync", .command))
  }

  /// The typed view of this source's records in a store, searched by the searchable fields.
  public func recordStore(in store: any SourceStore) -> RecordStore<Item> {
    var recordStore = RecordStore(name, in: store, text: fields.searchableText())
    recordStore.listsAreWhole = !fields.contains { $0.isDetail }
    recordStore.mayHaveRedacted = settings.contains { $0.isSecret }
    return recordStore
  }

  // MARK: - Parts of the chain

  /// The remote source, rate-limited and retried, without store and fallbacks; unavailable if it cannot be
  /// set up.
  private func resilientRemote(
    in environment: PluginEnvironment, deadline: Duration?, _ listing: Listing = .plain
  ) throws(SourceError) -> any DataSource<Item> {
    guard let list = try partitionList(in: environment) else {
      return try resilient(in: environment, deadline) { environment throws(SourceError) in
        try redactedRemote(in: environment, listing)
      }
    }
    let pages = try resilientPages(of: list, in: environment, deadline, listing)
    return PartitionedSource(name, for: list, over: pages, now: environment.now).onlineOnly()
  }

  /// The pages of all partitions, rate-limited and retried together.
  private func resilientPages(
    of list: any PartitionList, in environment: PluginEnvironment, _ deadline: Duration?,
    _ listing: Listing
  ) throws(SourceError) -> any DataSource<Item> {
    try resilient(in: environment, deadline) { environment throws(SourceError) in
      let remote = { @Sendable (partition: Partition) throws(SourceError) in
        try redactedRemote(in: environment.reading(partition), listing)
      }
      // A fault of one of them is one of all.
      _ = try remote(.sample)
      return PartitionPages(name, for: list, remote)
    }
  }

  /// A remote source, rate-limited and retried; unavailable if it cannot be made.
  ///
  /// - Parameter retry: The retries; `nil` for those of the policy.
  func resilient(
    in environment: PluginEnvironment, _ deadline: Duration?, retry: RetryPolicy? = nil,
    _ remote: (PluginEnvironment) throws(SourceError) -> any DataSource<Item>
  ) throws(SourceError) -> any DataSource<Item> {
    let clock = environment.clock
    let made: any DataSource<Item>
    var quotaAware = environment
    quotaAware.transport = QuotaTransport(environment.transport, now: environment.now)
    // An invalid one is named even if a key is missing, or only a sync needs it.
    let rate = try rate(in: environment)
    _ = try policy.syncPageSize?.value(in: environment.settings)
    do { made = try remote(quotaAware) } catch let error where error.allowsFallback {
      return UnavailableSource<Item>(error).erased.onlineOnly()
    }
    let service = try service(in: environment)
    let sharedState = sharedState(of: service, in: environment)
    let cost = rate == nil ? 1 : try cost(in: environment)
    let policy = policy
    let calls = LazySource {
      let admitted: any DataSource<Item> = made.admitted(
        by: callLimit(rate, cost: cost, of: service, in: environment), through: policy.breaker,
        as: service.caller, clock: clock, sharing: sharedState)
      return admitted.retry(retry ?? policy.retry, clock: clock, random: environment.random)
        .timeout(deadline ?? policy.deadline, clock: clock)
        .coalesced()
    }
    return calls.erased.onlineOnly()
  }

  private func observedRemote(
    in environment: PluginEnvironment, _ deadline: Duration?
  ) throws(SourceError) -> any DataSource<Item> {
    try resilientRemote(in: environment, deadline: deadline)
      .observed(by: environment.observer, as: name)
  }

  /// Adds pages and search where the service has none of its own.
  private func shaped(
    _ source: any DataSource<Item>, in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Item> {
    var chain = source
    let size = try fixedPageSize(in: environment)
    if let size {
      chain = chain.sliced(upstream: size, as: name, clock: environment.clock) {
        [file = policy.file] in file.flatMap { FileIdentity($0)?.version }
      }
    }
    if let bound = policy.localSearchBound {
      chain = chain.searchingLocally(
        upTo: bound, by: size ?? policy.largestPage, as: name, text: fields.searchableText())
    }
    return chain
  }

  /// Finds the secrets of the settings, and those that a source that signs in has later.
  package func secretScanner(in environment: PluginEnvironment) -> LiveScanner {
    let secrets = LiveSecrets(with: environment.authorizer.liveSecrets)
    secrets.add(self.secrets(in: environment.settings))
    return LiveScanner(secrets)
  }

  /// The remote, whose records repeat no secret of the settings, and have the fields that bundled and stored ones have.
  private func redactedRemote(
    in environment: PluginEnvironment, _ listing: Listing
  ) throws(SourceError) -> any DataSource<Item> {
    let bundled = bundled
    let listed =
      switch listing {
      case .plain: try remote(in: environment)
      case .marked(let since): try remote(in: environment, changedSince: since)
      }
    let remote = listed.noticingEmptyFields(
      fields, comparing: bundled, storedIn: environment.store.map(recordStore))
    let scanner = secretScanner(in: environment)
    return scanner.current.isEmpty && environment.authorizer.liveSecrets.isEmpty
      ? remote : remote.redacted(by: scanner)
  }

  // MARK: - Derived from policy and settings

  package func secrets(in settings: SourceSettings) -> [Secret] {
    self.settings.filter(\.isSecret).compactMap(settings.secret)
  }

  /// The service to which the rate limit, the pauses and the circuit breakers belong.
  func service(in environment: PluginEnvironment) throws(SourceError) -> Service {
    let settings = environment.settings
    let source = "\(name) \(try service(in: settings))"
    let url = try urls(in: settings).first ?? serviceURLs.first
    let host = url.flatMap { Address($0) }.map { "host \($0.authority)" } ?? source
    return Service(host: host, caller: caller(of: host, as: source, in: settings))
  }

  /// The caller of a host: another key is another account, so that a pause demanded of one does not hold back the other.
  ///
  /// The mark of the keys is stored. It has 16 bits: enough to tell a key from the last one, too few to find it.
  private func caller(of host: String, as source: String, in settings: SourceSettings) -> Caller {
    let account = account
    let keys = self.settings.filter { $0.isSecret && account.contains("${\($0.key)}") }
      .sorted { $0.key < $1.key }.compactMap(settings.secret)
    guard !keys.isEmpty else { return Caller(account: account, source: source) }
    let text = keys.map { $0.reveal(\.self) }.joined(separator: "\0")
    let mark = "\(host)\0\(text)".fnv1a % 65_536
    return Caller(account: "\(account) \(String(mark, radix: 36))", source: source)
  }

  /// The state shared by all sources of a host: in all processes with the same store, or, without a store, in this
  /// environment.
  func sharedState(of service: Service, in environment: PluginEnvironment) -> SharedState {
    environment.store.map { SharedState(of: service.host, in: $0, now: environment.now) }
      ?? environment.localState.of(service.host)
  }

  /// Lets this source make no call for a time, as a response demands that came to none of its calls.
  ///
  /// - Parameter request: The method and the path of its request.
  package func pauseService(
    for time: Duration, after request: String? = nil, in environment: PluginEnvironment
  ) async {
    guard let service = try? service(in: environment) else { return }
    await sharedState(of: service, in: environment)
      .pauseCalls(of: service.caller, for: time, after: request)
  }

  /// The refusal of a request while the service has demanded a pause, of whatever process; `nil` if it may be sent.
  package func refusal(in environment: PluginEnvironment) async -> SourceError? {
    guard !environment.overridesPauses, let service = try? service(in: environment) else {
      return nil
    }
    return await sharedState(of: service, in: environment).refusal(of: service.caller)
  }

  /// Forgets the rate of this source, which is removed, so that it holds back no other one of its service.
  package func forgetRate(in environment: PluginEnvironment) async {
    guard policy.rate != nil, let service = try? service(in: environment) else { return }
    await sharedState(of: service, in: environment).forgetRate(of: service.caller.name)
  }

  /// The limit of calls: the rates of the program's sources of a service.
  ///
  /// Sources whose rates cannot be read make no calls.
  func callLimit(
    _ rate: Rate?, cost: Int, of service: Service, in environment: PluginEnvironment
  ) -> CallLimit {
    let isOfRecords = policy.rateUnit == .records
    let others = others(of: service, in: environment)
    let rates = others.map { ($0.name, try? $0.rate(in: environment)) }
    // A rate of all calls of one source holds for those of the others.
    let isOfEachKind = ([policy] + others.map(\.policy).filter { $0.rate != nil }).allSatisfy {
      $0.rateUnit == .callsOfEachKind
    }
    var limit = CallLimit(
      rate, beside: Dictionary(rates) { first, _ in first }, cost: cost,
      window: isOfEachKind ? nil : isOfRecords ? "records" : "calls", margin: .milliseconds(100))
    limit.overrides = environment.localState.of(service.host).shared("overrides", [])
    return limit
  }

  /// The program's other sources that share the rate limit of a service.
  private func others(of service: Service, in environment: PluginEnvironment) -> [any Plugin] {
    environment.sources().filter { other in
      other.name != name
        && (other.policy.rateUnit == .records) == (policy.rateUnit == .records)
        && (try? other.service(in: environment)).map(service.isShared) ?? false
    }
  }

  /// Says that the rate of another source of the service limits this one, or the other way round; `nil` if neither does.
  ///
  /// - Parameter isChosen: False if a person has not chosen the rate of this source, so that a lower one of another is no
  ///   surprise.
  package func rateNote(in environment: PluginEnvironment, isChosen: Bool = true) -> String? {
    guard let service = try? service(in: environment) else { return nil }
    let own = try? rate(in: environment)
    let others = others(of: service, in: environment).map {
      ($0.name, try? $0.rate(in: environment))
    }
    let interval = own?.interval ?? 0
    if case (let other, let rate?)? = others.max(by: { $0.1?.interval ?? 0 < $1.1?.interval ?? 0 }),
      rate.interval > interval
    {
      guard isChosen else { return nil }
      return "Requests of \(name) are limited to \(rate) by \(other), a source of the same host: "
        + "the lowest rate holds for all"
    }
    // Beside another one of this rate, nothing changes for the others.
    guard let own, !others.isEmpty, others.allSatisfy({ $0.1?.interval ?? 0 < interval }) else {
      return nil
    }
    let names = others.map(\.0).joined(separator: ", ")
    return "The rate limit \(own) of \(name) holds for \(names), too, on the same host"
  }

  /// The rate limit of the source itself; `nil` for none.
  func rate(in environment: PluginEnvironment) throws(SourceError) -> Rate? {
    guard let setting = policy.rate else { return nil }
    return try environment.settings.rate(setting)
  }

  /// The cost of a call in units of the rate.
  func cost(in environment: PluginEnvironment) throws(SourceError) -> Int {
    policy.rateUnit == .records ? try upstreamPageSize(in: environment) : 1
  }

  func upstreamPageSize(in environment: PluginEnvironment) throws(SourceError) -> Int {
    try fixedPageSize(in: environment) ?? policy.largestPage
  }

  /// The most records that a local search reads in a call, in whole pages; 0 if the service searches.
  private func scanCapacity(in environment: PluginEnvironment) throws(SourceError) -> Int {
    guard let bound = policy.localSearchBound else { return 0 }
    let size = try fixedPageSize(in: environment) ?? policy.largestPage
    return max(bound / size, 1) * size
  }

  /// The page size of requests if the caller's limit does not decide it: that of the policy, or of the remote.
  private func fixedPageSize(in environment: PluginEnvironment) throws(SourceError) -> Int? {
    if let size = policy.upstreamPageSize { return try size.value(in: environment.settings) }
    // A remote that cannot be set up requests nothing.
    let environment = partitions == nil ? environment : environment.reading(.sample)
    return (try? remote(in: environment))?.pageSize
  }

  /// A digest of what reads records from a response, and of the keys: the validators of one account may be those of
  /// another; `nil` if the records depend on anything else.
  ///
  /// Digests are stored, so that of the keys has 16 bits, as ``caller(of:as:in:)`` has.
  private func readingDigest(in settings: SourceSettings) -> UInt64? {
    guard let version = decoderVersion, let program = FileIdentity.program else { return nil }
    let keys = secrets(in: settings).map { $0.reveal(\.self) }.joined(separator: "\0")
    return "\(name) \(program) \(keys.fnv1a % 65_536) \(version)".fnv1a
  }

  private func syncPageSize(in environment: PluginEnvironment) throws(SourceError) -> Int {
    guard let size = policy.syncPageSize else { return try upstreamPageSize(in: environment) }
    return try size.value(in: environment.settings)
  }

  /// A hash of the settings that select a collection of the service: all but rates, secrets, contacts and, unless
  /// `bySize`, page sizes.
  private func collection(in settings: SourceSettings, bySize: Bool = true) -> String {
    let selecting = self.settings.filter { setting in
      switch setting.form {
      case .rate, .secret, .contact: false
      case .count: bySize
      default: true
      }
    }
    let texts = selecting.map { "\($0.key)=\(settings.text($0) ?? "")" }
    return hash(texts, scope(in: settings))
  }

  /// The scope of the records in a store: those of another URL, seed or the like are not mixed with them.
  ///
  /// - Parameter secret: The secret that may decide which records there are.
  package func recordScope(in settings: SourceSettings, of secret: Secret?) -> StoreScope {
    StoreScope(records: collection(in: settings, bySize: false), secret: secret)
  }

  /// A hash of the service's URLs.
  private func service(in settings: SourceSettings) throws(SourceError) -> String {
    hash(try urls(in: settings).map(\.absoluteString), scope(in: settings))
  }

  private func hash(_ texts: [String], _ scope: String) -> String {
    let parts = scope.isEmpty ? texts : texts + [scope]
    return String(parts.joined(separator: " ").fnv1a, radix: 36)
  }

  /// The service's URLs that are settings.
  func urls(in settings: SourceSettings) throws(SourceError) -> [URL] {
    try self.settings.filter { $0.form == .url }.map { setting throws(SourceError) in
      try settings.url(setting)
    }
  }
}

/// A host, and the source and the account that call it.
struct Service: Sendable {
  /// The host and port, or the source itself if it does not say its host.
  let host: String
  let caller: Caller

  /// True if another source has the same host and account.
  func isShared(with other: Service) -> Bool {
    host == other.host && caller.account == other.caller.account
  }
}

/// The records that a remote source lists.
private enum Listing {
  case plain
  /// Records with the marks of their changes: all, or those that changed since.
  case marked(since: String?)
}
