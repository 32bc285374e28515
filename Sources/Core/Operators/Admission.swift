import Synchronization

extension DataSource {
  /// Limits calls and stops calling a failing service, as ``rateLimited(by:cost:clock:sharing:)`` inside
  /// ``circuitBreaker(_:clock:sharing:)`` would, with one access to the shared state before a call
  /// and at most one after it.
  ///
  /// - Parameter caller: The parts of the shared state that belong to the source.
  package func admitted(
    by limit: CallLimit? = nil, through breaker: BreakerPolicy? = nil, as caller: Caller = Caller(),
    clock: some Clock<Duration>, sharing sharedState: SharedState?
  ) -> some DataSource<Item> {
    let state = sharedState ?? SharedState(on: clock)
    let rules = AdmissionRules(limit: limit, breaker: breaker, caller: caller)
    return Admission(base: self, rules: rules, clock: clock, now: state.now, state: state.admission)
  }
}

/// The source of a call, as the service of several sources tells them apart.
package struct Caller: Hashable, Sendable {
  /// The client or user whose calls the service counts: sources with the same one share a rate limit and pauses.
  package let account: String
  /// The source, which has a circuit breaker of its own beside that of its host; `nil` if all failures are those of the
  /// host.
  package let source: String?

  package init(account: String = "", source: String? = nil) {
    self.account = account
    self.source = source
  }

  /// The name of the source, which its URLs follow in ``source``.
  package var name: String { source.map { String($0.prefix { $0 != " " }) } ?? "" }
}

extension SharedState {
  /// The state of the rate limits and of the circuit breakers of a host.
  package var admission: SharedValue<AdmissionState> { shared("admission", AdmissionState()) }

  /// Lets a source make no call for a time, as a response demands that came to none of its calls.
  ///
  /// - Parameter request: The method and the path of its request.
  package func pauseCalls(
    of caller: Caller, for time: Duration, after request: String? = nil
  ) async {
    await admission.update { [now] state, date in
      state[limiterOf: caller.account]
        .close(for: time, of: caller, at: date ?? now(), after: request)
    }
  }

  /// The refusal of the calls of a source during a pause; `nil` if there is none.
  package func refusal(of caller: Caller) async -> SourceError? {
    await admission.update { [now] state, date in
      state[limiterOf: caller.account].refusal(of: caller, at: date ?? now())
    }
  }

  /// Forgets the rate of a source that is removed, which would hold back the others of its host for an hour.
  package func forgetRate(of source: String) async {
    await admission.update { state in state.forgetRate(of: source) }
  }
}

/// The state that processes share about the calls of a host.
///
/// It is one value, so that a call reads and writes it once, whatever decides about it.
package struct AdmissionState: Codable, Hashable, Sendable {
  /// Opened by failures to connect, for all sources of the host.
  package var circuit = CircuitState()
  private var limiters: [String: RateLimiterState] = [:]
  private var circuits: [String: CircuitState] = [:]

  private enum CodingKeys: String, CodingKey { case circuit, limiters, circuits }

  init() {}

  /// The rate limit and the pauses of an account.
  package subscript(limiterOf account: String) -> RateLimiterState {
    get { limiters[account] ?? RateLimiterState() }
    set { limiters[account] = newValue == RateLimiterState() ? nil : newValue }
  }

  fileprivate mutating func forgetRate(of source: String) {
    for account in limiters.keys { limiters[account]?.forgetRate(of: source) }
  }

  /// The circuit breaker of a source, opened by its own failures.
  package subscript(circuitOf source: String) -> CircuitState {
    get { circuits[source] ?? CircuitState() }
    set { circuits[source] = newValue.isClean ? nil : newValue }
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    // A damaged part must not reset the others.
    circuit = (try? container.decode(CircuitState.self, forKey: .circuit)) ?? circuit
    limiters = Self.readable(in: container, at: .limiters)
    // Each key has one, and keys are replaced.
    let latest = limiters.values.compactMap(\.writtenAt).sorted().suffix(64)
    limiters = limiters.filter { _, limiter in
      limiter.writtenAt.map { $0 >= latest.first ?? $0 } ?? false
    }
    circuits = Self.readable(in: container, at: .circuits)
  }

  private static func readable<Part: Decodable>(
    in container: KeyedDecodingContainer<CodingKeys>, at key: CodingKeys
  ) -> [String: Part] {
    let parts = try? container.decode([String: Readable<Part>].self, forKey: key)
    return (parts ?? [:]).compactMapValues(\.value)
  }

  /// A value that may be damaged.
  private struct Readable<Value: Decodable>: Decodable {
    let value: Value?

    init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
  }
}

