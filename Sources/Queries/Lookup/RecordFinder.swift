package import AggregatorKit
import AggregatorSelection
package import AggregatorTerminal

/// Finds the record that a person means: by its ID, its name, or the beginning of either.
///
/// Text that may be an ID is looked up as such first, as if there were no names. Names are those of cached and bundled
/// records, so a name costs no request, unless no local record has it: then the source is searched once.
package struct RecordFinder<P: Plugin> {
  private let plugin: P
  private let source: any DataSource<P.Item>
  private let environment: PluginEnvironment

  /// The shortest beginning of an ID.
  private static var minLength: Int { 4 }

  /// False if nobody would read the note that names the record.
  private let mayGuess: Bool
  private let mayFallBack: Bool

  /// - Parameter invocation: Of which `--quiet` and `--no-fallback` hold for a lookup.
  package init(
    _ plugin: P, _ source: any DataSource<P.Item>, _ environment: PluginEnvironment,
    _ invocation: Invocation? = nil
  ) {
    (self.plugin, self.source, self.environment) = (plugin, source, environment)
    mayGuess = invocation?.has(.quiet) != true
    mayFallBack = invocation?.has(.noFallback) != true
  }

  private func localCandidates() async -> LocalCandidates<P> {
    await LocalCandidates(of: plugin, in: environment, withBundled: mayFallBack)
  }

  /// Returns the record, and a note that names it unless `text` is its ID.
  package func find(
    _ text: String
  ) async throws(SourceError) -> (found: LookupResult<P.Item>, note: String?) {
    var failure: SourceError?
    if let found = try await withID(text, &failure) { return (found, nil) }
    var matches = await localMatches(text)
    var isLocal = true
    if matches.best.isEmpty {
      do throws(SourceError) {
        if let failure { throw failure }
        if let found = try await searchMatches(text) {
          (matches, isLocal) = (found, false)
        } else if P.Item.ID(text) == nil {
          throw SourceError(.notFound, message(text, "not found"))
        } else {
          // A valid ID, though no known one looks like it.
          do throws(SourceError) { return (try await plugin.find(text, in: source), nil) } catch {
            // The pages that were read for an ID may have the name.
            if isScan, error.isUnknownRecord { matches = await localMatches(text) }
            if matches.best.isEmpty { throw await unknownID(text, error, matches.others) }
          }
        }
      } catch {
        throw unknown(text, error, matches)
      }
    }
    guard let match = matches.best.first, matches.best.count == 1 else {
      throw await ambiguous(text, matches.best)
    }
    let id = match.id.description
    guard mayGuess || isNamed(match, text) else {
      throw SourceError(
        .invalidRequest, message(text, "is neither an ID nor the whole name"),
        cause: LookupAdvice(hint: candidates(matches.best)))
    }
    var found = try await plugin.find(id, in: source)
    if isLocal, !isID(text, of: match), let doubt = await doubt() { found.warnings.append(doubt) }
    let name = plugin.fields.name(of: found.item).map { " (\($0))" } ?? ""
    return (found, "note: showing \(plugin.noun.one) \(id)\(name) for \"\(text)\"")
  }

  /// The error of a text that the service does not know as an ID, and that may be a name of a record that is not cached.
  private func unknownID(
    _ text: String, _ error: SourceError, _ near: [P.Item]
  ) async -> SourceError {
    var error = error
    if error.isUnknownRecord { error.remedy = nil }
    guard error.code == .notFound, error.isUnknownRecord, isScan, let gap = await gap() else {
      return error
    }
    let part = gap.warning.warning.message
    return SourceError(
      .unsupported, message(text, "not found by ID, nor by name among local records: \(part)"),
      remedy: 1...5 ~= near.count
        ? Remedy(words(for: near)) : gap.command.map { Remedy($0, .command) },
      cause: SourceError(.noProgress, part))
  }

  /// True if the text is no ID, and several local records are called so; the service is asked only if it may be one.
  package func isAmbiguous(_ text: String) async -> Bool {
    if let id = P.Item.ID(text), let store = environment.store,
      (try? await plugin.isKnown(id, in: store)) == true
    {
      return false
    }
    guard await localMatches(text).best.count > 1 else { return false }
    var failure: SourceError?
    do throws(SourceError) { return try await withID(text, &failure) == nil } catch {
      return false
    }
  }

  /// Looks up a record by its ID, or by the beginning of the ID of one local record, as tables show it.
  package func findByID(_ text: String) async throws(SourceError) -> LookupResult<P.Item> {
    var failure: SourceError?
    if let found = try await withID(text, &failure) { return found }
    let id = try await id(startingWith: text)?.description
    if id == nil, let failure { throw failure }
    var found = try await plugin.find(id ?? text, in: source)
    if id != nil, let doubt = await doubt() { found.warnings.append(doubt) }
    return found
  }

  /// Says that the only local match may not be the only one, if some records are cached, and others are not.
  package func doubt() async -> Warning? {
    await gap().map { gap in
      Warning(
        // A sync fetches the others.
        gap.command == nil ? .incomplete : .partlyCached,
        "the only match among local records: \(gap.warning.warning.message)")
    }
  }

  /// `nil` for an empty store, too: bundled records are a choice of their own.
  private func gap() async -> CacheGap? {
    guard let store = environment.store,
      (try? await store.status(of: plugin.name).isEmpty) == false
    else { return nil }
    return try? await plugin.gap(in: store)
  }

  /// The ID of the record that the source has by this ID; `nil` if it has none, or the text is hardly an ID.
  package func id(lookingUp text: String) async throws(SourceError) -> P.Item.ID? {
    var failure: SourceError?
    if let found = try await withID(text, &failure) { return found.item.id }
    // One with a cause says that the service was not asked, or may have it.
    guard let failure, failure.code != .notFound || failure.cause != nil else { return nil }
    throw failure
  }

  /// The record with this ID; `nil` if the text is hardly an ID, or no record with it is known, which is a `failure`.
  private func withID(
    _ text: String, _ failure: inout SourceError?
  ) async throws(SourceError) -> LookupResult<P.Item>? {
    guard await mayBeID(text) else { return nil }
    do throws(SourceError) { return try await plugin.find(text, in: source) } catch {
      // Any other failure leaves open whether this is an ID.
      guard error.isUnknownRecord else { throw error }
      failure = error
      return nil
    }
  }

  /// The only UUID of a local record that begins so; `nil` if there is none, `invalidRequest` if there are several.
  package func id(startingWith text: String) async throws(SourceError) -> P.Item.ID? {
    let local = await localCandidates()
    // Of other IDs no table shows beginnings, so `lamp-1` is not `lamp-10`.
    let records = await recordsWithID(from: text, in: local).filter { $0.id.description.isUUID }
    return try await only(records, text)?.id
  }

  /// The only ID of a deleted record that begins so; `nil` if there is none, `invalidRequest` if there are several.
  package func deletedID(startingWith text: String) async throws(SourceError) -> P.Item.ID? {
    guard text.utf8.count >= Self.minLength, let store = environment.store else { return nil }
    let ids = try await store.deletions(of: plugin.name, after: text, limit: 6).map(\.id)
      .filter { $0.hasPrefix(text) && $0.isUUID }
    let deleted = plugin.recordStore(in: store).deleted(or: plugin.bundled)
    var records: [P.Item] = []
    for id in ids {
      guard let id = P.Item.ID(id), let item = try? await deleted.item(id).item else { continue }
      records.append(item)
    }
    return try await only(records, text)?.id
  }

  private func only(_ records: [P.Item], _ text: String) async throws(SourceError) -> P.Item? {
    guard records.count < 2 else { throw await ambiguous(text, records) }
    guard mayGuess || records.isEmpty else {
      throw SourceError(
        .invalidRequest, message(text, "is not a complete ID"),
        cause: LookupAdvice(hint: candidates(records)))
    }
    return records.first
  }

  private func isNamed(_ record: P.Item, _ text: String) -> Bool {
    isID(text, of: record)
      || plugin.fields.name(of: record).map { FoldedText($0) == FoldedText(text) } ?? false
  }

  /// Adds to the failure of a lookup which record is called so, if it is known; if several are, the text is ambiguous.
  package func advising(_ error: SourceError, about text: String) async -> SourceError {
    guard error.code == .invalidRequest || error.isUnknownRecord else { return error }
    let matches = await localMatches(text).best
    guard matches.count < 2 else { return await ambiguous(text, matches) }
    guard let hint = advice(of: matches) else { return error }
    var error = error
    error.cause = LookupAdvice(hint: hint)
    return error
  }

  /// A name or ID near to `text` by which ``find(_:)`` finds a local record; `nil` if there is none.
  ///
  /// A single word of a name would be another error.
  package func suggestion(for text: String) async -> String? {
    guard let query = try? SearchQuery(text),
      let near = await plugin.suggestion(for: query, in: environment),
      await localMatches(near).best.count == 1
    else { return nil }
    return near
  }

  /// The IDs of the local records that are called so; `nil` if there are none.
  package func advice(about text: String) async -> Hint? {
    advice(of: await localMatches(text).best)
  }

  private func advice(of matches: [P.Item]) -> Hint? {
    guard let match = matches.first else { return nil }
    guard matches.count == 1, let name = plugin.fields.name(of: match) else {
      return candidates(matches)
    }
    let id = match.id.description
    return .words("the ID of \(name.fitted(to: 80)) is \(id.argument ?? id)")
  }

  // MARK: - IDs

  /// False for text that is no ID, or has another form than the known ones.
  ///
  /// Any text may be an ID of some sources, but if the known ones are numbers or UUIDs, others are as well.
  private func mayBeID(_ text: String) async -> Bool {
    guard P.Item.ID(text) != nil else { return false }
    guard P.Item.ID.self == String.self, !text.isUUID else { return true }
    guard let known = await knownIDs(from: "", atMost: 1).first else { return true }
    return Int(text) == nil ? !known.isUUID && Int(known) == nil : !known.isUUID
  }

  /// True if the text can be the beginning of an ID: a number is complete, except among UUIDs.
  private func mayBegin(_ text: String, _ id: String) -> Bool { Int(text) == nil || id.isUUID }

  private func knownIDs(from beginning: String, atMost limit: Int) async -> [String] {
    let ids = try? await environment.store?.ids(
      of: plugin.name, startingWith: beginning, limit: limit)
    return ids ?? []
  }

  // MARK: - Names

  /// The records with the best rank, several if a text is ambiguous, and those that contain its words elsewhere.
  private typealias Matches = (best: [P.Item], others: [P.Item])

  private func localMatches(_ text: String) async -> Matches {
    let local = await localCandidates()
    // IDs in usual other cases: others are found only if a search finds IDs.
    let lower = text.lowercased()
    let spellings: Set = [lower, text.uppercased(), lower.capitalizedFirst, text.capitalizedFirst]
    var records: [P.Item] = []
    for id in spellings.subtracting([text]).sorted().compactMap({ $0 as? P.Item.ID }) {
      guard let known = local.store.map({ plugin.recordStore(in: $0).records }),
        let item = try? await known.item(id).item
      else { continue }
      records.append(item)
    }
    if let query = try? SearchQuery(text) {
      records += await local.records(matching: query, limit: 20).filter { [records] record in
        !records.contains { $0.id == record.id }
      }
    }
    return matches(of: text, among: records, and: await recordsWithID(from: text, in: local))
  }

  /// True for the ID of a record, or one in another case.
  private func isID(_ text: String, of record: P.Item) -> Bool {
    (record.id as? String)?.lowercased() == text.lowercased()
  }

  private func recordsWithID(
    from text: String, in local: LocalCandidates<P>
  ) async -> [P.Item] {
    guard text.utf8.count >= Self.minLength else { return [] }
    var records: [P.Item] = []
    for id in await knownIDs(from: text, atMost: 6) where mayBegin(text, id) {
      guard let id = P.Item.ID(id), let store = local.store,
        let item = try? await plugin.recordStore(in: store).records.item(id).item
      else { continue }
      records.append(item)
    }
    let known = Set(records.map { RecordKey($0.id) })
    return records
      + (await local.bundledRecords(withIDFrom: text)).filter {
        !known.contains(RecordKey($0.id)) && mayBegin(text, $0.id.description)
      }
  }

  private func matches(
    of text: String, among records: [P.Item], and beginnings: [P.Item] = []
  ) -> Matches {
    let searchableText = plugin.fields.searchableText()
    var ranked: [SearchRank: [P.Item]] = [:]
    if let query = try? SearchQuery(text) {
      let search = RankedSearch(query, for: P.Item.self)
      ranked = Dictionary(grouping: records) { record in
        guard !isID(text, of: record) else { return .id }
        let rank = search.rank(record.id.description, searchableText(record))
        // Words elsewhere in a title do not name the record.
        guard rank > .beginning else { return rank <= .name ? rank : .beginning }
        // Digits elsewhere, such as those of a price, are there by chance.
        let isNear =
          rank <= .title || text.contains(where: \.isLetter)
          || record.id.description.contains(text)
        return isNear ? .other : .rest
      }
    }
    let known = Set(ranked[.beginning, default: []].map { RecordKey($0.id) })
    ranked[.beginning, default: []] += beginnings.filter { !known.contains(RecordKey($0.id)) }
    var best =
      [SearchRank.id, .name, .beginning].lazy.compactMap { ranked[$0] }
      .first { !$0.isEmpty } ?? []
    let others = ranked[.other] ?? []
    if best.isEmpty {
      // "spider man" is Spider-Man, which folds to one word.
      let typed = FoldedText(text).text.filter { $0 != " " }
      best = others.filter { record in
        searchableText(record).text.prefix { $0 != "\n" }.filter { $0 != " " } == typed
      }
    }
    return (best, others)
  }

  private var isScan: Bool { plugin.policy.localSearchBound != nil }

  /// The records that a search of the source finds by name, with one request unless it scans the list; `nil` if it finds none.
  ///
  /// It fails if that does not prove that there is no such record. No service has all records of a growing collection.
  private func searchMatches(_ text: String) async throws(SourceError) -> Matches? {
    // The lookup of an ID scans the same pages.
    guard !isScan || P.Item.ID(text) == nil, let query = try? SearchQuery(text) else { return nil }
    if plugin.policy.readOrder == .localFirst, let store = environment.store {
      guard try await store.status(of: plugin.name).isEmpty else { return nil }
      throw SourceError(.nothingCached, message(text, "is neither cached nor bundled"))
    }
    let page = try await source.page(PageRequest(matching: query, limit: 20))
    let found = matches(of: text, among: page.records)
    if !found.best.isEmpty { return found }
    if let reason = page.provenance.reason {
      guard plugin.hasBundled || !page.records.isEmpty else { throw reason }
      throw SourceError(
        .nothingCached, message(text, "is neither cached nor bundled (\(reason.message))"))
    }
    guard isScan else { return nil }
    let doubt = page.warnings.first { $0.meansIncomplete || $0.code == .scanned }?.message
    if let words = doubt ?? Shortfall.unreadable(page.unreadable.count)?.description {
      throw SourceError(
        .unsupported, message(text, "not found: \(words)"), cause: SourceError(.noProgress, words))
    }
    guard page.provenance.origin == .cached else { return nil }
    throw SourceError(
      .notFound, message(text, "not found among the cached \(plugin.noun.word(for: 2))"),
      remedy: .refresh, cause: UnaskedLookup(""))
  }

  // MARK: - Failures

  private func message(_ text: String, _ words: String) -> String {
    "\(plugin.noun.one) \"\(text.oneLine(atMost: 80))\" \(words)"
  }

  private func ambiguous(_ text: String, _ records: [P.Item]) async -> SourceError {
    let part = await gap().map { " among local records: \($0.warning.warning.message)" } ?? ""
    return SourceError(
      .invalidRequest, "ambiguous \(plugin.noun.one) \"\(text.oneLine(atMost: 80))\"\(part)",
      cause: LookupAdvice(hint: candidates(records)))
  }

  private func unknown(_ text: String, _ error: SourceError, _ matches: Matches) -> SourceError {
    let isUnasked = error.cause is UnaskedLookup
    guard error.isUnknownRecord, error.remedy == nil || isUnasked, !(error.cause is SourceError)
    else { return error }
    let isNear = 1...5 ~= matches.others.count
    var hint = isNear ? candidates(matches.others) : plugin.searchHint(text)
    // What is hardly an ID has no remedy, and is no ID of the service either.
    if isUnasked, let remedy = error.remedy, !isNear, let id = text.argument {
      hint = remedy == .refresh ? .command("\(plugin.name) show \(id) --refresh") : Hint(remedy)
    }
    var error = error
    error.cause = LookupAdvice(hint: hint)
    return error
  }

  private func candidates(_ records: [P.Item]) -> Hint { .words(words(for: records)) }

  private func words(for records: [P.Item]) -> String {
    let shown = records.prefix(5).map { record in
      let id = record.id.description.argument ?? record.id.description.oneLine(atMost: 80)
      return plugin.fields.name(of: record).map { "\(id) (\($0.oneLine(atMost: 40)))" } ?? id
    }
    let more = records.count > shown.count ? ", …" : ""
    return "candidates: \(shown.joined(separator: ", "))\(more)"
  }
}

