import Core

extension User {
  /// A person as randomuser.me sends it.
  ///
  /// Only name and e-mail are needed. The rest is taken if it is as expected: `id.value` may be null
  /// or nonsense and is not used, `dob.age` is true only today.
  struct Wire: Decodable {
    let user: User

    private enum CodingKeys: String, CodingKey {
      case email, name, gender, nat, location, dob, registered, phone, login, picture
    }
    private struct Name: Decodable {
      let title: LooseText?
      let first: String
      let last: String
    }
    private struct Location: Decodable {
      let city: LooseText?
      let state: LooseText?
      let country: LooseText?
      let postcode: LooseText?
    }
    private struct Moment: Decodable {
      let date: LooseText?

      /// The day of `1967-07-23T09:18:33.666Z`; `nil` if it is none.
      var day: String? {
        let day = date?.text.map { String($0.prefix(10)) }
        return day?.isDay == true ? day : nil
      }
    }
    private struct Login: Decodable {
      let uuid: LooseText?
      let username: LooseText?
    }
    private struct Picture: Decodable { let large: LooseText? }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      func detail<Value: Decodable>(_ key: CodingKeys, as type: Value.Type) -> Value? {
        (try? container.decodeIfPresent(Value.self, forKey: key)) ?? nil
      }
      let email = try container.decode(EmailAddress.self, forKey: .email)
      let name = try container.decode(Name.self, forKey: .name)
      let location = detail(.location, as: Location.self)
      let login = detail(.login, as: Login.self)
      var user = User(email: email, firstName: name.first, lastName: name.last)
      user.title = name.title?.text
      user.gender = detail(.gender, as: LooseText.self)?.text
      user.nationality = detail(.nat, as: LooseText.self)?.text
      user.city = location?.city?.text
      user.state = location?.state?.text
      user.country = location?.country?.text
      user.postcode = location?.postcode?.text
      user.birthDate = detail(.dob, as: Moment.self)?.day
      user.registeredAt = detail(.registered, as: Moment.self)?.day
      user.phone = detail(.phone, as: LooseText.self)?.text
      user.uuid = login?.uuid?.text
      user.username = login?.username?.text
      user.picture = detail(.picture, as: Picture.self)?.large?.text?.webAddress
      self.user = user
    }
  }
}

/// Text, or a whole number, as post codes are in 17 of 21 countries.
///
/// Everything else, and empty text, is not known.
private struct LooseText: Decodable {
  let text: String?

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // Nearly all are text, and what is tried in vain costs much.
    if let text = try? container.decode(String.self) {
      self.text = text.isEmpty ? nil : text
    } else {
      text = (try? container.decode(Int.self)).map(String.init)
    }
  }
}
