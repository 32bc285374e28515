public import AggregatorAuthorization
public import AggregatorCore
public import AggregatorFoundation
public import AggregatorHTTP
public import AggregatorSettings
public import AggregatorStore

/// Everything that a plugin has access to.
///
/// Plugins never read the process environment, the clock or the network directly, so that tests control
/// all of them.
public struct PluginEnvironment: Sendable {
  private struct Values: Sendable {
    var settings: SourceSettings
    var transport: any Transport
    var store: (any SourceStore)?
    var clock: any Clock<Duration>
    var now: @Sendable () -> Date
    var random: @Sendable () -> UInt64
    var observer: Observer
    var pageSize: Int?
    var tokenDirectory: URL?
    var sources: @Sendable () -> [any Plugin] = { [] }
    var downloadDirectory: URL?
    var maxSize: Int?
    var partition: Partition?
    var pageParameters: [String: Int] = [:]
    var isReplaying = false
    var readsChangedFiles = true
    var overridesPauses = false
    let authorizer: Authorizer
    var localState: SharedState
  }

  @Indirect private var values: Values

  public var settings: SourceSettings {
    get { values.settings }
    set { values.settings = newValue }
  }
  public var transport: any Transport {
    get { values.transport }
    set { values.transport = newValue }
  }

  /// False if only the store is read, even if a file has changed since.
  package var readsChangedFiles: Bool {
    get { values.readsChangedFiles }
    set { values.readsChangedFiles = newValue }
  }

  /// True if ``Plugin/refusal(in:)`` refuses nothing, as with ``CachePolicy/overridesPauses``.
  package var overridesPauses: Bool {
    get { values.overridesPauses }
    set { values.overridesPauses = newValue }
  }

  /// Stores records; `nil` to store nothing.
  public var store: (any SourceStore)? {
    get { values.store }
    set { values.store = newValue }
  }

  /// Setting it forgets the calls of services without a store.
  public var clock: any Clock<Duration> {
    get { values.clock }
    set {
      values.clock = newValue
      values.localState = SharedState(on: newValue)
    }
  }
  public var now: @Sendable () -> Date {
    get { values.now }
    set { values.now = newValue }
  }
  public var random: @Sendable () -> UInt64 {
    get { values.random }
    set { values.random = newValue }
  }
  public var observer: Observer {
    get { values.observer }
    set { values.observer = newValue }
  }

  /// The page size that sources request of their services instead of their own, if it is smaller; `nil` in programs.
  ///
  /// Laws set it, so that a few records are several pages.
  public var pageSize: Int? {
    get { values.pageSize }
    set { values.pageSize = newValue }
  }

  /// A private directory for access tokens, and for refresh tokens that a service has replaced.
  ///
  /// It is created if it is missing; `nil` to keep access tokens in memory, and to use no refresh tokens. Processes
  /// with the same directory sign in once. Each machine needs its own.
  public var tokenDirectory: URL? {
    get { values.tokenDirectory }
    set { values.tokenDirectory = newValue }
  }

  /// The other sources of the program, whose records may be ``Plugin/partitions`` of this one, and whose rates count if they
  /// have the same service; none by default.
  ///
  /// Without them, a source learns the rate of another one once that has made a call.
  public var sources: @Sendable () -> [any Plugin] {
    get { values.sources }
    set { values.sources = newValue }
  }

  /// A private directory for large files of services while they are read; `nil` for one of the system.
  ///
  /// It is created if it is missing. What a transfer left behind there is continued after the process has ended.
  public var downloadDirectory: URL? {
    get { values.downloadDirectory }
    set { values.downloadDirectory = newValue }
  }

  /// The largest response, in bytes; `nil` for 16 MiB, and 4 GiB of a file that is read row by row.
  public var maxSize: Int? {
    get { values.maxSize }
    set { values.maxSize = newValue }
  }

  /// The part of the list that ``Plugin/remote(in:)`` reads; `nil` for a source without ``Plugin/partitions``.
  public var partition: Partition? {
    get { values.partition }
    set { values.partition = newValue }
  }

