package import AggregatorKit
import AggregatorLaws
import Synchronization

extension Law {
  static let cancellation = Law(
    "cancellation",
    "A call cancelled before or during its first request fails with cancelled.", Cancellation())

  static let oneRequest = Law(
    "one-request", "A call of a remote sends at most one HTTP request.",
    OneRequest())

  static let noSecret = Law(
    "no-secret",
    "No secret occurs in answers, errors, events, cursors or the source's description.", NoSecret())
}

private struct Cancellation: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    let request = PageRequest(limit: 1)
    let page: @Sendable () async throws(SourceError) -> String = { () async throws(SourceError) in
      "a page of \(try await subject.source.page(request).records.count.of("record"))"
    }
    try law.expectCancelled(await cancelledBefore(page), at: request.text)
    if let outcome = await cancelledWithin(page, of: subject) {
      try law.expectCancelled(outcome, at: "\(request.text), during its first request")
    }
    guard let id = try await subject.source.page(request).records.first?.id else { return }
    let item: @Sendable () async throws(SourceError) -> String = { () async throws(SourceError) in
      "the record \"\(try await subject.source.item(id).item.id)\""
    }
    let outcome = await cancelledBefore(item)
    // An ID rejected without a request fails the same way whether or not the task is cancelled.
    if case .failure(let error) = outcome, [.unsupported, .notFound].contains(error.code) {
      return
    }
    try law.expectCancelled(outcome, at: "show \(id)")
  }

  /// The outcome of a call in a task that was already cancelled.
  private func cancelledBefore(
    _ call: @escaping @Sendable () async throws(SourceError) -> String
  ) async -> Result<String, SourceError> {
    await withTaskGroup(of: Result<String, SourceError>.self) { group in
      group.cancelAll()
      group.addTask { await Result(catching: call) }
      return await group.next() ?? .failure(.cancelled)
    }
  }

  /// The outcome of a call that is cancelled while sending its first request; `nil` if it sent
  /// none.
  private func cancelledWithin(
    _ call: @escaping @Sendable () async throws(SourceError) -> String,
    of subject: LawSubject<some SourceRecord>
  ) async -> Result<String, SourceError>? {
    let cancel = Mutex<(@Sendable () -> Void)?>(nil)
    let wasCancelled = Atomic(false)
    let observer = Observer { event in
      guard case .sent = event else { return }
      wasCancelled.store(true, ordering: .relaxed)
      cancel.withLock(\.self)?()
    }
    let (start, go) = AsyncStream<Void>.makeStream()
    // Unstructured, because a group's task cannot be cancelled from within; awaited below.
    let task = Task {
      for await _ in start {}
      return await subject.listening(observer, to: call)
    }
    cancel.withLock { $0 = { task.cancel() } }
    go.finish()
    let outcome = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    return wasCancelled.load(ordering: .relaxed) ? outcome : nil
  }
}

extension LawContext {
  fileprivate mutating func expectCancelled(
    _ outcome: Result<String, SourceError>, at call: String
  ) throws(SourceError) {
    let found: String
    switch outcome {
    case .success(let answer): found = answer
    case .failure(let error) where error.code == .cancelled: return
    case .failure(let error) where error.allowsFallback: throw error
    case .failure(let error): found = error.text
    }
    violation("a cancelled call ends with \(found)", at: "\(call), cancelled")
  }
}

private struct OneRequest: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    guard subject.isRemote, subject.requestCounter != nil else {
      return law.notApplicable("requests are counted for remotes only")
    }
    let calls = await subject.sampleCalls()
    if let call = calls.first(where: { $0.requestCount > 1 }) {
      return law.violation("a call sends \(call.requestCount) requests", at: call.name)
    }
    // A call that failed in its first request may have been about to send more.
    if let failure = calls.lazy.compactMap(\.failure).first(where: \.isServiceFailure) {
      throw failure
    }
  }
}

private struct NoSecret: LawCheck {
  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    let scanner = SecretScanner(subject.secrets)
    guard !scanner.isEmpty else {
      return law.notApplicable("there are no secrets of 8 or more characters")
    }
    var texts = [("the source's description", String(describing: subject.source))]
    texts += await subject.sampleCalls().map { ($0.name, $0.text) }
    let leaks = texts.filter { scanner.redacted($0.1) != $0.1 }.map(\.0)
    if let first = leaks.first {
      law.violation("a secret occurs in what is returned, thrown or logged", at: first)
    }
  }
}

struct SampleCall {
  let name: String

  let text: String

  let failure: SourceError?

  /// The number of HTTP requests; 0 without a counter.
  let requestCount: Int
}

extension LawSubject {
  /// Makes one call of each kind: first and second page, search, invalid cursor, known and unknown
  /// ID.
  func sampleCalls() async -> [SampleCall] {
    let first = PageRequest(limit: 2)
    let page = await Result { () async throws(SourceError) in try await source.page(first) }
    let next = (try? page.get())?.next
    var requests = [(first.text, first)]
    if let next { requests.append(("\(first.text), page 2", first.after(next))) }
    if let damaged = PageCursor("damaged") {
      requests.append(("\(first.text), with a damaged cursor", first.after(damaged)))
    }
    if search != .none, let query {
      let search = PageRequest(matching: query, limit: 2)
      requests.append((search.text, search))
    }
    let id = known ?? (try? page.get())?.records.first?.id
    var calls: [SampleCall] = []
    for (name, request) in requests {
      calls.append(
        await sample(name) { () async throws(SourceError) in
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
    _ name: String, _ call: () async throws(SourceError) -> Answer
  ) async -> SampleCall {
    let log = EventLog()
    let before = requestCounter?.requestCount ?? 0
    let outcome = await listening(log.observer, to: call)
    var text = ""
    dump(outcome, to: &text)
    dump(log.events, to: &text)
    return SampleCall(
      name: name, text: text, failure: outcome.failure,
      requestCount: (requestCounter?.requestCount ?? 0) - before)
  }

  func listening<Answer: Sendable>(
    _ listener: Observer, to call: () async throws(SourceError) -> Answer
  ) async -> Result<Answer, SourceError> {
    func heard() async -> Result<Answer, SourceError> {
      await Observer.$current.withValue(listener) { await Result(catching: call) }
    }
    return if let requestCounter { await requestCounter.notify(listener, during: heard) } else {
      await heard()
    }
  }
}

/// Records the events of an ``Observer``.
package final class EventLog: Sendable {
  private let log = Mutex<[Event]>([])

  package init() {}

  package var observer: Observer { Observer { event in self.log.withLock { $0.append(event) } } }

  package var events: [Event] { log.withLock(\.self) }

  /// The number of HTTP requests sent, answered or not.
  package var sentCount: Int {
    events.count { if case .sent = $0 { true } else { false } }
  }

  /// A dump of all events, with everything that could be logged.
  package var text: String {
    var text = ""
    dump(events, to: &text)
    return text
  }
}
