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
