package import AggregatorCore
import AggregatorFoundation
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
