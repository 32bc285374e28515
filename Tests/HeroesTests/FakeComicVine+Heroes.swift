import AggregatorFakeServices
import AggregatorKit
import Foundation
import HeroesSource

/// Fri, 20 Nov 2026, 10:10:00 UTC.
let tenPastTen = Date(timeIntervalSince1970: 1_795_169_400)

extension FakeComicVine {
  /// The bare source over this service.
  func heroes(at now: Date = tenPastTen) throws -> any DataSource<Hero> {
    try HeroesPlugin().remote(in: environment(at: now))
  }

  /// The whole chain over this service, which never waits between two attempts.
  func chain(
    with changes: [String: String] = [:], reading: CachePolicy = .normal, at now: Date = tenPastTen,
    observer: Observer = .silent
  ) throws -> any DataSource<Hero> {
    try HeroesPlugin().source(
      in: environment(with: changes, at: now, observer: observer), reading: reading)
  }

  func environment(
    with changes: [String: String] = [:], at now: Date = tenPastTen, observer: Observer = .silent
  ) -> PluginEnvironment {
    PluginEnvironment(
      settings: Settings(settings.merging(changes) { $1 }), transport: transport,
      now: { now }, random: { 0 }, observer: observer)
  }
}

extension DataSource {
  /// What a walk finds, page by page, and why it ended.
  func walked(
    matching text: String? = nil, size: Int, ahead: Int = 0
  ) async throws -> (pages: [Page<Item>], ids: [Item.ID], end: PaginationEnd?) {
    var walked: (pages: [Page<Item>], ids: [Item.ID], end: PaginationEnd?) = ([], [], nil)
    let query = try text.map { try Query($0) }
    for try await step in pages(matching: query, size: size, ahead: ahead) {
      walked.pages.append(step.page)
      walked.ids += step.items.map(\.id)
      walked.end = step.end
    }
    return walked
  }
}
