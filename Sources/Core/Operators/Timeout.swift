extension DataSource {
  /// Ends every call after some time with `timedOut`.
  ///
  /// - Parameters:
  ///   - limit: How long a call may take, with everything underneath.
  ///   - clock: What measures it.
  /// - Returns: The source with a deadline.
  public func timeout(
    _ limit: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> some DataSource<Item> { Timeout(base: self, limit: limit, clock: clock) }
}

struct Timeout<Base: DataSource, C: Clock<Duration>>: Decorator {
  let base: Base
  let limit: Duration
  let clock: C
  var label: String { "timeout(\(limit.text))" }

  func around<Answer: Sendable>(
    _ kind: CallKind, _ call: @escaping @Sendable () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    let end = clock.now.advanced(by: limit)
    let deadline = Deadline(after: limit, on: clock).tightened
    let result = await withTaskGroup(of: Result<Answer, SourceError>.self) { group in
      group.addTask {
        await Deadline.$current.withValue(deadline) { await Result(catching: call) }
      }
      group.addTask {
        // Not a wait inside of the call around this one: it is what ends this one.
        let isOver = await Deadline.$current.withValue(nil) { await clock.reaches(end) }
        guard isOver else { return .failure(.cancelled) }
        return .failure(
          SourceError(
            .timedOut, "no answer within \(limit.text)",
            remedy: Remedy("allow more time, or try later", .allowMoreTime))
        )
      }
      defer { group.cancelAll() }
      return await group.next() ?? .failure(.cancelled)
    }
    return try result.get()
  }
}
