public import AggregatorKit

/// Something that a merchant sells.
///
/// The service knows little for sure: only the id is always there.
public struct Product: Record {
  /// The service's id, a UUID.
  ///
  /// It is not stable: the service makes new ones when it starts anew.
  public let id: String

  /// What it is.
  public var title: String?

  /// Who sells it: a name, or the name of a web site.
  public var merchant: String?

  /// The address of its page for people.
  public var url: String?

  /// The addresses of its pictures.
  public var images: [String]

  /// When the service first had it: `2020-08-14T20:17:23.123Z`.
  public var createdAt: String?

  /// When the service changed it last.
  public var updatedAt: String?

  /// A product of which only this is known.
  ///
  /// - Parameters:
  ///   - id: The service's id.
  ///   - title: What it is.
  ///   - merchant: Who sells it.
  public init(id: String, title: String? = nil, merchant: String? = nil) {
    self.id = id
    self.title = title
    self.merchant = merchant
    images = []
  }
}
