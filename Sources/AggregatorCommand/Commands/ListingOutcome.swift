import AggregatorKit
import Foundation

/// What a listing has come to so far: who answered, what is to be said about it, how it ends.
struct ListingOutcome {
  /// How many records were shown.
  private(set) var count = 0

  /// How many records there are, if that is known.
  private(set) var total: Int?

  /// Where to go on.
  private(set) var next: Cursor?

  /// Whether a part of what was asked for is missing.
  private(set) var isPartial = false

  /// How the listing goes on, for people.
  var continuation = ContinuationHint.cursor

  /// Whether all could be asked for instead of more.
  var offersAll = true

  /// What to type to leave a listing that began on bundled data; `nil` if it begins here.
  var restart: Hint?

  /// Whether it lists a collection that grows, of which more can be fetched at the end.
  var canGrow = false

  private let source: String
  private let isLocalFirst: Bool
  private let settings: [Setting]
  private let now: Date
  private var provenances: [Provenance] = []
  private var unreadable = Unreadable.none
  private var remarks: [Remark] = []
  private var isCapped = false

  /// A warning, and what to do about it.
  struct Remark {
    let warning: Warning
    var hint: Hint?
    /// Whether it is news for people, and nothing that they should mind.
    var isNote = false

    /// Tells it of a source, or of several.
    func tell(_ diagnostics: Diagnostics, of source: String) {
      guard !isNote else { return diagnostics.note("note: \(warning.message)") }
      diagnostics.warning("\(source): \(warning.message)", hint: hint)
    }
  }

  /// A tally of nothing yet.
  ///
  /// - Parameters:
  ///   - plugin: The source.
  ///   - now: The date from which ages count.
  init(of plugin: some Plugin, at now: Date) {
    source = plugin.name
    isLocalFirst = plugin.policy.readOrder == .localFirst
    settings = plugin.settings
    self.now = now
  }

  /// Whether anybody answered at all.
  var hasAnswer: Bool { !provenances.isEmpty }

  /// Counts in a page.
  mutating func add<Item>(_ page: Page<Item>, showing shown: Int) {
    count += shown
    total = page.total ?? total
    next = page.next
    provenances.append(page.provenance)
    unreadable = unreadable + page.unreadable
    add(page.warnings)
  }

  /// Counts in a single record.
  mutating func add<Item>(_ found: LookupResult<Item>) {
    count += 1
    provenances.append(found.provenance)
    add(found.warnings)
  }

  private mutating func add(_ warnings: [Warning]) {
    if warnings.contains(where: { $0.code == "stopped" }) { isPartial = true }
    for warning in warnings where !remarks.contains(where: { $0.warning == warning }) {
      remarks.append(Remark(warning: warning, isNote: warning.code == "storedOnly"))
    }
  }

  /// Notes that the walk ended before its time.
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

  /// Notes that it was left for now, because many pages in a row had nothing new.
  mutating func pause(after pages: Int) {
    isPartial = true
    remarks.append(
      Remark(warning: Warning("stopped", "stopped: \(PaginationEnd.nothingNew(pages: pages).text)"))
    )
  }

  /// Notes that a part failed.
  mutating func fail(_ error: SourceError) {
    isPartial = true
    remarks.append(
      Remark(
        warning: Warning(error.code.description, error.message),
        hint: error.hint(settings: settings)))
  }

  /// The same for programs.
  var summary: ListingSummary {
    ListingSummary(
      count: count, total: total, next: next, provenance: CombinedProvenance(provenances),
      warnings: allRemarks.map { SourceWarning(source, $0.warning) })
  }

  /// Tells a person what the records alone do not say.
  func tell(_ diagnostics: Diagnostics, query: Query? = nil) {
    if count == 0, !isPartial, restart == nil {
      diagnostics.note(
        query.map { "no \(source) match '\($0.text.fitted(to: 80))'" } ?? "no \(source)")
    }
    if let grown = growth(query, diagnostics) { diagnostics.note(grown) }
    tellAmount(diagnostics)
    for remark in allRemarks { remark.tell(diagnostics, of: source) }
  }

