public import AggregatorKit

/// A product of a merchant.
///
/// The service guarantees nothing but the ID.
public struct Product: SourceRecord {
  /// The service's ID, a UUID.
  ///
  /// It is not stable: restarting the service creates new IDs.
  public let id: String

  public var title: String?

  /// The name of the merchant, or of its web site.
  public var merchant: String?

  /// The URL of its web page.
  public var url: String?

  /// The URLs of its images.
  public var images: [String]

  /// The creation date: `2020-08-14T20:17:23.123Z`.
  public var createdAt: String?

  public var updatedAt: String?

  public init(id: String, title: String? = nil, merchant: String? = nil) {
    self.id = id
    self.title = title
    self.merchant = merchant
    images = []
  }
}

extension Product {
  /// A row of the service.
  ///
  /// Missing, null or empty details and those of another form count as unknown; see ``Lenient``.
  struct Wire: Decodable {
    let product: Product

    private enum CodingKeys: String, CodingKey {
      case id, title, merchant, url, images, createdAt, updatedAt
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let id = try container.decode(String.self, forKey: .id)
      guard !id.isEmpty else {
        throw DecodingError.dataCorruptedError(
          forKey: .id, in: container, debugDescription: "the ID is empty")
      }
      var product = Product(
        id: id, title: container.lenient(.title), merchant: container.lenient(.merchant))
      product.url = container.lenient(.url, as: String.self)?.webAddresses.first
      product.images = container.lenient(.images, as: [String].self)?.flatMap(\.webAddresses) ?? []
      product.createdAt = container.lenient(.createdAt)
      product.updatedAt = container.lenient(.updatedAt)
      self.product = product
    }
  }
}

extension String {
  /// The web addresses in this text.
  ///
  /// The service sends `""`, `none`, addresses without a scheme (`//cdn…`), and several addresses
  /// joined without a separator.
  var webAddresses: [String] {
    // Nearly every text is a single address.
    if mayBeOneAddress, let address = webAddress { return [address] }
    let bytes = Array(utf8)
    var starts: [Int] = []
    for start in bytes.indices where bytes.beginsAddress(at: start) {
      // An address within another, as in `?url=https://…` or `/https://…`, is a part of it.
      let isPart = start > 0 && "=/".utf8.contains(bytes[start - 1])
      if !isPart { starts.append(start) }
    }
    let isSchemeless = bytes.starts(with: "//".utf8)
    let whole = isSchemeless ? ["https:" + bytes.text(0..<(starts.first ?? bytes.count))] : []
    let ends = starts.dropFirst() + [bytes.count]
    return (whole + zip(starts, ends).map { bytes.text($0..<$1) }).compactMap(\.webAddress)
  }
}

extension String {
  /// False for a text with another colon after that of the scheme, or a separator at the end.
  private var mayBeOneAddress: Bool {
    var text = self
    return text.withUTF8 { bytes in
      guard let start = bytes.baseAddress, let last = bytes.last, bytes.count > 8 else {
        return false
      }
      return !last.isOutside && memchr(start + 8, Int32(UInt8(ascii: ":")), bytes.count - 8) == nil
    }
  }
}

extension [UInt8] {
  /// True if `http://` or `https://` starts here, in any case.
  fileprivate func beginsAddress(at start: Int) -> Bool {
    // Called for every byte of every address.
    guard self[start] | 0x20 == UInt8(ascii: "h") else { return false }
    let scheme = self[start...].prefix(8).lazy.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
    return scheme.starts(with: "http://".utf8) || scheme.starts(with: "https://".utf8)
  }

  /// A part as text, without separators at its ends.
  fileprivate func text(_ range: Range<Int>) -> String {
    let inside = self[range].drop(while: \.isOutside)
    let end = inside.lastIndex { !$0.isOutside }.map { $0 + 1 } ?? inside.startIndex
    return String(decoding: inside[..<end], as: UTF8.self)
  }
}

extension UInt8 {
  /// True for separators between addresses.
  fileprivate var isOutside: Bool { " ,;|\t\r\n".utf8.contains(self) }
}
