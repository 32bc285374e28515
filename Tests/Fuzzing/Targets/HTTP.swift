import AggregatorKit
import Foundation

/// What comes around a reply's body, and addresses.
extension FuzzTarget {
  static let http = [retryAfter, headLines, address, errorReply, redaction]

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
    // As a redirect is read.
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

  /// The status in the first byte, then the body.
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
    let clean = Redactor([secret]).redacted(reply)
    try expect(clean.body.firstRange(of: Data(secret.utf8)) == nil, "the secret is still there")
    let scan = SecretScanner([Secret(secret)])
    let scanned = scan.redacted(bytes)
    try expect(
      Data(scanned).firstRange(of: Data(secret.utf8)) == nil, "a scan leaves the secret")
    if Data(bytes).firstRange(of: Data(secret.utf8)) != nil {
      try expect(scan.finds(in: bytes), "a scan does not find the secret")
    }
    _ = scan.finds(in: scanned)
  }
}
