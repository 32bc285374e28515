import AggregatorKit
import AggregatorSourceTesting
import CountriesSource
import Testing

// More Swift of the README, word for word.

func testCountries(in environment: PluginEnvironment) async throws {
  try await expectLawsUnderFaults(of: CountriesPlugin(), in: environment)
  await expectLaws(ofBundledDataOf: CountriesPlugin())
}
