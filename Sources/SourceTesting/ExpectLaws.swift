public import AggregatorKit
public import AggregatorLaws
public import Testing

/// Expects a source to keep the laws of a `DataSource`; see `Law`.
///
/// Every violation is an issue that begins with the law's name, and so is every law that could not be
/// judged because the source failed: nothing should fail here.
///
/// - Parameters:
///   - subject: The source, and what is known of it.
///   - laws: Which laws; all by default.
///   - location: Where issues are shown.
/// - Returns: What each law came to, also those that say nothing about this source.
@discardableResult
public func expectLaws(
  of subject: LawSubject<some Record>, _ laws: [Law] = Law.all,
  sourceLocation location: SourceLocation = #_sourceLocation
) async -> LawReport {
  let report = await LawReport(on: subject, of: laws)
  for violation in report.violations {
    Issue.record(
      "\(violation.law) of \(report.subject): \(violation.details)", sourceLocation: location)
  }
  for entry in report.unjudged {
    Issue.record(
      "\(entry.law.name) of \(report.subject): \(entry.verdict)", sourceLocation: location)
  }
  return report
}

/// Expects the service of a plugin to keep the laws.
///
/// ```swift
/// @Test func `keeps the laws`() async throws {
///   try await expectLaws(ofRemoteOf: HeroesPlugin(), in: environment)
/// }
/// ```
///
/// - Parameters:
///   - plugin: The plugin.
///   - environment: What the service may touch: a transport to a service that a test runs, and settings
///     that lead there.
///   - laws: Which laws; all by default.
///   - location: Where issues are shown.
/// - Returns: What each law came to.
/// - Throws: What `Plugin.remote(in:)` throws.
@discardableResult
public func expectLaws(
  ofRemoteOf plugin: some Plugin, in environment: PluginEnvironment, _ laws: [Law] = Law.all,
  sourceLocation location: SourceLocation = #_sourceLocation
) async throws -> LawReport {
  await expectLaws(
    of: try LawSubject(remoteOf: plugin, in: environment), laws, sourceLocation: location)
}

/// Expects the bundled data of a plugin to keep the laws.
///
/// - Parameters:
///   - plugin: The plugin. What its example names must be there.
///   - laws: Which laws; all by default.
///   - location: Where issues are shown.
/// - Returns: What each law came to.
@discardableResult
public func expectLaws(
  ofBundledOf plugin: some Plugin, _ laws: [Law] = Law.all,
  sourceLocation location: SourceLocation = #_sourceLocation
) async -> LawReport {
  await expectLaws(of: LawSubject(bundledOf: plugin), laws, sourceLocation: location)
}

/// Expects a source to keep its promises in every ``FaultScenario``: its bare service the laws, and its whole
/// chain over a store what ``ScenarioPromise`` says.
///
/// ```swift
/// @Test func `keeps its promises in all scenario`() async throws {
///   try await expectLawsInAllWeather(of: HeroesPlugin(), in: environment)
/// }
/// ```
///
/// Everything that is broken is an issue that begins with the source and the weather.
///
/// - Parameters:
///   - plugin: The source.
///   - environment: What leads to its service, which must be in order: a transport to a service that a
///     test runs, or to a recording. Nobody waits in it, rates are off, and its store is not used.
///   - weathers: Which weathers; all by default.
///   - patience: How long a call may really take; 10 seconds by default, far more than any needs.
///   - location: Where issues are shown.
/// - Returns: What came of each weather.
/// - Throws: What the source throws in fair weather, before any other.
@discardableResult
public func expectLawsUnderFaults(
  of plugin: some Plugin, in environment: PluginEnvironment,
  _ scenarios: [FaultScenario] = FaultScenario.all,
  maxWait: Duration = .seconds(10), sourceLocation location: SourceLocation = #_sourceLocation
) async throws -> FaultReport {
  let report = try await FaultReport(
    of: plugin, in: environment, scenarios, maxWait: maxWait)
  for fault in report.details { Issue.record("\(fault)", sourceLocation: location) }
  return report
}

/// Expects a source to keep its promises in every ``FaultScenario``, in front of a service that a test makes
/// up.
///
/// - Parameters:
///   - plugin: The source.
///   - settings: What has been set. Whatever address they lead to, the handler answers.
///   - weathers: Which weathers; all by default.
///   - location: Where issues are shown.
///   - handler: Makes the service's reply to a request.
/// - Returns: What came of each weather.
/// - Throws: What the source throws in fair weather, before any other.
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

/// Sends every request to a server of this machine, whatever its address.
private struct HandlerTransport: Transport {
  let server: LoopbackServer

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    try await HTTPTransport.standard.send(request.sent(to: server.port))
  }
}
