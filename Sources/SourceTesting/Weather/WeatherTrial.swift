import AggregatorKit
import AggregatorLaws
import Foundation

/// One source in one weather: two journeys through it, and the laws.
struct WeatherTrial<Source: Plugin>: Sendable {
  let plugin: Source
  let weather: Weather
  let environment: PluginEnvironment
  let truth: Truth<Source.Item>
  let patience: Duration

  init(
    of plugin: Source, in weather: Weather, over environment: PluginEnvironment,
    truth: Truth<Source.Item>, patience: Duration
  ) {
    self.plugin = plugin
    self.weather = weather
    self.environment = environment
    self.truth = truth
    self.patience = patience
  }

  /// What came of it.
  func entry() async -> WeatherReport.Entry {
    let home = URL.temporaryDirectory.appending(path: "weather-\(UUID())")
    defer { try? FileManager.default.removeItem(at: home) }
    do throws(SourceError) {
      var breaches: [WeatherBreach] = []
      var strikes = 0
      for hasBegun in [false, true] {
        let file = home.appending(path: hasBegun ? "begun.sqlite" : "empty.sqlite")
        let world = try WeatherWorld(over: environment, for: plugin)
        var journey = try Journey(
          of: plugin, through: weather, in: world, truth, store: SQLiteStore(at: file.path),
          patience: patience)
        if hasBegun { await journey.comeIntoWeather() } else { await journey.beginInWeather() }
        strikes += journey.strikes
        await journey.inspectStore()
        await journey.expectRecovery()
        breaches += journey.breaches.filter { !breaches.contains($0) }
        // Whoever never comes to an end would only do so once more.
        if journey.isStuck { return entry(strikes, breaches, laws: nil) }
      }
      guard let laws = try await lawReport() else {
        breaches.append(
          WeatherBreach(
            promise: .terminates, place: "the laws", expected: "an end",
            found: "none within \(lawPatience)"))
        return entry(strikes, breaches, laws: nil)
      }
      return entry(strikes, breaches, laws: laws)
    } catch {
      let breach = WeatherBreach(
        promise: .recovers, place: "the beginning", expected: "a source",
        found: "\(error.code): \(error)")
      return entry(0, [breach], laws: nil)
    }
  }

  private func entry(
    _ strikes: Int, _ breaches: [WeatherBreach], laws: LawReport?
  ) -> WeatherReport.Entry {
    WeatherReport.Entry(
      weather: weather, isFelt: strikes > 0, breaches: breaches, laws: laws)
  }

  /// What the laws come to for the bare service; `nil` if that does not end.
  private func lawReport() async throws(SourceError) -> LawReport? {
    let world = try WeatherWorld(over: environment, for: plugin)
    world.front.desk.begin(weather)
    var subject = try LawSubject(remoteOf: plugin, in: world.environment)
    subject.sizes = [3, Truth<Source.Item>.size]
    subject.bound = WalkBound(items: 25, pages: 6)
    subject.known = truth.item?.id
    let laws = Law.all.filter { !weather.suspended.contains($0.name) }
    return await within(lawPatience) { [subject] in await LawReport(on: subject, of: laws) }
  }

  private var lawPatience: Duration { patience * 6 }
}
