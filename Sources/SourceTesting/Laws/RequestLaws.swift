import AggregatorKit
import AggregatorLaws
import Synchronization

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

extension Law {
  /// A remote asks its service once a call.
  static let oneRequest = Law(
    "one-request", "A call of a bare service sends at most one HTTP request.", isCheap: true,
    OneRequest())
}

private struct OneRequest: LawCheck {
  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    guard subject.isBare, subject.probe != nil else {
      return context.exempt("it is no bare service whose requests are counted")
    }
    let calls = await subject.sampleCalls()
    for call in calls where call.requestCount > 1 {
      context.note(
        expected: "at most 1 request", found: "\(call.requestCount)", at: call.place)
    }
    // What failed in the first of several requests was not seen to send the others.
    if let failure = calls.lazy.compactMap(\.failure).first(where: \.isTheServices) {
      throw failure
    }
  }
}

extension Law {
  /// Secrets stay secret.
  static let noSecret = Law(
    "no-secret",
    "No secret is in any answer, failure, event or cursor, nor in the source's description.",
    isCheap: true, NoSecret())
}

private struct NoSecret: LawCheck {
  /// Shorter ones would be found by accident, in every text.
  private static let shortest = 8

  func run<Item: Record>(
    on subject: LawSubject<Item>, _ context: inout LawContext
  ) async throws(SourceError) {
    let forms = subject.secrets.flatMap { $0.reveal(\.forms) }.filter { $0.count >= Self.shortest }
    guard !forms.isEmpty else { return context.exempt("it has no secret") }
    var texts = [("the source's description", String(describing: subject.source))]
    texts += await subject.sampleCalls().map { ($0.place, $0.text) }
    for (place, text) in texts where forms.contains(where: text.lowercased().contains) {
      context.note(expected: "no secret", found: "a secret", at: place)
    }
  }
}

extension String {
  /// What a secret can look like in a text, in lower case.
  fileprivate var forms: [String] {
    [self, percentEncoded, replacing("/", with: #"\/"#), replacing(" ", with: "+")]
      .map { $0.lowercased() }
  }
}

/// Cancels a task from within what the task is doing.
final class Canceller: Sendable {
  private struct State {
    var cancel: (@Sendable () -> Void)?
    var wasPulled = false
  }

  private let state = Mutex(State())

  /// Ties it to a task that does not run yet.
  func tie(_ cancel: @escaping @Sendable () -> Void) { state.withLock { $0.cancel = cancel } }

  /// Cancels the task.
  func pull() {
    let cancel = state.withLock { state in
      state.wasPulled = true
      return state.cancel
    }
    cancel?()
  }

  /// Whether the task was cancelled through this.
  var wasPulled: Bool { state.withLock(\.wasPulled) }
}

/// A call, and all that the source said and sent during it.
struct SampleCall {
  /// The call, in words.
  let place: String

  /// Everything in the answer or the failure, and every event.
  let text: String

  /// The failure; `nil` for an answer.
  let failure: SourceError?

  /// How many HTTP requests the call sent; 0 where nobody counts.
  let requestCount: Int
}

extension LawSubject {
  /// Makes one call of each kind: a first and a second page, a search, a cursor that is none, an id
  /// that there is and one that there is not.
  func sampleCalls() async -> [SampleCall] {
    let first = PageRequest(limit: 2)
    let page = await Result { () async throws(SourceError) in try await source.page(first) }
    let next = (try? page.get())?.next
    let damaged = Cursor("damaged")
    var requests = [first] + [next, damaged].compactMap { $0.map(first.after) }
    if search != .none, let query { requests.append(PageRequest(matching: query, limit: 2)) }
    let id = known ?? (try? page.get())?.records.first?.id
    var calls: [SampleCall] = []
    for request in requests {
      calls.append(
        await sample(request.text) { () async throws(SourceError) in
          try await source.page(request)
        })
    }
    for id in [id, unknown ?? inventedID].compactMap(\.self) {
      calls.append(
        await sample("show \(id)") { () async throws(SourceError) in try await source.item(id) })
    }
    return calls
  }

  private func sample<Answer: Sendable>(
    _ place: String, _ call: () async throws(SourceError) -> Answer
  ) async -> SampleCall {
    let log = EventLog()
    let before = probe?.requestCount ?? 0
    let outcome = await listening(log.observer, to: call)
    var text = ""
    dump(outcome, to: &text)
    dump(log.events, to: &text)
    var failure: SourceError?
    if case .failure(let error) = outcome { failure = error }
    return SampleCall(
      place: place, text: text, failure: failure,
      requestCount: (probe?.requestCount ?? 0) - before)
  }
}

extension LawSubject {
  /// The outcome of a call, with a listener told of all that happens during it.
  func listening<Answer: Sendable>(
    _ listener: Observer, to call: () async throws(SourceError) -> Answer
  ) async -> Result<Answer, SourceError> {
    func heard() async -> Result<Answer, SourceError> {
      await Observer.$current.withValue(listener) { await Result(catching: call) }
    }
    return if let probe { await probe.tell(listener, during: heard) } else { await heard() }
  }
}
