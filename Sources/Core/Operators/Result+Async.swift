extension Result {
  /// What `body` returned or threw.
  ///
  /// `Task` and task groups erase typed errors; this carries them.
  ///
  /// - Parameter body: What to run.
  package init(catching body: () async throws(Failure) -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
