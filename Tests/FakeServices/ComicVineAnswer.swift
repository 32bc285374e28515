import AggregatorKit
import AggregatorSourceTesting
import Foundation

/// What Comic Vine wraps around everything that it says itself.
struct ComicVineAnswer {
  var status = 200
  var code = 1
  var words = "OK"
  var limit = 0
  var offset = 0
  var count = 0
  var total = 0
  var results: JSON = []

  static let invalidKey = ComicVineAnswer(status: 401, code: 100, words: "Invalid API Key")
  static let unknown = ComicVineAnswer(code: 101, words: "Object Not Found")
  static let badPath = ComicVineAnswer(status: 404, code: 102, words: "Error in URL Format")
  static let noCallback = ComicVineAnswer(
    code: 103, words: "'jsonp' format requires a 'json_callback' argument")

  /// The reply, in XML where JSON is not asked for.
  func reply(format: String?, isCompressed: Bool) -> LoopbackReply {
    let isXML = format == nil || format == "xml"
    var headers = [
      ("Content-Type", isXML ? "text/xml; charset=utf-8" : "application/json; charset=utf-8"),
      ("Cache-Control", "public, max-age=1200"), ("Server", "cloudflare"),
      ("CF-Cache-Status", "MISS"), ("Set-Cookie", "__cf_bm=abc; path=/; HttpOnly"),
    ]
    let body = Data((isXML ? xml : json.asciiText).utf8)
    guard isCompressed else { return .status(status, body, headers: headers) }
    headers.append(("Content-Encoding", "gzip"))
    return .status(status, body.gzipped, headers: headers)
  }

  private var json: JSON {
    let members: [JSON.Member] = [
      .init("error", .string(words)), .init("limit", .integer(limit)),
      .init("offset", .integer(offset)), .init("number_of_page_results", .integer(count)),
      .init("number_of_total_results", .integer(total)), .init("status_code", .integer(code)),
      .init("results", results),
    ]
    // Errors have no version.
    return .object(members + (code == 1 ? [.init("version", "1.0")] : []))
  }

  private var xml: String {
    """
    <?xml version="1.0" encoding="utf-8"?>
    <response><error><![CDATA[\(words)]]></error><status_code>\(code)</status_code></response>
    """
  }
}

extension JSON {
  /// As PHP writes it: minified, `\/` for a slash and `\u` for what is not ASCII.
  var asciiText: String {
    text.unicodeScalars.map { scalar in
      if scalar == "/" { return #"\/"# }
      if scalar.isASCII { return String(scalar) }
      return String(scalar).utf16.map { unit in
        let hex = String(unit, radix: 16)
        return #"\u"# + String(repeating: "0", count: 4 - hex.count) + hex
      }.joined()
    }.joined()
  }
}

extension Data {
  /// These bytes as gzip (RFC 1952) in stored blocks: not smaller, but to be unpacked all the same.
  var gzipped: Data {
    var packed = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
    var rest = self[...]
    repeat {
      let block = rest.prefix(0xFFFF)
      rest = rest.dropFirst(block.count)
      let length = UInt16(block.count)
      packed.append(rest.isEmpty ? 1 : 0)
      packed.append(contentsOf: length.littleEndianBytes + (~length).littleEndianBytes + block)
    } while !rest.isEmpty
    let check = reduce(~UInt32(0)) { check, byte in
      (0..<8).reduce(check ^ UInt32(byte)) { value, _ in
        value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0)
      }
    }
    return packed + (~check).littleEndianBytes + UInt32(count).littleEndianBytes
  }
}

extension FixedWidthInteger {
  fileprivate var littleEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
  }
}
