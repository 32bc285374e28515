import Foundation

/// Replaces the secrets of a request in its response.
package struct Redactor: Sendable {
  static let mark = "REDACTED"

  private let secrets: [String]
  /// The encodings of the secrets, longest first.
  private let needles: [[UInt8]]

  package init(_ secrets: [String]) {
    let secrets = secrets.filter { $0.count >= SecretEncoding.minimumLength }
    self.secrets = secrets.map { $0.lowercased() }
    needles = Set(secrets.flatMap(SecretEncoding.texts)).map { Array($0.utf8) }
      .sorted { $0.count > $1.count }
  }

  package func redacted(_ response: HTTPResponse) -> HTTPResponse {
    guard !needles.isEmpty else { return response }
    var response = response
    response.headers = response.headers.map { (redacted($0.name), redacted($0.value)) }
    if let body = redacted(response.body) { response.body = body }
    return response
  }

  package func redacted(_ text: String) -> String {
    guard !needles.isEmpty, let redacted = redacted(Data(text.utf8)) else { return text }
    return String(decoding: redacted, as: UTF8.self)
  }

  /// `true` if the text contains a secret, in upper or lower case.
  func mentions(inAnyCase text: String) -> Bool {
    let text = text.lowercased()
    return secrets.contains { text.contains($0) }
  }

  /// The bytes without the secrets; `nil` if there were none, at the cost of one scan for each encoding.
  private func redacted(_ bytes: Data) -> Data? {
    var changed: Data?
    for needle in needles {
      guard let clean = (changed ?? bytes).replacing(needle, with: Array(Self.mark.utf8)) else {
        continue
      }
      changed = clean
    }
    return changed
  }
}

/// The encodings in which a secret may appear in what a service or a program writes.
package enum SecretEncoding {
  /// Shorter secrets occur by chance in any text, so they cannot be replaced or reported.
  package static let minimumLength = 8

  /// The secret itself, and the forms that replace characters of it: percent-encoding, strict and as in
  /// `URLComponents`, `+` for a space, and `\/` as in JSON.
  package static func texts(of secret: String) -> [String] {
    [
      secret, secret.percentEncoded, withPlus(secret), secret.replacing("/", with: #"\/"#),
      secret.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? secret,
    ]
  }

  /// The forms that remain once all escapes are decoded: the secret itself, `+` for a space, and base64.
  static func undecodable(of secret: String) -> [String] {
    [secret, withPlus(secret)] + base64Cores(of: secret)
  }

  private static func withPlus(_ secret: String) -> String { secret.replacing(" ", with: "+") }

  /// The characters of the base64 (RFC 4648) of any longer text that contains the secret, in both
  /// alphabets.
  ///
  /// They depend on the number of bytes before it; those at the edges also on the bytes themselves.
  private static func base64Cores(of secret: String) -> [String] {
    (0...2).flatMap { offset -> [String] in
      let padded = Data(repeating: 0, count: offset) + Data(secret.utf8)
      let core = padded.base64EncodedString().prefix(padded.count * 8 / 6)
        .dropFirst((offset * 8 + 5) / 6)
      guard core.count >= minimumLength else { return [] }
      let inURL = core.replacing("+", with: "-").replacing("/", with: "_")
      return [String(core), String(inURL)]
    }
  }
}

extension Data {
  /// The bytes with every occurrence of `needle` replaced; `nil` if there is none.
  fileprivate func replacing(_ needle: [UInt8], with replacement: [UInt8]) -> Data? {
    withUnsafeBytes { bytes in
      var clean: Data?
      var rest = bytes[...]
      while let found = UnsafeRawBufferPointer(rebasing: rest).offset(of: needle) {
        clean = clean ?? Data(capacity: bytes.count)
        clean?.append(contentsOf: rest.prefix(found))
        clean?.append(contentsOf: replacement)
        rest = rest.dropFirst(found + needle.count)
      }
      clean?.append(contentsOf: rest)
      return clean
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The first occurrence of `needle`; `nil` if there is none, or if it is empty.
  func offset(of needle: [UInt8]) -> Int? {
    guard let start = baseAddress, let first = needle.first else { return nil }
    var at = 0
    // Glibc's module does not export memmem; memchr skips most of the bytes as quickly.
    while at + needle.count <= count,
      let found = memchr(start + at, Int32(first), count - at - needle.count + 1)
    {
      at = UnsafeRawPointer(found) - start
      if memcmp(start + at, needle, needle.count) == 0 { return at }
      at += 1
    }
    return nil
  }
}
