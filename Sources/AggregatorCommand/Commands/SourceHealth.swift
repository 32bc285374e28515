import AggregatorKit
import AggregatorLaws
import Foundation

/// How a source is, as `sources check` found it.
struct SourceHealth: Entry {
  let id: String
  let status: String
  let key: String
  let settings: [String]
  let service: String
  let milliseconds: Int?
  let laws: [String]
  let records: Int?
  let fetchedAt: String?
  let answer: String
  let exitCode: Int

  static let fields: [Field<SourceHealth>] = [
    Field("source", "Source", \.id, about: "The source."),
    Field("status", "Status", \.status, about: "ok, odd if it breaks a law, or failed."),
    Field("key", "Key", \.key, about: "Whether a key is set, missing or not needed."),
    Field("settings", "Settings", \.settings, about: "What is set, and where."),
    Field("service", "Service", \.service, about: "Whether it answers, or why not."),
    Field("milliseconds", "Latency", \.milliseconds, about: "How long a page took, in ms."),
    Field("laws", "Laws", \.laws, about: "What its page was judged by, and what is broken."),
    Field("records", "Stored", \.records, about: "How many records are stored."),
    Field("fetchedAt", "Fetched", \.fetchedAt, about: "When the newest stored page was fetched."),
    Field(
      "answer", "Answers", \.answer,
      about: "Where an answer would come from: live, cached or bundled."),
    Field("exitCode", "Exit code", \.exitCode, about: "The exit code for this source alone."),
  ]
}

/// How a source is, and why if it is not well.
struct SourceCheck: Sendable {
  let health: SourceHealth

  /// Why the service does not answer; `nil` if it does.
  let failure: SourceError?

  /// The exit code for it.
  let code: ExitCode
}

extension Plugin {
  /// Asks the service for a page, puts it to the laws of records, and looks at what is stored.
  ///
  /// - Parameters:
  ///   - environment: Everything that it may touch.
  ///   - time: How long the service may take.
  /// - Returns: What came of it.
  func check(in environment: PluginEnvironment, within time: Duration) async -> SourceCheck {
    let (page, taken) = await sample(in: environment, within: time)
    let stored = try? await environment.store?.status(of: name)
    var report: LawReport?
    var failure: SourceError?
    switch page {
    case .success(let page): report = await judge(page.records)
    case .failure(let error): failure = error
    }
    let violations = report?.violations ?? []
    let code = failure.map(ExitCode.init) ?? (violations.isEmpty ? .success : .partial)
    let health = SourceHealth(
      id: name, status: failure != nil ? "failed" : violations.isEmpty ? "ok" : "odd",
      key: keyState(environment.settings), settings: shownSettings(environment.settings),
      service: failure?.message ?? "answers",
      milliseconds: failure == nil ? Int(taken / .milliseconds(1)) : nil,
      laws: report?.entries.map { "\($0.law.name): \($0.verdict)" } ?? [],
      records: stored?.records, fetchedAt: stored?.fetchedAt?.iso8601,
      answer: await answer(
        isLive: failure == nil, hasStored: (stored?.records ?? 0) > 0, in: environment),
      exitCode: Int(code.rawValue))
    return SourceCheck(health: health, failure: failure, code: code)
  }

  private func sample(
    in environment: PluginEnvironment, within time: Duration
  ) async -> (Result<Page<Item>, SourceError>, Duration) {
    let start = ContinuousClock.now
    let page = await Result { () async throws(SourceError) in
      try await live(in: environment, deadline: time).page(PageRequest(limit: 5))
    }
    return (page, ContinuousClock.now - start)
  }

  private func judge(_ records: [Item]) async -> LawReport {
    let source = BundledSource("\(name).sample", items: records, fields: fields)
    return await LawReport(
      on: LawSubject("\(name).sample", source: source, fields: fields), of: Law.ofRecords)
  }

  /// Who would answer a list now.
  private func answer(
    isLive: Bool, hasStored: Bool, in environment: PluginEnvironment
  ) async -> String {
    let first = PageRequest(limit: min(ListingOptions.standardLimit, policy.largestPage))
    let isKept = await keptAnswer(to: first, in: environment) != nil
    let isStored = isKept || hasStored && !isLive
    let origin: Provenance.Origin = isStored ? .cached : isLive ? .live : .bundled
    return origin.rawValue
  }
}
