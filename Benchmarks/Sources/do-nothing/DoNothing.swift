import AggregatorCommand
import AggregatorKit
import CountriesSource
import HeroesSource
import ProductsSource
import UsersSource

/// `do-nothing`: is linked with all that aggregator is linked with, and ends at once.
@main
enum DoNothing {
  static func main() {
    // Never true, which the compiler cannot know: what is used is linked.
    guard CommandLine.argc > 1_000 else { return }
    Program(
      "do-nothing",
      plugins: [CountriesPlugin(), HeroesPlugin(), ProductsPlugin(), UsersPlugin()]
    ).main()
  }
}
