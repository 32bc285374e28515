import AggregatorCore
import AggregatorHTTP
public import Foundation

/// Where an image is: an `http` or `https` address without user name and password.
///
/// It comes from a service, so it is hostile until it is read here.
public struct ImageAddress: Hashable, Sendable, LosslessStringConvertible {
  /// The most bytes that an address may have.
  private static let longest = 4096

  /// The address, with its host in lower case and without a fragment.
  public let description: String

  /// The address.
  public let url: URL

  let address: Address

  /// Reads an address as services write it.
  ///
  /// - Parameter description: An absolute address, or one without a scheme (`//cdn…`), which becomes
  ///   `https`. `nil` for everything else, such as an empty text or `none`.
  public init?(_ description: String) {
    guard let text = description.nonBlank, text.utf8.count <= Self.longest,
      let url = URL(string: text.hasPrefix("//") ? "https:" + text : text),
      let address = Address(url), let plain = URL(string: address.text),
      // Written out it may be longer: a letter of three bytes takes nine.
      address.text.utf8.count <= Self.longest
    else { return nil }
    self.description = address.text
    self.url = plain
    self.address = address
  }

  /// The host, and the port where it is not the scheme's own: `cdn.example`.
  package var authority: String { address.authority }

  /// How far away it is.
  package var networkScope: NetworkScope { address.networkScope }
}

extension ImageAddress: Codable {
  /// Reads the text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let address = ImageAddress(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "the text is no http address")
    }
    self = address
  }

  /// Writes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
