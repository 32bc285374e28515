import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The end of the download of one image.
struct ImageResult<Item: Record>: Sendable {
  let id: String

  /// True if the record was listed, not named by the user.
  let isListed: Bool

  /// The record, if it had to be looked up and was found.
  var record: LookupResult<Item>?

  /// The number of bytes that were saved.
  var bytes: Swift.Result<Int, SourceError> = .success(0)

  var warnings: [Warning] = []
}

/// The numbers of a download of images, for progress and report.
struct ImageTally<P: Plugin> {
  var outcome: ListingOutcome
  var skipped = 0

  /// The number of records; `nil` if unknown.
  var total: Int?

  private let plugin: P
  private var failures = LookupFailures()
  private var failed = 0
  private var warnings: [Warning] = []
  private var saved = 0
  private var missing = 0
  private var bytes = 0

  init(of finder: ImageFinder<P>) {
    plugin = finder.plugin
    outcome = ListingOutcome(of: plugin, at: finder.environment.now())
  }

  mutating func add(_ result: ImageResult<P.Item>) {
    if let record = result.record { outcome.add(record) }
    for warning in result.warnings where !warnings.contains(warning) { warnings.append(warning) }
    switch result.bytes {
    case .success(let count):
      saved += 1
      bytes += count
    case .failure(let error) where error.code == .notFound && result.isListed: missing += 1
    case .failure(let error):
      failed += 1
      failures.add(error, of: result.id)
    }
  }

  /// The line of progress: `heroes: 12 of 40 images, 3.4 MB`.
  var progress: String {
    let done = saved + skipped + missing + failed
    let count = total.map { "\(done) of \($0) images" } ?? done.of("image")
    return "\(plugin.name): \(count), \(bytes.byteCount)"
  }

  func report(to diagnostics: Diagnostics, _ directory: String) -> ExitCode {
    if saved + skipped + missing == 0, !failures.isEmpty {
      outcome.reportCount(to: diagnostics)
      return failures.report(of: plugin, to: diagnostics)
    }
    var outcome = outcome
    for error in failures.errors { outcome.fail(error) }
    outcome.reportCount(to: diagnostics)
    for warning in warnings { diagnostics.warning("\(plugin.name): \(warning.message)") }
    let size = saved > 0 ? " (\(bytes.byteCount))" : ""
    var parts = ["Saved \(saved.of("image")) to \(directory)\(size)"]
    if skipped > 0 { parts.append("\(skipped) already there") }
    if missing > 0 { parts.append("\(plugin.noun.count(missing)) without image") }
    if failed > 0 { parts.append("\(failed) failed") }
    diagnostics.note(parts.joined(separator: ", "))
    return outcome.isPartial ? .partial : .success
  }
}
