import AggregatorKit

/// The cached records of a source and the bundled ones that may be in an answer, each once, without deleted ones.
///
/// Records that cannot be read are left out: no command depends on them.
struct LocalCandidates<P: Plugin>: Sendable {
  let plugin: P
  let store: (any Store)?
  /// Read once: it takes as long as a search.
  private let status: StoreStatus?

  init(of plugin: P, in environment: PluginEnvironment) async {
    self.plugin = plugin
    store = environment.store
    status = try? await store?.status(of: plugin.name)
  }

  /// The first records of each tier that match, at most `limit` of each.
  func records(matching query: Query, limit: Int) async -> [P.Item] {
    let request = PageRequest(matching: query, limit: limit)
    var records: [P.Item] = []
    if let store { records = await page(request, of: plugin.recordStore(in: store).records) }
    let known = Set(records.map { RecordKey($0.id) })
    return records + (await bundledRecords(request)).filter { !known.contains(RecordKey($0.id)) }
  }

  /// False if there are so many cached records that reading all of them takes more than a moment.
  var isQuickToScan: Bool { (status?.records ?? 0) <= 20_000 }

  /// The bundled records whose ID begins so.
  func bundledRecords(withIDFrom beginning: String) async -> [P.Item] {
    await bundledRecords(PageRequest(limit: 10_000)).filter {
      $0.id.description.hasPrefix(beginning)
    }
  }

  /// None where a growing collection has records, which replace the bundled ones in every answer.
  private func bundledRecords(_ request: PageRequest) async -> [P.Item] {
    guard let store else { return await page(request, of: plugin.bundled) }
    if plugin.policy.readOrder == .localFirst, status?.isEmpty == false { return [] }
    return await page(
      request, of: plugin.bundled.hidingDeleted(in: plugin.recordStore(in: store)))
  }

  private func page(_ request: PageRequest, of source: any DataSource<P.Item>) async -> [P.Item] {
    ((try? await source.page(request))?.records) ?? []
  }
}
