import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import UsersSource

@Suite(.timeLimit(.minutes(10)))
struct UserDecodingTests {
  /// All people on a page with all 21 nationalities.
  private func people() async throws -> [User] {
    let page = try await FakeRandomUser().users(pagesOf: 21).page(PageRequest(limit: 21))
    #expect(page.unreadable == .none)
    return page.records
  }

  private func person(from nationality: String) async throws -> User {
    try #require(try await people().first { $0.nationality == nationality })
  }

  /// The user in a reply with only this row.
  private func read(_ row: String) async throws -> User? {
    let service = try FakeRandomUser()
    service.fail(with: .json(#"{"results":[\#(row)]}"#))
    return try await service.users().page(PageRequest()).records.first
  }

  @Test func `reads all that is known`() async throws {
    let user = try await person(from: "AU")
    let email = try #require(FakeRandomUser.emails(onPage: 1, of: 1, seed: "aggregator").first)
    #expect(user.email.description == email)
    #expect(user.id == user.email)
    #expect(["Mr", "Mrs", "Ms", "Miss"].contains(user.title))
    #expect(user.gender == "female")
    #expect(user.city == "Coventry")
    #expect(user.state == "Hedmark")
    #expect(user.country == "Australia")
    #expect(user.phone == "(096) E15-6505")
    #expect(user.username == "bluecat481")
    #expect(user.uuid?.hasPrefix("00000000-0000-4000-8000-") == true)
    #expect(user.picture?.hasPrefix("https://randomuser.example/portraits/men/") == true)
  }

  @Test(arguments: [("US", "93027"), ("CA", "Z4B 4T0"), ("NO", "0150"), ("NL", "7044 TR")])
  func `keeps a post code as it is written, number or text`(
    nationality: String, postcode: String
  ) async throws {
    #expect(try await person(from: nationality).postcode == postcode)
  }

  @Test(arguments: ["IR", "NZ", "TR", "UA", "FI"])
  func `reads people whose number is null or nonsense`(nationality: String) async throws {
    _ = try await person(from: nationality)
  }

  @Test func `reads people whose coordinates and time zones are text`() async throws {
    #expect(Set(try await people().compactMap(\.country)).count >= 18)
  }

  @Test func `keeps names in their own script, and titles of their own country`() async throws {
    #expect(try await person(from: "IR").name == "Ms آوا کامروا")
    #expect(try await person(from: "CH").title == "Mademoiselle")
  }

  @Test func `reads the day from a date with milliseconds, and one without`() async throws {
    #expect(try await person(from: "AU").registeredAt == "2009-02-28")
    #expect(try await person(from: "AU").birthDate?.hasSuffix("-07-23") == true)
    let old = try await read(Self.row(#""dob":{"date":"1993-07-20T09:44:18Z","age":26}"#))
    #expect(old?.birthDate == "1993-07-20")
  }

  @Test(arguments: [
    #"null"#, #""1993-07-20 09:44:18""#, #"{"date":null}"#, #"{"date":12}"#, #"{"date":"soon"}"#,
    #"{"date":"1993-13-20T00:00:00Z"}"#, #"{"date":"1993-00-20"}"#, #"{"date":"1993-01-32"}"#,
    #"{"date":"１９９３-01-02"}"#,
  ])
  func `ignores invalid dates`(dob: String) async throws {
    let user = try #require(try await read(Self.row(#""dob":\#(dob)"#)))
    #expect(user.birthDate == nil)
  }

  @Test func `updates a person, unless another one has the address now`() throws {
    let address = try #require(EmailAddress("a@example.com"))
    var known = User(email: address, firstName: "Ada", lastName: "Okafor")
    (known.uuid, known.city) = ("1", "Lagos")
    var moved = known
    (moved.city, moved.lastName) = ("Kano", "Bello")
    #expect(moved.merged(over: known) == moved)
    var other = moved
    other.uuid = "2"
    #expect(other.merged(over: known) == known)
    (known.uuid, moved.lastName) = (nil, "Okafor")
    #expect(moved.merged(over: known) == moved)
    #expect(other.merged(over: known) == known)
  }

  @Test func `reads a row of version 1·2`() async throws {
    let page = try await FakeRandomUser(quirks: [.oldRow]).users().page(PageRequest())
    let user = try #require(page.records.first)
    #expect(user.name == "ms ada okafor")
    #expect(user.city == "kilcoole")
    #expect(user.postcode == "93027")
    #expect(user.birthDate == "1993-07-20")
    #expect(user.phone == nil)
  }

  @Test func `requires only a name and an address`() async throws {
    let user = try await read(
      Self.row(#""location":7,"login":null,"gender":[],"nat":"","phone":"""#))
    let address = try #require(EmailAddress("a@example.com"))
    #expect(user == User(email: address, firstName: "A", lastName: "B"))
  }

  @Test func `keeps the valid details of a location`() async throws {
    let place =
      #""location":{"city":[7],"state":"Kent","country":null,"postcode":1.5,"street":"x"}"#
    let user = try #require(try await read(Self.row(place)))
    #expect(user.state == "Kent")
    #expect(user.city == nil && user.country == nil && user.postcode == nil)
  }

  @Test(arguments: ["", "a", "a@", "@b", "a@b@c", "a b@c", " a@b", "a@b\\n"])
  func `drops a person with an invalid address`(email: String) async throws {
    let row = Self.row(#""nat":"NO""#).replacing("a@example.com", with: email)
    #expect(try await read(row) == nil)
  }

  private static func row(_ rest: String) -> String {
    #"{"email":"a@example.com","name":{"first":"A","last":"B"},\#(rest)}"#
  }
}

@Suite struct EmailAddressTests {
  @Test(arguments: ["a@b", "Aino.Törmänen@Example.COM", "آوا@example.com"])
  func `is the same address in any case`(text: String) throws {
    let address = try #require(EmailAddress(text))
    #expect(address == EmailAddress(text.uppercased()))
    #expect(address.description == text.lowercased())
    #expect(EmailAddress(address.description) == address)
  }

  @Test(arguments: [
    "", "@", "a", "a@", "@b", "a@b@c", "a b@c", "a@b\n", String(repeating: "a", count: 253) + "@b",
    // İ is a byte longer in lower case.
    String(repeating: "İ", count: 126) + "@b",
  ])
  func `requires text around a single @`(text: String) {
    #expect(EmailAddress(text) == nil)
  }

  @Test func `is written as text, and read from text in any case`() throws {
    let read = try JSONDecoder().decode([EmailAddress].self, from: Data(#"["A@B.c"]"#.utf8))
    #expect(read.map(\.description) == ["a@b.c"])
    let written = try JSONEncoder().encode(read)
    #expect(String(decoding: written, as: UTF8.self) == #"["a@b.c"]"#)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([EmailAddress].self, from: Data(#"["a"]"#.utf8))
    }
  }
}

@Suite struct UserAgeTests {
  private func user(born day: String?) throws -> User {
    let email = try #require(EmailAddress("a@example.com"))
    var user = User(email: email, firstName: "A", lastName: "B")
    user.birthDate = day
    return user
  }

  private func moment(_ text: String) throws -> Date {
    try Date(text, strategy: .iso8601)
  }

  @Test(arguments: [
    ("1967-07-23", "2026-07-22T23:59:59Z", 58), ("1967-07-23", "2026-07-23T00:00:00Z", 59),
    ("1967-07-23", "2026-07-24T00:00:00Z", 59), ("1967-07-23", "2026-12-31T00:00:00Z", 59),
    ("1967-07-23", "2027-01-01T00:00:00Z", 59), ("2004-02-29", "2024-02-28T23:59:59Z", 19),
    ("2004-02-29", "2024-02-29T00:00:00Z", 20), ("2004-02-29", "2025-02-28T23:59:59Z", 20),
    ("2004-02-29", "2025-03-01T00:00:00Z", 21), ("2000-12-31", "2026-01-01T00:00:00Z", 25),
    ("2026-01-05", "2026-01-05T00:00:00Z", 0),
  ])
  func `counts whole years`(born: String, now: String, age: Int) throws {
    #expect(try user(born: born).age(at: try moment(now)) == age)
  }

  @Test(arguments: [
    nil, "", "1967", "1967-7-23", "1967-07-23T00:00:00Z", "1967-13-01", "2027-01-01", "1867-01-01",
  ])
  func `returns no age for an invalid date of birth`(born: String?) throws {
    #expect(try user(born: born).age(at: try moment("2026-11-20T10:10:00Z")) == nil)
  }

  @Test func `is read at the date that the plugin was given`() throws {
    let user = try user(born: "1967-07-23")
    for (now, age) in [("2026-07-22T12:00:00Z", 58), ("2026-07-23T12:00:00Z", 59)] {
      let date = try moment(now)
      let field = try #require(UsersPlugin(now: { date }).fields.first { $0.name == "age" })
      #expect(field[user] == .integer(age))
    }
  }

  @Test func `is not stored`() throws {
    let json = try JSONEncoder().encode(try user(born: "1967-07-23"))
    let keys = try JSONDecoder().decode([String: String].self, from: json).keys
    #expect(keys.contains("birthDate"))
    #expect(!keys.contains("age"))
  }
}

@Suite struct UserImageTests {
  private func addresses(_ picture: String?) throws -> [String?] {
    var user = User(
      email: try #require(EmailAddress("a@example.com")), firstName: "A", lastName: "B")
    user.picture = picture
    return try ImageSize.allCases.map {
      try UsersPlugin().imageAddress(of: user, $0, in: SourceSettings())?.description
    }
  }

  @Test(arguments: ["men/75", "women/0", "lego/3"])
  func `a portrait has three sizes`(portrait: String) throws {
    #expect(
      try addresses("https://randomuser.me/api/portraits/\(portrait).jpg") == [
        "https://randomuser.me/api/portraits/thumb/\(portrait).jpg",
        "https://randomuser.me/api/portraits/med/\(portrait).jpg",
        "https://randomuser.me/api/portraits/\(portrait).jpg",
      ])
  }

  @Test(arguments: [
    "https://cdn.example/7.jpg", "https://randomuser.me/api/portraits/med/men/75.jpg",
    "https://randomuser.me/portraits/men/x.jpg",
  ])
  func `a portrait with another form of URL has one size`(address: String) throws {
    #expect(try addresses(address) == Array(repeating: address, count: 3))
  }

  @Test func `a missing portrait has no size`() throws {
    #expect(try addresses(nil) == [nil, nil, nil])
  }
}
