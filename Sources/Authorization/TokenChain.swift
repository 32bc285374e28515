import AggregatorCore
import AggregatorFiles
import AggregatorFoundation
import AggregatorHTTP
import AggregatorText
import Synchronization

/// The access tokens of a grant, one after the other: fetched when one is needed, by one request for all callers, and
/// by one process of the machine.
final class TokenChain: Sendable {
  private typealias Answer = Result<AccessToken, SourceError>

  private struct State {
    var token: AccessToken?
    /// The callers that wait for the renewal in flight; `nil` if there is none.
    var waiters: [AsyncStream<Answer>.Continuation]?
    /// The token that the renewal in flight replaces.
    var rejected: AccessToken?
    /// Tokens that could not be written: the refresh token that they replace is spent.
    var unwritten: StoredTokens?
    /// The refresh token that was read or received last.
    var refresh: Secret?
    /// The last refusal, and when it was.
    var refusal: (error: SourceError, date: Date)?
  }

  /// The time for which a refused grant is not tried again, in seconds: services lock clients that go on asking.
  private static let refusalTime = 10.0

  let grant: Grant
  private let means: Means
  private let state = Mutex(State())

  /// Everything that a renewal uses.
  struct Means: Sendable {
    let transport: any Transport
    let directory: TokenDirectory?
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    let liveSecrets: LiveSecrets
    let renewals: Renewals
  }

  init(_ grant: Grant, by means: Means) {
    self.grant = grant
    self.means = means
    means.liveSecrets.add(grant.secrets)
  }

  /// The secrets that a response must not repeat.
  var secrets: [Secret] { grant.secrets + [state.withLock(\.refresh)].compactMap(\.self) }

  /// A token that the service accepts as far as is known.
  ///
  /// A cancelled caller returns at once, and one whose deadline passes then; the renewal that it began goes on.
  ///
  /// - Parameter rejected: A token that the service has refused.
  /// - Throws: ``SourceError``: `cancelled`, `timedOut` after 30 s, `busy`, `storage` if the tokens cannot be kept, and
  ///   as ``TokenReply/init(_:to:refreshing:at:)``; a refusal once more for ten seconds, without a request.
  func token(insteadOf rejected: AccessToken? = nil) async throws(SourceError) -> AccessToken {
    let current = try await currentToken(insteadOf: rejected)
    // The renewal may be that of another caller, who did not know that the service has refused the token.
    guard current.token == rejected, !current.replacesRejected else { return current.token }
    return try await currentToken(insteadOf: rejected).token
  }

  private struct CurrentToken {
    let token: AccessToken
    /// True if it was fetched because the service has refused the one before, which some services send again.
    let replacesRejected: Bool
  }

  private func currentToken(
    insteadOf rejected: AccessToken?
  ) async throws(SourceError) -> CurrentToken {
    guard !Task.isCancelled else { throw .cancelled }
    let (answers, waiter) = AsyncStream<Answer>.makeStream()
    var replacesRejected = false
    let now = means.now()
    // A clock that was set back does not prolong it.
    if let refusal = state.withLock(\.refusal),
      0..<Self.refusalTime ~= now.timeIntervalSince(refusal.date)
    {
      throw refusal.error
    }
    let fresh = state.withLock { state -> AccessToken? in
      if let token = state.token, token != rejected, token.isFresh(at: now) { return token }
      if state.waiters == nil {
        (state.waiters, state.rejected) = ([], rejected)
        begin(insteadOf: rejected)
      }
      replacesRejected = state.rejected == rejected
      state.waiters?.append(waiter)
      return nil
    }
    if let fresh { return CurrentToken(token: fresh, replacesRejected: false) }
    let limit = Deadline.current.map { deadline in
      Task { [grant, clock = means.clock] in
        guard await clock.passes(max(deadline.remaining(), .zero)) else { return }
        waiter.yield(
          .failure(
            SourceError(
              .timedOut, "no token from \(grant.authority) within the time limit",
              remedy: Remedy("allow more time", .allowMoreTime))))
      }
    }
    defer { limit?.cancel() }
    // A stream ends when its reader is cancelled.
    for await answer in answers {
      return CurrentToken(token: try answer.get(), replacesRejected: replacesRejected)
    }
    throw .cancelled
  }

