import AggregatorKit
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
  }

  /// Tells the jobs of a source apart.
  let id: String
  /// The machine and the process that run it.
  let worker: String
  let startedAt: Timestamp
  /// Renewed every ``SyncJobs/interval`` while it runs.
  var updatedAt: Timestamp
  var state = State.running
  /// The counts so far, as ``SyncResult/json(of:)`` writes them.
  var result: JSON = [:]
  var failure: Failure?
  /// The number of records of the last complete sync before; `nil` if none is known.
  var expected: Int?
  /// True if the server that runs it is asked to stop.
  var isCancelled = false

  /// The state at a time: a server that has died says nothing more.
  func state(at time: Duration) -> State {
    state == .running && time > updatedAt.sinceStart + SyncJobs.lease ? .interrupted : state
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
    return [
      "source": .string(source), "state": .string(state.rawValue), "worker": .string(worker),
      "startedAt": .string(startedAt.date.iso8601), "updatedAt": .string(updatedAt.date.iso8601),
      "expected": expected.json, "result": result, "error": error(state)?.object ?? .null,
    ]
  }

  /// When it began, how long it took, and its outcome.
  func words(at time: Duration) -> String {
    let state = state(at: time)
    func count(_ key: String) -> Int {
      if case .integer(let number)? = result[key] { number } else { 0 }
    }
    let changes = [("added", "added"), ("changed", "changed"), ("removedUpstream", "removed")]
    let counts =
      [count("records").of("record")]
      + changes.filter { count($0.0) > 0 }.map { "\(count($0.0)) \($0.1)" }
    let length = (updatedAt.sinceStart - startedAt.sinceStart).text
    return "the last sync by a server began \(startedAt.date.iso8601) and "
      + (state == .running ? "is running" : "took \(length)")
      + ": \(counts.joined(separator: ", "))" + (error(state).map { "; \($0.message)" } ?? "")
  }

  /// What to say of a job that has not come to its end; `nil` for one that runs or is done.
  private func error(_ state: State) -> Failure? {
    switch state {
    case .running, .done: nil
    case .failed: failure
    case .cancelled: Failure(code: "cancelled", message: "the sync was stopped")
    case .interrupted:
      Failure(code: "interrupted", message: "the server that ran the sync has ended")
    }
  }

  /// The job as an event: `progress`, and at its end `done` or `error`.
  func event(at time: Duration) -> ServerSentEvent {
    let state = state(at: time)
    if let error = error(state) {
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
