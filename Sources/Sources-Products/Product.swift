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
    let bytes = Array(utf8)
    var starts: [Int] = []
    for start in bytes.indices where bytes.beginsAddress(at: start) {
      // An address that is a part of another, as in `?url=https://…` or `/https://…`, belongs to it.
      let isPart = start > 0 && "=/".utf8.contains(bytes[start - 1])
      if !isPart { starts.append(start) }
    }
    // Nearly every text is one address, and nothing else.
    if starts == [0], let last = bytes.last, !last.isOutside {
      return [self].compactMap(\.webAddress)
    }
    let isSchemeless = bytes.starts(with: "//".utf8)
    let whole = isSchemeless ? ["https:" + bytes.text(0..<(starts.first ?? bytes.count))] : []
    let ends = starts.dropFirst() + [bytes.count]
    return (whole + zip(starts, ends).map { bytes.text($0..<$1) }).compactMap(\.webAddress)
  }
}

extension [UInt8] {
  /// Whether `http://` or `https://` stands there, in any case.
  fileprivate func beginsAddress(at start: Int) -> Bool {
    // Every byte of every address comes here.
    guard self[start] | 0x20 == UInt8(ascii: "h") else { return false }
    let scheme = self[start...].prefix(8).lazy.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
    return scheme.starts(with: "http://".utf8) || scheme.starts(with: "https://".utf8)
  }

  /// A part as text, without what stands between addresses.
  fileprivate func text(_ range: Range<Int>) -> String {
    let inside = self[range].drop(while: \.isOutside)
    let end = inside.lastIndex { !$0.isOutside }.map { $0 + 1 } ?? inside.startIndex
    return String(decoding: inside[..<end], as: UTF8.self)
  }
}

extension UInt8 {
  /// Whether it stands between addresses.
  fileprivate var isOutside: Bool { " ,;|\t\r\n".utf8.contains(self) }
}
