import AggregatorKit

/// What a source is asked on its way, and whether that comes to its end.
extension ScenarioRun {
  mutating func page(_ request: PageRequest, _ place: String) async -> Page<Item>? {
    let outcome = await answer(place) { chain async throws(SourceError) in
      try await chain.page(request)
    }
    switch outcome {
    case .success(let page):
      judge(page, place)
      return page
    case .failure(let error): judge(error, place)
    case nil: break
    }
    return nil
  }

  mutating func item(_ id: Item.ID) async {
    let place = "show \(id)"
    switch await answer(place, { chain async throws(SourceError) in try await chain.item(id) }) {
    case .success(let found):
      if found.item.id != id { note(.kept, place, "'\(id)'", "'\(found.item.id)'") }
      judge([found.item], found.provenance, place)
    case .failure(let error):
      // Who looks for it in a list, or in the store, need not find it.
      let mayBeUnknown = isLocalFirst || scenario.prospect == .strange
      guard !mayBeUnknown || ![.notFound, .unsupported].contains(error.code) else { return }
      judge(error, place)
    case nil: break
    }
  }

  /// Asks for a record that is deleted.
  mutating func expectDeleted(_ id: Item.ID) async {
    let place = "show \(id)"
    let outcome = await answer(place) { chain async throws(SourceError) in try await chain.item(id)
    }
    switch outcome {
    case .success: note(.store, place, "that '\(id)' stays deleted", "it")
    case .failure(let error) where error.code != .notFound: judge(error, place)
    case .failure, nil: break
    }
  }

  /// A walk from the start; `nil` if it does not end.
  mutating func walk(upTo bound: PaginationBound, _ place: String) async -> CollectedWalk<Item>? {
    let steps = bound.pages ?? 1
    return await ended(place, within: maxWait * steps) { chain in
      await CollectedWalk(of: chain, upTo: bound)
    }
  }

  /// The outcome of a call; `nil` if it does not end, or lasts longer than it may.
  mutating func answer<Answer: Sendable>(
    _ place: String,
    _ call: @escaping @Sendable (any DataSource<Item>) async throws(SourceError) -> Answer
  ) async -> Result<Answer, SourceError>? {
    let (start, calls) = (
      scenarioEnvironment.clock.now, scenarioEnvironment.front.responder.count.calls
    )
    let outcome = await ended(place, within: maxWait) { chain in
      await Result { () async throws(SourceError) in try await call(chain) }
    }
    guard let outcome else { return nil }
    // A call that needs several pages of the service has a deadline for each.
    let count = scenarioEnvironment.front.responder.count.calls - calls + 1
    let (time, most) = (
      start.duration(to: scenarioEnvironment.clock.now), plugin.policy.deadline * count
    )
    if time > most + maxWait {
      note(.terminates, place, "an end within \(most)", "an end after \(time)")
    }
    return outcome
  }

  private mutating func ended<Answer: Sendable>(
    _ place: String, within time: Duration,
    _ call: @escaping @Sendable (any DataSource<Item>) async -> Answer
  ) async -> Answer? {
    guard !isStuck else { return nil }
    let answer = await within(time) { [chain] in await call(chain) }
    if answer == nil {
      isStuck = true
      note(.terminates, place, "an end", "none within \(time)")
    }
    return answer
  }
}
