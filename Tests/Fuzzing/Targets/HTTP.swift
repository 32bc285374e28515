import AggregatorKit
import AggregatorServer
import Foundation

/// Heads of replies, error replies, and addresses.
extension FuzzTarget {
  static let http = [
    retryAfter, contentRange, dates, headLines, address, errorReply, redaction, requestTarget,
  ]

  private static let retryAfter = FuzzTarget(
    "retry-after",
    texts: [
      "120", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994", "Mon, 05 Jan 2026 10:00:00 GMT", "1767604364",
    ], tokens: ["GMT", "Nov", "31", "23:59:60", "-", ",", " ", ":"]
  ) { text in
    let now = Date(timeIntervalSince1970: 1_767_604_364)
    let reply = HTTPResponse(status: 429, headers: [("Retry-After", text)])
    if let wait = reply.retryAfter(from: now) {
      try expect(wait > .zero && wait <= .seconds(86_400), "a wait of \(wait)")
      try expect(!wait.text.isEmpty, "a wait has no words")
    }
    if let date = Date(httpDate: text) {
      try expect(date.iso8601.utf8.count == 20, "a date is written as \(date.iso8601)")
    }
  }

  private static let contentRange = FuzzTarget(
    "content-range",
    texts: [
      "bytes 0-99/100", "bytes */100", "bytes 5-9/*", "\"tag\"", "W/\"tag\"", "items 0-49/300",
      #"{"total": 3}"#,
    ],
    tokens: ["bytes", "items=", "{", " ", "-", "/", "*", "99999999999999999999", "\""]
  ) { text in
    let reply = HTTPResponse(status: 206, headers: [("Content-Range", text), ("ETag", text)])
    if let range = reply.contentRange {
      try expect((range.first ?? 0) >= 0 && (range.total ?? 0) >= 0, "a range is \(range)")
    }
    if let total = reply.total(inField: "Content-Range") {
      try expect(total >= 0 && !text.hasPrefix("bytes "), "the total of a list is \(total)")
    }
    if let validator = reply.rangeValidator {
      try expect(validator.hasPrefix("\""), "a weak validator is strong")
    }
  }

  private static let dates = FuzzTarget(
    "iso-8601",
    texts: [
      "2026-03-14", "2026-03-14T06:12:09+02:00", "1999-12-31 23:59:60.999Z",
      "0000-01-01T00:00-2359",
    ], tokens: ["T", " ", ":", ".", "+", "-", "Z", "29", "02", "9999", "é"]
  ) { text in
    if let period = Period(text), period.isDate {
      let date = Date(timeIntervalSince1970: period.start)
      let again = Period(date.iso8601).map { Date(timeIntervalSince1970: $0.start).iso8601 }
      try expect(again == date.iso8601, "\(date.iso8601) reads as \(again ?? "nothing")")
    }
  }

  private static let headLines = FuzzTarget(
    "head-lines",
    samples: [
      "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n folded\r\nX:y \r\n\r\n",
      "HTTP/2 103\r\nlink: <a>\r\n\r\nHTTP/2 200\r\na:\r\n:b\r\n",
    ].map { Array($0.utf8) }, tokens: [":", " ", "\t", "\r\n", "HTTP/"]
  ) { bytes in
    #if os(Linux)
      var parser = HeadParser()
      for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        (Array(line) + [UInt8(ascii: "\n")]).withUnsafeBytes { parser.read($0) }
      }
      for (name, value) in parser.fields {
        try expect(!(name + value).utf8.contains(0x0A), "a field has a line break")
        let ends = [value.utf8.first, value.utf8.last]
        try expect(!ends.contains(0x20) && !ends.contains(0x09), "a value has a blank at an end")
      }
    #endif
  }

  private static let address = FuzzTarget(
    "address",
    texts: [
      "https://comicvine.gamespot.com/api/characters/?format=json", "http://[::1]:8080/a%20b",
      "//cdn.example/x.jpg", "http://localhost:3000", "HTTPS://Ex-Ample.org:443/#f", "../x?y",
    ], tokens: ["@", ":", "/", "[", "]", "%", "\\", "?", "#", "..", "\u{FF0E}", "xn--"]
  ) { text in
    let base = URL(string: "https://example.org/a/b")
    // As in redirects.
    for url in [URL(string: text), URL(string: text, relativeTo: base)?.absoluteURL] {
      guard let url, let address = Address(url) else { continue }
      let again = URL(string: address.text).flatMap { Address($0) }
      try expect(again == address, "\(address.text) reads as \(again?.text ?? "nothing")")
      try expect(address.text.utf8.allSatisfy { 0x21...0x7E ~= $0 }, "it is not plain")
    }
    if let image = ImageAddress(text) {
      let again = ImageAddress(image.description)
      try expect(again == image, "an image's address reads as \(again?.description ?? "nothing")")
    }
  }

  /// The first byte determines the status; the rest is the body.
  private static let errorReply = FuzzTarget(
    "error-reply",
    samples: [
      "<html><head><title>Abnormal &amp; Traffic</title></head></html>", #"{"error":"slow down"}"#,
      "404: Not Found", #"{"message":{"a":1}}"#,
    ].map { [200] + Array($0.utf8) }, tokens: ["<title>", "</", "&amp;", "error", "message"]
  ) { bytes in
    let status = 2 * Int(bytes.first ?? 0) + 100
    let reply = HTTPResponse(
      status: status, headers: [("retry-after", "7")], body: Data(bytes.dropFirst()))
    let now = Date(timeIntervalSince1970: 0)
    do throws(SourceError) {
      let checked = try reply.checked(by: "a service", wantsKey: true, now: now)
      _ = try checked.decoded(as: [String: Int].self, by: "a service")
    } catch { try expectHarmless(error) }
  }

  private static let secret = "k3y/with +signs&é"

  private static let redaction = FuzzTarget(
    "redaction",
    samples: [
      "api_key=\(secret.percentEncoded)", secret, secret.replacing("/", with: #"\/"#),
      "k3y\\u002fwith", "a3N5L3dpdGg", secret.uppercased(), "k3y&#47;with &#43;signs&amp;é",
    ].map { Array($0.utf8) }, tokens: ["%2F", "\\/", "\\u00", "&#", ";", secret]
  ) { bytes in
    let reply = HTTPResponse(status: 200, headers: [("x", "y")], body: Data(bytes))
    let clean = SecretScanner([Secret(secret)]).redacted(reply)
    try expect(clean.body.firstRange(of: Data(secret.utf8)) == nil, "the secret is still there")
    let scan = SecretScanner([Secret(secret)])
    let scanned = scan.redacted(bytes)
    try expect(
      Data(scanned).firstRange(of: Data(secret.utf8)) == nil, "a scan leaves the secret")
    if Data(bytes).firstRange(of: Data(secret.utf8)) != nil {
      try expect(scan.finds(in: bytes), "a scan does not find the secret")
    }
    try expect(!scan.finds(in: scanned), "a scan leaves the secret in another form")
  }
}

