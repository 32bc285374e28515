import AggregatorCore
import Foundation

extension HTTPResponse {
  /// What the body says, in at most 80 characters on one line, for an error message.
  ///
  /// It is the title of an HTML page, the `error`, `message` or `detail` of a JSON object, or the head of
  /// plain text; `nil` for everything else.
  package var summary: String? {
    let head = body.prefix(Self.gistWindow)
    let text: Substring? =
      switch body.firstSignificantByte {
      case UInt8(ascii: "<"): String(decoding: head, as: UTF8.self).htmlTitle
      case UInt8(ascii: "{"): body.count > head.count ? nil : envelopeMessage
      case UInt8(ascii: "["), nil: nil
      default: String(validating: head, as: UTF8.self)?[...]
      }
    let line = text?.oneLine(atMost: 80) ?? ""
    return line.isEmpty ? nil : line
  }

  private static let gistWindow = 16 << 10

  private var envelopeMessage: Substring? {
    let envelope = try? JSONText(body)?.read([String: MessageText].self)
    return ["error", "message", "detail"].lazy.compactMap { envelope?[$0]?.text }.first?[...]
  }

  /// A text, or anything else, which is ignored.
  private struct MessageText: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
      text = try? decoder.singleValueContainer().decode(String.self)
    }
  }
}

extension Data {
  /// The first byte that is neither white space (RFC 8259) nor part of a byte order mark.
  package var firstSignificantByte: UInt8? {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    return dropFirst(starts(with: mark) ? mark.count : 0).first {
      ![0x20, 0x09, 0x0A, 0x0D].contains($0)
    }
  }
}

extension String {
  /// The content of the first `title` element, with the five entities of XML decoded.
  fileprivate var htmlTitle: Substring? {
    guard let title = firstMatch(of: /(?i)<title[^<>]*>([^<]*)</) else { return nil }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
    return entities.reduce(title.1) { $0.replacing($1.0, with: $1.1)[...] }
  }
}
