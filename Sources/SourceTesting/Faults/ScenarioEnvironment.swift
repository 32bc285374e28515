import AggregatorKit
import Foundation

/// Where a source lives while a weather is played: a server in front of its service, and a time in
/// which nobody really waits.
struct ScenarioEnvironment: Sendable {
  let front: FaultProxy
  let clock = ReplayClock()
  let environment: PluginEnvironment

  private let aging: Duration

  /// A world.
  ///
  /// - Parameters:
  ///   - environment: What leads to the service. Its rates are off, its store is not used.
  ///   - plugin: The source that lives there.
  /// - Throws: `SourceError` with code `unreachable` if the system gives no socket.
  init(over environment: PluginEnvironment, for plugin: some Plugin) throws(SourceError) {
    let (start, date) = (clock.now, environment.now())
    let now = { @Sendable [clock] in
      date.addingTimeInterval(start.duration(to: clock.now) / .seconds(1))
    }
    front = try FaultProxy(of: environment.transport, now: now)
    var own = environment
    let rates = plugin.settings.filter { $0.form == .rate }.map { ($0.key, "off") }
    own.settings = environment.settings.replaced(Dictionary(rates) { $1 })
    own.transport = front
    own.store = nil
    own.clock = clock
    own.now = now
    // Half of the longest wait, before every retry.
    own.random = { 1 << 63 }
    self.environment = own
    // No service is left alone for longer than a day.
    var aging = Duration.seconds(24 * 3600)
    if case .liveFirst(let freshness) = plugin.policy.readOrder { aging = max(aging, freshness) }
    self.aging = aging + .seconds(60)
  }

  /// What the calendar says.
  var now: @Sendable () -> Date { environment.now }

  /// Lets so much time pass that nothing is fresh, and nobody is left alone any more.
  func age() { clock.advance(by: aging) }
}

/// A walk that is over.
struct CollectedWalk<Item: Record>: Sendable {
  private(set) var pages: [Page<Item>] = []
  private(set) var records: [Item] = []
  private(set) var failure: SourceError?

  init(of source: any DataSource<Item>, upTo bound: PaginationBound) async {
    do throws(SourceError) {
      for try await step in source.pages(size: Baseline<Item>.size, upTo: bound, ahead: 0) {
        pages.append(step.page)
        records += step.items
      }
    } catch {
      failure = error
    }
  }
}
