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
