import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing
import UsersSource

@Suite struct BundledUsersTests {
  private let plugin = UsersPlugin(now: { Fixture.date })

  private func all() async throws -> [User] {
    try await plugin.bundled.page(PageRequest(limit: 10_000)).records
  }

  @Test func `has enough people of every nationality of the service`() async throws {
    let users = try await all()
    #expect(users.count >= 100)
    #expect(Set(users.map(\.id)).count == users.count)
    #expect(
      Set(users.compactMap(\.nationality)) == [
        "AU", "BR", "CA", "CH", "DE", "DK", "ES", "FI", "FR", "GB", "IE", "IN", "IR", "MX", "NL",
        "NO", "NZ", "RS", "TR", "UA", "US",
      ])
  }

  @Test func `has made-up people only`() async throws {
    for user in try await all() {
      #expect(user.email.description.contains(/@example\.(com|net|org)$/), "\(user.email)")
      #expect(user.picture == nil, "\(user.email)")
    }
  }

  @Test func `has an age for every person`() async throws {
    for user in try await all() {
      let age = try #require(user.age(at: Fixture.date), "\(user.email)")
      #expect(16...100 ~= age, "\(user.email)")
    }
  }

  @Test func `contains the examples of the help`() async throws {
    let query = try SearchQuery(plugin.example.query)
    #expect(!(try await plugin.bundled.page(PageRequest(matching: query)).records.isEmpty))
    let id = try #require(EmailAddress(plugin.example.id))
    #expect(try await plugin.bundled.item(id).item.id == id)
  }

  @Test func `shows only existing fields on a card`() {
    #expect(Set(plugin.fields.map(\.name)).count == plugin.fields.count)
    #expect(Set(plugin.layout.card).isSubset(of: plugin.fields.map(\.name)))
  }
}
