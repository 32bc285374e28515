import AggregatorKit
import Synchronization

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

/// The events of a call.
private final class EventLog: Sendable {
  private let told = Mutex<[Event]>([])

  var observer: Observer { Observer { event in self.told.withLock { $0.append(event) } } }

  var events: [Event] { told.withLock(\.self) }
}
