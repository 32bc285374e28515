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
      try Station(CountriesPlugin(), countries.settings, countries.transport),
      try Station(HeroesPlugin(), heroes.settings, heroes.transport),
      try Station(ProductsPlugin(), products.settings, products.transport),
      try Station(UsersPlugin(), users.settings, users.transport),
    ]
    let known = all.map(\.name)
    if let unknown = names.first(where: { !known.contains($0) }) {
      print(
        "error: no source is called '\(unknown)'\nhint: one of \(known.joined(separator: ", "))")
      exit(64)
    }
    var passed = true
    for station in all where names.isEmpty || names.contains(station.name) {
      let report = try await station.report()
      print(report.table)
      if isVerbose { for fault in report.details { print("  \(fault)") } }
      print()
      passed = passed && report.passed
    }
    exit(passed ? 0 : 1)
  }
}

/// A source and its fake service.
private struct Station {
  let name: String
  let report: () async throws -> FaultReport

  init(
    _ plugin: some Plugin, _ settings: [String: String], _ transport: some Transport
  ) throws {
    name = plugin.name
    let environment = PluginEnvironment(settings: Settings(settings), transport: transport)
    report = { try await FaultReport(of: plugin, in: environment) }
  }
}
