import Synchronization

/// A value that is made on first use, once; a failure is not kept.
package final class Lazy<Value: Sendable, Failure: Error>: Sendable {
  private let make: @Sendable () throws(Failure) -> Value
  private let made = Mutex<Value?>(nil)

  package init(_ make: @escaping @Sendable () throws(Failure) -> Value) { self.make = make }

  package func value() throws(Failure) -> Value {
    try made.withLock { made throws(Failure) in
      if let made { return made }
      let value = try make()
      made = value
      return value
    }
  }
}
