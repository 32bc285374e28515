import Core
import Foundation

extension Product {
  /// A product as the service sends it.
  ///
  /// What is missing, null, empty or of another type is not known.
  struct Wire: Decodable {
    let product: Product

    private enum CodingKeys: String, CodingKey {
      case id, title, merchant, url, images, createdAt, updatedAt
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      func text(_ key: CodingKeys) -> String? {
        let text = try? container.decodeIfPresent(String.self, forKey: key)
        return text?.nonBlank
      }
      let id = try container.decode(String.self, forKey: .id)
      guard !id.isEmpty else {
        throw DecodingError.dataCorruptedError(
          forKey: .id, in: container, debugDescription: "the id is empty")
      }
      var product = Product(id: id, title: text(.title), merchant: text(.merchant))
      product.url = text(.url)?.webAddresses.first
      let images = try? container.decodeIfPresent(LossyArray<String>.self, forKey: .images)
      product.images = images?.elements.flatMap(\.webAddresses) ?? []
      product.createdAt = text(.createdAt)
      product.updatedAt = text(.updatedAt)
      self.product = product
    }
  }
}

extension String {
  /// The addresses of the web in this text.
  ///
  /// The service sends `""`, `none`, addresses without a scheme (`//cdn…`), and several addresses
  /// joined into one text without anything between them.
  var webAddresses: [String] {
    // An address that is a part of another, as in `?url=https://…` or `/https://…`, belongs to it.
    let starts = ranges(of: /https?:\/\//.ignoresCase()).map(\.lowerBound).filter { start in
      start == startIndex || !"=/".contains(self[index(before: start)])
    }
    let whole = hasPrefix("//") ? ["https:" + self[..<(starts.first ?? endIndex)]] : []
    let ends = starts.dropFirst() + [endIndex]
    return (whole + zip(starts, ends).map { String(self[$0..<$1]) }).compactMap {
      $0.trimmingCharacters(in: CharacterSet(charactersIn: " ,;|\t\r\n")).webAddress
    }
  }
}
