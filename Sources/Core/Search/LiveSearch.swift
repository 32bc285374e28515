import Synchronization

extension DataSource {
  /// Searches while a person types.
  ///
  /// Waits until the typing pauses, then fetches the first page; outdated searches are cancelled, and an
  /// older result never follows a newer one. The sequence ends after the last result, when `texts` has
  /// ended.
  ///
  /// Blank text requests all records. A result that is not consumed before the next is dropped.
  public func results<Texts: AsyncSequence & Sendable>(
    of texts: Texts, debounce pause: Duration = .milliseconds(300), limit: Int = 20,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> some AsyncSequence<SearchAnswer<Item>, Never> & Sendable
  where Texts.Element == String, Texts.Failure == Never {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let search = LiveSearch(source: self, limit: limit, pause: pause, clock: clock, continuation)
      // Unstructured, because the stream outlives this call; it ends with the texts or with the stream.
      let typing = Task { await search.follow(texts) }
      continuation.onTermination = { _ in typing.cancel() }
    }
  }
}

/// The result of a live search for one text.
public struct SearchAnswer<Item: Record>: Equatable, Sendable {
  public let text: String
  public let result: Result<Page<Item>, SourceError>
}

private struct LiveSearch<Source: DataSource, C: Clock<Duration>>: Sendable {
  let source: Source
  let limit: Int
  let pause: Duration
  let clock: C
  let answers: AsyncStream<SearchAnswer<Source.Item>>.Continuation
  /// The number of the newest text; locked while a result is delivered, so that none overtakes.
  private let newest: Newest

  /// A reference, because a `Mutex` cannot be copied with the struct.
  private final class Newest: Sendable {
    let number = Mutex(0)
  }

  init(
    source: Source, limit: Int, pause: Duration, clock: C,
    _ answers: AsyncStream<SearchAnswer<Source.Item>>.Continuation
  ) {
    self.source = source
    self.limit = limit
    self.pause = pause
    self.clock = clock
    self.answers = answers
    newest = Newest()
  }

  func follow<Texts: AsyncSequence>(_ texts: Texts) async
  where Texts.Element == String, Texts.Failure == Never {
    var latest: Task<Void, Never>?
    for await text in texts {
      latest?.cancel()
      let number = newest.number.withLock { number in
        number += 1
        return number
      }
      // Unstructured, because the next text must be able to cancel it alone; it ends with its result,
      // with the next text, or with the stream.
      latest = Task { await answer(text, number) }
    }
    await withTaskCancellationHandler {
      await latest?.value
    } onCancel: { [latest] in
      latest?.cancel()
    }
    answers.finish()
  }

  private func answer(_ text: String, _ number: Int) async {
    guard (try? await clock.sleep(for: pause)) != nil else { return }
    let result = await Result { () async throws(SourceError) in
      try await source.page(PageRequest(matching: try? Query(text), limit: limit))
    }
    newest.number.withLock { newest in
      if number == newest { answers.yield(SearchAnswer(text: text, result: result)) }
    }
  }
}
