import AggregatorKit
import Foundation

struct ListingOutcome {
  private(set) var count = 0
  private(set) var total: Int?
  private(set) var next: Cursor?
  private(set) var isPartial = false
  var continuation = ContinuationHint.cursor
  var offersAll = true

  /// The command to leave a listing that began on bundled data; `nil` if it begins here.
  var restart: Hint?
  var canGrow = false

  private let source: String
  private let noun: RecordNoun
  private let isLocalFirst: Bool
  private let settings: [Setting]
  private let now: Date
  private var provenances: [Provenance] = []
  private var unreadable = Unreadable.none
  private var remarks: [Remark] = []
  private var isCapped = false

  struct Remark {
    let warning: Warning
    var hint: Hint?
    var isNote = false

    func report(_ diagnostics: Diagnostics, of source: String) {
      guard !isNote else { return diagnostics.note("note: \(warning.message)") }
      diagnostics.warning("\(source): \(warning.message)", hint: hint)
    }
  }

  init(of plugin: some Plugin, at now: Date) {
    source = plugin.name
    noun = plugin.noun
    isLocalFirst = plugin.policy.readOrder == .localFirst
    settings = plugin.settings
    self.now = now
  }

  var hasAnswer: Bool { !provenances.isEmpty }

  mutating func add<Item>(_ page: Page<Item>, showing shown: Int) {
    count += shown
    total = page.total ?? total
    next = page.next
    provenances.append(page.provenance)
    unreadable = unreadable + page.unreadable
    add(page.warnings)
  }

  mutating func add<Item>(_ found: LookupResult<Item>) {
    count += 1
    provenances.append(found.provenance)
    add(found.warnings)
  }

  private mutating func add(_ warnings: [Warning]) {
    if warnings.contains(where: { $0.code == "stopped" }) { isPartial = true }
    for warning in warnings where !remarks.contains(where: { $0.warning == warning }) {
      remarks.append(Remark(warning: warning, isNote: warning.code == "cachedOnly"))
    }
  }

  mutating func end(_ end: PaginationEnd) {
    switch end {
    case .exhausted, .itemLimit: return
    case .pageLimit:
      isPartial = true
      isCapped = true
    case .cycle, .nothingNew:
      isPartial = true
      next = nil
      remarks.append(Remark(warning: Warning("stopped", "stopped: \(end.text)")))
    }
  }

  /// Records a stop after many pages without new records.
  mutating func pause(after pages: Int) {
    isPartial = true
    remarks.append(
      Remark(warning: Warning("stopped", "stopped: \(PaginationEnd.nothingNew(pages: pages).text)"))
    )
  }

  mutating func fail(_ error: SourceError) {
    isPartial = true
    remarks.append(
      Remark(
        warning: Warning(error.code.description, error.message),
        hint: error.hint(settings: settings)))
  }

  var summary: ListingSummary {
    ListingSummary(
      count: count, total: total, next: next, provenance: CombinedProvenance(provenances),
      warnings: allRemarks.map { SourceWarning(source, $0.warning) })
  }

  func report(to diagnostics: Diagnostics, query: Query? = nil) {
    if count == 0, !isPartial, restart == nil {
      diagnostics.note(
        query.map { "No \(source) match \"\($0.text.fitted(to: 80))\"" } ?? "No \(source)")
    }
    if let grown = growth(query, diagnostics) { diagnostics.note(grown) }
    reportAmount(to: diagnostics)
    for remark in allRemarks { remark.report(diagnostics, of: source) }
  }

  /// `isNamed` is true if the age names the source, because there are others.
  func reportAmount(to diagnostics: Diagnostics, isNamed: Bool = false) {
    if let next {
      let amount = total.map { "\(count) of \($0)" } ?? "\(count)"
      diagnostics.note("\(amount) \(source) · \(continuation.words(next, offersAll: offersAll))")
    }
    if let cached, stale == nil {
      diagnostics.note("note: \(isNamed ? "\(source): " : "")cached, fetched \(cached.age)")
    }
  }

  private func growth(_ query: Query?, _ diagnostics: Diagnostics) -> String? {
    guard canGrow, hasAnswer, next == nil, !isPartial,
      !provenances.contains(where: { $0.origin == .bundled })
    else { return nil }
    let verb = query == nil ? "next" : "load"
    return "\(noun.count(count)) · more: \(diagnostics.command("\(source) \(verb)"))"
  }

  /// All remarks, the most important last.
  var allRemarks: [Remark] {
    var all = remarks
    if isCapped {
      all.append(
        Remark(
          warning: Warning("stopped", "stopped after \(provenances.count.of("page"))"),
          hint: .words(
            "continue with \(continuation.action), or set a higher --max-pages")))
    }
    if unreadable.count > 0 {
      all.append(Remark(warning: .unreadable(unreadable)))
    }
    if let stale { all.append(stale) }
    if let bundled = provenances.first(where: { $0.origin == .bundled }) {
      let reason = bundled.reason.map { " (\($0.message))" } ?? ""
      all.append(
        Remark(
          warning: Warning("bundled", "showing bundled sample data\(reason)"),
          hint: restart ?? bundled.reason?.hint(settings: settings)))
    }
    return all
  }

  /// The age of the oldest cached page, and the reason why the service was not used.
  private var cached: (age: String, reason: SourceError?)? {
    let cached = provenances.filter { $0.origin == .cached }
    guard let oldest = cached.compactMap(\.fetchedAt).min() else { return nil }
    return (oldest.age(at: now), cached.lazy.compactMap(\.reason).first)
  }

  /// A warning if cached records replace the service's or are mixed with others; not for `--offline`.
  private var stale: Remark? {
    guard let cached else { return nil }
    let isMixed = provenances.contains { $0.origin != .cached }
    guard isMixed || cached.reason.map({ $0.code != .offline }) ?? false else { return nil }
    let reason = cached.reason.map { " (\($0.message))" } ?? ""
    return Remark(
      warning: Warning(
        "cached", "\(isMixed ? "partly " : "")cached, fetched \(cached.age)\(reason)"),
      hint: cached.reason?.hint(settings: settings),
      // A growing source always mixes both.
      isNote: isLocalFirst && cached.reason == nil)
  }
}

extension Warning {
  static func unreadable(_ rows: Unreadable) -> Warning {
    let reason = rows.firstReason.map { " (\($0))" } ?? ""
    return Warning("unreadable", "\(rows.count.of("row")) could not be read\(reason)")
  }
}
