import AggregatorKit

/// A person of the fake randomuser.me, determined by seed, page and index.
struct FakePerson {
  let seed: String
  let page: Double
  let index: Int
  var portraits = "https://randomuser.example/portraits"

  private static let nationalities = [
    "AU", "BR", "CA", "CH", "DE", "DK", "ES", "FI", "FR", "GB", "IE", "IN", "IR", "MX", "NL", "NO",
    "NZ", "RS", "TR", "UA", "US",
  ]
  private static let countries = [
    "Australia", "Brazil", "Canada", "Switzerland", "Germany", "Denmark", "Spain", "Finland",
    "France", "United Kingdom", "Ireland", "India", "Iran", "Mexico", "Netherlands", "Norway",
    "New Zealand", "Serbia", "Turkey", "Ukraine", "United States",
  ]
  private static let firstNames = ["Ada", "José", "Zoë", "Milan", "Björn", "Niamh", "Oskar"]
  private static let lastNames = ["Okafor", "Núñez", "Weiß", "Lind", "Şahin"]
  private static let titles = ["Mr", "Mrs", "Ms", "Miss"]

  /// The seed of the page; page 1 has the seed itself.
  private var number: Int {
    let text = page == 1 ? seed : "\(seed)\(page.plain)"
    return Int("\(text)/\(index)".fnv1a >> 32)
  }

  private var country: Int { index % Self.nationalities.count }

  /// An address at `example.com`, sometimes repeated: of ten people on a page the second has the
  /// address of the first, and the tenth that of the tenth on every other page.
  var email: String {
    switch index % 10 {
    case 1: FakePerson(seed: seed, page: page, index: index - 1).email.uppercased()
    case 9: page == 1 ? "same.person\(index)@example.com" : "Same.Person\(index)@Example.com"
    default: "person.\(number)@example.com"
    }
  }

  var json: JSON {
    let nat = Self.nationalities[country]
    return [
      "gender": index % 2 == 0 ? "female" : "male", "name": name(nat), "location": location(nat),
      "email": .string(email),
      "login": [
        "uuid": .string("00000000-0000-4000-8000-\(number)"), "username": "bluecat481",
        "password": "canary-password", "salt": "s4lt", "md5": "m", "sha1": "s", "sha256": "x",
      ],
      "dob": ["date": .string("\(1950 + number % 50)-07-23T09:18:33.666Z"), "age": 7],
      "registered": ["date": "2009-02-28T23:59:59.999Z", "age": 11],
      "phone": nat == "CA" ? "L11 N65-0536" : "(096) E15-6505", "cell": "0555-0100",
      "id": id(nat),
      "picture": [
        "large": .string("\(portraits)/men/\(number % 100).jpg"),
        "medium": "https://randomuser.example/med.jpg",
        "thumbnail": "https://randomuser.example/t.jpg",
      ],
      "nat": .string(nat),
    ]
  }

  /// The format up to version 1.2.
  var oldJSON: JSON {
    [
      "gender": "female",
      "name": ["title": "ms", "first": "ada", "last": "okafor"],
      "location": [
        "street": "9278 new road", "city": "kilcoole", "state": "waterford", "postcode": "93027",
        "coordinates": ["latitude": "20.9267", "longitude": "-7.9310"],
        "timezone": ["offset": "-3:30", "description": "Newfoundland"],
      ],
      "email": "ada.okafor@example.com", "login": ["uuid": "u", "username": "silverswan131"],
      "dob": ["date": "1993-07-20T09:44:18Z", "age": 26], "nat": "IE",
    ]
  }

  private func name(_ nat: String) -> JSON {
    if nat == "IR" { return ["title": "Ms", "first": "آوا", "last": "کامروا"] }
    let title = nat == "CH" ? "Mademoiselle" : Self.titles[number % Self.titles.count]
    return [
      "title": .string(title), "first": .string(Self.firstNames[number % Self.firstNames.count]),
      "last": .string(Self.lastNames[number / 7 % Self.lastNames.count]),
    ]
  }

  private func location(_ nat: String) -> JSON {
    let postcodes: [String: JSON] = [
      "CA": "Z4B 4T0", "GB": "SW1A 1AA", "NL": "7044 TR", "NO": "0150",
    ]
    return [
      "street": ["number": 12, "name": "Long Lane"], "city": "Coventry", "state": "Hedmark",
      "country": .string(Self.countries[country]), "postcode": postcodes[nat] ?? 93027,
      "coordinates": ["latitude": "-35.4549", "longitude": "120.1000"],
      "timezone": ["offset": "+5:45", "description": "Kathmandu"],
    ]
  }

  private func id(_ nat: String) -> JSON {
    switch nat {
    case "IR", "NZ", "TR", "UA": ["name": "", "value": nil]
    case "FI": ["name": "HETU", "value": "NaNNA259undefined"]
    default: ["name": "SSN", "value": "405-88-3636"]
    }
  }
}

extension Double {
  /// As JavaScript prints it: without `.0`.
  var plain: String { Int(exactly: self).map(String.init) ?? "\(self)" }
}
