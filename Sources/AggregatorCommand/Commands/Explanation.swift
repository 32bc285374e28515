import AggregatorKit
import AggregatorQueries
import AggregatorTerminal
import DeclaredSource
import Synchronization

/// The output of `--explain`: the plan before an answer, and the requests after it.
final class Explanation: Sendable {
  private struct State {
    var sent = 0
    var retries = 0
    var bytes = 0
    var time = Duration.zero
    var waits: [(time: Duration, reason: String)] = []
    var failures: [String] = []
    var origins: [Provenance.Origin: Int] = [:]
  }

  private let context: CommandContext
  private let start = ContinuousClock.now
  private let state = Mutex(State())

  /// `nil` without `--explain`.
  init?(_ invocation: Invocation, _ context: CommandContext) {
    guard invocation.has(.explain) else { return nil }
    self.context = context
  }

  /// The plan of a listing that reads only cached or bundled records.
  func planLocal(_ plugin: some Plugin) {
    say("\(plugin.name): cached data only; --all reads all records of the service")
    say("plan: no request")
  }

  /// Sends nothing; fails with code `invalidSettings`.
  func plan(
    _ plugin: some Plugin, _ request: PageRequest, pages: Int?, _ cachePolicy: CachePolicy,
    in environment: PluginEnvironment
  ) async throws(SourceError) {
    let policy = plugin.policy
    switch policy.readOrder {
    case .liveFirst(let time):
      let fresh = time == .zero ? "" : "; cached pages stay fresh for \(time.text)"
      say("\(plugin.name): live data first\(fresh)")
    case .localFirst:
      say("\(plugin.name): cached data first, then the service")
    case .storedOnly: return say("\(plugin.name): cached data only, which a sync refreshes")
    }
    if ReadPreference.current != .primary,
      let facts = try? await environment.store?.capabilities.database?.facts()
    {
      for standby in facts.standbys { say("cached data: \(standby.text)") }
    }
    let cached =
      cachePolicy.refreshes ? nil : await plugin.cachedAnswer(to: request, in: environment)
    if let cached {
      let age = cached.fetchedAt.map { ", fetched \($0.age(at: environment.now()))" } ?? ""
      say("plan: cached\(age), no request")
    } else if !cachePolicy.mayAskService {
      say("plan: offline mode (--offline), no request")
    } else {
      try await planService(
        of: plugin, CallKind(request), pages: pages, refreshes: cachePolicy.refreshes,
        in: environment)
    }
    guard cachePolicy.mayFallBack else { return say("fallback: none") }
    let stored = try? await environment.store?.status(of: plugin.name)
    let origins = [
      stored.map { "cached (\($0.records.of("record")))" }, plugin.hasBundled ? "bundled" : nil,
    ].compactMap(\.self)
    say("fallback: \(origins.isEmpty ? "none" : origins.joined(separator: ", then "))")
  }

  /// Fails with code `invalidSettings`.
  ///
  /// - Parameter refreshes: True if the service is asked even while it is paused.
  func planService(
    of plugin: some Plugin, _ kind: CallKind, pages: Int?, refreshes: Bool,
    in environment: PluginEnvironment
  ) async throws(SourceError) {
    do { _ = try plugin.wholeRemote(in: environment) } catch let error where error.allowsFallback {
      return say("plan: no request (\(error.message))")
    }
    let requestPlan = try await plugin.requestPlan(of: kind, in: environment)
    let attempts = pages.map { "up to \($0 * requestPlan.requestsPerPage) attempts" }
    let requests =
      (plugin as? DeclaredPlugin)?.endpoint
      ?? "GET \(requestPlan.addresses.joined(separator: ", "))"
    let isPaused = (requestPlan.pause > .zero || requestPlan.demand != nil) && !refreshes
    say(
      isPaused
        ? "plan: no request (the service is paused)"
        : "plan: \(requests) (\(attempts ?? "all pages"))")
    if requestPlan.pause > .zero {
      say(
        "circuit breaker: failing repeatedly; paused for \(requestPlan.pause.text), "
          + "--refresh retries now")
    }
    if let demand = requestPlan.demand {
      say("\(demand); retry in \(requestPlan.wait.text), --refresh retries now")
    } else if let rate = requestPlan.rate, let left = requestPlan.left {
      let wait = requestPlan.wait > .zero ? "next in \(requestPlan.wait.text)" : "no wait"
      let other = requestPlan.rateSource.map { source in
        let plugin = context.catalog.plugins.first { $0.name == source }
        return " of \(source) on the same host\(plugin?.policy.rate.map { " (\($0.key))" } ?? "")"
      }
      say("rate limit \(rate)\(other ?? ""): \(left.of("request")) left, \(wait)")
    }
  }

  func conclude() {
    let state = state.withLock(\.self)
    let total = ContinuousClock.now - start
    let origins = state.origins.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.value) \($0.key.rawValue)" }
    let noun = state.origins.values.reduce(0, +) == 1 ? "record" : "records"
    let answer = origins.isEmpty ? "no" : origins.joined(separator: ", ")
    say("result: \(answer) \(noun) in \(total.text)")
    say(
      "\(state.sent.of("request")) (\(state.retries == 1 ? "1 retry" : "\(state.retries) retries")), "
        + "\(state.bytes.byteCount), \(state.time.text)")
    for wait in state.waits { say("waited: \(wait.time.text), \(wait.reason)") }
    for failure in state.failures { say("failed: \(failure)") }
  }

  fileprivate func note(_ event: Event) {
    state.withLock { state in
      switch event {
      case .answered(_, _, let provenance, let count):
        state.origins[provenance.origin, default: 0] += count
      case .waiting(let time, let reason): state.waits.append((time, reason))
      case .retrying: state.retries += 1
      case .fellBack(let error) where state.failures.last != error.message:
        state.failures.append(error.message)
      case .sent: state.sent += 1
      case .received(_, let bytes, let time, _):
        state.bytes += bytes
        state.time += time
      case .lost(_, let time, _): state.time += time
      default: break
      }
    }
  }

  func say(_ text: String) { context.diagnostics.trace("explain: \(text)") }
}

extension PluginEnvironment {
  func explained(by explanation: Explanation?) -> PluginEnvironment {
    guard let explanation else { return self }
    var environment = self
    environment.observer = observer.also(explanation.note)
    return environment
  }
}
