import AggregatorKit
import CountriesSource
import HeroesSource
import ProductsSource
import UsersSource

/// All sources of this program.
///
/// `Scripts/new-source` adds a source here and its target to `Package.swift`.
let plugins: [any Plugin] = [
  CountriesPlugin(),
  HeroesPlugin(),
  ProductsPlugin(),
  UsersPlugin(),
]
