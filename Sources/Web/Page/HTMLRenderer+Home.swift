import AggregatorAPI
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// The first page: what there is of each source.

/// The orders of the sources on the first page.
enum HomeOrder: String, CaseIterable {
  case name, freshness, count

  var words: String {
    switch self {
    case .name: "Name"
    case .freshness: "Latest first"
    case .count: "Most records first"
    }
  }

  /// The larger, the further in front; 0 for what nothing is cached of.
  func weight(of state: Result<SourceState, Problem>) -> Double {
    let state = try? state.get()
    return switch self {
    case .name: 0
    case .freshness:
      max(state?.syncedAt ?? .distantPast, state?.fetchedAt ?? .distantPast).timeIntervalSince1970
    case .count: Double(state?.records ?? 0)
    }
  }
}

extension ServedSource {
  /// True for a source with an end, all of whose records a store can have.
  var maySyncAll: Bool { hasStore && !isEndless }

  /// The reason a sync of all sources passes over this one; `nil` if it does not.
  func obstacle(toSyncOf state: Result<SourceState, Problem>) -> String? {
    guard maySyncAll else { return hasStore ? "its list has no end" : "without a cache" }
    return switch state {
    case .success(let state): state.problem?.message
    case .failure(let problem): problem.message
    }
  }
}

extension HTMLRenderer {
  /// - Parameters:
  ///   - states: The sources in the order of their names.
  ///   - syncs: The last sync of each, by their names.
  ///   - hasSynced: True after a sync of all, to tell of the sources that it has passed over.
  func home(
    _ states: [(source: any ServedSource, state: Result<SourceState, Problem>)],
    by order: HomeOrder = .name, syncs: [String: ServedSync] = [:], hasSynced: Bool = false
  ) -> String {
    let states = states.enumerated().sorted { first, second in
      let weights = (order.weight(of: first.element.state), order.weight(of: second.element.state))
      return weights.0 == weights.1 ? first.offset < second.offset : weights.0 > weights.1
    }.map(\.element)
    return document(
      Frame(title: "", place: "home"),
      """
      <div class="column">
      <div class="heading"><div><h1>Sources</h1>
      <p class="summary">Records of web APIs on this machine: live, cached, or bundled</p></div></div>
      \(searchForm("/search", "Search all sources", ServedQuery.plain))
      <section id="list" aria-label="Results" hidden></section>
      <div id="sources">\(lead(states.compactMap { try? $0.state.get() }))
      \(states.count > 1 ? tools(by: order) : nil)
      \(hasSynced ? passedOver(states) : nil)
      <ul class="sources\(states.count > Self.maxCards ? " dense" : "")">\(states.map { source, state in
        overview(source, state, syncs[source.name])
      })</ul>
      \(mayAdd ? """
        <p class="actions"><a class="button" href="\(RoutePath(PagePath.add).text)">\
        \(Icon.add.html)<span>Add a source</span></a></p>
        """ : nil)</div>
      <p class="note">For programs: <a href="\(RoutePath(APIPath.root).text)">the API</a>, \
      <a href="\(CommonPath.document.rawValue)">its description in OpenAPI</a></p>
      </div>
      """
    ).text
  }

  /// The most sources that have a card each; more have a row each.
  private static let maxCards = 8

  /// The orders of several sources, and the button that syncs all that can be synced.
  private func tools(by order: HomeOrder) -> HTML {
    let links = HomeOrder.allCases.map { each -> HTML in
      """
      <a class="button" href="\(each == .name ? "/" : "/?sort=\(each.rawValue)")"\
      \(attribute: "aria-current", each == order ? "true" : nil)>\(each.words)</a>
      """
    }
    let sync: HTML? =
      isReadOnly || !sources.contains(where: \.maySyncAll)
      ? nil
      : """
      <form action="\(RoutePath(PagePath.sync).text)" method="post"><button type="submit" class="button">\
      \(Icon.download.html)<span>Sync all</span></button></form>
      """
    return """
      <div class="actions"><span class="views" role="group" aria-label="Order">\(links)</span>\(sync)</div>
      """
  }

  /// The sources that a sync of all leaves as they are; `nil` if there are none.
  private func passedOver(
    _ states: [(source: any ServedSource, state: Result<SourceState, Problem>)]
  ) -> HTML? {
    let names = states.compactMap { source, state in
      source.obstacle(toSyncOf: state).map { "\(source.title) (\($0))" }
    }
    guard !names.isEmpty else { return nil }
    return #"<p class="note" dir="auto">Not synced: \#(names.joined(separator: ", ").sentence)</p>"#
  }

