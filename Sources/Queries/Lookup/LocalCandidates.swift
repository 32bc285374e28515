package import AggregatorKit

/// The cached records of a source and the bundled ones that may be in an answer, each once, without deleted ones.
///
/// Records that cannot be read are left out: no command depends on them.
struct LocalCandidates<P: Plugin>: Sendable {
  let plugin: P
  let store: (any SourceStore)?
  /// Read once: it takes as long as a search.
  private let status: StoreStatus?
  private let hasBundled: Bool

  init(of plugin: P, in environment: PluginEnvironment, withBundled: Bool = true) async {
    (self.plugin, hasBundled) = (plugin, withBundled)
    store = environment.store
    status = try? await store?.status(of: plugin.name)
  }

  /// The first records of each tier that match, at most `limit` of each.
  func records(matching query: SearchQuery, limit: Int) async -> [P.Item] {
    let request = PageRequest(matching: query, limit: limit)
    let records = await cachedRecords(request)
    let known = Set(records.map { RecordKey($0.id) })
    return records + (await bundledRecords(request)).filter { !known.contains(RecordKey($0.id)) }
  }

  /// False if there are so many cached records that reading all of them takes more than a moment.
  var isQuickToScan: Bool { (status?.records ?? 0) <= 20_000 }

  func bundledRecords(withIDFrom beginning: String) async -> [P.Item] {
    await bundledRecords(PageRequest(limit: 10_000)).filter {
      $0.id.description.hasPrefix(beginning)
    }
  }

  private func cachedRecords(_ request: PageRequest) async -> [P.Item] {
    guard let store else { return [] }
    return await page(request, of: plugin.recordStore(in: store).records)
  }

  /// None where a growing collection has records, which replace the bundled ones in every answer.
  private func bundledRecords(_ request: PageRequest) async -> [P.Item] {
    guard hasBundled else { return [] }
    guard let store else { return await page(request, of: plugin.bundled) }
    if plugin.policy.readOrder == .localFirst, status?.isEmpty == false { return [] }
    return await page(
      request, of: plugin.bundled.hidingDeleted(in: plugin.recordStore(in: store)))
  }

  private func page(_ request: PageRequest, of source: any DataSource<P.Item>) async -> [P.Item] {
    ((try? await source.page(request))?.records) ?? []
  }

  private static var maxPieces: Int { 10 }
  private static var recordsPerPiece: Int { 100 }

  /// The nearest word of cached records; if they have none, of bundled ones, which may not be in the answer.
  fileprivate func word(
    near word: String, _ searchableText: @Sendable (P.Item) -> FoldedText
  ) async -> String? {
    for isCached in [true, false] {
      if let near = await self.word(near: word, searchableText, isCached: isCached) { return near }
    }
    return nil
  }

  private func word(
    near word: String, _ searchableText: @Sendable (P.Item) -> FoldedText, isCached: Bool
  ) async -> String? {
    let letters = Array(word.unicodeScalars)
    var seen: Set<String> = []
    var candidates: [String] = []
    var pieces = (0..<max(0, min(letters.count - 2, Self.maxPieces))).map {
      letters[$0..<$0 + 3]
    }
    // Two letters that are swapped in a short word leave no three in their order.
    for index in 1..<max(1, min(letters.count, Self.maxPieces)) where letters.count > 2 {
      var swapped = letters
      swapped.swapAt(index - 1, index)
      pieces.append(swapped[...])
    }
    // Other mistakes in one leave only these.
    if letters.count > 2, isQuickToScan { pieces.append(letters[..<2]) }
    for letters in pieces {
      let piece = String(String.UnicodeScalarView(letters))
      guard let query = try? SearchQuery(piece) else { continue }
      let request = PageRequest(matching: query, limit: Self.recordsPerPiece)
      for record in await isCached ? cachedRecords(request) : bundledRecords(request) {
        for word in searchableText(record).text.split(whereSeparator: \.isWhitespace)
        where word.utf8.count >= 3 && seen.insert(String(word)).inserted {
          candidates.append(String(word))
        }
      }
    }
    return nearest(to: word, in: candidates)
  }
}

extension Plugin {
  /// A query that local records match, with near words of theirs for misspelled ones; `nil` if there is none.
  ///
  /// The index finds records that share three letters with a misspelled word, and, unless there are many, a scan
  /// some with its first two, so that the time depends on the query and hardly on the number of records.
  package func suggestion(for query: SearchQuery, in environment: PluginEnvironment) async
    -> String?
  {
    let typed = query.words
    guard typed.count <= 6 else { return nil }
    let records = await LocalCandidates(of: self, in: environment)
    let searchableText = fields.searchableText()
    var words: [String] = []
    search: for word in typed {
      for text in [word.text, word.text.filter { $0.isLetter || $0.isNumber }] {
        guard let known = try? SearchQuery(text),
          await !records.records(matching: known, limit: 1).isEmpty
        else { continue }
        words.append(text)
        continue search
      }
      guard let near = await records.word(near: word.text, searchableText) else { return nil }
      words.append(near)
    }
    guard let suggested = try? SearchQuery(words.joined(separator: " ")), suggested.words != typed,
      await !records.records(matching: suggested, limit: 1).isEmpty
    else { return nil }
    return suggested.text
  }
}
