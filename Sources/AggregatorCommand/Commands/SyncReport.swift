import AggregatorKit

/// What came of a sync, for people and for programs.
struct SyncReport {
  /// The numbers.
  let entry: SyncEntry

  /// What ended it; `nil` if nothing did.
  let failure: CommandError?

  /// What the numbers alone do not say, beside the failure.
  private let remarks: [Warning]

  private let source: String
  private let result: SyncResult
  private let isEndless: Bool

  /// A report.
  ///
  /// - Parameters:
  ///   - result: What came of it.
  ///   - plugin: The source.
  ///   - isWaiting: Whether it was told to wait.
  init(_ result: SyncResult, of plugin: some Plugin, isWaiting: Bool) {
    source = plugin.name
    self.result = result
    isEndless = plugin.policy.isEndless
    entry = SyncEntry(plugin.name, result)
    failure = result.failure.map { error in
      var failure = CommandError(error, of: plugin)
      guard error.code == .rateLimited else { return failure }
      let wait = error.retryAfter.map { "try again in \($0.text)" } ?? "try again later"
      let stay = isWaiting ? "" : "; with --wait it stays until then"
      failure.hint = .words("\(wait): sync goes on from here\(stay)")
      return failure
    }
    var remarks: [Warning] = []
    if result.unreadable.count > 0 {
      let rows = result.unreadable.count == 1 ? "1 row" : "\(result.unreadable.count) rows"
      let reason = result.unreadable.firstReason.map { " (\($0))" } ?? ""
      remarks.append(Warning("unreadable", "\(rows) could not be read\(reason)"))
    }
    if let doubt = result.doubt {
      remarks.append(Warning("doubt", "what has vanished is not known: \(doubt)"))
    }
    self.remarks = remarks
  }

  /// What the numbers alone do not say, for programs.
  var warnings: [SourceWarning] {
    let failure = result.failure.map { Warning($0.code.description, $0.message) }
    return (remarks + [failure].compactMap(\.self)).map { SourceWarning(source, $0) }
  }

  /// The exit code.
  var code: ExitCode {
    guard let failure else { return result.isComplete || isEndless ? .success : .partial }
    return failure.code == .tryLater || failure.code == .interrupted ? failure.code : .partial
  }

  /// Says what the numbers alone do not say.
  func tell(_ diagnostics: Diagnostics) {
    if result.hasRestarted {
      diagnostics.note("began anew: where it had stopped is too old, or no longer valid")
    } else if result.earlierPages > 0 {
      diagnostics.note("went on after page \(result.earlierPages)")
    }
    for remark in remarks { diagnostics.warning("\(source): \(remark.message)") }
    if let failure {
      diagnostics.error(failure)
    } else if !result.isComplete, !isEndless {
      let amount = result.total.map { "\(result.passed) of \($0)" } ?? "\(result.passed)"
      diagnostics.note("\(amount) \(source) · more: \(diagnostics.command("\(source) sync"))")
    }
  }
}

/// What a sync did, in numbers.
struct SyncEntry: Entry {
  let id: String
  let added: Int
  let changed: Int
  let same: Int
  let removedUpstream: Int
  let pages: Int
  let isComplete: Bool

  init(_ name: String, _ result: SyncResult) {
    id = name
    added = result.added
    changed = result.changed
    same = result.same
    removedUpstream = result.removedUpstream
    pages = result.pages
    isComplete = result.isComplete
  }

  /// The same for people: `+12 ~3 =985 −2 (10 pages)`.
  var words: String {
    "+\(added) ~\(changed) =\(same) −\(removedUpstream) (\(pages) page\(pages == 1 ? "" : "s"))"
  }

  static let fields: [Field<SyncEntry>] = [
    Field("source", "Source", \.id, about: "The source."),
    Field("added", "Added", \.added, about: "How many records were new."),
    Field("changed", "Changed", \.changed, about: "How many records had changed, or came back."),
    Field("same", "Same", \.same, about: "How many were as before, and were not written."),
    Field("vanished", "Vanished", \.removedUpstream, about: "How many the service no longer has."),
    Field("pages", "Pages", \.pages, about: "How many pages were fetched."),
    Field("complete", "Complete", \.isComplete, about: "Whether the service has no more."),
  ]
}
