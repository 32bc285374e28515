import Dispatch

/// Runs an actor on a dispatch queue of its own.
///
/// The calls of a database block, and a blocked thread of the concurrency pool is lost to everybody: with two
/// cores there are two of them.
package final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  package init(_ label: String) { queue = DispatchQueue(label: label) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
