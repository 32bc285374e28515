public import AggregatorKit

/// A made-up person.
public struct User: SourceRecord {
  /// The email address, which is the ID.
  ///
  /// The service repeats addresses; a repeated address is the same user.
  public let email: EmailAddress

  /// `Mr`, `Ms`, `Madame`.
  public var title: String?

  /// In the person's own script.
  public var firstName: String

  /// In the person's own script.
  public var lastName: String

  /// `male` or `female`.
  public var gender: String?

  /// Two upper-case letters: `NO`.
  public var nationality: String?

  public var city: String?

  /// The state or province.
  public var state: String?

  /// In English.
  public var country: String?

  /// Text, because some contain letters and some begin with 0.
  public var postcode: String?

  /// Such as `1967-07-23`.
  ///
  /// The age is not stored, because it changes.
  public var birthDate: String?

  /// A day, like ``birthDate``.
  public var registeredAt: String?

  public var phone: String?

  /// The ID assigned by the service.
  public var uuid: String?

  public var username: String?

  /// The URL of a portrait.
  public var picture: String?

  public var id: EmailAddress { email }

  /// Title, first name and last name.
  public var name: String {
    [title, firstName, lastName].compactMap(\.self).joined(separator: " ")
  }

  public init(email: EmailAddress, firstName: String, lastName: String) {
    self.email = email
    self.firstName = firstName
    self.lastName = lastName
  }

  /// Updates the same person, but keeps the known one if the service gave their address to another,
  /// because a repeated address is the same user.
  public func merged(over known: User) -> User { isSamePerson(as: known) ? self : known }

  private func isSamePerson(as known: User) -> Bool {
    if let uuid, let knownID = known.uuid { return uuid == knownID }
    return (firstName, lastName) == (known.firstName, known.lastName)
  }
}

extension User {
  /// The age in whole years (UTC), 0 to 150; `nil` if the date of birth is unknown or invalid.
  ///
  /// A birthday on 29 February counts as 1 March in other years.
  public func age(at now: Date) -> Int? {
    // ISO 8601 dates are ordered as text.
    let today = now.iso8601.prefix(10)
    guard let birthDate, birthDate.isDay, let year = Int(today.prefix(4)),
      let birthYear = Int(birthDate.prefix(4))
    else { return nil }
    let isBeforeBirthday = today.dropFirst(4) < birthDate.dropFirst(4)
    let years = year - birthYear - (isBeforeBirthday ? 1 : 0)
    return 0...150 ~= years ? years : nil
  }
}

extension User {
  /// ``name``, as stores compute it.
  static let storedName: FieldExpression = .joined([
    .coalesce(.joined([.member("title"), .text(" ")]), .text("")),
    .member("firstName"), .text(" "), .member("lastName"),
  ])

  /// ``age(at:)`` today, as stores compute it.
  static let storedAge: FieldExpression = .age(bornOn: .member("birthDate"))
}

extension String {
  /// True for a day such as `1967-07-23`.
  ///
  /// Compares bytes: a regular expression took two thirds of the time to decode a person.
  var isDay: Bool {
    let bytes = Array(utf8)
    func number(_ range: Range<Int>) -> Int? {
      bytes[range].reduce(0) { number, byte in
        number.flatMap { 0x30...0x39 ~= byte ? $0 * 10 + Int(byte - 0x30) : nil }
      }
    }
    guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      number(0..<4) != nil, let month = number(5..<7), let day = number(8..<10)
    else { return false }
    return 1...12 ~= month && 1...31 ~= day
  }
}

extension User {
  /// The URLs of the portrait in a size, best first.
  ///
  /// The sizes differ in one path component: `portraits/thumb/men/7.jpg`, `portraits/med/men/7.jpg`
  /// and, the largest, `portraits/men/7.jpg`. URLs of another form have one size only.
  func images(_ size: ImageSize) -> [String] {
    guard let picture else { return [] }
    let folder: Substring? =
      switch size {
      case .small: "thumb"
      case .medium: "med"
      case .large: nil
      }
    // A list asks for the images of the next rows at each one that appears, and a regular expression takes ten times as long.
    var parts = picture.split(separator: "/", omittingEmptySubsequences: false)
    if let folder, parts.count > 3, let name = parts.last, name.hasSuffix(".jpg"),
      name.count > 4, name.dropLast(4).utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
      ["men", "women", "lego"].contains(parts[parts.count - 2]),
      parts[parts.count - 3] == "portraits"
    {
      parts.insert(folder, at: parts.count - 2)
    }
    return [parts.joined(separator: "/"), picture]
  }
}

extension User {
  static let fields = fields(at: { Now.current.date })

  static func fields(at now: @escaping @Sendable () -> Date) -> [Field<User>] {
    [
      Field("email", "Email", \.email, about: "Email address, used as the ID.", isSearchable: true),
      Field("name", "Name", .text, about: "Title, first name and last name.") { $0.name.json }
        .computed(as: User.storedName),
      Field("title", "Title", \.title, about: "Mr, Ms, Madame.", isShown: false),
      Field(
        "firstName", "First name", \.firstName, about: "First name.", isShown: false,
        isSearchable: true),
      Field(
        "lastName", "Last name", \.lastName, about: "Last name.", isShown: false, isSearchable: true
      ),
      Field("gender", "Gender", \.gender, about: "male or female.", isShown: false),
      Field("age", "Age", .integer, about: "Age in years.") { user in
        user.age(at: now()).json
      }.computed(as: User.storedAge),
      Field("birthDate", "Born", \.birthDate, about: "Date of birth.", isShown: false),
      Field(
        "nationality", "Nationality", \.nationality, about: "Two-letter country code.",
        isShown: false),
      Field("city", "City", \.city, about: "City."),
      Field("state", "State", \.state, about: "State or province.", isShown: false),
      Field("postcode", "Postcode", \.postcode, about: "Postal code.", isShown: false),
      Field("country", "Country", \.country, about: "Country, in English."),
      Field("phone", "Phone", \.phone, about: "Phone number.", isShown: false),
      Field("username", "Username", \.username, about: "Login name.", isShown: false),
      Field("uuid", "UUID", \.uuid, about: "ID assigned by the service.", isShown: false),
      Field(
        "registeredAt", "Registered", \.registeredAt, about: "Date of registration.", isShown: false
      ),
      Field("picture", "Picture", \.picture, about: "URL of a portrait.", isShown: false),
    ]
  }
}
