public import AggregatorKit

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
