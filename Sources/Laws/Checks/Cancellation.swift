import AggregatorKit

extension Law {
  /// A cancelled call ends as such.
  static let cancellation = Law(
    "cancellation",
    "A call whose task is cancelled, before or in its first request, ends with cancelled.",
    isCheap: true, Cancellation())
}

private struct Cancellation: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let request = PageRequest(limit: 1)
    let page: @Sendable () async throws(SourceError) -> String = { () async throws(SourceError) in
      "a page of \(try await subject.source.page(request).records.count.records)"
    }
    try context.expectCancelled(await cancelledBefore(page), at: request.text)
    if let outcome = await cancelledWithin(page, of: subject) {
      try context.expectCancelled(outcome, at: "\(request.text), in its first request")
    }
    guard let id = try await subject.source.page(request).records.first?.id else { return }
    let item: @Sendable () async throws(SourceError) -> String = { () async throws(SourceError) in
      "the record '\(try await subject.source.item(id).item.id)'"
    }
    let outcome = await cancelledBefore(item)
    // What is refused without being asked for is refused to everybody.
    if case .failure(let error) = outcome, [.unsupported, .notFound].contains(error.code) {
      return
    }
    try context.expectCancelled(outcome, at: "show \(id)")
  }

  /// The outcome of a call made by a task that is cancelled already.
  private func cancelledBefore(
    _ call: @escaping @Sendable () async throws(SourceError) -> String
  ) async -> Result<String, SourceError> {
    await withTaskGroup(of: Result<String, SourceError>.self) { group in
      group.cancelAll()
      group.addTask { await Result(catching: call) }
      return await group.next() ?? .failure(.cancelled)
    }
  }

  /// The outcome of a call that is cancelled at the moment when it sends its first request.
  ///
  /// - Returns: `nil` if it sent none.
  private func cancelledWithin(
    _ call: @escaping @Sendable () async throws(SourceError) -> String,
    of subject: LawSubject<some Record>
  ) async -> Result<String, SourceError>? {
    let leash = Canceller()
    let observer = Observer { event in if case .sent = event { leash.pull() } }
    let (start, go) = AsyncStream<Void>.makeStream()
    // Unstructured, because a group's task cannot be cancelled from within it; it is awaited below.
    let task = Task {
      for await _ in start {}
      return await subject.listening(observer, to: call)
    }
    leash.tie { task.cancel() }
    go.finish()
    let outcome = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    return leash.wasPulled ? outcome : nil
  }
}

extension LawContext {
  fileprivate mutating func expectCancelled(
    _ outcome: Result<String, SourceError>, at place: String
  ) throws(SourceError) {
    let found: String
    switch outcome {
    case .success(let answer): found = answer
    case .failure(let error) where error.code == .cancelled: return
    case .failure(let error) where error.allowsFallback: throw error
    case .failure(let error): found = error.text
    }
    note(expected: "the failure cancelled", found: found, at: "\(place), cancelled")
  }
}
