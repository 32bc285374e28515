/// Waits until one of the sources below a list or a record is replaced.
@MainActor final class ReplacementObserver {
  private var tasks: [Task<Void, Never>] = []

  deinit { for task in tasks { task.cancel() } }

  /// Calls once after the next element of one of these streams; does nothing while it waits already.
  ///
  /// The new source may have others below it, so that whoever is called observes again.
  func observe(
    _ replacements: @autoclosure () -> [AsyncStream<Void>],
    _ reload: @escaping @MainActor () -> Void
  ) {
    guard tasks.isEmpty else { return }
    for stream in replacements() {
      let task = Task { [weak self] in
        for await _ in stream {
          guard !Task.isCancelled else { return }
          self?.stop()
          reload()
          return
        }
      }
      tasks.append(task)
    }
  }

  private func stop() {
    for task in tasks { task.cancel() }
    tasks = []
  }
}
