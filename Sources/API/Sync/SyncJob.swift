package import AggregatorKit
import AggregatorQueries
import AggregatorServer
import AggregatorTerminal

/// A sync that a server runs, as it is kept in the store, where all servers that share it find it.
struct SyncJob: Hashable, Codable, Sendable {
  enum State: String, Codable, Sendable {
    case running, done, failed, cancelled
    /// The server has ended before the sync; the next one goes on from there.
    case interrupted
  }

  struct Failure: Hashable, Codable, Sendable {
    let code: String
    let message: String
    var hint: String?
    /// The time of a retry, if that is the hint.
    var retryAt: Timestamp?

    /// The failure with the time that is left until a retry.
    func said(at time: Duration) -> Failure {
      guard let retryAt, retryAt.sinceStart > time else { return self }
      let rest = ((retryAt.sinceStart - time) / .seconds(1)).rounded(.up)
      return Failure(
        code: code, message: message, hint: "try again in \(Duration.seconds(rest).text)")
    }
  }

  /// A pause of the sync, such as for a rate limit.
  struct Pause: Hashable, Codable, Sendable {
    let reason: String
    let end: Timestamp

    /// The reason with the time that is left, as the progress of the command line says it; `nil` a second after its end, so
    /// that short pauses are seen, too.
    func words(at time: Duration) -> String? {
      let rest = end.sinceStart - time
      guard rest > .seconds(-1) else { return nil }
      guard rest >= .seconds(1) else { return reason }
      return "\(reason): waiting \(Duration.seconds((rest / .seconds(1)).rounded(.up)).text)"
    }
  }

  /// Tells the jobs of a source apart.
  let id: String
  /// The machine and the process that run it.
  let worker: String
  /// ``ServedSource/scope`` of the source; `nil` if that is unknown, as of jobs that older versions have saved.
  var scope: String?
  let startedAt: Timestamp
  /// Renewed every ``SyncJobs/interval`` while it runs.
  var updatedAt: Timestamp
  var state = State.running
  /// The counts so far, as ``SyncResult/json(of:)`` writes them.
  var result: JSON = [:]
  var failure: Failure?
  /// The last pause; `nil` if there was none.
  var pause: Pause?
  /// The number of records of the last complete sync before; `nil` if none is known.
  var expected: Int?
  /// True if the server that runs it is asked to stop.
  var isCancelled = false
  /// The ones before it, the latest first, which have none themselves; with this one at most ``ServedSync/mostKept``.
  var earlier: [SyncJob]?

  /// This job and the ones before it, as those before another.
  var asEarlier: [SyncJob] {
    var job = self
    job.earlier = nil
    if case .object(let members) = result {
      let shown = ["records", "added", "changed", "removedUpstream", "complete"]
      // Told from one that lacks records.
      let doubt = shortcoming.flatMap { $0.code == .unproved ? SourceWarning(nil, $0).json : nil }
      job.result = .object(
        members.filter { shown.contains($0.name) }
          + (doubt.map { [JSON.Member("warnings", .array([$0]))] } ?? []))
    }
    return Array(([job] + (earlier ?? [])).prefix(ServedSync.mostKept - 1))
  }

  /// True if a source is the one that is synced, and not another one of its name.
  func isOf(_ source: any ServedSource) -> Bool {
    guard let scope, let other = source.scope else { return true }
    return scope == other
  }

  /// The state at a time: a server that has died says nothing more.
  func state(at time: Duration) -> State {
    let silence = time - updatedAt.sinceStart
    guard state == .running, silence > SyncJobs.interval * 3 else { return state }
    return silence > SyncJobs.lease || SyncWorker.hasEnded(worker) ? .interrupted : state
  }
}

extension [String: SyncJob] {
  /// The job of a source; `nil` if there is none, or only one of another source that had its name.
  subscript(source: any ServedSource) -> SyncJob? {
    self[source.name].flatMap { $0.isOf(source) ? $0 : nil }
  }
}