  /// Begins a renewal.
  ///
  /// The task is detached, because it outlives the caller that began it, whose observer sees its request, and has a
  /// deadline of its own; it ends with its answer, after 30 s at most.
  private func begin(insteadOf rejected: AccessToken?) {
    // A token that replaces no refresh token can be fetched again.
    let mustFinish = grant.refresh != nil
    if mustFinish { means.renewals.begin() }
    let observer = Observer.current
    Task.detached { [self] in
      let answer = await Observer.$current.withValue(observer) {
        await limitedRenewal(insteadOf: rejected)
      }
      let waiters = state.withLock { state in
        switch answer {
        case .success(let token): state.token = token
        case .failure(let error) where error.code == .invalidKey:
          state.refusal = (error, means.now())
        case .failure: break
        }
        defer { state.waiters = nil }
        return state.waiters ?? []
      }
      for waiter in waiters {
        waiter.yield(answer)
        waiter.finish()
      }
      if mustFinish { means.renewals.end() }
    }
  }

  private func limitedRenewal(insteadOf rejected: AccessToken?) async -> Answer {
    await withTaskGroup(of: Answer?.self) { group in
      group.addTask { [self] in
        await Result { () async throws(SourceError) in try await renewal(insteadOf: rejected) }
      }
      group.addTask { [clock = means.clock] in
        await clock.passes(Grant.maxTime)
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      if let first { return first }
      // A token received in the last moment is valid.
      if case .success(let token)? = await group.next() ?? nil { return .success(token) }
      return .failure(
        SourceError(
          .timedOut, "no token from \(grant.authority) within \(Grant.maxTime.text)",
          remedy: "try again later"))
    }
  }

  // MARK: - Renewal

  private func renewal(insteadOf rejected: AccessToken?) async throws(SourceError) -> AccessToken {
    guard let directory = means.directory else {
      guard grant.refresh == nil else {
        throw SourceError(
          .storage, "no directory for the refresh tokens of \(grant.authority)",
          remedy: "set a directory for the program's data")
      }
      return try await fetched(refreshing: nil).access
    }
    let file = try await onDisk { [grant] () throws(SourceError) in try directory.file(of: grant) }
    do {
      return try await file.lock.holding(within: Grant.maxTime, clock: ContinuousClock()) {
        try await renewal(insteadOf: rejected, in: file)
      }
    } catch let error as SourceError {
      throw error
    } catch is FileLock.Taken {
      throw SourceError(
        .busy,
        "another process has been signing in at \(grant.authority) for "
          + Grant.maxTime.text, remedy: "try again later")
    } catch {
      throw SourceError(.storage, "cannot lock \(file.path)", cause: error)
    }
  }

  /// Takes the token that another process has fetched meanwhile, or fetches one.
  private func renewal(
    insteadOf rejected: AccessToken?, in file: TokenFile
  ) async throws(SourceError) -> AccessToken {
    if let unwritten = state.withLock(\.unwritten) { try await write(unwritten, to: file) }
    let stored = try await onDisk { () throws(SourceError) in try file.read() }
    let refresh = stored?.refresh ?? grant.refresh?.secret
    learn(refresh: refresh, access: stored?.access)
    if let stored, stored.client == file.client, stored.access.secret != rejected?.secret,
      stored.access.isFresh(at: means.now())
    {
      return stored.access
    }
    let reply = try await fetched(refreshing: refresh)
    // Nothing between the receipt and the disk can be cancelled.
    let tokens = StoredTokens(
      refresh: grant.refresh == nil ? nil : reply.refresh ?? stored?.refresh,
      access: reply.access, client: file.client)
    try await write(tokens, to: file)
    return reply.access
  }

  private func fetched(refreshing refresh: Secret?) async throws(SourceError) -> TokenReply {
    let date = means.now()
    let request = grant.request(refreshing: refresh)
    let response = try await means.transport.send(request)
    let reply = try TokenReply(response, to: grant, refreshing: refresh, at: date)
    learn(refresh: grant.refresh == nil ? nil : reply.refresh, access: reply.access)
    return reply
  }

  /// Tells those who remove secrets about tokens before anything uses them.
  private func learn(refresh: Secret?, access: AccessToken?) {
    for secret in [refresh, access?.secret].compactMap(\.self) {
      means.liveSecrets.addTemporary(secret)
    }
    if let refresh { state.withLock { $0.refresh = refresh } }
  }

  private func write(_ tokens: StoredTokens, to file: TokenFile) async throws(SourceError) {
    state.withLock { $0.unwritten = tokens }
    try await onDisk { () throws(SourceError) in try file.write(tokens) }
    state.withLock { $0.unwritten = nil }
  }

  private func onDisk<Value: Sendable>(
    _ body: @escaping @Sendable () throws(SourceError) -> Value
  ) async throws(SourceError) -> Value {
    try await TokenDirectory.queue.run(body)
  }
}

extension Clock<Duration> {
  /// Waits for some time, or for the cancellation of the task; true if the time has passed.
  @discardableResult
  fileprivate func passes(_ time: Duration) async -> Bool {
    await reaches(now.advanced(by: time))
  }
}
