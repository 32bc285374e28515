import AggregatorKit
import Foundation
import UsersSource

/// `fill-store FILE COUNT`: fills a store with made-up users, by the operators that the program uses.
@main
enum FillStore {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let count = Int(arguments[2]), count > 0 else {
      print("usage: fill-store FILE COUNT")
      exit(64)
    }
    let store = SQLiteStore(at: URL(filePath: arguments[1])) { print($0.message) }
    let recordStore = UsersPlugin().recordStore(in: store)
    let users = Crowd(count: count).growing(in: recordStore, by: 1000)
    let start = ContinuousClock.now
    // The last user is in the store as soon as the page before it has been asked for.
    for try await step in users.pages(size: 1000, ahead: 0) where step.end != nil {
      print("\(count) users in \(start.duration(to: .now)): \(step.end?.text ?? "")")
    }
  }
}

/// Made-up users, each a function of its number.
struct Crowd: DataSource {
  private static let givenNames = [
    "Aino", "Brad", "Chloé", "Darius", "Eva", "Fergus", "Gül", "Henrik", "Ines", "Jonas", "Karin",
  ]
  private static let familyNames = [
    "Aksakal", "Berg", "Castro", "Dubois", "Eriksen", "Fernández", "Green", "Hansen", "Ivanov",
    "Jung", "Koç", "Lund", "Moreau",
  ]

  let count: Int

  func page(_ request: PageRequest) async throws(SourceError) -> Page<User> {
    let seal = CursorSeal("crowd", for: nil)
    let start = try seal.openOffset(request.cursor)
    let end = min(start + request.limit, count)
    return Page(
      (start..<end).map(Self.user), next: end < count ? try seal.close(end) : nil,
      provenance: Provenance(.live))
  }

  func item(
    _ id: User.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<User> {
    throw .notFound(id, in: "crowd")
  }

  private static func user(_ number: Int) -> User {
    let given = givenNames[number % givenNames.count]
    let family = familyNames[number / 7 % familyNames.count]
    guard let email = EmailAddress("user\(number).\(number % 997)@example.com") else {
      preconditionFailure("no address: \(number)")
    }
    var user = User(email: email, firstName: given, lastName: "\(family)\(number % 101)")
    user.title = "Ms"
    user.gender = "female"
    user.nationality = "NO"
    user.city = "Byen nummer \(number % 5003)"
    user.state = "Some State or Other"
    user.country = "Norway"
    user.postcode = "\(number % 9999)"
    user.birthDate = "1990-01-01"
    user.registeredAt = "2010-01-01"
    user.phone = "+47 \(number)"
    user.uuid = "00000000-0000-4000-8000-\(String(format: "%012d", number))"
    user.username = "somebody\(number)"
    user.picture = "https://example.com/portraits/women/\(number % 100).jpg"
    return user
  }
}
