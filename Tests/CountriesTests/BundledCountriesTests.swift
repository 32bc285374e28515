import AggregatorKit
import CountriesSource
import Testing

@Suite(.timeLimit(.minutes(10)))
struct BundledCountriesTests {
  private let plugin = CountriesPlugin()

  /// The codes of ISO 3166-1, and `XK`.
  private static let codes = """
    AF AL DZ AS AD AO AI AQ AG AR AM AW AU AT AZ BS BH BD BB BY BE BZ BJ BM BT BO BQ BA BW
    BV BR IO BN BG BF BI CV KH CM CA KY CF TD CL CN CX CC CO KM CG CD CK CR HR CU CW CY CZ
    CI DK DJ DM DO EC EG SV GQ ER EE SZ ET FK FO FJ FI FR GF PF TF GA GM GE DE GH GI GR GL
    GD GP GU GT GG GN GW GY HT HM VA HN HK HU IS IN ID IR IQ IE IM IL IT JM JP JE JO KZ KE
    KI KP KR XK KW KG LA LV LB LS LR LY LI LT LU MO MG MW MY MV ML MT MH MQ MR MU YT MX FM
    MD MC MN ME MS MA MZ MM NA NR NP NL NC NZ NI NE NG NU NF MK MP NO OM PK PW PS PA PG PY
    PE PH PN PL PT PR QA RO RU RW RE BL SH KN LC MF PM VC WS SM ST SA SN RS SC SL SG SX SK
    SI SB SO ZA GS SS ES LK SD SR SJ SE CH SY TW TJ TZ TH TL TG TK TO TT TN TM TC TV TR UG
    UA AE GB US UM UY UZ VU VE VN VG VI WF EH YE ZM ZW AX
    """.split { $0.isWhitespace }.map(String.init)

  private func everywhere() async throws -> [Country] {
    try await plugin.bundled.page(PageRequest(limit: 1000)).records
  }

  @Test func `has 250 countries, each once`() async throws {
    let countries = try await everywhere()
    #expect(countries.count == 250)
    #expect(countries.map(\.code.description).sorted() == Self.codes.sorted())
    #expect(Set(countries.map(\.id)).count == 250)
  }

  @Test func `has every region, and nearly every capital`() async throws {
    let countries = try await everywhere()
    let continents: Set = ["AF", "AN", "AS", "EU", "NA", "OC", "SA"]
    for country in countries {
      #expect(!country.name.isEmpty && continents.contains(country.region ?? ""), "\(country.code)")
      #expect(country.capital != "", "\(country.code)")
    }
    #expect(
      Set(countries.filter { $0.capital == nil }.map(\.code.description))
        == ["AQ", "BV", "HM", "TK", "UM"])
  }

  @Test func `contains the examples of the help`() async throws {
    let request = PageRequest(matching: try SearchQuery(plugin.example.query))
    let id = try #require(CountryCode(plugin.example.id))
    #expect(try await plugin.bundled.page(request).records.map(\.id) == [id])
    #expect(try await plugin.bundled.item(id).item.name == "France")
  }

  @Test(arguments: [
    ("curacao", "CW"), ("REUNION", "RE"), ("aland", "AX"), ("cote d'ivoire", "CI"),
    ("Chisinau", "MD"), ("korea republic", "KR"), ("Korea, Republic", "KR"),
  ])
  func `is searched without accents and case`(text: String, code: String) async throws {
    let page = try await plugin.bundled.page(PageRequest(matching: try SearchQuery(text)))
    #expect(page.records.map(\.code.description).contains(code))
  }
}
