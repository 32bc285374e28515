public import AggregatorKit
public import AggregatorObservation
public import CountriesSource
public import Observation

/// The countries, which are searched by name or capital, and one that is dealt at random.
@Observable @MainActor
public final class CountriesScreen {
  public let session: SearchSession<Country>
  public private(set) var dealt: Country?
  public private(set) var error: SourceError?

  private let source: any DataSource<Country>

  public init(_ source: any DataSource<Country>, clock: any Clock<Duration> = ContinuousClock()) {
    self.source = source
    session = SearchSession(source, clock: clock)
  }

  public func deal() async {
    do throws(SourceError) {
      var countries: [Country] = []
      for try await country in source.items(size: 500) { countries.append(country) }
      dealt = countries.randomElement()
      error = nil
    } catch {
      self.error = error
    }
  }
}
