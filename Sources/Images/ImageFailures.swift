import AggregatorCore
import AggregatorFoundation
import Synchronization

/// Failures of images that another request would only repeat, remembered for a minute: a list that is
/// scrolled back and forth must not ask for them every time.
///
/// Failures of the connection are not remembered, so that images appear as soon as it is back.
final class ImageFailures: Sendable {
  private struct Failure {
    let error: SourceError
    let date: Date

    /// False also if the clock was set back.
    func isFresh(at now: Date) -> Bool { 0..<lifetime ~= now.timeIntervalSince(date) }
  }

  private static let lifetime: TimeInterval = 60
  private static let maxFailures = 1000

  private let now: @Sendable () -> Date
  private let failures = Mutex<[ImageAddress: Failure]>([:])

  init(now: @escaping @Sendable () -> Date) { self.now = now }

  subscript(address: ImageAddress) -> SourceError? {
    let date = now()
    return failures.withLock { $0[address].flatMap { $0.isFresh(at: date) ? $0.error : nil } }
  }

  func add(_ error: SourceError, at address: ImageAddress) {
    guard [.malformed, .tooLarge, .rejected].contains(error.code) else { return }
    let date = now()
    failures.withLock { failures in
      if failures.count >= Self.maxFailures { failures = failures.filter { $1.isFresh(at: date) } }
      if failures.count >= Self.maxFailures { failures = [:] }
      failures[address] = Failure(error: error, date: date)
    }
  }

  func remove(_ address: ImageAddress) { failures.withLock { $0[address] = nil } }
}
