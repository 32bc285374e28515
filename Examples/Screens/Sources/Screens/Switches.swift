import AggregatorKit
import AggregatorObservation
import CountriesSource

/// The switches of a screen with settings.
@MainActor
public struct Switches {
  private let session: SearchSession<Country>

  public init(of screen: CountriesScreen) { session = screen.session }

  /// The language of errors and warnings.
  public var language: String {
    get { ErrorTranslation.preferredLanguages.first ?? "en" }
    nonmutating set { ErrorTranslation.preferredLanguages = [newValue] }
  }

  public func workOffline(_ isOffline: Bool) async {
    session.cachePolicy = isOffline ? .offline : .normal
    if !isOffline { await session.refresh() }
  }
}
