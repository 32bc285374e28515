extension Sequence where Self: Sendable, Element: Sendable {
  /// The results of a call for each element, in the order of the elements.
  ///
  /// The calls run at the same time, at most `width` of them. A cancelled task cancels them, and awaits them.
  package func concurrentMap<Value: Sendable>(
    atMost width: Int = .max, _ transform: @escaping @Sendable (Element) async -> Value
  ) async -> [Value] {
    await withTaskGroup(of: Indexed<Value>.self) { group in
      var results: [Int: Value] = [:]
      for (index, element) in enumerated() {
        if index >= width, let done = await group.next() { results[done.index] = done.value }
        group.addTask { Indexed(index: index, value: await transform(element)) }
      }
      for await done in group { results[done.index] = done.value }
      return results.sorted { $0.key < $1.key }.map(\.value)
    }
  }
}

/// A struct because the optimiser of Swift 6.3 may lose a member of a tuple that a task returns (decision 30).
private struct Indexed<Value: Sendable>: Sendable {
  let index: Int
  let value: Value
}

extension Result {
  /// The result of an asynchronous call, with its typed error, which `Task` and task groups erase.
  package init(catching body: () async throws(Failure) -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }

  /// The error; `nil` for a success.
  package var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
