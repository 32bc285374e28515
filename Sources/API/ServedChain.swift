import AggregatorKit
import Synchronization

/// The chain of a source, which has the page that it fetched last in memory: a sync makes another one.
final class ServedChain<Item: SourceRecord>: Sendable {
  typealias Made = Result<any DataSource<Item>, SourceError>

  private let make: @Sendable () -> Made
  private let made: Mutex<Made>

  init(_ make: @escaping @Sendable () -> Made) {
    self.make = make
    made = Mutex(make())
  }

  func get() throws(SourceError) -> any DataSource<Item> { try made.withLock(\.self).get() }

  /// Makes it again, without the page that it has.
  func renew() {
    let new = make()
    made.withLock { $0 = new }
  }
}
