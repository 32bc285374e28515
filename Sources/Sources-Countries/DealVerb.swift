import AggregatorKit

extension Verb<Country> {
  /// Picks a random country: `deal [--seed N]`.
  ///
  /// A seed always picks the same country from the same list.
  static var deal: Verb<Country> {
    Verb(
      "deal", "Pick a random country",
      parameters: [
        Parameter("seed", "N", in: 0...Int.max, about: "seed for a reproducible pick")
      ]
    ) { call throws(SourceError) in
      var countries: [Country] = []
      var last: Page<Country>?
      for try await step in call.source.pages(size: 500) {
        countries += step.items
        last = step.page
      }
      guard var page = last, !countries.isEmpty else {
        throw SourceError(.malformed, "the country list is empty")
      }
      let bits: UInt64
      if let seed = call.values["seed"] {
        var generator = SeededGenerator(UInt64(truncatingIfNeeded: seed))
        bits = generator.next()
      } else {
        bits = call.environment.random()
      }
      // The high half of the product maps all bits evenly to the countries, and is the same in
      // every version of Swift, unlike `randomElement`.
      page.records = [countries[Int(bits.multipliedFullWidth(by: UInt64(countries.count)).high)]]
      page.next = nil
      page.total = countries.count
      return .records(page, title: "Random country")
    }
  }
}