extension AdmissionState {
  /// The calls that test if a host and a source have recovered.
  struct Probes: Hashable, Sendable {
    fileprivate var host: CircuitState.Probe?
    fileprivate var source: CircuitState.Probe?

    fileprivate var isEmpty: Bool { self == Probes() }
  }

  /// True if a success changes nothing.
  fileprivate func isClean(for caller: Caller) -> Bool {
    circuit.isClean && caller.source.map { self[circuitOf: $0].isClean } ?? true
  }

  /// Lets a call through both circuit breakers; `probes` are then to be returned by ``leave(_:after:_:of:at:)``, also
  /// after a failure.
  fileprivate mutating func enter(
    _ breaker: BreakerPolicy, of caller: Caller, _ probes: inout Probes, at now: Duration
  ) throws(SourceError) {
    probes.host = try circuit.enter(breaker, at: now)
    guard let source = caller.source else { return }
    probes.source = try self[circuitOf: source].enter(breaker, at: now)
  }

  /// Records the outcome of a call: whatever failed is a failure of the source, but only lost connections and hosts
  /// that cannot be reached are failures of the host, if it has other sources.
  fileprivate mutating func leave(
    _ probes: Probes, after outcome: CallOutcome, _ breaker: BreakerPolicy, of caller: Caller,
    at now: Duration
  ) {
    let hostOutcome: CallOutcome =
      if case .failed = outcome, caller.source != nil { .alive } else { outcome }
    circuit.leave(probes.host, after: hostOutcome, breaker, at: now)
    guard let source = caller.source else { return }
    self[circuitOf: source].leave(probes.source, after: outcome, breaker, at: now)
  }
}

/// The rules by which the calls of a source are admitted.
struct AdmissionRules: Sendable {
  let limit: CallLimit?
  let breaker: BreakerPolicy?
  let caller: Caller
}

/// A rate limit, a circuit breaker, or both: they decide whether and when a call is made.
struct Admission<Base: DataSource, C: Clock<Duration>>: Interceptor {
  let base: Base
  let rules: AdmissionRules
  let clock: C
  let now: @Sendable () -> Duration
  let state: SharedValue<AdmissionState>
  private let departures = Departures()

  private var limit: CallLimit? { rules.limit }
  private var breaker: BreakerPolicy? { rules.breaker }

