public import AggregatorCore
public import Observation

/// One record that a view binds to: what a list has of it at once, then the cached details, then those of the service.
///
/// ```swift
/// Text(detail.record.name).task { await detail.load() }
/// ```
///
/// Once loaded, it loads once more when a `ReplaceableSource` below it is replaced.
@Observable @MainActor
public final class RecordDetail<Item: SourceRecord> {
  /// The record, with all details that have arrived so far.
  public private(set) var record: Item

  /// The provenance of the details; `nil` before they arrive.
  public private(set) var provenance: Provenance?

  /// The warnings of the last answer.
  public private(set) var warnings: [Warning] = []

  /// The error of the last load, also while it is repeated; `nil` if it succeeded.
  ///
  /// Local data that stand in for those of the service are no error: the reason is in ``provenance``.
  public private(set) var error: SourceError?

  public private(set) var isLoading = false

  /// Controls whether loads use the network, cached data or a fallback; loads nothing by itself, as ``PagedList/cachePolicy``.
  public var cachePolicy: CachePolicy

  private let source: any DataSource<Item>
  @ObservationIgnored private var lastLoad = 0
  @ObservationIgnored private let replacements = ReplacementObserver()

  /// Sends no request before ``load()``.
  public init(
    _ record: Item, of source: any DataSource<Item>, cachePolicy: CachePolicy = .normal
  ) {
    LanguageObserver.start()
    self.record = record
    self.source = source
    self.cachePolicy = cachePolicy
  }

  /// Loads the details: cached ones at once, and then those that the policy gives, if they differ.
  ///
  /// A failure loses nothing that is there. The task of a view that disappears cancels it, which is no error. The answers of an
  /// earlier load are ignored from then on.
  public func load() async { await load(by: cachePolicy) }

  /// Loads the details, and asks the service even if cached ones are fresh or its circuit breaker is open: for a button "Try again".
  public func refresh() async { await load(by: cachePolicy.refreshing) }

  private func load(by cachePolicy: CachePolicy) async {
    replacements.observe(source.replacements) { [weak self] in
      Task { await self?.refresh() }
    }
    lastLoad += 1
    let number = lastLoad
    isLoading = true
    defer { if number == lastLoad { isLoading = false } }
    do throws(SourceError) {
      for try await answer in source.updates(for: record.id, cachePolicy: cachePolicy) {
        guard number == lastLoad else { return }
        record = answer.item.merged(over: record)
        provenance = answer.provenance
        warnings = answer.warnings
      }
      if number == lastLoad { error = nil }
    } catch .cancelled {
      // The view has gone.
    } catch {
      if number == lastLoad { self.error = error }
    }
  }
}
