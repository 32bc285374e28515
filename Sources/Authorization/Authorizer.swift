package import AggregatorCore
package import AggregatorFoundation
package import AggregatorHTTP
package import AggregatorSettings
import Synchronization

/// Signs in for the sources of an environment, whose copies share it: each grant has one chain of tokens.
package final class Authorizer: Sendable {
  /// The secrets that sources have signed in with, and their tokens.
  package let liveSecrets = LiveSecrets()

  private struct Key: Hashable {
    let grant: Grant
    let directory: TokenDirectory?
  }

  /// A type of its own, because the type of a dictionary is made at run time, also if it stays empty.
  private struct Chains {
    var byKey: [Key: TokenChain] = [:]
  }

  private let transport: any Transport
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Date
  private let renewals = Renewals()
  private let chains = Mutex(Chains())

  /// - Parameter transport: Sends token requests: it does not record them.
  package init(
    transport: any Transport, clock: any Clock<Duration>, now: @escaping @Sendable () -> Date
  ) {
    self.transport = transport
    self.clock = clock
    self.now = now
  }

  /// A transport that signs the requests to the host of a service.
  ///
  /// - Throws: ``SourceError``: `missingKey` if a setting has no value, or `invalidSettings`.
  package func transport(
    _ base: any Transport, signing authorization: Authorization, for service: URL,
    in settings: SourceSettings, keepingTokensIn directory: String?
  ) throws(SourceError) -> any Transport {
    let service = try Self.address(of: service)
    let signature: AuthorizingTransport.Signature
    switch authorization.method {
    case .basic(let user, let password):
      let user = try Credential(user, in: settings)
      let password = try Credential(password, in: settings)
      let field = try Authorization.basicField(user, password)
      liveSecrets.add([field, password.secret])
      signature = .basic(field: field, keys: [user.key, password.key].compactMap(\.self))
    case .clientCredentials(let client):
      let grant = try Grant(client, refreshing: nil, in: settings)
      signature = .token(chain(of: grant, directory))
    case .refreshToken(let token, let client):
      let grant = try Grant(client, refreshing: token, in: settings)
      signature = .token(chain(of: grant, directory))
    }
    return AuthorizingTransport(base: base, service: service, signature: signature)
  }

  /// A transport that sends recorded requests, which need neither a secret nor a token.
  package static func replaying(
    _ base: any Transport, _ authorization: Authorization, for service: URL
  ) throws(SourceError) -> any Transport {
    AuthorizingTransport(
      base: base, service: try address(of: service),
      signature: .replayed(isRenewed: authorization.client != nil))
  }

  /// Waits for the renewals in flight whose refresh tokens would be lost otherwise; 30 s at most.
  package func finish() async { await renewals.finish() }

  /// Deletes the tokens of an authorization, unless they are those of one of the others, too.
  ///
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  package static func removeTokens(
    of authorization: Authorization, butThoseOf others: [Authorization],
    in settings: SourceSettings, keptIn directory: String
  ) async throws(SourceError) {
    guard let file = file(of: authorization, in: settings, directory),
      !others.contains(where: { self.file(of: $0, in: settings, directory)?.path == file.path })
    else { return }
    try await file.remove()
  }

  private static func file(
    of authorization: Authorization, in settings: SourceSettings, _ directory: String
  ) -> TokenFile? {
    let grant: Grant? =
      switch authorization.method {
      case .basic: nil
      case .clientCredentials(let client): try? Grant(client, refreshing: nil, in: settings)
      case .refreshToken(let token, let client):
        try? Grant(client, refreshing: token, in: settings)
      }
    return grant.flatMap { try? TokenDirectory(path: directory).file(of: $0) }
  }

  private static func address(of service: URL) throws(SourceError) -> Address {
    guard let address = Address(service) else {
      throw SourceError(.invalidSettings, "invalid URL: must be an http(s) URL without user name")
    }
    return address
  }

  private func chain(of grant: Grant, _ directory: String?) -> TokenChain {
    let directory = directory.map { TokenDirectory(path: $0) }
    return chains.withLock { chains in
      let key = Key(grant: grant, directory: directory)
      if let chain = chains.byKey[key] { return chain }
      let chain = TokenChain(
        grant,
        by: TokenChain.Means(
          transport: transport, directory: directory, clock: clock, now: now,
          liveSecrets: liveSecrets, renewals: renewals))
      chains.byKey[key] = chain
      return chain
    }
  }
}

/// The renewals in flight that may replace a refresh token.
final class Renewals: Sendable {
  private struct State {
    var running = 0
    var waiters: [AsyncStream<Void>.Continuation] = []
  }

  private let state = Mutex(State())

  func begin() { state.withLock { $0.running += 1 } }

  func end() {
    let waiters = state.withLock { state -> [AsyncStream<Void>.Continuation] in
      state.running -= 1
      guard state.running == 0 else { return [] }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.finish() }
  }

  /// Waits until none is running, or the task is cancelled.
  func finish() async {
    let (ends, waiter) = AsyncStream<Void>.makeStream()
    let isIdle = state.withLock { state in
      if state.running > 0 { state.waiters.append(waiter) }
      return state.running == 0
    }
    if isIdle { return }
    for await _ in ends {}
  }
}
