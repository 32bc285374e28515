import AggregatorKit

/// The cached records of a source, and bundled ones that are not cached, without deleted ones.
///
/// Records that cannot be read are left out: no command depends on them.
struct LocalCandidates<P: Plugin>: Sendable {
  let plugin: P
  let store: (any Store)?

  init(of plugin: P, in environment: PluginEnvironment) {
    self.plugin = plugin
    store = environment.store
  }

  /// The first records of each tier that match, at most `limit` of each.
  func records(matching query: Query, limit: Int) async -> [P.Item] {
    let request = PageRequest(matching: query, limit: limit)
    var records: [P.Item] = []
    if let store { records = await page(request, of: plugin.recordStore(in: store).records) }
    let known = Set(records.map(\.id))
    return records + (await page(request, of: bundled)).filter { !known.contains($0.id) }
  }

  /// False if there are so many cached records that reading all of them takes more than a moment.
  func isQuickToScan() async -> Bool {
    guard let status = try? await store?.status(of: plugin.name) else { return true }
    return status.records <= 20_000
  }

  /// The bundled records whose ID begins so.
  func bundledRecords(withIDFrom beginning: String) async -> [P.Item] {
    await page(PageRequest(limit: 10_000), of: bundled).filter {
      $0.id.description.hasPrefix(beginning)
    }
  }

  private var bundled: any DataSource<P.Item> {
    store.map { plugin.bundled.hidingDeleted(in: plugin.recordStore(in: $0)) } ?? plugin.bundled
  }

  private func page(_ request: PageRequest, of source: any DataSource<P.Item>) async -> [P.Item] {
    ((try? await source.page(request))?.records) ?? []
  }
}
