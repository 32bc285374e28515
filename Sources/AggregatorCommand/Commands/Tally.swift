import Core

/// What a listing has come to so far: who answered, what is to be said about it, how it ends.
struct Tally {
  /// How many records were shown.
  private(set) var count = 0

  /// How many records there are, if that is known.
  private(set) var total: Int?

  /// Where to go on.
  private(set) var next: Cursor?

  /// Whether a part of what was asked for is missing.
  private(set) var isPartial = false

  private let source: String
  private let settings: [Setting]
  private var provenances: [Provenance] = []
  private var unreadable = Unreadable.none
  private var remarks: [Remark] = []

  /// A warning, and what to do about it.
  struct Remark {
    let warning: Warning
    var hint: Hint?
  }

  init(of plugin: some Plugin) {
    source = plugin.name
    settings = plugin.settings
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
    if page.warnings.contains(where: { $0.code == "stopped" }) { isPartial = true }
    for warning in page.warnings where !remarks.contains(where: { $0.warning == warning }) {
      remarks.append(Remark(warning: warning))
    }
  }

  /// Counts in a single record.
  mutating func add<Item>(_ found: Found<Item>) {
    count += 1
    provenances.append(found.provenance)
  }

  /// Notes that the walk ended before its time.
  mutating func end(_ end: WalkEnd) {
    switch end {
    case .exhausted, .itemLimit: return
    case .pageLimit:
      isPartial = true
      remarks.append(
        Remark(
          warning: Warning("stopped", "stopped after \(provenances.count) pages"),
          hint: "--cursor goes on from here, and --max-pages N further at once"))
    case .cycle, .nothingNew:
      isPartial = true
      next = nil
      remarks.append(Remark(warning: Warning("stopped", "stopped: \(end.inWords)")))
    }
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
    if count == 0, !isPartial {
      diagnostics.note(
        query.map { "no \(source) match '\($0.text.fitted(to: 80))'" } ?? "no \(source)")
    }
    if let next {
      let amount = total.map { "\(count) of \($0)" } ?? "\(count)"
      diagnostics.note("\(amount) \(source) · more: --cursor \(next) · all: --all")
    }
    for remark in allRemarks {
      diagnostics.warning("\(source): \(remark.warning.message)", hint: remark.hint)
    }
  }

  /// What is to be said, the most important last.
  private var allRemarks: [Remark] {
    var all = remarks
    if unreadable.count > 0 {
      let rows = unreadable.count == 1 ? "1 row" : "\(unreadable.count) rows"
      let reason = unreadable.firstReason.map { " (\($0))" } ?? ""
      all.append(Remark(warning: Warning("unreadable", "\(rows) could not be read\(reason)")))
    }
    if let bundled = provenances.first(where: { $0.origin == .bundled }) {
      let reason = bundled.reason.map { " (\($0.message))" } ?? ""
      all.append(
        Remark(
          warning: Warning("bundled", "bundled data\(reason)"),
          hint: bundled.reason?.hint(settings: settings)))
    }
    return all
  }
}

extension SourceError {
  /// What to type, or to do, against this failure.
  ///
  /// - Parameter settings: The settings of the source that failed.
  /// - Returns: `nil` where nothing helps.
  func hint(settings: [Setting]) -> Hint? {
    let words = remedy.map(Hint.words)
    return switch code {
    case .missingKey, .invalidKey:
      settings.first(where: \.isSecret).map { .command("config set \($0.key)") } ?? words
    default: words
    }
  }
}