  /// The number of records that a search finds, or a first step where none are cached; nothing without a store.
  private func lead(_ states: [SourceState]) -> HTML? {
    let counts = states.compactMap(\.records)
    guard let most = counts.max() else { return nil }
    let sync = isReadOnly ? "" : ", or sync it to have all of them here, also offline"
    guard most > 0 else {
      return """
        <p class="summary">Nothing is cached yet: open a source to list its records\(sync).</p>
        """
    }
    let total = counts.reduce(0, +)
    let sources = "\(counts.count { $0 > 0 }) of \(states.count.of("source"))"
    let samples = states.map(\.bundled).reduce(0, +)
    let others =
      samples > 0 ? ", and \(samples.grouped("bundled sample record")) of the others" : ""
    let sql: HTML? = hasSQL ? #", or query them with <a href="/sql">SQL</a>"# : nil
    return """
      <p class="summary">\(total.grouped("record")) cached from \(sources)\(others): search them here\(sql).</p>
      """
  }

  /// A card or a row.
  private func overview(
    _ source: any ServedSource, _ state: Result<SourceState, Problem>, _ sync: ServedSync?
  ) -> HTML {
    let facts: HTML
    switch state {
    case .failure(let problem): facts = note(problem)
    case .success(let state):
      facts = """
        <p class="tone \(tone(of: state))"\
        \(attribute: "data-age", ages([state.fetchedAt, state.syncedAt], at: now))>\(amount(of: state, source))</p>
        \(shortfall(of: state).map(note(of:)))
        \(failure(of: state, sync))
        \(state.problem.map(note))
        \(changes(state, source, during: sync))
        """
    }
    return """
      <li><h2><a href="\(WebAddress.list(source.name, ServedQuery.plain))">\(source.title)</a></h2>
      <p class="summary">\(source.summary.safeLine.capitalizedFirst)</p>
      \(facts)
      \(syncBox(source))</li>

      """
  }

  /// The mark of a source: its colour is that of the badge of its lists, and it is half full if only a part is cached.
  private func tone(of state: SourceState) -> String {
    if state.coverage?.isPart == true { return "cached part" }
    if state.coverage?.cached ?? 0 > 0 || state.coverage?.isComplete == true { return "cached" }
    return state.bundled > 0 ? "bundled" : "offline"
  }

  /// The reason the last sync may have missed records, unless its failure says it.
  private func shortfall(of state: SourceState) -> Shortfall? {
    let shortfall = state.coverage?.shortfall
    return state.syncFailure.flatMap { shortfall?.description.hasPrefix($0) } == true
      ? nil : shortfall
  }

  /// Says that the last sync may have missed records.
  func note(of shortfall: Shortfall) -> HTML {
    let words =
      shortfall.isUnproved
      ? Warning.unproved.message.capitalizedFirst
      : shortfall.isExcess
        ? shortfall.description.capitalizedFirst
        : "The last sync \(shortfall.includes(.syncFailed) ? "failed" : "is incomplete"): \(shortfall)"
    return #"<p class="note" dir="auto">\#(words.sentence)</p>"#
  }

  /// The failure of the last sync, unless a server has run it, and the script says it.
  private func failure(of state: SourceState, _ sync: ServedSync?) -> HTML? {
    guard let failure = state.syncFailure, !saysFailure(of: sync) else { return nil }
    return #"<p class="note failed" dir="auto">\#("The last sync failed: \(failure)".sentence)</p>"#
  }

  /// True if the script says that a sync has failed, or whether it does so again.
  func saysFailure(of sync: ServedSync?) -> Bool {
    !isReadOnly && (sync?.outcome == .running || sync?.outcome == .failed)
  }

