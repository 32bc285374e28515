import Synchronization

extension DataSource {
  /// Limits calls and stops calling a failing service, as ``rateLimited(by:cost:clock:sharing:)`` inside
  /// ``circuitBreaker(_:clock:sharing:)`` would, with one access to the shared state before a call
  /// and at most one after it.
  package func admitted(
    by limit: CallLimit? = nil, through breaker: BreakerPolicy? = nil,
    clock: some Clock<Duration>, sharing sharedState: SharedState?
  ) -> some DataSource<Item> {
    let sharedState = sharedState ?? SharedState(on: clock)
    return Admission(self, by: limit, through: breaker, clock: clock, sharing: sharedState)
  }
}

extension SharedState {
  /// The state of the rate limit and of the circuit breaker.
  package var admission: SharedValue<AdmissionState> { shared("admission", AdmissionState()) }
}

/// The state that processes share about the calls of a service.
package struct AdmissionState: Codable, Hashable, Sendable {
  package var limiter = RateLimiterState()
  package var circuit = CircuitState()

  private enum CodingKeys: String, CodingKey { case limiter, circuit }

  init() {}

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    // A damaged part must not reset the other one.
    limiter = (try? container.decode(RateLimiterState.self, forKey: .limiter)) ?? limiter
    circuit = (try? container.decode(CircuitState.self, forKey: .circuit)) ?? circuit
  }
}

/// A rate limit, a circuit breaker, or both: they decide whether and when a call is made.
struct Admission<Base: DataSource, C: Clock<Duration>>: Interceptor {
  let base: Base
  let limit: CallLimit?
  let breaker: BreakerPolicy?
  let clock: C
  let now: @Sendable () -> Duration
  let state: SharedValue<AdmissionState>
  private let departures = Departures()

  init(
    _ base: Base, by limit: CallLimit?, through breaker: BreakerPolicy?, clock: C,
    sharing sharedState: SharedState
  ) {
    self.base = base
    self.limit = limit
    self.breaker = breaker
    self.clock = clock
    now = sharedState.now
    state = sharedState.admission
  }

  var label: String {
    [limit?.label, breaker?.label].compactMap(\.self).joined(separator: "\n  .")
  }

  func intercept<Answer: Sendable>(
    _ kind: CallKind, cachePolicy: CachePolicy,
    _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    // A call that refreshes is made even while the circuit is open.
    let admitted = try await admit(kind, checksCircuit: !cachePolicy.refreshes)
    let departure = Departure(now: now)
    if limit?.rate != nil, let turn = admitted.turn, let moment = admitted.moment {
      departures.add(departure, of: AdmittedTurn(kind: kind, turn: turn, moment: moment))
    }
    let result = await Departure.$current.withValue(departure) { await Result(catching: call) }
    departures.end(departure)
    await conclude(admitted, result, departure)
    return try result.get()
  }

  /// A call that is let through.
  private struct Admitted: Sendable {
    var probe: CircuitState.Probe?
    /// True if no failure was known.
    var isClean = true
    var turn: SlidingWindow.Turn?
    /// The time of the shared state when it was let through, and that of this process.
    var moment: (shared: Duration, own: Duration)?
  }

  /// Lets a call through the circuit breaker, and waits for its turn.
  ///
  /// - Throws: ``SourceError``; `circuitOpen`; `rateLimited` at once if the deadline comes before the turn,
  ///   with ``LocalRateLimitError`` as its cause.
  private func admit(
    _ kind: CallKind, checksCircuit: Bool
  ) async throws(SourceError) -> Admitted {
    guard !Task.isCancelled else { throw .cancelled }
    var admitted = try await enter(kind, Admitted(), checksCircuit: checksCircuit)
    while let limit, let turn = admitted.turn {
      guard await reached(turn, because: limit.reason(for: turn).wait) else {
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

  /// Records that a call whose turn has come is made, or has to wait on; `nil`, and the turn is given back, if the
  /// service has demanded a pause meanwhile.
  private func confirm(
    _ admitted: Admitted, _ turn: SlidingWindow.Turn, of kind: CallKind, by limit: CallLimit
  ) async -> Admitted? {
    let late = departures.take()
    return await state.update { [now] state, time in
      let own = now()
      let shared = time ?? own
      state.limiter.move(late, cost: limit.cost)
      guard !state.limiter.isClosed(at: shared) else {
        state.limiter.giveBack(turn, of: kind, cost: limit.cost)
        return nil
      }
      var admitted = admitted
      admitted.turn = state.limiter.confirm(turn, of: kind, by: limit, at: shared)
      admitted.moment = (shared, own)
      return admitted
    }
  }

  /// Checks the circuit breaker and reserves a turn, in one access to the shared state.
  private func enter(
    _ kind: CallKind, _ admitted: Admitted, checksCircuit: Bool
  ) async throws(SourceError) -> Admitted {
    let maxWait = Deadline.current?.remaining() ?? RateLimiterState.maxWait
    let late = departures.take()
    let verdict: Result<Admitted, SourceError> = await state.update {
      [limit, breaker, now] state, time in
      let own = now()
      let now = time ?? own
      var admitted = admitted
      admitted.moment = (now, own)
      if let limit { state.limiter.move(late, cost: limit.cost) }
      admitted.isClean = state.circuit.isClean
      do throws(SourceError) {
        if let breaker, checksCircuit {
          admitted.probe = try state.circuit.enter(breaker, at: now)
        }
        if let limit {
          let turn = state.limiter.reserve(
            kind, cost: limit.cost, by: limit.rate, at: now, maxWait: maxWait)
          guard turn.isTaken else { throw limit.refusal(of: turn) }
          admitted.turn = turn
        }
        return .success(admitted)
      } catch {
        if let breaker { state.circuit.leave(admitted.probe, after: .unknown, breaker, at: now) }
        return .failure(error)
      }
    }
    return try verdict.get()
  }

  /// Gives back the turn and the probe of a call that is not made.
  private func release(_ admitted: Admitted, _ kind: CallKind) async {
    await state.update { [limit, breaker, now] state, time in
      let now = time ?? now()
      if let limit, let turn = admitted.turn {
        state.limiter.giveBack(turn, of: kind, cost: limit.cost)
      }
      if let breaker { state.circuit.leave(admitted.probe, after: .unknown, breaker, at: now) }
    }
  }

  /// Records the outcome of a call, if it changes anything.
  private func conclude<Answer>(
    _ admitted: Admitted, _ result: Result<Answer, SourceError>, _ departure: Departure
  ) async {
    let outcome = CallOutcome(result)
    let changesCircuit =
      switch outcome {
      case .alive: !admitted.isClean
      case .failed: true
      case .unknown: admitted.probe != nil
      }
    let pause = demandedPause(in: result, departure)
    guard breaker != nil && changesCircuit || pause != nil else { return }
    await state.update { [breaker, now] state, time in
      let now = time ?? now()
      if let breaker { state.circuit.leave(admitted.probe, after: outcome, breaker, at: now) }
      if let pause { state.limiter.close(for: pause, at: now) }
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
  private func reached(_ turn: SlidingWindow.Turn, because reason: String) async -> Bool {
    guard turn.wait > .zero else { return !Task.isCancelled }
    Observer.current(.waiting(turn.wait, reason: reason))
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
  let kind: CallKind
  let turn: SlidingWindow.Turn

  /// The time of the shared state when the call was let through, and that of this process.
  let moment: (shared: Duration, own: Duration)

  /// The time of the shared state at a time of this process.
  fileprivate func time(at own: Duration) -> Duration { moment.shared + (own - moment.own) }
}
