public import AggregatorCore
public import Observation

/// One record that a view binds to: what a list has of it at once, then the cached details, then those of the service.
///
/// ```swift
/// Text(detail.record.name).task { await detail.load() }
/// ```
@Observable @MainActor
public final class RecordDetail<Item: SourceRecord> {
  /// The record, with all details that have arrived so far.
  public private(set) var record: Item

  /// The provenance of the details; `nil` before they arrive.
  public private(set) var provenance: Provenance?

  /// The warnings of the last answer.
  public private(set) var warnings: [Warning] = []

  /// The error of the last load, also while it is repeated; `nil` if it succeeded.
  public private(set) var error: SourceError?

  public private(set) var isLoading = false

  private let source: any DataSource<Item>
  @ObservationIgnored private var lastLoad = 0

  /// Sends no request before ``load(cachePolicy:)``.
  public init(_ record: Item, of source: any DataSource<Item>) {
    self.record = record
    self.source = source
  }

  /// Loads the details: cached ones at once, and then those that the policy gives, if they differ.
  ///
  /// A failure loses nothing that is there. The task of a view that disappears cancels it, which is no error. To ask the service
  /// again, call it with `CachePolicy.reload`: the answers of an earlier load are ignored then.
  public func load(cachePolicy: CachePolicy = .normal) async {
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