  /// Tells how many of how many there are, how to get more, and how old they are.
  ///
  /// - Parameters:
  ///   - diagnostics: Where.
  ///   - isNamed: Whether the age is told of the source by its name, because there are others.
  func tellAmount(_ diagnostics: Diagnostics, isNamed: Bool = false) {
    if let next {
      let amount = total.map { "\(count) of \($0)" } ?? "\(count)"
      diagnostics.note("\(amount) \(source) · \(continuation.words(next, offersAll: offersAll))")
    }
    if let stored, stale == nil {
      diagnostics.note("note: \(isNamed ? "\(source): " : "")saved \(stored.age)")
    }
  }

  /// How a collection that grows gets more, at the end of what is stored.
  private func growth(_ query: Query?, _ diagnostics: Diagnostics) -> String? {
    guard canGrow, hasAnswer, next == nil, !isPartial,
      !provenances.contains(where: { $0.origin == .bundled })
    else { return nil }
    let verb = query == nil ? "next" : "load"
    return
      "\(count == 1 ? "1 of" : "\(count)") \(source) · more: \(diagnostics.command("\(source) \(verb)"))"
  }

  /// What is to be said, the most important last.
  var allRemarks: [Remark] {
    var all = remarks
    if isCapped {
      all.append(
        Remark(
          warning: Warning("stopped", "stopped after \(provenances.count) pages"),
          hint: .words(
            "\(continuation.action) goes on from here, and --max-pages N further at once")))
    }
    if unreadable.count > 0 {
      let rows = unreadable.count == 1 ? "1 row" : "\(unreadable.count) rows"
      let reason = unreadable.firstReason.map { " (\($0))" } ?? ""
      all.append(Remark(warning: Warning("unreadable", "\(rows) could not be read\(reason)")))
    }
    if let stale { all.append(stale) }
    if let bundled = provenances.first(where: { $0.origin == .bundled }) {
      let reason = bundled.reason.map { " (\($0.message))" } ?? ""
      all.append(
        Remark(
          warning: Warning("bundled", "bundled data\(reason)"),
          hint: restart ?? bundled.reason?.hint(settings: settings)))
    }
    return all
  }

  /// The stored part of the answer; its age is that of the oldest.
  private var stored: (age: String, reason: SourceError?)? {
    let stored = provenances.filter { $0.origin == .cached }
    guard let oldest = stored.compactMap(\.fetchedAt).min() else { return nil }
    return (oldest.age(at: now), stored.lazy.compactMap(\.reason).first)
  }

  /// What is to be warned of in stored records: they stand in for the service, or are mixed with others.
  ///
  /// That the network was not to be used is no news.
  private var stale: Remark? {
    guard let stored else { return nil }
    let isMixed = provenances.contains { $0.origin != .cached }
    guard isMixed || stored.reason.map({ $0.code != .offline }) ?? false else { return nil }
    let reason = stored.reason.map { " (\($0.message))" } ?? ""
    return Remark(
      warning: Warning("stored", "\(isMixed ? "partly " : "")saved \(stored.age)\(reason)"),
      hint: stored.reason?.hint(settings: settings),
      // A collection that grows is made of both.
      isNote: isLocalFirst && stored.reason == nil)
  }
}

extension Date {
  /// How long ago this was, in words: `3 hours ago`.
  func age(at now: Date) -> String {
    let seconds = now.timeIntervalSince(self)
    let units = [("day", 86_400.0), ("hour", 3600), ("minute", 60), ("second", 1)]
    // A clock that was set back knows no better.
    guard seconds >= 5, let unit = units.first(where: { seconds >= $0.1 }) else {
      return "just now"
    }
    let count = Int(min(seconds / unit.1, 1e9))
    return "\(count) \(unit.0)\(count == 1 ? "" : "s") ago"
  }
}

extension SourceError {
  /// What to type, or to do, against this failure.
  ///
  /// - Parameter settings: The settings of the source that failed.
  /// - Returns: `nil` where nothing helps.
  func hint(settings: [Setting]) -> Hint? {
    let words = remedy.map(Hint.init)
    return switch code {
    case .missingKey, .invalidKey:
      settings.first(where: \.isSecret).map { .command("config set \($0.key)") } ?? words
    case .circuitOpen: remedy.map { .words("\($0); --refresh asks at once") }
    default: words
    }
  }
}