  var label: String {
    [limit?.label, breaker?.label].compactMap(\.self).joined(separator: "\n  .")
  }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    if base.isInMemory(request) {
      var rest = request
      rest.cachePolicy.mayAskService = false
      // It may have been replaced meanwhile.
      do { return try await base.page(rest) } catch .offline {}
    }
    return try await intercept(CallKind(request), cachePolicy: request.cachePolicy) {
      () async throws(SourceError) in
      try await base.page(request)
    }
  }

  func intercept<Answer: Sendable>(
    _ kind: CallKind, cachePolicy: CachePolicy,
    _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    let admitted = try await admit(kind, cachePolicy)
    let departure = Departure(now: now)
    if let limit, limit.hasRate, let turn = admitted.turn, let moment = admitted.moment {
      let turn = AdmittedTurn(window: limit.window(of: kind), turn: turn, moment: moment)
      departures.add(departure, of: turn)
    }
    let result = await Departure.$current.withValue(departure) { await Result(catching: call) }
    departures.end(departure)
    await conclude(admitted, result, departure)
    return try result.get()
  }

  /// A call that is let through.
  private struct Admitted: Sendable {
    var probes = AdmissionState.Probes()
    /// True if no failure was known.
    var isClean = true
    var turn: SlidingWindow.Turn?
    var heedsPauses: Bool
    /// The pauses that it does not heed.
    var ignoredPauses: [String: RateLimiterState.Pause] = [:]
    /// The time of the shared state when it was let through, and that of this process.
    var moment: (shared: Duration, own: Duration)?
  }

  /// Lets a call through the circuit breaker, and waits for its turn.
  ///
  /// - Throws: ``SourceError``; `circuitOpen`; `rateLimited` at once if the deadline comes before the turn,
  ///   with ``LocalRateLimitError`` as its cause.
  private func admit(
    _ kind: CallKind, _ cachePolicy: CachePolicy
  ) async throws(SourceError) -> Admitted {
    guard !Task.isCancelled else { throw .cancelled }
    var heedsPauses = true
    if cachePolicy.overridesPauses, let limit, await isPaused() {
      // The pages after the first call, retries and other sources keep to what it brings.
      heedsPauses = await limit.overrides.update { [account = rules.caller.account] accounts in
        !accounts.insert(account).inserted
      }
    }
    // A call that refreshes is made even while the circuit is open.
    var admitted = try await enter(
      kind, Admitted(heedsPauses: heedsPauses), checksCircuit: !cachePolicy.refreshes)
    while let limit, let turn = admitted.turn {
      guard await reached(turn) else {
        await release(admitted, kind)
        throw .cancelled
      }
      guard turn.wait > .zero else { break }
      if let confirmed = await confirm(admitted, turn, of: kind, by: limit) {
        admitted = confirmed
      } else {
        admitted = try await enter(kind, admitted, checksCircuit: false)
      }
    }
    return admitted
  }

  private func isPaused() async -> Bool {
    await state.update { [now, caller = rules.caller] state, time in
      state[limiterOf: caller.account].pause(of: caller, at: time ?? now()) != nil
    }
  }

  /// Records that a call whose turn has come is made, or has to wait on; `nil`, and the turn is given back, if the
  /// service has demanded a pause meanwhile.
  private func confirm(
    _ admitted: Admitted, _ turn: SlidingWindow.Turn, of kind: CallKind, by limit: CallLimit
  ) async -> Admitted? {
    let late = departures.take()
    return await state.update { [now, caller = rules.caller] state, time in
      let account = caller.account
      let own = now()
      let shared = time ?? own
      state[limiterOf: account].move(late, cost: limit.cost)
      guard
        !admitted.heedsPauses || state[limiterOf: account].pause(of: caller, at: shared) == nil
      else {
        state[limiterOf: account].giveBack(turn, of: kind, by: limit)
        return nil
      }
      var admitted = admitted
      admitted.turn = state[limiterOf: account].confirm(
        turn, of: kind, by: limit, as: caller, at: shared)
      admitted.moment = (shared, own)
      return admitted
    }
  }

  /// Checks the circuit breaker and reserves a turn, in one access to the shared state.
  private func enter(
    _ kind: CallKind, _ admitted: Admitted, checksCircuit: Bool
  ) async throws(SourceError) -> Admitted {
    let maxWait = Deadline.current?.remaining() ?? RateLimiterState.maxWait
    let maxPause = Deadline.longestPause ?? maxWait
    let late = departures.take()
    let verdict: Result<Admitted, SourceError> = await state.update {
      [rules, now] state, time in
      let own = now()
      let now = time ?? own
      let caller = rules.caller
      var admitted = admitted
      admitted.moment = (now, own)
      if let limit = rules.limit {
        state[limiterOf: caller.account].move(late, cost: limit.cost)
      }
      admitted.isClean = state.isClean(for: caller)
      do throws(SourceError) {
        if let breaker = rules.breaker, checksCircuit {
          try state.enter(breaker, of: caller, &admitted.probes, at: now)
        }
        if var limit = rules.limit {
          limit.heedsPauses = admitted.heedsPauses
          let limiter = state[limiterOf: caller.account]
          let isPaused = limiter.pause(of: caller, at: now) != nil
          if isPaused, !limit.heedsPauses { admitted.ignoredPauses = limiter.pauses }
          let maxWait = isPaused && limit.heedsPauses ? min(maxWait, maxPause) : maxWait
          let turn = state[limiterOf: caller.account].reserve(
            kind, by: limit, of: caller, at: now, maxWait: maxWait)
          guard turn.isTaken else { throw limit.refusal(of: turn) }
          admitted.turn = turn
        }
        return .success(admitted)
      } catch {
        if let breaker = rules.breaker {
          state.leave(admitted.probes, after: .unknown, breaker, of: caller, at: now)
        }
        return .failure(error)
      }
    }
    return try verdict.get()
  }

  /// Gives back the turn and the probe of a call that is not made.
  private func release(_ admitted: Admitted, _ kind: CallKind) async {
    await state.update { [rules, now] state, time in
      let now = time ?? now()
      if let limit = rules.limit, let turn = admitted.turn {
        state[limiterOf: rules.caller.account].giveBack(turn, of: kind, by: limit)
      }
      if let breaker = rules.breaker {
        state.leave(admitted.probes, after: .unknown, breaker, of: rules.caller, at: now)
      }
    }
  }

  /// Records the outcome of a call, if it changes anything.
  private func conclude<Answer>(
    _ admitted: Admitted, _ result: Result<Answer, SourceError>, _ departure: Departure
  ) async {
    let outcome = CallOutcome(result, hasLeft: departure.noted != nil)
    let changesCircuit =
      switch outcome {
      case .alive: !admitted.isClean
      case .failed, .disconnected: true
      case .unknown: !admitted.probes.isEmpty
      }
    let pause = demandedPause(in: result, departure)
    // The service has answered in spite of its demand.
    let ended = pause == nil && result.failure == nil ? admitted.ignoredPauses : [:]
    guard breaker != nil && changesCircuit || pause != nil || !ended.isEmpty else { return }
    await state.update { [rules, now] state, time in
      let now = time ?? now()
      if let breaker = rules.breaker {
        state.leave(admitted.probes, after: outcome, breaker, of: rules.caller, at: now)
      }
      if !ended.isEmpty { state[limiterOf: rules.caller.account].open(ended) }
      if let pause {
        state[limiterOf: rules.caller.account].close(
          for: pause, of: rules.caller, at: now, after: departure.refusedRequest)
      }
    }
  }

  /// The pause that the service demands, by an error or by a quota that is used up; a local error is not its demand.
  private func demandedPause<Answer>(
    in result: Result<Answer, SourceError>, _ departure: Departure
  ) -> Duration? {
    guard limit != nil else { return nil }
    var pause = departure.pause
    if case .failure(let error) = result, error.code == .rateLimited,
      !(error.cause is LocalRateLimitError)
    {
      pause = [pause, error.retryAfter].compactMap(\.self).max()
    }
    return pause.flatMap { $0 > .zero ? $0 : nil }
  }

  /// Waits for a turn; false if the caller is cancelled before.
  private func reached(_ turn: SlidingWindow.Turn) async -> Bool {
    guard turn.wait > .zero else { return !Task.isCancelled }
    Observer.current(.waiting(turn.wait, reason: turn.reason))
    do { try await clock.sleep(for: turn.wait) } catch { return false }
    return true
  }
}

