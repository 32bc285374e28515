public import AggregatorKit
public import AggregatorLaws
public import Testing

/// Expects a store to keep the promises of `Store`.
///
/// ```swift
/// @Test func `keeps the promises of a store`() async {
///   let contents = URL.temporaryDirectory.appending(path: "\(UUID()).sqlite").path
///   await expectStoreLaws { SQLiteStore(at: contents) }
/// }
/// ```
///
/// `open` opens the same contents each time, as another process would; for a store in memory it returns the
/// same object. A law works on sources with new names, so all of them, and other data, can share a database,
/// in which they leave those sources.
///
/// Records an issue for every violation, and for every law that could not be checked because the store
/// failed. Returns the verdicts, in the order of `laws`.
@discardableResult
public func expectStoreLaws(
  _ laws: [StoreLaw] = StoreLaw.all, sourceLocation location: SourceLocation = #_sourceLocation,
  of open: @escaping @Sendable () async throws -> any Store
) async -> [(law: StoreLaw, verdict: Verdict)] {
  CrashNote.install()
  var verdicts: [(law: StoreLaw, verdict: Verdict)] = []
  for law in laws {
    let verdict = await law.check(open)
    verdicts.append((law, verdict))
    switch verdict {
    case .holds: break
    case .violated(let violations):
      for violation in violations { Issue.record("\(violation)", sourceLocation: location) }
    case .notApplicable: print("\(law.name) is \(verdict)")
    case .inconclusive: Issue.record("\(law.name) is \(verdict)", sourceLocation: location)
    }
  }
  return verdicts
}
