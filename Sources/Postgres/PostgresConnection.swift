import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import CAggregatorPostgres
import Dispatch

/// A statement of SQL with its parameters, `$1`, `$2` ….
package struct PostgresStatement: Sendable {
  let sql: String
  let values: [PostgresValue]
  let hasTextResult: Bool

  /// `sql` never contains untrusted text; see ``Swift/String/postgresName``.
  package init(_ sql: String, _ values: [PostgresValue] = [], hasTextResult: Bool = false) {
    self.sql = sql
    self.values = values
    self.hasTextResult = hasTextResult
  }
}

/// A connection to a PostgreSQL server, closed when it goes out of scope.
///
/// Statements are collected, and sent together in one round trip, in libpq's pipeline mode. Calls never block
/// for longer than their limit, and end when the task is cancelled; the connection is then of no further use.
package struct PostgresConnection: ~Copyable {
  /// The time that a call may still take.
  package var deadline: ContinuousClock.Instant

  let handle: OpaquePointer
  private let address: PostgresAddress
  private var queue: [PostgresStatement] = []
  /// The index in the queue of the statement that returns the transaction's ID.
  private var transactionIndex: Int?

  /// The ID of the present or last transaction that writes; `nil` until its first round trip.
  private(set) var transactionID: String?

  /// The index in the queue of the statement that returns the marks of the views.
  private var viewMarkIndex: Int?

  /// The marks of the views, see ``ViewDefinitions``; `nil` until the first round trip of a transaction that writes.
  private(set) var viewMark: String?

  /// True while a transaction is being committed: it ends even if the task is cancelled.
  private var isCommitting = false

  /// The longest time until a waiting call notices that its task is cancelled.
  private static let wakeInterval = Duration.milliseconds(20)

  /// Connects; `limit` is the longest time until the server has accepted the connection.
  package static func open(
    _ address: PostgresAddress, within limit: Duration
  ) throws(PostgresFailure) -> PostgresConnection {
    var parameters = [
      // With its other keywords, which only fill in what the URI leaves out.
      "dbname": address.uri.reveal(\.self), "fallback_application_name": "aggregator",
      "client_encoding": "UTF8", "tcp_user_timeout": "30000",
    ]
    if !address.hasPassword, let password = address.password {
      parameters["password"] = password.reveal(\.self)
    }
    let handle = withCStrings(parameters.map(\.key)) { names in
      withCStrings(parameters.map(\.value)) { values in cpq_connect_start(names, values) }
    }
    guard let handle else { throw PostgresFailure(.unreachable, "out of memory") }
    let connection = PostgresConnection(
      deadline: .now + limit, handle: handle, address: address)
    cpq_discard_notices(handle)
    try connection.connect()
    guard cpq_set_nonblocking(handle), cpq_enter_pipeline(handle) else { throw connection.broken }
    return connection
  }

  deinit { cpq_finish(handle) }

  private static func withCStrings<Answer>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Answer
  ) -> Answer {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer {
      body($0.baseAddress)
    }
  }

  private func connect() throws(PostgresFailure) {
    // "Behave as if the last poll had returned that it is writing" (libpq's documentation).
    var state = Int32(CPQ_POLLING_WRITING)
    while state != CPQ_POLLING_OK {
      guard state != CPQ_POLLING_FAILED, cpq_socket(handle) >= 0 else {
        let message = lastError
        // The server's refusal has no SQLSTATE here.
        throw PostgresFailure(.unreachable, message)
      }
      try wait(for: state == CPQ_POLLING_READING ? POLLIN : POLLOUT)
      state = cpq_connect_poll(handle)
    }
  }

  /// The last error, without secrets and without libpq's advice, whose lines begin with a tab.
  private var lastError: String {
    let lines = String(cString: cpq_error(handle)).split(separator: "\n")
    return address.redacted(lines.filter { !$0.hasPrefix("\t") }.joined(separator: "; "))
  }

  var broken: PostgresFailure { PostgresFailure(.broken, lastError) }

  /// Allows the next calls the longest wait for an answer, beyond that for a lock.
  mutating func allow(_ busyTimeout: Duration) { deadline = .now + busyTimeout + .seconds(60) }

  /// True if the connection can be used for another transaction.
  package var isUsable: Bool { cpq_is_open(handle) && cpq_is_idle(handle) && queue.isEmpty }

  /// The process of the server that this connection has, or that a pool has invented.
  var processID: Int32 { cpq_backend_pid(handle) }

  package var serverVersion: Int { Int(cpq_server_version(handle)) }

  /// A parameter that the server reports, such as `server_encoding`.
  package func parameter(_ name: String) -> String? {
    cpq_parameter(handle, name).map { String(cString: $0) }
  }

  // MARK: - Statements

  /// Adds a statement to the next round trip, and returns its index in the results.
  @discardableResult
  package mutating func enqueue(_ sql: String, _ values: PostgresValue...) -> Int {
    queue.append(PostgresStatement(sql, values))
    return queue.count - 1
  }

  @discardableResult
  package mutating func enqueue(_ statement: PostgresStatement) -> Int {
    queue.append(statement)
    return queue.count - 1
  }

  package mutating func rows(
    _ sql: String, _ values: PostgresValue...
  ) throws(PostgresFailure) -> PostgresResult {
    try rows(PostgresStatement(sql, values))
  }

  /// Sends the collected statements and this one, and returns its rows.
  mutating func rows(_ statement: PostgresStatement) throws(PostgresFailure) -> PostgresResult {
    let index = enqueue(statement)
    return try run()[index]
  }

  /// Sends the collected statements in one round trip.
  package mutating func run() throws(PostgresFailure) -> [PostgresResult] {
    let statements = queue
    queue = []
    defer {
      if cpq_is_idle(handle) { (transactionIndex, viewMarkIndex) = (nil, nil) }
    }
    guard !statements.isEmpty else { return [] }
    for statement in statements { try send(statement) }
    guard cpq_pipeline_sync(handle) else { throw broken }
    var results: [PostgresResult] = []
    var failure: PostgresFailure?
    while true {
      guard let result = try nextResult() else { continue }
      switch result.status {
      case Int32(CPQ_PIPELINE_SYNC):
        if let failure { throw failure }
        guard results.count == statements.count else { throw broken }
        if let index = transactionIndex {
          transactionID = results[index].first?.text(0)
          transactionIndex = nil
        }
        if let index = viewMarkIndex {
          viewMark = results[index].first?.text(0) ?? ""
          viewMarkIndex = nil
        }
        return results
      case Int32(CPQ_COMMAND_OK), Int32(CPQ_TUPLES_OK): results.append(result)
      case Int32(CPQ_PIPELINE_ABORTED): break
      default:
        failure = failure ?? result.failure
        // After a broken connection nothing follows.
        guard cpq_is_open(handle) else { throw failure ?? broken }
      }
    }
  }

  private static let snapshot = PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

  /// Begins a transaction that reads one state of the store, with the next round trip.
  mutating func beginSnapshot() { enqueue(Self.snapshot) }

  /// Runs the collected statements on one state of the store, and returns their results.
  mutating func snapshot() throws(PostgresFailure) -> [PostgresResult] {
    queue.insert(Self.snapshot, at: 0)
    enqueue("COMMIT")
    return Array(try run().dropFirst().dropLast())
  }

  /// Begins a transaction that writes to the store, with the next round trip.
  mutating func begin(waiting lockWait: Duration) {
    transactionID = nil
    enqueue("BEGIN")
    transactionIndex = enqueue(
      "SELECT aggregator_store.begin($1, $2)", .integer(PostgresSchema.version),
      .integer(Int64(lockWait / .milliseconds(1))))
  }

  /// Reads the marks of the views with the next round trip.
  mutating func enqueueViewMark() {
    viewMark = nil
    viewMarkIndex = enqueue(
      "SELECT value FROM aggregator_store.shared WHERE key = $1", .text(ViewDefinitions.key))
  }

  /// Sends the collected statements and commits.
  mutating func commit() throws(PostgresFailure) {
    isCommitting = true
    defer { isCommitting = false }
    enqueue("COMMIT")
    _ = try run()
  }

  private func send(_ statement: PostgresStatement) throws(PostgresFailure) {
    var bytes: [UInt8] = []
    var places: [(start: Int, count: Int)?] = []
    for value in statement.values {
      let start = bytes.count
      places.append(value.append(to: &bytes) ? (start, bytes.count - start) : nil)
    }
    // An empty value must not look like null.
    bytes.append(0)
    let types = statement.values.map(\.type)
    let lengths = places.map { Int32($0?.count ?? 0) }
    let formats = statement.values.map { Int32($0.isText ? 0 : 1) }
    let isSent = bytes.withUnsafeBytes { bytes in
      let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let pointers = places.map { place in place.flatMap { place in base.map { $0 + place.start } }
      }
      return cpq_send(
        handle, statement.sql, Int32(places.count), types, pointers, lengths, formats,
        statement.hasTextResult ? 0 : 1)
    }
    guard isSent else { throw broken }
  }

  /// The next result; `nil` between those of two statements.
  private func nextResult() throws(PostgresFailure) -> PostgresResult? {
    while true {
      let rest = cpq_flush(handle)
      guard rest >= 0 else { throw broken }
      guard rest > 0 || cpq_is_busy(handle) else { break }
      try wait(for: rest > 0 ? POLLIN | POLLOUT : POLLIN)
      guard cpq_consume_input(handle) else { throw broken }
    }
    guard let result = cpq_get_result(handle) else {
      guard cpq_is_open(handle) else { throw broken }
      return nil
    }
    return PostgresResult(result)
  }

  /// A request to stop what the server does for this connection.
  var cancellation: PostgresCancellation? {
    cpq_get_cancel(handle).map(PostgresCancellation.init)
  }

  private func wait(for events: some BinaryInteger) throws(PostgresFailure) {
    while true {
      guard isCommitting || !Task.isCancelled else {
        throw PostgresFailure(.cancelled, "cancelled")
      }
      guard deadline > .now else { throw PostgresFailure(.timedOut, "timed out") }
      var state = pollfd(fd: cpq_socket(handle), events: Int16(events), revents: 0)
      let count = poll(&state, 1, Int32(Self.wakeInterval / .milliseconds(1)))
      if count > 0 { return }
      guard count == 0 || errno == EINTR else { throw broken }
    }
  }
}

/// A request to the server to stop what it does for a connection, from any thread.
final class PostgresCancellation: Sendable {
  // libpq: "PQcancel can safely be invoked from a signal handler", and the request never changes.
  nonisolated(unsafe) private let request: OpaquePointer

  init(_ request: OpaquePointer) { self.request = request }

  deinit { cpq_free_cancel(request) }

  /// Sends the request, and waits until the server has it.
  func send() { _ = cpq_cancel_now(request) }

  /// Sends the request, and waits for at most 2 s until the server has it.
  func sendBriefly() {
    let isSent = DispatchSemaphore(value: 0)
    SystemThread.start { [self] in
      send()
      isSent.signal()
    }
    _ = isSent.wait(timeout: .now() + 2)
  }
}
