import AggregatorKit
import Testing

@testable import UsersSource

@Suite struct UserImageTests {
  private func addresses(_ picture: String?) throws -> [String?] {
    var user = User(
      email: try #require(EmailAddress("a@example.com")), firstName: "A", lastName: "B")
    user.picture = picture
    return try ImageSize.allCases.map {
      try UsersPlugin().imageAddress(of: user, $0, in: Settings())?.description
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
  func `a portrait of another form has one`(address: String) throws {
    #expect(try addresses(address) == Array(repeating: address, count: 3))
  }

  @Test func `who has no portrait has none in any size`() throws {
    #expect(try addresses(nil) == [nil, nil, nil])
  }
}
