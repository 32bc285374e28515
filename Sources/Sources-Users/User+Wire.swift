import Core
import Foundation

extension User {
  /// A person as randomuser.me sends it.
  ///
  /// Only name and e-mail are needed. The rest is taken if it is as expected: `postcode` is a number or
  /// text, `id.value` may be null or nonsense and is not used, `dob.age` is true only today.
  struct Wire: Decodable {
    let user: User

    private enum CodingKeys: String, CodingKey {
      case email, name, gender, nat, location, dob, registered, phone, login, picture
    }
    private struct Name: Decodable {
      let title: String?
      let first: String
      let last: String
    }
    private struct Location: Decodable {
      let city: String?
      let state: String?
      let country: String?
      let postcode: PostCode?
    }
    fileprivate struct Moment: Decodable { let date: String? }
    private struct Login: Decodable {
      let uuid: String?
      let username: String?
    }
    private struct Picture: Decodable { let large: String? }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      func detail<Value: Decodable>(_ key: CodingKeys, as type: Value.Type = Value.self) -> Value? {
        (try? container.decodeIfPresent(Value.self, forKey: key)) ?? nil
      }
      let email = try container.decode(String.self, forKey: .email)
      guard email.contains("@") else {
        throw DecodingError.dataCorruptedError(
          forKey: .email, in: container, debugDescription: "the e-mail address has no @")
      }
      let name = try container.decode(Name.self, forKey: .name)
      let location = detail(.location, as: Location.self)
      let login = detail(.login, as: Login.self)
      var user = User(email: email, firstName: name.first, lastName: name.last)
      user.title = name.title?.nilIfEmpty
      user.gender = detail(.gender)
      user.nationality = detail(.nat)
      user.city = location?.city?.nilIfEmpty
      user.state = location?.state?.nilIfEmpty
      user.country = location?.country?.nilIfEmpty
      user.postcode = location?.postcode?.text
      user.birthDate = detail(.dob, as: Moment.self)?.day
      user.registeredAt = detail(.registered, as: Moment.self)?.day
      user.phone = detail(.phone)
      user.uuid = login?.uuid
      user.username = login?.username
      user.picture = detail(.picture, as: Picture.self)?.large
      self.user = user
    }
  }
}

/// A post code: a number in 17 countries, text in the other four.
private struct PostCode: Decodable {
  let text: String?

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      text = String(number)
    } else {
      text = try? container.decode(String.self)
    }
  }
}

extension User.Wire.Moment {
  /// The day of `1967-07-23T09:18:33.666Z`; `nil` if it is none.
  fileprivate var day: String? {
    guard let day = date?.prefix(10), day.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil else {
      return nil
    }
    return String(day)
  }
}

extension String {
  fileprivate var nilIfEmpty: String? { isEmpty ? nil : self }
}
