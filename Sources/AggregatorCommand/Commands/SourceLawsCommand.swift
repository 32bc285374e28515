import AggregatorArguments
import AggregatorKit
import AggregatorLaws
import AggregatorQueries
import AggregatorTerminal
import Synchronization

extension Command {
  /// Checks the laws of each source, one source after the other.
  static func checkLaws(
    of plugins: [any Plugin], _ invocation: Invocation, _ output: OutputOptions,
    _ environment: PluginEnvironment, _ context: CommandContext
  ) async throws -> ExitCode {
    var entries: [LawEntry] = []
    var isPassed = true
    for plugin in plugins {
      context.progress.say { "Checking \(plugin.name)…" }
      let (report, requests) = try await plugin.checkLaws(
        in: environment, within: invocation.duration(.timeout))
      entries += report.entries.map { LawEntry($0, of: plugin.name) }
      isPassed = isPassed && report.violations.isEmpty && report.inconclusive.isEmpty
      context.diagnostics.note(
        "\(plugin.name): \(requests) of at most \(LawBudget.requests) requests")
    }
    try RecordPrinter.print(
      entries, as: output.plainListing("laws", LawEntry.self), output, in: context)
    return isPassed ? .success : .partial
  }
}

/// The verdict of one law on one source.
struct LawEntry: Entry {
  let id: String
  let source: String
  let verdict: String
  let found: String?
  let about: String

  init(_ entry: LawReport.Entry, of source: String) {
    id = entry.law.name
    self.source = source
    about = entry.law.summary
    switch entry.verdict {
    case .holds: (verdict, found) = ("pass", nil)
    case .violated(let violations):
      (verdict, found) = ("fail", violations.map(\.details).joined(separator: "; "))
    case .notApplicable(let reason): (verdict, found) = ("not applicable", reason)
    case .inconclusive(let error): (verdict, found) = ("inconclusive", error.message)
    }
  }

  static let fields: [Field<LawEntry>] = [
    Field("source", "Source", \.source, about: "The source."),
    Field("law", "Law", \.id, about: "The name of the law."),
    Field(
      "verdict", "Verdict", \.verdict, about: "pass, fail, not applicable, or inconclusive."),
    Field("found", "Found", \.found, about: "The violations, or the reason."),
    Field("about", "Description", \.about, about: "What the law demands."),
  ]
}

extension Plugin {
  /// Checks the laws that few requests are enough for, without the store.
  fileprivate func checkLaws(
    in environment: PluginEnvironment, within deadline: Duration?
  ) async throws(CommandError) -> (LawReport, requests: Int) {
    let budget = LawBudget(base: environment.transport)
    var environment = environment
    environment.transport = budget
    let source = try CommandError.wrapping(
      of: self, try live(in: environment, deadline: deadline))
    var subject = LawSubject(name, source: source, fields: fields)
    subject.query = try? Query(example.query)
    subject.search = policy.localSearchBound == nil ? .service : .none
    subject.isEndless = policy.isEndless
    subject.repeatsRecords = policy.repeatsRecords
    subject.secrets = secrets(in: environment.settings)
    subject.bound = PaginationBound(items: 300, pages: 5)
    subject.sizes = [policy.largestPage]
    return (await LawReport(on: subject, of: Law.ofServices), budget.count)
  }
}

/// Sends a limited number of requests.
final class LawBudget: Transport {
  static let requests = 60

  private let base: any Transport
  private let sent = Mutex(0)

  init(base: any Transport) { self.base = base }

  /// The number of requests so far.
  var count: Int { sent.withLock(\.self) }

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let number = sent.withLock { sent in
      sent += 1
      return sent
    }
    guard number <= Self.requests else {
      sent.withLock { $0 = Self.requests }
      throw SourceError(.rejected, "the limit of \(Self.requests) requests is reached")
    }
    return try await base.send(request)
  }
}
