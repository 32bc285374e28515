import AggregatorFilters
package import AggregatorKit
package import AggregatorTerminal
import DeclaredSource

package struct ListingOutcome: Sendable {
  package private(set) var count = 0
  package private(set) var total: Int?
  /// The number of records on the pages before, if known.
  package var earlier: Int?
  package private(set) var next: PageCursor?
  /// True if records are missing, or a search ends before it has found any.
  package var isPartial: Bool { isIncomplete || foundNothingYet }
  package var continuation = ContinuationHint.cursor
  package var offersAll = true
  /// The most records that `--all` alone reads; `nil` for no limit.
  package var mostOfAll: Int?
  /// True if there are more records than `--all` alone reads.
  package var exceedsAll: Bool { mostOfAll.map { $0 < total ?? 0 } ?? false }

  /// The records in messages: `heroes`, `deleted heroes`.
  package var subject: String

  /// The command to leave a listing that began on bundled data; `nil` if it begins here.
  package var restart: Hint?
  package var canGrow = false

  /// A query that has results, if this one has none.
  package var suggestion: String?
  /// The values of the field of a filter without results, in words.
  package var values: String?

  /// The hint that leads to a complete cache, if only cached records are listed.
  package var syncHint: Hint?

  /// The records that the cache lacks, if only it is listed.
  package var gap: CacheGap?

  /// True if the answer is made of local records by design, so that no one has asked for offline mode.
  package var readsCacheOnly = false

  /// A note that the first page was read for a selection; `nil` if it was not.
  package var firstPage: String?

  /// True if the list went on after the most pages that were to be read.
  package private(set) var isCapped = false

  /// True if the answer is a number of the records, which claims to be of all of them.
  package var isNumber = false

  /// The number of cached records, if they are all; else `nil`.
  package var copyCount: Int?

  /// True if the service has failed after the first page.
  package private(set) var hasFailed = false

  /// True if the total of the service is known to be too large.
  package var isTotalWrong = false

  /// True if the answer claims to be of all records, and the cache lacks some or bundled ones stand in for them.
  package var lacksRecords: Bool {
    isCacheShort || (isNumber || claimsAll) && provenances.contains { $0.origin == .bundled }
  }

  /// Hints about words of the search that may be meant as operators; none if a service was searched, which may know them.
  package var searchHints: [SearchHint] { isSearchedLocally || origin != .live ? hints : [] }

  private var hints: [SearchHint] = []
  private var isSearchedLocally = false

  private let source: String
  private let noun: RecordNoun
  private let repeatsRecords: Bool
  private let isFile: Bool
  private let declared: DeclaredPlugin?
  /// The verb that downloads more records; `nil` if the source has none.
  private let loadingVerb: String?
  private let settings: [Setting]
  private let now: Date
  /// The command that completes searches; `nil` for a source that no sync completes.
  private let syncCommand: String?
  private var isIncomplete = false
  private var isTrusted = false
  private var goesOnInCopy = false
  /// The total of the service, if it has sent more records.
  private var lowTotal: Int?
  /// True if the answer claims to be of all records, as a filter, an order and an export do.
  private var claimsAll = false
  /// True if the answer claims to be of all records, and the cache from which it is taken lacks some.
  private var isCacheShort = false
  private var provenances: [Provenance] = []
  private var unreadable = UnreadableRows.none
  /// The number of rows of the latest page.
  private var latestRows = 0
  /// The number of records that further pages repeated.
  private var repeated = 0
  /// The number of rows with the ID of an earlier one on the same page, or in the same file.
  private var repeatedInPage = 0
  private var remarks: [Remark] = []
  private var unfetched: (fields: [String], count: Int, hint: Hint?)?
  /// The number of records that were checked for fields that lists do not include.
  private var checked = 0

  package struct Remark {
    package let warning: Warning
    package var hint: Hint?
    var isNote = false
    /// True for an error beside an answer, which is never quiet.
    var isFailure = false

    package func report(_ diagnostics: Diagnostics, of source: String) {
      guard !isNote else {
        let name = warning.isOfStoredSearch ? "\(source): " : ""
        return diagnostics.note("note: \(name)\(warning.message)", hint: hint)
      }
      guard !isFailure else {
        return diagnostics.alarm("\(source): \(warning.message)", hint: hint)
      }
      diagnostics.warning("\(source): \(warning.message)", hint: hint)
    }
  }

  package init(of plugin: some Plugin, at now: Date) {
    source = plugin.name
    subject = plugin.name
    noun = plugin.noun
    let policy = plugin.policy
    repeatsRecords = policy.repeatsRecords
    isFile = policy.listIsFile || policy.file != nil
    declared = plugin as? DeclaredPlugin
    loadingVerb = plugin.verbs.first { $0.role == .loadsMore }?.name
    settings = plugin.settings
    syncCommand = plugin.policy.isEndless ? nil : plugin.syncArguments
    self.now = now
  }

  /// True if the total is that of the records on this machine, or the service counts more of them than the run may read,
  /// and nothing contradicts the number: then further pages would not prove it.
  ///
  /// A first page that is not full may be the last one, whatever the total: the second one tells. The total of a cached page
  /// that stands in for the service proves nothing.
  func hasCredibleTotal(within bounds: ListingBounds) -> Bool {
    guard let total, total >= count, next != nil, !isPartial, !isTotalWrong,
      latestRows >= (provenances.count > 1 ? 1 : bounds.pageSize)
    else { return false }
    guard bounds.bound.items == nil else { return true }
    guard !provenances.contains(where: { $0.origin == .cached && $0.reason != nil }),
      let pages = bounds.bound.pages
    else { return false }
    return (total - 1) / max(latestRows, 1) >= pages
  }

  /// Notes that the answer is the total that was reported; that of records on this machine needs no note.
  mutating func trustTotal() { isTrusted = subject == source && !canGrow }

  /// The exit code of a listing.
  package var code: ExitCode { isPartial || isInexact || lacksRecords ? .partial : .success }

  /// The exit code of a lookup, which does not depend on other records.
  package var lookupCode: ExitCode { isPartial || mayShowDeleted ? .partial : .success }

  /// True if rows could not be read, whose records are missing, or a store, whose deleted ones may be among the others.
  package var isInexact: Bool { unreadable.count > 0 || mayShowDeleted }

  private var mayShowDeleted: Bool {
    remarks.contains { $0.warning.code == Warning.Code(.unusableStore) }
  }

  /// The number of records: the total of the service, unless its pages have shown another.
  package var number: Int {
    guard let total, !isPartial, !remarks.contains(where: { $0.warning.code == .estimated }) else {
      return count
    }
    return max(total, count)
  }

  /// True for an answer without matches in the part of the records that was read, or could be compared.
  package var foundNothingYet: Bool {
    count == 0 && next != nil && remarks.contains { $0.warning.code == .scanned } || isUndecided
  }

  /// True if nothing matches among the values that a filter can compare, and there are others.
  private var isUndecided: Bool {
    count == 0 && earlier ?? 0 == 0 && remarks.contains { $0.warning.code == .incomparable }
  }

  package var hasAnswer: Bool { !provenances.isEmpty }

  /// True if all pages come from the cache.
  var isCached: Bool { provenances.allSatisfy { $0.origin == .cached } }

  /// The origin of the first page; `nil` without an answer.
  package var origin: Provenance.Origin? { provenances.first?.origin }

  package mutating func add<Item>(_ page: Page<Item>, showing shown: Int) {
    count += shown
    noteTotal(page.total)
    next = page.next
    latestRows = page.records.count + page.hidden + page.unreadable.count
    var provenance = page.provenance
    if readsCacheOnly, provenance.reason?.code == .offline { provenance.reason = nil }
    provenances.append(provenance)
    unreadable = unreadable + page.unreadable
    add(page.warnings)
  }

  /// Notes the total of a page, unless more records have come.
  private mutating func noteTotal(_ reported: Int?) {
    let reported = reported ?? lowTotal ?? total
    let isLow = !canGrow && reported.map { $0 < (earlier ?? 0) + count } ?? false
    (total, lowTotal) = isLow ? (nil, reported) : (reported, nil)
  }

  package mutating func add<Item>(_ found: LookupResult<Item>) {
    count += 1
    provenances.append(found.provenance)
    add(found.warnings)
  }

  /// Adds a record, and notes what a copy of it lacks of the `chosen` fields, all without any.
  package mutating func add<P: Plugin>(
    _ found: LookupResult<P.Item>, of plugin: P, chosen: [String]?
  ) {
    add(found)
    guard found.provenance.origin != .live else { return }
    // Other reasons have hints of their own.
    let id = found.provenance.reason?.code == .offline ? found.item.id.description.argument : nil
    check(
      [found.item], of: plugin, chosen: chosen ?? plugin.detailFields.map { $0.name },
      hint: id.map { .command("\(plugin.name) show \($0)") })
  }

  /// Adds a page of a walk, of which some records were there before.
  package mutating func add<Item>(_ step: PaginationStep<Item>) {
    add(step.page, showing: step.items.count)
    // A walk that makes no progress says itself why it stops.
    guard !repeatsRecords, step.end != .itemLimit, step.end?.isWithoutProgress != true else {
      return
    }
    let records = step.page.records
    guard records.count > step.items.count else { return }
    let count = records.count - (isFile ? step.items.count : Set(records.map(\.id)).count)
    repeatedInPage += count
    repeated += records.count - step.items.count - count
    isIncomplete = true
  }

  /// Adds a page of a copy of the source.
  package mutating func add<Item>(_ step: PaginationStep<Item>, because reason: SourceError) {
    var page = step.page
    page.provenance.reason = reason
    if goesOnInCopy {
      page.total = nil
      page.warnings.removeAll { $0.code == .mixedGenerations }
    }
    add(page, showing: step.items.count)
  }

  /// Notes that the list goes on in the copy of all records, whose total says nothing of those that the service sent.
  package mutating func goOnInCopy() {
    goesOnInCopy = true
    total = nil
  }

  /// Notes the number of stored records, which are all, as the total that the service does not report.
  ///
  /// The service may have replaced stored records since the last sync, so a live page needs a list that was read whole.
  mutating func noteTotal(ofStored records: Int, _ coverage: Coverage) {
    let shown = (earlier ?? 0) + count
    guard total == nil, !isPartial, !canGrow, shown <= records, !coverage.hasUnlisted,
      isCached || coverage.isListed
    else { return }
    // The next page is cached, too, and empty.
    if shown == records, coverage.isListed, isCached { next = nil }
    if (shown < records) == (next != nil) { total = records }
  }

  /// Notes what is known after the last page.
  mutating func note(_ warnings: [Warning]) { remarks += warnings.map { Remark(warning: $0) } }

  private mutating func add(_ warnings: [Warning]) {
    if warnings.contains(where: \.meansIncomplete) { isIncomplete = true }
    // Only the last one counts: the next page goes on with the scan.
    remarks.removeAll { $0.warning.code == .scanned }
    for warning in warnings where !remarks.contains(where: { $0.warning == warning }) {
      // That not all are cached says it, too.
      if warning == .storedSearch, isPartlyCached || isCacheShort { continue }
      let sync = [.scanned, .partlyCached].contains(warning.code) ? syncCommand : nil
      let hint = warning.hasCachedMatches ? .cachedMatches : sync.map(Hint.command)
      remarks.append(Remark(warning: warning, hint: hint, isNote: warning.code == .cachedOnly))
    }
  }

  /// Notes records without those of the `chosen` fields that lists do not include.
  package mutating func check<P: Plugin>(
    _ items: [P.Item], of plugin: P, chosen: [String]?, hint: @autoclosure () -> Hint?
  ) {
    checked += items.count
    guard let chosen else { return }
    let names = plugin.detailFields.map { $0.name }
    let fields = chosen == ["*"] ? names : names.filter(chosen.contains)
    let lacking = fields.isEmpty ? 0 : items.count(where: plugin.lacksDetails)
    guard lacking > 0 else { return }
    unfetched = (fields, (unfetched?.count ?? 0) + lacking, hint())
  }

  /// Names the records of a filter.
  package mutating func select(isFilter: Bool) {
    canGrow = false
    if isFilter { subject = "matching \(subject)" }
  }

  /// True if a page says that cached records stand in for the service's, and are not all.
  var isPartlyCached: Bool { remarks.contains { $0.warning.code == .partlyCached } }

  /// Notes at the end of a list of cached records, or in a search of them, that there are others.
  ///
  /// A cached page of a search by the service lacks none, unless a file has changed.
  mutating func noteGap(ofSearch isSearch: Bool) {
    guard let gap, provenances.contains(where: { $0.origin == .cached }),
      isPartlyCached || next == nil && (!isSearch || gap.isOfChangedFile)
    else { return }
    add(gap)
    isIncomplete = true
  }

  /// Notes that the answer claims to be of all records, and adds the gap of the cache from which it is taken.
  package mutating func claimAll(despite gap: CacheGap? = nil) {
    claimsAll = true
    guard let gap else { return }
    add(gap)
    isCacheShort = true
  }

  package mutating func add(_ gap: CacheGap) {
    // It says more.
    remarks.removeAll { [.cachedOnly, .partlyCached].contains($0.warning.code) }
    remarks.append(
      Remark(
        warning: gap.limitation.warning,
        hint: gap.command == nil ? gap.remedy : syncHint ?? gap.hint))
  }

  /// Notes what in the search may be meant as an operator.
  mutating func add(_ hints: [SearchHint], isSearchedLocally: Bool) {
    (self.hints, self.isSearchedLocally) = (hints, isSearchedLocally)
  }

  /// Says why the source is not searched with others.
  package mutating func leaveOut(_ reason: String) {
    remarks.append(Remark(warning: .leftOut(because: reason)))
  }

  /// Leaves out records of the pages that were added: totals and cursors count those, too.
  package mutating func narrow(by rejected: Int) {
    count -= rejected
    total = nil
    next = nil
  }

  /// Sets the total after all pages were narrowed.
  package mutating func concludeNarrowed() { if !isPartial { total = count } }

  package mutating func end(_ end: PaginationEnd) {
    switch end {
    case .exhausted, .itemLimit: return
    case .pageLimit:
      isIncomplete = true
      isCapped = true
    case .cycle, .nothingNew:
      isIncomplete = true
      next = nil
      remarks.append(Remark(warning: Warning(.stopped, "stopped: \(end.text)")))
    }
  }

  /// Records a stop after many pages without new records.
  package mutating func pause(after pages: Int) {
    isIncomplete = true
    remarks.append(
      Remark(warning: Warning(.stopped, "stopped: \(PaginationEnd.nothingNew(pages: pages).text)"))
    )
  }

  /// Notes that no more records are cached of a list that may go on.
  mutating func endOfCache() {
    isIncomplete = true
    let warning = Warning(.incomplete, "limited to cached records: the service may have more")
    if let gap { add(gap) } else { remarks.append(Remark(warning: warning)) }
  }

  package mutating func fail(_ error: SourceError) {
    isIncomplete = true
    hasFailed = true
    remarks.append(
      Remark(
        warning: Warning(Warning.Code(error.code), error.message),
        hint: error.hint(settings: settings), isFailure: true))
  }

  package var summary: ListingSummary {
    ListingSummary(
      count: count, total: total, next: next, provenance: CombinedProvenance(provenances),
      warnings: allRemarks.map { SourceWarning(source, $0.warning) })
  }

  /// The summary of a document, with no total if there may be records that would count, too.
  package var printedSummary: ListingSummary {
    var printed = summary
    if lacksRecords || isUndecided { printed.total = nil }
    return printed
  }

  package func report(to diagnostics: Diagnostics, query: SearchQuery? = nil) {
    // Gaps of a partial answer are reported below.
    if isUndecided {
      diagnostics.note("No match among the values of \(source) that can be compared")
    } else if count == 0, query == nil ? !isPartial : !foundNothingYet, restart == nil {
      let verb = subject == source ? "match" : "for"
      let search = query.map { " \(verb) \"\($0.text.fitted(to: 80))\"" } ?? ""
      let sought = query == nil ? soughtSubject : records
      let values = values.map { ". \($0.safeLine)" } ?? ""
      diagnostics.note("No \(sought)\(search)\(suggestion.didYouMean)\(values)")
    }
    if let grown = growth(query, diagnostics) { diagnostics.note(grown) }
    reportAmount(to: diagnostics)
    reportRemarks(to: diagnostics)
  }

  /// A value is suggested for one of a filter.
  private var soughtSubject: String {
    suggestion != nil && subject == source ? "matching \(records)" : records
  }

  /// The subject in words: `heroes`, or `matching records of weather`.
  private var records: String { "\(subject.dropLast(source.count))\(noun.word(for: 2))" }

  package func reportCount(to diagnostics: Diagnostics) {
    var counted = self
    counted.next = nil
    if suggestion != nil || values != nil, !isPartial {
      let values = values.map { ". \($0.safeLine)" } ?? ""
      diagnostics.note("No \(soughtSubject)\(suggestion.didYouMean)\(values)")
    }
    counted.reportAmount(to: diagnostics)
    counted.reportRemarks(to: diagnostics)
  }

  private func reportRemarks(to diagnostics: Diagnostics) {
    var hints: [Hint] = []
    for var remark in allRemarks {
      // A hint that mends two of them is given once.
      if let hint = remark.hint {
        if hints.contains(hint) { remark.hint = nil } else { hints.append(hint) }
      }
      remark.report(diagnostics, of: source)
    }
  }

  /// `isNamed` is true if the age names the source, because there are others.
  package func reportAmount(to diagnostics: Diagnostics, isNamed: Bool = false) {
    if let next, !foundNothingYet || syncCommand == nil {
      let all = exceedsAll ? copyCount == nil ? "--all --max-pages 0" : "--offline --all" : "--all"
      diagnostics.note("\(amount) · \(continuation.words(next, all: offersAll ? all : nil))")
    } else if diagnostics.isForPeople, count > 0, !isPartial, !canGrow,
      !offersAll || earlier ?? 0 > 0
    {
      // The end of a long list, of which the beginning is off the screen.
      diagnostics.note(amount)
    }
    reportAge(to: diagnostics, isNamed: isNamed)
  }

  /// Says where the records come from, if not from the service.
  package func reportOrigin(to diagnostics: Diagnostics) {
    reportAge(to: diagnostics)
    for remark in [stale, bundled] { remark?.report(diagnostics, of: source) }
  }

  private func reportAge(to diagnostics: Diagnostics, isNamed: Bool = false) {
    if let cached, stale == nil {
      diagnostics.note("note: \(isNamed ? "\(source): " : "")cached, \(cached.age)")
    }
  }

  private var amount: String {
    // That of bundled records is known, and a warning says what they are.
    let total = isCacheShort ? nil : total
    if let total, let earlier, earlier > 0, count > 0, earlier + count <= total {
      let range = count == 1 ? "\(earlier + 1)" : "\(earlier + 1)–\(earlier + count)"
      return "\(range) of \(total.grouped) \(records)"
    }
    if let total, next != nil { return "\(count.grouped) of \(total.grouped) \(records)" }
    if subject == source { return noun.count(count) }
    // Or those that were shown would look like all that match.
    return next == nil
      ? "\(count.grouped) \(records)"
      : "\(((earlier ?? 0) + count).grouped) \(records) so far"
  }

  private func growth(_ query: SearchQuery?, _ diagnostics: Diagnostics) -> String? {
    guard canGrow, hasAnswer, next == nil, !isPartial,
      !provenances.contains(where: { $0.origin == .bundled })
    else { return nil }
    guard let verb = query == nil ? "next" : loadingVerb else { return nil }
    // That there are none was said already.
    let amount = count == 0 ? "" : "\(noun.count(count)) · "
    return "\(amount)more: \(diagnostics.command("\(source) \(verb)"))"
  }

  /// All remarks, the most important last.
  package var allRemarks: [Remark] {
    var all =
      searchHints.map { Remark(warning: $0.warning, hint: $0.command(of: source)) } + remarks
    if isCapped {
      all.append(
        Remark(
          warning: Warning(
            .stopped,
            "stopped after \(provenances.count.of("page"))"
              + (isNumber ? ": the number is of what was read, and there may be more" : "")),
          hint: .words(
            (next == nil || isNumber ? "" : "continue with \(continuation.action), or ")
              + (isNumber ? "read all pages with --max-pages 0" : "set a higher --max-pages")
              + (copyCount == nil ? "" : ", or read the complete copy with --offline --all"))))
    }
    if hasFailed, let copyCount {
      let words =
        copyCount == 1
        ? "the only \(noun.word(for: 1)) is cached: read it with --offline --all"
        : "all \(noun.count(copyCount)) are cached: read them with --offline --all"
      all.append(Remark(warning: Warning(.cachedOnly, words), isNote: true))
    }
    if isTrusted {
      let words = "the service reports this number: --max-pages 0 counts the records that it sends"
      all.append(Remark(warning: Warning(.estimated, words), isNote: true))
    }
    if let lowTotal {
      let words = "the service reports \(lowTotal.grouped("record")) but sent more"
      all.append(Remark(warning: Warning(.estimated, words)))
    }
    if repeated > 0 {
      let words = "\(repeated.of("record")) came again on another page: others may be missing"
      all.append(Remark(warning: Warning(.repeated, words)))
    }
    if repeatedInPage > 0 {
      all.append(
        Remark(
          warning: Warning(.repeated, Manifest.repeatedIDs(repeatedInPage)),
          hint: declared?.numberingCommand.map(Hint.command)))
    }
    if unreadable.count > 0 {
      all.append(Remark(warning: .unreadable(unreadable)))
    }
    if let unfetched {
      let fields = unfetched.fields.map { "\"\($0)\"" }.joined(separator: ", ")
      all.append(
        Remark(
          warning: Warning(
            .unfetched,
            "lists do not include \(fields): unknown for \(unfetched.count) of \(noun.count(checked))"
          ),
          hint: unfetched.hint))
    }
    if let stale { all.append(stale) }
    if let bundled { all.append(bundled) }
    return all
  }

  /// A warning if bundled data stands in for the service or the store.
  private var bundled: Remark? {
    guard let bundled = provenances.first(where: { $0.origin == .bundled }) else { return nil }
    var cause = bundled.reason
    // A selection reads local data only.
    if claimsAll, cause?.code == .nothingCached { cause?.message += "; the service was not asked" }
    let reason = reason(cause)
    let words =
      count == 0 ? "only bundled sample data was available" : "showing bundled sample data"
    return Remark(
      warning: Warning(.bundled, words + reason),
      hint: restart ?? syncHint ?? bundled.reason?.hint(settings: settings))
  }

  /// The reason why other records stand in for the service's, in parentheses, unless a remark has said it.
  private func reason(_ error: SourceError?) -> String {
    guard let error, !remarks.contains(where: { $0.warning.message.hasPrefix(error.message) })
    else { return "" }
    return " (\(error.message))"
  }

  /// The age of the oldest cached page, and the reason why the service was not used.
  private var cached: (age: String, reason: SourceError?)? {
    let cached = provenances.filter { $0.origin == .cached }
    let dates = cached.compactMap(\.fetchedAt)
    guard let oldest = dates.min() else { return nil }
    let age = LastSync.fetchWords(oldest, newest: dates.max(), at: now)
    return (age, cached.lazy.compactMap(\.reason).first)
  }

  /// A warning if cached records replace the service's, a note if fresh ones are beside others; not for `--offline`.
  private var stale: Remark? {
    guard let cached else { return nil }
    let isMixed = provenances.contains { $0.origin != .cached }
    guard isMixed || cached.reason.map({ $0.code != .offline }) ?? false else { return nil }
    let reason = reason(cached.reason)
    return Remark(
      warning: Warning(
        .cached, "\(isMixed ? "partly " : "")cached, \(cached.age)\(reason)"),
      hint: cached.reason?.hint(settings: settings),
      // Without a reason they are fresh.
      isNote: cached.reason == nil)
  }
}

extension String? {
  /// The suggestion as the end of a note; empty without one.
  package var didYouMean: String { map { ". Did you mean \"\($0.fitted(to: 80))\"?" } ?? "" }
}

extension Warning {
  package static func unreadable(_ rows: UnreadableRows) -> Warning {
    let reason = rows.firstReason.map { " (\($0))" } ?? ""
    return Warning(.unreadable, "\(rows.count.of("row")) could not be read\(reason)")
  }
}

extension Warning {
  /// Says why a source is not searched with others.
  package static func leftOut(because reason: String) -> Warning {
    Warning(.leftOut, "left out: \(reason)")
  }
}