  /// The numbers among the parameters of a request, of which one may be the page size or the first page of the list.
  var pageParameters: [String: Int] {
    get { values.pageParameters }
    set { values.pageParameters = newValue }
  }

  /// True if a recording answers, for which no secret is needed.
  package private(set) var isReplaying: Bool {
    get { values.isReplaying }
    set { values.isReplaying = newValue }
  }

  /// Copies of the environment share it; it sends with the transport that the environment was created with.
  package var authorizer: Authorizer { values.authorizer }

  /// The rates and pauses of services without a store; copies of the environment share them.
  var localState: SharedState { values.localState }

  /// Creates an environment: of the system, and without a store and an observer by default.
  public init(
    settings: SourceSettings, transport: any Transport, store: (any SourceStore)? = nil,
    clock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> Date = { Date() },
    random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) },
    observer: Observer = .silent
  ) {
    values = Values(
      settings: settings, transport: transport, store: store, clock: clock, now: now,
      random: random, observer: observer,
      authorizer: Authorizer(transport: transport, clock: clock, now: now),
      localState: SharedState(on: clock))
  }
}

extension PluginEnvironment {
  /// The same environment, whose transport signs the requests to the host of a service, with the settings' values.
  ///
  /// Requests to other hosts are sent as they are. Tokens are requested with the transport with which the environment was
  /// created, so that they are neither recorded nor counted, and shared by all copies of the environment.
  ///
  /// - Parameter service: Any URL of the service, with the same scheme, host and port as its requests.
  /// - Throws: ``SourceError``: `missingKey` if a setting has no value, `invalidSettings` for an invalid URL. A refused
  ///   client, refresh token or password is the error `invalidKey` of a request.
  public func authorized(
    by authorization: Authorization, for service: URL
  ) throws(SourceError) -> PluginEnvironment {
    var environment = self
    environment.transport =
      isReplaying
      ? try Authorizer.replaying(transport, authorization, for: service)
      : try authorizer.transport(
        transport, signing: authorization, for: service, in: settings,
        keepingTokensIn: tokenDirectory?.path)
    return environment
  }

  /// The same environment, recording all requests and responses.
  ///
  /// Its ``now`` is the time of the latest exchange, as it will be in the replay. Give it an empty store:
  /// records cached by earlier runs cause no requests, so that they are missing in the recording.
  ///
  /// `directory` is created if it is missing; values of secret settings and contacts are never recorded. A secret of
  /// fewer than 8 characters, which can occur by chance, is one from the first request with it.
  ///
  /// - Throws: ``SourceError`` with code `storage` if the directory cannot be created or written.
  public func recording(
    into directory: URL, hiding known: [Setting]
  ) throws(SourceError) -> PluginEnvironment {
    let contacts = known.filter { $0.form == .contact }.compactMap(settings.text).map(Secret.init)
    let secrets = LiveSecrets(with: authorizer.liveSecrets)
    // It cannot be removed, and would keep every source from being recorded, not only those that send it.
    let long = known.filter(\.isSecret).compactMap(settings.secret).filter {
      $0.reveal(\.count) >= SecretScanner.minimumLength
    }
    secrets.add(long + contacts)
    let transport = try RecordingTransport(
      transport, into: directory, hiding: secrets, now: now)
    var environment = self
    environment.transport = transport
    environment.now = transport.now
    return environment
  }

  /// The same environment, replaying a recording instead of sending requests.
  ///
  /// - ``now`` is the recorded time, so that ages and freshness are the same.
  /// - Waits take no time, and rates are off.
  /// - Random bits are zero, so that every choice is the same, and backoff never outlasts the deadline of
  ///   a retry that was recorded.
  /// - Secrets are replaced by a placeholder: sources that require a key work without one, and a key that
  ///   is set is never used.
  ///
  /// Give it an empty store: records cached by other runs would be used instead of the recording.
  public func replaying(_ recording: Recording, knowing known: [Setting]) -> PluginEnvironment {
    let transport = ReplayingTransport(recording)
    var environment = self
    environment.isReplaying = true
    environment.settings = settings.replaced(
      known.reduce(into: [:]) { values, setting in
        switch setting.form {
        // Too short to be replaced in what the service said.
        case .secret: values[setting.key] = "replay"
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
