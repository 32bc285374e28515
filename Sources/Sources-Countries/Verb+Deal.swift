import AggregatorKit

extension Verb<Country> {
  /// A random country: `deal [--seed N]`.
  ///
  /// The same seed picks the same one from the same list.
  static var deal: Verb<Country> {
    Verb(
      "deal", "Pick a country at random: the deal of the day",
      parameters: [
        Parameter("seed", "N", in: 0...Int.max, about: "pick the same country every time")
      ]
    ) { call throws(SourceError) in
      var countries: [Country] = []
      var last: Page<Country>?
      for try await step in call.source.pages(size: 500) {
        countries += step.items
        last = step.page
      }
      guard var page = last, !countries.isEmpty else {
        throw SourceError(.malformed, "the list of countries is empty")
      }
      let bits =
        call.values["seed"].map { UInt64(truncatingIfNeeded: $0).scrambled }
        ?? call.environment.random()
      // The high half of a product maps all bits evenly onto the countries, the same in every version
      // of Swift, which `randomElement` does not promise.
      page.records = [countries[Int(bits.multipliedFullWidth(by: UInt64(countries.count)).high)]]
      page.next = nil
      page.total = countries.count
      return .records(page, title: "Deal of the day!")
    }
  }
}

extension UInt64 {
  /// SplitMix64's output function (Steele, Lea, Flood 2014): neighbouring seeds give unrelated bits.
  fileprivate var scrambled: UInt64 {
    var z = self &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
