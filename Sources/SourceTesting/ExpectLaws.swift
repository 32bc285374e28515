public import AggregatorKit
public import AggregatorLaws
public import Testing

/// Expects a source to satisfy the laws of a `DataSource`.
///
/// Records an issue for every violation, and for every law that could not be checked because the
/// source failed.
@discardableResult
public func expectLaws(
  of subject: LawSubject<some Record>, _ laws: [Law] = Law.all,
  sourceLocation location: SourceLocation = #_sourceLocation
) async -> LawReport {
  CrashNote.install()
  let report = await LawReport(on: subject, of: laws)
  for violation in report.violations {
    Issue.record(
      "\(violation.law) of \(report.subject): \(violation.details)", sourceLocation: location)
  }
  for entry in report.notApplicable {
    print("\(report.subject): \(entry.law.name) is \(entry.verdict)")
  }
  for entry in report.inconclusive {
    Issue.record(
      "\(entry.law.name) of \(report.subject): \(entry.verdict)", sourceLocation: location)
  }
  return report
}

/// Expects the remote of a plugin to satisfy the laws.
///
/// ```swift
/// @Test func `satisfies the laws`() async throws {
///   try await expectLaws(ofRemoteOf: HeroesPlugin(), in: environment)
/// }
/// ```
///
/// `environment` needs a transport to a service that the test runs, and settings that point to it.
///
/// - Throws: Errors of `Plugin.remote(in:)`.
@discardableResult
public func expectLaws(
  ofRemoteOf plugin: some Plugin, in environment: PluginEnvironment, _ laws: [Law] = Law.all,
  sourceLocation location: SourceLocation = #_sourceLocation
) async throws -> LawReport {
  await expectLaws(
    of: try LawSubject(remoteOf: plugin, in: environment), laws, sourceLocation: location)
}

/// Expects the bundled data of a plugin, which must contain its example, to satisfy the laws.
@discardableResult
public func expectLaws(
  ofBundledDataOf plugin: some Plugin, _ laws: [Law] = Law.all,
  sourceLocation location: SourceLocation = #_sourceLocation
) async -> LawReport {
  await expectLaws(of: LawSubject(bundledOf: plugin), laws, sourceLocation: location)
}

/// Expects a plugin to satisfy the laws, and its whole chain to keep every ``ScenarioGuarantee``, in
/// each ``FaultScenario``.
///
/// ```swift
/// @Test func `satisfies the laws in all fault scenarios`() async throws {
///   try await expectLawsUnderFaults(of: HeroesPlugin(), in: environment)
/// }
/// ```
///
/// Every issue begins with the source and the scenario. `environment` leads to a service that the
/// test runs, or to a recording; its clock, rates and store are replaced. `maxWait` limits the real
/// time of one call, which has no end then: more than a busy machine needs. Throws failures of the service without any
/// fault.
@discardableResult
public func expectLawsUnderFaults(
  of plugin: some Plugin, in environment: PluginEnvironment,
  _ scenarios: [FaultScenario] = FaultScenario.all,
  maxWait: Duration = .seconds(60), sourceLocation location: SourceLocation = #_sourceLocation
) async throws -> FaultReport {
  let report = try await FaultReport(
    of: plugin, in: environment, scenarios, maxWait: maxWait)
  for law in report.notApplicable { print("\(report.source): \(law)") }
  for problem in report.details { Issue.record("\(problem)", sourceLocation: location) }
  return report
}

/// The same for a fake service: `handler` replies, whatever the settings.
@discardableResult
public func expectLawsUnderFaults(
  of plugin: some Plugin, settings: Settings = Settings(),
  _ scenarios: [FaultScenario] = FaultScenario.all,
  sourceLocation location: SourceLocation = #_sourceLocation,
  servedBy handler: @escaping LoopbackServer.Handler
) async throws -> FaultReport {
  let service = HandlerTransport(server: try LoopbackServer(handler))
  return try await expectLawsUnderFaults(
    of: plugin, in: PluginEnvironment(settings: settings, transport: service), scenarios,
    sourceLocation: location)
}

/// Sends every request to a local server, whatever its address.
private struct HandlerTransport: Transport {
  let server: LoopbackServer

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    try await HTTPTransport.standard.send(request.sent(to: server.port))
  }
}

extension Law {
  /// Each law comes after its premises.
  public static let all: [Law] = [
    idsUnique, paginationStable, paginationEnds, listComplete, anyPageSize, limitRespected,
    skipConsistent,
    cursorLasts, cursorForeign, cursorDamaged, oneState,
    searchMatches, searchUsesWords, searchWithinList, searchComplete,
    listedIDFound, unknownNotFound, mergeKeeps,
    recordRoundTrip, fieldKinds, fieldStored, searchableText,
    cancellation, oneRequest, noSecret,
  ]
}

extension LawReport {
  public init(on subject: LawSubject<some Record>) async {
    await self.init(on: subject, of: Law.all)
  }
}
