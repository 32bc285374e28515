import AggregatorKit
import AggregatorTerminal

/// The time limit of a query, from reading its files to its last row.
///
/// Time in which the reader of the output keeps the program waiting, such as a pager, does not count.
package struct QueryTime: Sendable {
  private var end: ContinuousClock.Instant
  private let waited = Output.timeWaited

  init(_ limit: Duration) { end = .now + limit }

  /// Zero or less once it is over.
  package var left: Duration { end - .now + (Output.timeWaited - waited) }

  /// Runs `body`, whose time does not count either.
  package mutating func pausing<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    let start = ContinuousClock.now
    defer { end += .now - start }
    return try await body()
  }
}
