import AggregatorKit
import Foundation
import Testing
import UsersSource

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
  func `does not know what makes no sense`(born: String?) throws {
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

  @Test func `is not kept`() throws {
    let json = try JSONEncoder().encode(try user(born: "1967-07-23"))
    let keys = try JSONDecoder().decode([String: String].self, from: json).keys
    #expect(keys.contains("birthDate"))
    #expect(!keys.contains("age"))
  }
}
