package import AggregatorKit
import CountriesSource
import HeroesSource
import ProductsSource
import UsersSource

/// The sources of this program.
///
/// A new source is a line here and a target in `Package.swift`; `Scripts/new-source` adds both.
package let plugins: [any Plugin] = [
  CountriesPlugin(),
  HeroesPlugin(),
  ProductsPlugin(),
  UsersPlugin(),
]
