/// Fetches all that a service has into the store.
public protocol Syncing: Sendable {
  /// Fetches page after page, from where the last run stopped.
  ///
  /// Each page's records are stored in one transaction with where the next run goes on. Whatever ends it, even
  /// `kill -9`, all pages before that are kept and are not fetched again.
  ///
  /// - Parameters:
  ///   - pages: How many pages at most, 1 or more; `nil` for all.
  ///   - jobs: How many pages are asked for at a time, 1 or more; they are stored in order all the same.
  ///     More than one takes effect where pages can be addressed ahead.
  ///   - waits: Whether to wait until the service, or our own limit, lets us go on; otherwise that ends
  ///     it with `rateLimited`.
  ///   - progress: Called after each transaction.
  /// - Returns: What it did, and why it did no more.
  func sync(
    upTo pages: Int?, jobs: Int, waits: Bool, progress: @Sendable (SyncResult) -> Void
  ) async -> SyncResult
}
