import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import CountriesSource
import Foundation
import HeroesSource
import ProductsSource
import UsersSource

/// Runs all fault scenarios for the named sources, or for all, and prints the results.
@main struct FaultReportProgram {
  static func main() async throws {
    var names = CommandLine.arguments.dropFirst()
    let isVerbose = names.contains("--verbose")
    names.removeAll { $0 == "--verbose" }
    let countries = try FakeCountries()
    let heroes = try FakeComicVine()
    let products = try FakeProducts()
    let users = try FakeRandomUser()
    let all = [
      try ScenarioSource(CountriesPlugin(), countries.settings, countries.transport),
      try ScenarioSource(HeroesPlugin(), heroes.settings, heroes.transport),
      try ScenarioSource(ProductsPlugin(), products.settings, products.transport),
      try ScenarioSource(UsersPlugin(), users.settings, users.transport),
    ]
    let known = all.map(\.name)
    if let unknown = names.first(where: { !known.contains($0) }) {
      print(
        "error: unknown source \"\(unknown)\"\nhint: use one of \(known.joined(separator: ", "))")
      exit(64)
    }
    var passed = true
    for source in all where names.isEmpty || names.contains(source.name) {
      let report = try await source.report()
      print(report.table)
      if isVerbose { for line in report.notApplicable + report.details { print("  \(line)") } }
      print()
      passed = passed && report.passed
    }
    exit(passed ? 0 : 1)
  }
}

/// A source and its fake service.
private struct ScenarioSource {
  let name: String
  let report: () async throws -> FaultReport

  init(
    _ plugin: some Plugin, _ settings: [String: String], _ transport: some Transport
  ) throws {
    name = plugin.name
    let environment = PluginEnvironment(settings: SourceSettings(settings), transport: transport)
    report = { try await FaultReport(of: plugin, in: environment) }
  }
}
