package import AggregatorKit
import AggregatorQueries

extension SQLView {
  package init<P: Plugin>(_ plugin: P) { self.init(plugin.name, plugin.fields) }

  /// The table for a query, with bundled records if the store of the environment has none of the source.
  package init<P: Plugin>(
    _ plugin: P, for query: String, in environment: PluginEnvironment
  ) async throws(SourceError) {
    self.init(plugin)
    let query = query.lowercased()
    hasOrigin = query.contains(Self.origin) && !columns.contains(Self.origin)
    guard query.contains(name.lowercased()) else { return }
    let local = try await plugin.localRecords(in: environment)
    guard !local.isCached else { return }
    var records: [Data] = []
    do throws(SourceError) {
      let pages = local.source.pages(size: 1000).makeAsyncIterator()
      while let step = try await pages.next() {
        records += step.items.compactMap { try? CanonicalJSON.bytes(of: $0) }
      }
    } catch  where [.nothingCached, .offline].contains(error.code) {
      return
    }
    bundled = records
  }
}