/// A sync that a server runs or has run, as the page of changes lists it.
package struct ServedSync: Sendable {
  /// The most syncs of a source that are known.
  package static let mostKept = 10

  package enum Outcome: String, Sendable {
    case complete, incomplete, running, failed, stopped, interrupted
    /// It has read all pages that it knows of, and nothing shows whether there are more.
    case ended
  }

  package let startedAt: Date
  /// Until its end, or until its server was alive last; `nil` while it runs.
  package let duration: Duration?
  package let outcome: Outcome
  /// The reason it has not come to its end, or may have missed records; `nil` for one that has read all, or runs.
  package let reason: String?
  /// The records that it has read, and those of them that were added, have changed and were removed.
  package let counts: [Int]

  package init(
    startedAt: Date, duration: Duration?, outcome: Outcome, reason: String? = nil, counts: [Int]
  ) {
    self.startedAt = startedAt
    self.duration = duration
    self.outcome = outcome
    self.reason = reason
    self.counts = counts
  }
}

extension SyncJob {
  /// The number of records of the last complete sync, this one or one before; `nil` if none is known.
  var lastTotal: Int? {
    guard state == .done, result["complete"] == true, result["kind"] == "full",
      case .integer(let records)? = result["records"]
    else { return expected }
    return records
  }

  func object(of source: String, at time: Duration) -> JSON {
    let state = state(at: time)
    let words = state == .running ? pause?.words(at: time) : nil
    return [
      "source": .string(source), "state": .string(state.rawValue), "worker": .string(worker),
      "startedAt": .string(startedAt.date.iso8601), "updatedAt": .string(updatedAt.date.iso8601),
      "expected": expected.json, "waiting": words.json,
      "waitingUntil": (words == nil ? nil : pause?.end.date.iso8601).json,
      "result": result, "error": error(at: time)?.object ?? .null,
    ]
  }

  func served(at time: Duration) -> ServedSync {
    let state = state(at: time)
    let counts = ["records", "added", "changed", "removedUpstream"].map { key in
      if case .integer(let number)? = result[key] { number } else { 0 }
    }
    let outcome: ServedSync.Outcome =
      switch state {
      case .running: .running
      case .done where result["complete"] == true: .complete
      case .done: shortcoming?.code == .unproved ? .ended : .incomplete
      case .failed: .failed
      case .cancelled: .stopped
      case .interrupted: .interrupted
      }
    return ServedSync(
      startedAt: startedAt.date,
      duration: state == .running ? nil : updatedAt.sinceStart - startedAt.sinceStart,
      outcome: outcome, reason: error(at: time)?.message ?? shortcoming?.message,
      counts: counts)
  }

  /// The reason a sync that has come to its end may have missed records.
  private var shortcoming: Warning? {
    guard state == .done, result["complete"] != true,
      case .array(let warnings)? = result["warnings"]
    else { return nil }
    return warnings.lazy.compactMap { warning -> Warning? in
      guard let code = warning["code"]?.string, let message = warning["message"]?.string else {
        return nil
      }
      return Warning(Warning.Code(code), message)
    }.first(where: \.meansIncomplete)
  }

  /// The error of a job that has not come to its end; `nil` for one that runs or is done.
  private func error(at time: Duration) -> Failure? {
    switch state(at: time) {
    case .running, .done: nil
    case .failed: failure?.said(at: time)
    case .cancelled:
      Failure(code: "cancelled", message: "the sync was stopped", hint: Self.resumption)
    case .interrupted:
      Failure(
        code: "interrupted", message: "the server that ran the sync has ended",
        hint: Self.resumption)
    }
  }

  private static let resumption = "start the sync again to resume it"

  /// The job as an event: `progress`, and at its end `done` or `error`.
  func event(at time: Duration) -> ServerSentEvent {
    let state = state(at: time)
    if let error = error(at: time) {
      return ServerSentEvent(
        "error", data: JSON.object(error.object.members + [.init("result", result)]).text)
    }
    return ServerSentEvent(state == .done ? "done" : "progress", data: result.text)
  }
}

extension SyncJob.Failure {
  fileprivate var object: JSON {
    ["code": .string(code), "message": .string(message), "hint": hint.json]
  }
}

extension Timestamp {
  fileprivate var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension SyncResult {
  func json(of source: String) -> JSON {
    [
      "kind": .string(kind.rawValue), "pages": .integer(earlierPages + pages),
      "records": .integer(passed), "total": total.json,
      "added": .integer(added), "changed": .integer(changed), "unchanged": .integer(unchanged),
      "removedUpstream": .integer(removedUpstream), "complete": .bool(isComplete),
      "changedSince": changedSince.json, "lastFull": (lastFull?.iso8601).json,
      "warnings": .array(warnings(on: source).map(\.json)),
    ]
  }
}
