import AggregatorKit
import CountriesSource
import HeroesSource
import ProductsSource
import UsersSource

/// Every source that this program offers: the only list.
///
/// A new one is a line here and a target in `Package.swift`; `Scripts/new-source` writes both.
let plugins: [any Plugin] = [
  CountriesPlugin(),
  HeroesPlugin(),
  ProductsPlugin(),
  UsersPlugin(),
]
