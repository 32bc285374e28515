public import AggregatorKit
public import Foundation

/// A made-up person.
public struct User: Record {
  /// The e-mail address, which identifies the person.
  ///
  /// The service repeats addresses, and a repeated one is the same user.
  public let email: EmailAddress

  /// `Mr`, `Ms`, `Madame`.
  public var title: String?

  /// The given name, in the person's own script.
  public var firstName: String

  /// The family name, in the person's own script.
  public var lastName: String

  /// `male` or `female`.
  public var gender: String?

  /// Two letters, upper-case: `NO`.
  public var nationality: String?

  /// The city.
  public var city: String?

  /// The state or province.
  public var state: String?

  /// The country, in English.
  public var country: String?

  /// The post code, as text: there are some with letters and some that begin with 0.
  public var postcode: String?

  /// The day of birth, such as `1967-07-23`.
  ///
  /// An age is not kept, because it changes.
  public var birthDate: String?

  /// The day of registration.
  public var registeredAt: String?

  /// The phone number, as written.
  public var phone: String?

  /// The service's own id.
  public var uuid: String?

  /// The login name.
  public var username: String?

  /// The address of a portrait.
  public var picture: String?

  /// The e-mail address identifies the person.
  public var id: EmailAddress { email }

  /// Title, given name and family name.
  public var name: String {
    [title, firstName, lastName].compactMap(\.self).joined(separator: " ")
  }

  /// A person of whom only this is known.
  ///
  /// - Parameters:
  ///   - email: The e-mail address.
  ///   - firstName: The given name.
  ///   - lastName: The family name.
  public init(email: EmailAddress, firstName: String, lastName: String) {
    self.email = email
    self.firstName = firstName
    self.lastName = lastName
  }

  /// The person as known before: whoever comes again with the same address is left out.
  public func merged(over known: User) -> User { known }
}

extension User {
  /// How old the person is.
  ///
  /// Who was born on 29 February has the birthday on 1 March in the years between.
  ///
  /// - Parameter now: When it is asked.
  /// - Returns: 0 to 150 whole years, by the calendar of Greenwich; `nil` if the day of birth is
  ///   not known or makes no sense.
  public func age(at now: Date) -> Int? {
    // Days written as `1967-07-23` are ordered as text.
    let today = now.iso8601.prefix(10)
    guard let birthDate, birthDate.isDay, let year = Int(today.prefix(4)),
      let birthYear = Int(birthDate.prefix(4))
    else { return nil }
    let isBeforeBirthday = today.dropFirst(4) < birthDate.dropFirst(4)
    let years = year - birthYear - (isBeforeBirthday ? 1 : 0)
    return 0...150 ~= years ? years : nil
  }
}

extension String {
  /// Whether this is a day such as `1967-07-23`.
  ///
  /// Byte by byte: a regular expression took two thirds of reading a person.
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
  /// The addresses of the portrait in a size, best first.
  ///
  /// randomuser.me keeps each portrait in three sizes, whose addresses differ in one part of the path:
  /// `portraits/thumb/men/7.jpg`, `portraits/med/men/7.jpg` and, the largest, `portraits/men/7.jpg`. An
  /// address of another form is the only one that is known.
  func images(_ size: ImageSize) -> [String] {
    guard let picture else { return [] }
    let part =
      switch size {
      case .small: "thumb/"
      case .medium: "med/"
      case .large: ""
      }
    let sized = picture.replacing(/\/portraits\/(?=(men|women|lego)\/[0-9]+\.jpg$)/) { match in
      "\(match.0)\(part)"
    }
    return [sized, picture]
  }
}

extension User {
  /// A person as randomuser.me sends it.
  ///
  /// Only name and e-mail are needed. The rest is taken if it is as expected: `id.value` may be null
  /// or nonsense and is not used, `dob.age` is true only today.
  struct Wire: Decodable {
    let user: User

    /// The keys of a person and of the objects in it.
    fileprivate enum CodingKeys: String, CodingKey {
      case email, name, gender, nat, location, dob, registered, phone, login, picture
      case title, first, last
      case city, state, country, postcode
      case date
      case uuid, username
      case large
    }

    init(from decoder: any Decoder) throws {
      let person = try decoder.container(keyedBy: CodingKeys.self)
      let email = try person.decode(EmailAddress.self, forKey: .email)
      let name = try person.nestedContainer(keyedBy: CodingKeys.self, forKey: .name)
      var user = User(
        email: email, firstName: try name.decode(String.self, forKey: .first),
        lastName: try name.decode(String.self, forKey: .last))
      user.title = name.looseText(.title)
      user.gender = person.looseText(.gender)
      user.nationality = person.looseText(.nat)
      let location = person.part(.location)
      user.city = location?.looseText(.city)
      user.state = location?.looseText(.state)
      user.country = location?.looseText(.country)
      user.postcode = location?.looseText(.postcode)
      user.birthDate = person.part(.dob)?.day(.date)
      user.registeredAt = person.part(.registered)?.day(.date)
      user.phone = person.looseText(.phone)
      let login = person.part(.login)
      user.uuid = login?.looseText(.uuid)
      user.username = login?.looseText(.username)
      user.picture = person.part(.picture)?.looseText(.large)?.webAddress
      self.user = user
    }
  }
}

/// What a detail is read by: containers, and text by its own name, for a type of its own for each
/// detail makes reading twice as slow.
extension KeyedDecodingContainer<User.Wire.CodingKeys> {
  /// An object; `nil` if there is none.
  fileprivate func part(_ key: Key) -> Self? {
    try? nestedContainer(keyedBy: Key.self, forKey: key)
  }

  /// Text, or a whole number, as post codes are in 17 of 21 countries.
  ///
  /// Everything else, and empty text, is not known.
  fileprivate func looseText(_ key: Key) -> String? {
    // Nearly all are text, and what is tried in vain costs much.
    do {
      let text = try decodeIfPresent(String.self, forKey: key)
      return text?.isEmpty == false ? text : nil
    } catch {
      return (try? decode(Int.self, forKey: key)).map(String.init)
    }
  }

  /// The day of `1967-07-23T09:18:33.666Z`; `nil` if it is none.
  fileprivate func day(_ key: Key) -> String? {
    let day = looseText(key).map { String($0.prefix(10)) }
    return day?.isDay == true ? day : nil
  }
}