extension Plugin {
  package func searchHint(_ text: String) -> Hint {
    let words = text.split { " ,".contains($0) }
    let areIDs = words.allSatisfy { word in
      Item.ID(String(word)) != nil && (word.allSatisfy(\.isNumber) || Item.ID(text) == nil)
    }
    guard words.count < 2 || !areIDs else {
      return .words("pass each ID as an argument of its own, or one per line on standard input")
    }
    return .command("\(name) search \(text.argument ?? "QUERY")")
  }

  /// Looks up a record; `invalidRequest` if the text is not a valid ID.
  package func find(
    _ text: String, in source: any DataSource<Item>
  ) async throws(SourceError) -> LookupResult<Item> {
    guard let id = Item.ID(text) else { throw .invalidID(text, of: self) }
    do throws(SourceError) { return try await source.item(id) } catch {
      var error = error
      // Sources name themselves in the plural.
      let record = "\(noun.one) \(id.description.oneLine(atMost: 80))"
      switch error.code {
      case .notFound where error.cause == nil || error.cause is UnaskedLookup:
        error.message = "\(record) not found\((error.cause as? UnaskedLookup)?.words ?? "")"
      // The message of a source with a remedy says more.
      case .nothingCached where error.cause == nil && error.remedy == nil:
        error.message = "\(record) is neither cached nor bundled"
      case .offline where error.cause == nil:
        error.message = "\(record) is neither cached nor bundled (offline mode)"
        error.remedy = "retry without --offline"
      default: break
      }
      throw error
    }
  }

  /// True if a record is cached, deleted or bundled.
  package func isKnown(_ id: Item.ID, in store: any SourceStore) async throws(SourceError) -> Bool {
    let isCached = try await store.record(id.description, of: name) != nil
    if isCached { return true }
    let isDeleted = try await !recordStore(in: store).deleted(among: [id]).isEmpty
    if isDeleted { return true }
    return (try? await bundled.item(id)) != nil
  }
}

extension SourceError {
  /// True if no record with the ID is known.
  fileprivate var isUnknownRecord: Bool {
    switch code {
    case .notFound, .nothingCached, .offline, .unsupported: !(cause is DeletedRecord)
    default: false
    }
  }
}

extension String {
  fileprivate var isUUID: Bool { UUID(uuidString: self) != nil }
}
