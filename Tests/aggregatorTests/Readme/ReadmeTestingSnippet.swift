import AggregatorKit
import AggregatorSourceTesting
import CountriesSource
import Testing

// More Swift of the README and of the guide "Testing a source", word for word.

func testCountries(in environment: PluginEnvironment) async throws {
  try await expectLawsUnderFaults(of: CountriesPlugin(), in: environment)
  await expectLaws(ofBundledDataOf: CountriesPlugin())
}

func testRecording(of plugin: some Plugin) async throws {
  try await expectLaws(ofRemoteOf: plugin, in: Fixture("laws").environment(for: plugin))
}
