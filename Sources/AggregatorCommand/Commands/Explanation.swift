import AggregatorKit
import Synchronization

/// What `--explain` says: before an answer how it will be found, after it what it took.
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

  private let diagnostics: Diagnostics
  private let start = ContinuousClock.now
  private let state = Mutex(State())

  /// An explanation; `nil` where none is wanted.
  init?(_ invocation: Invocation, _ session: Session) {
    guard invocation.has(.explain) else { return nil }
    diagnostics = session.diagnostics
  }

  /// Says how a walk's first page will be found.
  ///
  /// - Parameters:
  ///   - plugin: The source.
  ///   - request: The first page.
  ///   - bounds: How far the walk goes.
  ///   - options: Who may answer.
  ///   - environment: What the source may touch; nothing is sent.
  /// - Throws: ``CommandError`` with code `settings`.
  func plan(
    _ plugin: some Plugin, _ request: PageRequest, _ bounds: ListingOptions,
    _ options: ReadingOptions, in environment: PluginEnvironment
  ) async throws(CommandError) {
    do {
      try await plan(
        plugin, request, pages: bounds.mostPages, options.reading, in: environment)
    } catch {
      throw CommandError(error, of: plugin)
    }
  }

  private func plan(
    _ plugin: some Plugin, _ request: PageRequest, pages: Int?, _ reading: CachePolicy,
    in environment: PluginEnvironment
  ) async throws(SourceError) {
    let policy = plugin.policy
    switch policy.readOrder {
    case .liveFirst(let freshness):
      say(
        "\(plugin.name): the service first, and what is stored while it is younger than "
          + freshness.text)
    case .localFirst:
      say("\(plugin.name): what is stored first, and the service for more")
    }
    let kept = reading.refreshes ? nil : await plugin.keptAnswer(to: request, in: environment)
    if let kept {
      say(
        "now: stored\(kept.fetchedAt.map { ", saved \($0.age(at: environment.now()))" } ?? ""), no request"
      )
    } else if !reading.mayAskService {
      say("now: no request, the network is not to be used")
    } else {
      try await planService(of: plugin, CallKind(request), pages: pages, in: environment)
    }
    guard reading.mayFallBack else { return say("else: nothing, it fails") }
    let stored = try? await environment.store?.status(of: plugin.name)
    let tiers = [stored.map { "stored (\($0.records) records)" }, "bundled"].compactMap(\.self)
    say("else: \(tiers.joined(separator: ", then "))")
  }

  /// Says how the service will be asked.
  ///
  /// - Throws: ``SourceError`` with code `badSettings`.
  func planService(
    of plugin: some Plugin, _ kind: CallKind, pages: Int?, in environment: PluginEnvironment
  ) async throws(SourceError) {
    let requestPlan = try await plugin.requestPlan(of: kind, in: environment)
    let requests = pages.map { "at most \(($0 * requestPlan.requestsPerPage).requests)" }
    say(
      "now: the service at \(requestPlan.addresses.joined(separator: ", ")), "
        + (requests ?? "as many requests as it has pages"))
    if requestPlan.pause > .zero {
      say(
        "left alone: the service has failed too often, for \(requestPlan.pause.text); --refresh asks now"
      )
    }
    if let rate = requestPlan.rate, let left = requestPlan.left {
      let wait = requestPlan.wait > .zero ? "after \(requestPlan.wait.text)" : "without waiting"
      say("quota: \(rate), \(left) calls left, \(wait)")
    } else if requestPlan.wait > .zero {
      say("quota: the service asked to be left alone for \(requestPlan.wait.text)")
    }
  }

  /// Says what it took.
  func conclude() {
    let state = state.withLock(\.self)
    let total = ContinuousClock.now - start
    let origins = state.origins.sorted { $0.key.rawValue < $1.key.rawValue }
      .map { "\($0.value) \($0.key.rawValue)" }
    say(
      "answered: \(origins.isEmpty ? "nothing" : origins.joined(separator: ", ")) in \(total.text)"
    )
    say(
      "sent: \(state.sent.requests), \(state.bytes) bytes in \(state.time.text), "
        + "\(state.retries) of them again")
    for wait in state.waits { say("waited: \(wait.time.text), \(wait.reason)") }
    for failure in state.failures { say("failed: \(failure)") }
  }

  /// Takes in what a source does.
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

  private func say(_ words: String) { diagnostics.trace("explain: \(words)") }
}

extension Plugin {
  /// Who gives the stored answer to a request, if it is fresh enough to be given; asks nobody.
  func keptAnswer(to request: PageRequest, in environment: PluginEnvironment) async -> Provenance? {
    var environment = environment
    environment.observer = .silent
    let reading = CachePolicy(mayAskService: false, mayFallBack: false, growth: .never)
    return try? await source(in: environment, reading: reading).page(request).provenance
  }
}

extension PluginEnvironment {
  /// This environment, with an explanation told of what happens in it.
  func explained(by explanation: Explanation?) -> PluginEnvironment {
    guard let explanation else { return self }
    var environment = self
    environment.observer = Observer { [observer] event in
      explanation.note(event)
      observer(event)
    }
    return environment
  }
}

extension Int {
  /// `1 request`, `2 requests`.
  fileprivate var requests: String { self == 1 ? "1 request" : "\(self) requests" }
}
