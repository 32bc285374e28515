import AggregatorKit

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
