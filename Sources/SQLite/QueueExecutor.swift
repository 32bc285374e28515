import Dispatch

/// Runs an actor on a thread of its own queue.
///
/// SQLite's calls block, and blocked threads of the concurrency pool stand still for everybody: with two
/// cores there are two of them.
package final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  package init(_ label: String) { queue = DispatchQueue(label: label) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
