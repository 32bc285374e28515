extension DataSource {
  /// Reports every call and its outcome to an observer, and everything below it: waits, retries,
  /// fallbacks, HTTP requests.
  ///
  /// - Parameter name: The source's name in the events.
  public func observed(by observer: Observer, as name: String) -> some DataSource<Item> {
    Observed(base: self, observer: observer, name: name)
  }
}

struct Observed<Base: DataSource>: Decorator {
  let base: Base
  let observer: Observer
  let name: String
  var label: String { "observed()" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    try await observe(CallKind(request).rawValue) {
      ($0.provenance, $0.records.count)
    } _: {
      () async throws(SourceError) in
      try await base.page(request)
    }
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    try await observe("show \(id)") {
      ($0.provenance, 1)
    } _: {
      () async throws(SourceError) in
      try await base.item(id, cachePolicy: cachePolicy)
    }
  }

  private func observe<Answer: Sendable>(
    _ call: String, _ summary: (Answer) -> (Provenance, Int),
    _ body: () async throws(SourceError) -> Answer
  ) async throws(SourceError) -> Answer {
    observer(.asked(source: name, call: call))
    let result = await Observer.$current.withValue(observer) { await Result(catching: body) }
    switch result {
    case .success(let answer):
      let (provenance, count) = summary(answer)
      observer(.answered(source: name, call: call, provenance: provenance, count: count))
    case .failure(let error):
      observer(.failed(source: name, call: call, error: error))
    }
    return try result.get()
  }
}
