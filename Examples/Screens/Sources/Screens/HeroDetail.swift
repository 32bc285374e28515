public import AggregatorKit
public import HeroesSource
public import Observation

/// A hero's screen: what the list has at once, then the cached details, then those of the service.
///
/// The screens of heroes and products need no model of their own beyond a `SearchSession`.
@Observable @MainActor
public final class HeroDetail {
  public private(set) var hero: Hero
  public private(set) var provenance: Provenance?
  public private(set) var error: SourceError?

  private let source: any DataSource<Hero>

  public init(_ hero: Hero, of source: any DataSource<Hero>) {
    self.hero = hero
    self.source = source
  }

  public func load() async {
    do throws(SourceError) {
      for try await answer in source.updates(for: hero.id) {
        hero = answer.item.merged(over: hero)
        provenance = answer.provenance
      }
      error = nil
    } catch .cancelled {
      // The screen has gone.
    } catch {
      self.error = error
    }
  }
}
