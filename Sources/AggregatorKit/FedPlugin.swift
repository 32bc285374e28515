package import AggregatorCore
import AggregatorFoundation
import AggregatorStore
package import AggregatorSync

/// A source whose records a program may send in its own order, instead of a service that has pages.
package protocol FedPlugin<Item>: Plugin {
  /// The feed of the source; `nil` if its records are pages of a service.
  ///
  /// - Parameter maxSilence: The longest time without a message; `nil` for that of the source.
  /// - Throws: ``SourceError``: `missingKey` or `invalidSettings` if it cannot be run as things are.
  func feed(
    in environment: PluginEnvironment, maxSilence: Duration?
  ) throws(SourceError) -> (any RecordFeed<Item>)?
}

extension RecordStore {
  /// The stored records of a source of which there is nothing else: what a sync has to bring first, or may not have
  /// brought, is said.
  func onlyRecords(of name: String) -> some DataSource<Item> {
    StoredOnly(base: records, recordStore: self)
  }
}

private struct StoredOnly<Base: DataSource>: Decorator {
  let base: Base
  let recordStore: RecordStore<Base.Item>
  var label: String { "storedOnly()" }

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Base.Item> {
    try check(request.cachePolicy)
    do throws(SourceError) {
      var page = try await base.page(request)
      if request.cursor == nil, try await recordStore.completeSync() == nil {
        page.warnings.append(
          Warning(.incomplete, "the last sync was not complete: records may be missing"))
      }
      return page
    } catch { throw await explained(error) }
  }

  func item(
    _ id: Base.Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Base.Item> {
    try check(cachePolicy)
    do throws(SourceError) { return try await base.item(id, cachePolicy: cachePolicy) } catch {
      throw await explained(error)
    }
  }

  private var sync: Remedy { Remedy("\(recordStore.source) sync", .command) }

  private func check(_ policy: CachePolicy) throws(SourceError) {
    guard policy.refreshes else { return }
    throw SourceError(
      .unsupported,
      "\(recordStore.source) has no pages that could be requested: a sync refreshes it",
      remedy: sync)
  }

  /// A failure before the first sync, which says so.
  private func explained(_ error: SourceError) async -> SourceError {
    guard error.code == .nothingCached || error.code == .notFound,
      (try? await recordStore.completeSync()) == nil
    else { return error }
    return SourceError(
      .nothingCached,
      error.code == .notFound
        ? "\(error.message), and no sync was complete yet"
        : "no \(recordStore.source) are cached yet", remedy: sync)
  }
}

extension Plugin {
  /// The first records that the feed of this source sends; `nil` if it has none.
  package func firstFedRecords(
    in environment: PluginEnvironment, maxSilence: Duration?
  ) async throws(SourceError) -> [Item]? {
    guard
      let feed = try (self as? any FedPlugin<Item>)?.feed(in: environment, maxSilence: maxSilence)
    else { return nil }
    return try await feed.firstRecords()
  }
}

extension RecordFeed {
  /// The records of the first batch that has some; none is stored.
  fileprivate func firstRecords() async throws(SourceError) -> [Item] {
    var records: [Item] = []
    do throws(SourceError) {
      _ = try await run(from: nil) { batch throws(SourceError) in
        records += batch.records
        // It has shown what it can.
        if !records.isEmpty { throw SourceError.cancelled }
      }
    } catch { if records.isEmpty { throw error } }
    return records
  }
}