/// The time at which the request of a call leaves, and the pause that its response demands.
///
/// That time is later than the turn of the call while the program starts, connects or waits for the processor, and the
/// service counts from then.
package final class Departure: Sendable {
  /// The departure of the running call, which the HTTP engine notes.
  @TaskLocal package static var current: Departure?

  private let now: @Sendable () -> Duration
  private let time = Mutex<Duration?>(nil)
  private let demand = Mutex<Duration?>(nil)
  private let refused = Mutex<String?>(nil)

  init(now: @escaping @Sendable () -> Duration) { self.now = now }

  /// Notes that the request leaves now; of several requests the last one counts.
  package func note() {
    let now = now()
    time.withLock { $0 = now }
  }

  /// Notes that the service will refuse requests for so long, from now on.
  package func demand(_ pause: Duration) {
    demand.withLock { $0 = max($0 ?? pause, pause) }
  }

  /// Notes the method and the path of a request whose response demands a pause.
  package func refuse(_ request: String) { refused.withLock { $0 = request } }

  var refusedRequest: String? { refused.withLock(\.self) }

  /// The longest pause that was demanded.
  var pause: Duration? { demand.withLock(\.self) }

  /// `nil` if no request has left.
  var noted: Duration? { time.withLock(\.self) }
}

/// The departures of an operator's calls that its rate limit does not know yet.
///
/// They are recorded with the next change of the shared state, so that no call writes for its departure alone.
final class Departures: Sendable {
  /// A call whose turn was recorded.
  private struct Call {
    let departure: Departure
    let turn: AdmittedTurn
  }

  private let calls = Mutex<[Call]>([])

  func add(_ departure: Departure, of turn: AdmittedTurn) {
    calls.withLock { $0.append(Call(departure: departure, turn: turn)) }
  }

  /// Forgets a call that has ended and never sent a request.
  func end(_ departure: Departure) {
    calls.withLock { $0.removeAll { $0.departure === departure && departure.noted == nil } }
  }

  /// Takes the calls whose requests have left, with the times that count.
  func take() -> [(turn: AdmittedTurn, time: Timestamp)] {
    calls.withLock { calls in
      let left = calls.compactMap { call in
        call.departure.noted.map { (call.turn, Timestamp(call.turn.time(at: $0))) }
      }
      calls.removeAll { $0.departure.noted != nil }
      return left.filter { $0.0.turn.time < $0.1 }
    }
  }
}

/// A turn whose call is made.
struct AdmittedTurn: Sendable {
  /// The window in which it was taken.
  let window: String
  let turn: SlidingWindow.Turn

  /// The time of the shared state when the call was let through, and that of this process.
  let moment: (shared: Duration, own: Duration)

  /// The time of the shared state at a time of this process.
  fileprivate func time(at own: Duration) -> Duration { moment.shared + (own - moment.own) }
}
