package import AggregatorCore
import Synchronization

/// Those who listen for the changes of a store in this process.
package final class ChangeListeners: Sendable {
  private struct State {
    var listeners: [Int: (source: RecordKey, continuation: AsyncStream<Void>.Continuation)] = [:]
    var lastNumber = 0
  }

  private let state = Mutex(State())

  package init() {}

  package var sources: Set<RecordKey> { state.withLock { Set($0.listeners.values.map(\.source)) } }

  /// Adds a listener; `whenLast` runs once it has gone, if it was the last one.
  ///
  /// `notify` passes an element to it. It keeps no more than one, and drops it when it goes.
  package func stream(
    of source: String, whenLast: @escaping @Sendable () -> Void = {}
  ) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.lastNumber += 1
      state.listeners[state.lastNumber] = (RecordKey(source), continuation)
      return state.lastNumber
    }
    continuation.onTermination = { [self] _ in
      let isEmpty = state.withLock { state in
        state.listeners[number] = nil
        return state.listeners.isEmpty
      }
      if isEmpty { whenLast() }
    }
    return stream
  }

  /// Notifies those who listen for any of the sources that `matches` accepts.
  package func notify(_ matches: (RecordKey) -> Bool) {
    let continuations = state.withLock { state in
      state.listeners.values.filter { matches($0.source) }.map(\.continuation)
    }
    for continuation in continuations { continuation.yield() }
  }
}
