public import AggregatorKit
public import AggregatorLaws
public import Testing

/// Expects a source to satisfy the laws of a `DataSource`.
///
/// Records an issue for every violation, and for every law that could not be checked because the
/// source failed. `ids` are those of all records in the order of the service, if the test knows them: without
/// them, a law cannot see what a service keeps to itself.
@discardableResult
public func expectLaws<Item: SourceRecord>(
  of subject: LawSubject<Item>, _ laws: [Law] = Law.all, knowing ids: [Item.ID]? = nil,
  sourceLocation location: SourceLocation = #_sourceLocation
) async -> LawReport {
  CrashNote.install()
  var subject = subject
  if let ids { subject.allIDs = ids }
  let report = await LawReport(on: subject, of: laws)
  for violation in report.violations {
    Issue.record(
      "\(violation.law) of \(report.subject): \(violation.details)", sourceLocation: location)
  }
  for entry in report.notApplicable {
    print("\(report.subject): \(entry.law.name) is \(entry.verdict)")
  }
  for (laws, verdict) in report.unexplained {
    Issue.record("\(laws) of \(report.subject): \(verdict)", sourceLocation: location)
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
/// `environment` needs a transport to a service that the test runs, and settings that point to it. Pages of the
/// service are requested with 5 records, unless its `pageSize` is another, so that few records have many pages;
/// a recording has its own. `ids` are those of all records in the order of the service.
///
/// - Throws: Errors of `Plugin.remote(in:)`.
@discardableResult
public func expectLaws<Source: Plugin>(
  ofRemoteOf plugin: Source, in environment: PluginEnvironment, _ laws: [Law] = Law.all,
  knowing ids: [Source.Item.ID]? = nil, sourceLocation location: SourceLocation = #_sourceLocation
) async throws -> LawReport {
  let subject = try LawSubject(remoteOf: plugin, in: environment.withSmallPages(of: plugin))
  return await expectLaws(of: subject, laws, knowing: ids, sourceLocation: location)
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
/// test runs, or to a recording; its clock, rates and store are replaced, and its pages are small, as
/// those of ``expectLaws(ofRemoteOf:in:_:knowing:sourceLocation:)``. `ids` are those of all records in the order of
/// the service. Throws failures of the service without any fault.
@discardableResult
public func expectLawsUnderFaults<Source: Plugin>(
  of plugin: Source, in environment: PluginEnvironment,
  _ scenarios: [FaultScenario] = FaultScenario.all, knowing ids: [Source.Item.ID]? = nil,
  sourceLocation location: SourceLocation = #_sourceLocation
) async throws -> FaultReport {
  // A guard against hanging: one call takes less, however busy the machine is.
  let report = try await FaultReport(
    of: plugin, in: environment, scenarios, knowing: ids, maxWait: .seconds(600))
  for law in report.notApplicable { print("\(report.source): \(law)") }
  for problem in report.details { Issue.record("\(problem)", sourceLocation: location) }
  return report
}

/// The same for a fake service: `handler` replies, whatever the settings.
@discardableResult
public func expectLawsUnderFaults<Source: Plugin>(
  of plugin: Source, settings: SourceSettings = SourceSettings(),
  knowing ids: [Source.Item.ID]? = nil,
  sourceLocation location: SourceLocation = #_sourceLocation,
  servedBy handler: @escaping LoopbackServer.Handler
) async throws -> FaultReport {
  let service = HandlerTransport(server: try LoopbackServer(handler))
  return try await expectLawsUnderFaults(
    of: plugin, in: PluginEnvironment(settings: settings, transport: service),
    knowing: ids, sourceLocation: location)
}

/// Sends every request to a local server, whatever its address.
private struct HandlerTransport: Transport {
  let server: LoopbackServer

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    try await LongTimeoutTransport().send(request.sent(to: server.port))
  }
}

extension Law {
  /// Each law comes after its premises.
  public static let all: [Law] = [
    paginationStable, paginationEnds, idsUnique, listComplete, anyPageSize, limitRespected,
    skipConsistent, cursorLasts, cursorForeign, cursorDamaged, oneState,
    searchMatches, searchUsesWords, searchPages, searchWithinList, searchComplete,
    listedIDFound, unknownNotFound, mergeKeeps,
    recordRoundTrip, fieldKinds, fieldStored, searchableText, fieldsFilled,
    cancellation, oneRequest, noSecret,
  ]
}

extension LawReport {
  public init(on subject: LawSubject<some SourceRecord>) async {
    await self.init(on: subject, of: Law.all)
  }
}