  private func amount(of state: SourceState, _ source: any ServedSource) -> String {
    guard let coverage = state.coverage, coverage.cached > 0 || coverage.isComplete else {
      return state.bundled == 0
        ? "Not cached" : "\(state.bundled.grouped) bundled sample records"
    }
    let isShort = coverage.shortfall != nil
    let total =
      isShort ? coverage.totalOfCached.map { $0 - state.deleted } : state.total
    let records = (state.records ?? 0).grouped
    let part =
      coverage.isComplete
      ? "all \(records)" : total.map { "\(records) of \($0.grouped)" } ?? records
    let exceptions = [
      coverage.isComplete || total != nil || coverage.shortfall?.isExcess == true
        ? nil : "maybe not all",
      state.deleted > 0 ? "besides \(state.deleted.grouped) deleted here" : nil,
      state.removedUpstream > 0 ? "and \(state.removedUpstream.grouped) removed upstream" : nil,
    ].compactMap(\.self)
    let amount = coverage.cached == 0 ? "No records" : "\(part.capitalizedFirst) cached"
    let cached = ([amount] + exceptions).joined(separator: ", ")
    let comma = exceptions.isEmpty ? ", " : "; "
    let fetch = state.fetchedAt.map {
      LastSync.fetchWords($0, newest: state.lastFetchedAt, at: now)
    }
    guard let syncedAt = state.syncedAt else {
      let age = fetch.map { "\(comma)\($0)" } ?? ""
      let sync = source.isEndless || coverage.isComplete || isShort ? "" : "; not synced completely"
      return "\(cached)\(age)\(sync)"
    }
    // What a sync has read is as old as its beginning, which may be long before its end if it was interrupted; after one
    // without all, the oldest is as old as its change.
    let isSync =
      isShort
      || state.fetchedAt.map {
        abs($0.timeIntervalSince(syncedAt)) < LastSync.notableSeconds
      } ?? true
    let age = isSync ? "" : fetch.map { "\($0); " } ?? ""
    return "\(cached)\(comma)\(age)synced \(syncedAt.age(at: now))"
  }

  /// A problem, which opens into what is missing and where one gets it, so that cards are nearly of one height.
  private func note(_ problem: Problem) -> HTML {
    let message = problem.message
    guard let remedy = remedy(of: problem, isSentence: true) else {
      return #"<p class="note" dir="auto">\#(message.sentence)</p>"#
    }
    let title = message.safeLine.capitalizedFirst
    return
      #"<details class="note" dir="auto"><summary>\#(title)</summary>\#(remedy)\#(keyForm(of: problem))</details>"#
  }

  /// Where one gets what is missing, and how it is set; `nil` if there is nothing to say.
  func remedy(of problem: Problem, isSentence: Bool = false) -> HTML? {
    let here = mayAdd ? ", or type the key below." : ""
    let command: HTML? = missingKey(of: problem).map {
      "\(isSentence && problem.hint == nil ? "Run" : "run") <code>\(program) config set \($0)</code>\(here)"
    }
    guard let hint = problem.hint?.safeLine else { return command }
    return
      "\(linked(isSentence ? hint.capitalizedFirst : hint))\(command.map { ", then \($0)" as HTML })"
  }

  private func missingKey(of problem: Problem) -> String? {
    problem.code == SourceError.Code.missingKey.description
      ? problem.message.firstMatch(of: /^[A-Z0-9_]+(?= is not set)/).map { String($0.output) } : nil
  }

  /// The form of the key that is missing; `nil` if none is, or the server takes none.
  func keyForm(of problem: Problem?) -> HTML? {
    guard mayAdd, let setting = problem.flatMap(missingKey) else { return nil }
    return """
      <form class="fields" action="\(RoutePath(PagePath.key).text)" method="post">\(hidden("setting", setting))
      \(key(setting, as: "key", "saved in your settings file, and sent to its service only"))
      <div class="actions"><button type="submit" class="button" data-busy="Asking the service…">Save key</button></div></form>
      """
  }

  /// A text whose web addresses are links, without their scheme so that they fit into a card.
  private func linked(_ text: String) -> HTML {
    guard let match = text.firstMatch(of: /https?:\/\/[^\s<>"]*[A-Za-z0-9\/]/) else {
      return "\(text)"
    }
    let address = String(match.output)
    let shown = String(address.trimmingPrefix(/https?:\/\//))
    return """
      \(String(text[..<match.range.lowerBound]))\
      <a href="\(address)" rel="noopener noreferrer external" referrerpolicy="no-referrer">\(shown)</a>\
      \(String(text[match.range.upperBound...]))
      """
  }

  /// The changes since the sync before the last, also by lists between the two, which have only their room while the next one
  /// runs.
  private func changes(
    _ state: SourceState, _ source: any ServedSource, during sync: ServedSync?
  ) -> HTML? {
    guard let changes = state.changes, changes.count > 0 || changes.firstSync != nil else {
      return nil
    }
    let number = changes.isCut ? "More than \(changes.count.grouped) changes" : changes.counts.words
    // The last one may not have come to its end.
    let isCutShort = sync?.outcome.isCutShort == true || state.syncFailure != nil
    let start = changes.startWords(isCutShort: isCutShort)
    let words = (changes.firstSync ?? "\(number) since \(start)").capitalizedFirst
    return """
      <p\(attribute: "class", sync?.outcome == .running ? "unseen" : nil)>\
      <a href="\(WebAddress.changes(source.name))">\(words)</a></p>
      """
  }
}
