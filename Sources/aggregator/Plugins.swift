import Core
import Countries
import Heroes

/// Every source that this program offers: the only list.
///
/// A new one is a line here and a target in `Package.swift`.
let plugins: [any Plugin] = [CountriesPlugin(), HeroesPlugin()]