/// Image headers.
extension FuzzTarget {
  static let images = [imageHeader]

  private static let png: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
    + [0, 0, 1, 0, 0, 0, 2, 0, 8, 6, 0, 0, 0]
  private static let jpeg: [UInt8] = [
    0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xFF, 0xFE, 0, 2, 0xFF, 0xC2, 0, 11, 8, 1, 0, 2, 0, 3,
    0xFF, 0xDA,
  ]
  private static let gif = Array("GIF89a".utf8) + [4, 1, 2, 0, 0]

  private static func webp(_ kind: String, _ rest: [UInt8]) -> [UInt8] {
    Array("RIFF".utf8) + [30, 0, 0, 0] + Array("WEBP\(kind)".utf8) + [10, 0, 0, 0] + rest
  }

  private static let imageHeader = FuzzTarget(
    "image-header",
    samples: [
      png, jpeg, gif, webp("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A, 4, 1, 2, 0]),
      webp("VP8L", [0x2F, 1, 2, 3, 4]), webp("VP8X", [0, 0, 0, 0, 1, 0, 0, 2, 0, 0]),
      [0, 0, 0, 20] + Array("ftypavif".utf8) + [0, 0, 0, 0],
      Array(#"<?xml version="1.0"?><!-- a --><svg xmlns="http://www.w3.org/2000/svg"/>"#.utf8),
    ],
    tokens: ["IHDR", "GIF89a", "RIFF", "WEBP", "VP8 ", "VP8L", "VP8X", "ftyp", "<?", "<!--", "-->"]
  ) { bytes in
    // Also as a slice, whose indices do not start at 0.
    let data = Data([0] + bytes).dropFirst()
    let sniffed = ImageType(sniffing: data)
    try expect(sniffed == ImageType(sniffing: Data(bytes)), "a slice is of another type")
    for type in ImageType.allCases {
      let size = PixelSize(of: data, type)
      try expect(size == PixelSize(of: Data(bytes), type), "a slice has another size")
      try expect(size.map { $0.width > 0 && $0.height > 0 } ?? true, "\(type) without a side")
    }
  }

  private static let requestTarget = FuzzTarget(
    "request-target",
    texts: [
      "/api/v1/heroes?query=spider+man&limit=20&where=id%3E1", "/api/v1/heroes/a%2Fb/image?size=",
      "http://127.0.0.1:8080/sources/users?q=%C3%A9", "//example.com/%2e%2e/etc/passwd",
      "/?=&&a&b==",
    ], tokens: ["%", "%00", "%2F", "..", "//", "?", "&", "=", "+", "#", "http://", "%ff", "é"]
  ) { text in
    guard let request = ServerRequest("GET", target: text) else { return }
    let words = request.path + request.query.flatMap { [$0.name, $0.value] }
    try expect(!words.contains { $0.utf8.contains(0) }, "a part has a NUL")
    // Encoded strictly, it must read as the same request.
    let path = request.path.map { "/\($0.percentEncoded)" }.joined()
    let query = request.query.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }
    // An empty segment at the end is left out.
    let target = "\(path)/?\(query.joined(separator: "&"))"
    let again = ServerRequest("GET", target: target)
    try expect(
      again?.path == request.path && again?.query == request.query, "\(target) reads as another")
  }
}
