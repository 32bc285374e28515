/// Knows whether a service fails, and lets calls in or not.
package final class Circuit: Sendable {
  /// A call that finds out whether the service is back: when it is given up.
  typealias Probe = Timestamp

  enum Outcome {
    /// The service answered.
    case alive
    /// The service failed.
    case failed
    /// The service was not asked, or the caller left before it was known.
    case unknown

    init<Answer>(_ result: Result<Answer, SourceError>) {
      guard case .failure(let error) = result else {
        self = .alive
        return
      }
      switch error.code {
      case .unreachable, .connectionLost, .timedOut, .serverError: self = .failed
      // A deadline that passes cancels the call from outside: a service that stalls has failed.
      case .cancelled: self = Deadline.hasPassed ? .failed : .unknown
      case .rateLimited where error.cause is LocalRateLimitError: self = .unknown
      case .notFound, .rejected, .invalidKey, .rateLimited, .malformed, .tooLarge: self = .alive
      default: self = .unknown
      }
    }
  }

  private struct State: Codable, Hashable, Sendable {
    /// How many in a row.
    var failures: UInt32 = 0
    /// When one call may find out; `nil` while all may call.
    var closesAt: Timestamp?
    /// The call that is finding out.
    var probe: Probe?
  }

  private let policy: BreakerPolicy
  private let now: @Sendable () -> Duration
  private let state: SharedValue<State>

  /// A closed circuit, or the one that others have left on the board.
  package init(_ policy: BreakerPolicy, sharing sharedState: SharedState) {
    self.policy = policy
    now = sharedState.now
    state = sharedState.shared("circuit", State())
  }

  /// How long no call is let in; zero if one is.
  package func pause() async -> Duration {
    await state.update { [policy, now] state in
      state.closesAt?.wait(atMost: policy.pause, from: now()) ?? .zero
    }
  }

  /// Lets a call in.
  ///
  /// - Returns: The probe, if it is the call that finds out whether the service is back.
  func enter() async throws(SourceError) -> Probe? {
    let verdict: Result<Probe?, SourceError> = await state.update { [policy, now] state in
      guard let closesAt = state.closesAt else { return .success(nil) }
      let now = now()
      let pause = closesAt.wait(atMost: policy.pause, from: now)
      let probing = state.probe?.wait(atMost: policy.lease, from: now) ?? .zero
      guard pause == .zero, probing == .zero else {
        return .failure(Self.refusal(after: state.failures, pause: pause))
      }
      state.probe = Timestamp(now) + policy.lease
      return .success(state.probe)
    }
    return try verdict.get()
  }

  /// Notes what came of a call.
  func leave(_ probe: Probe?, after outcome: Outcome) async {
    // There is nothing to note, and the store is spared.
    if case .unknown = outcome, probe == nil { return }
    await state.update { [policy, now] state in
      // It may have been given up, and another may be under way.
      if probe != nil, state.probe == probe { state.probe = nil }
      switch outcome {
      case .alive: state = State()
      case .failed:
        state.failures += state.failures < .max ? 1 : 0
        if state.failures >= policy.failures { state.closesAt = Timestamp(now()) + policy.pause }
      case .unknown: break
      }
    }
  }

  private static func refusal(after failures: UInt32, pause: Duration) -> SourceError {
    SourceError(
      .circuitOpen, "the service failed \(failures) times in a row and is left alone",
      remedy: pause > .zero
        ? "it is asked again in \(pause.text)"
        : "one call is finding out whether it is back, try again soon",
      retryAfter: pause > .zero ? pause : nil)
  }
}

extension BreakerPolicy {
  /// How long a call may take to find out whether the service is back, until another one tries.
  fileprivate var lease: Duration { max(pause, .seconds(60)) }
}

extension Timestamp {
  /// How long it is until this moment, which was set at most `longest` ahead.
  ///
  /// One that lies further ahead was set before the calendar was put back: nobody waits for it.
  fileprivate func wait(atMost longest: Duration, from now: Duration) -> Duration {
    self <= Timestamp(now) + longest ? max(sinceStart - now, .zero) : .zero
  }
}
