import Foundation

/// Removes the secrets of a request from what came back.
package struct Redactor: Sendable {
  /// What stands where a secret was.
  static let mark = "REDACTED"

  /// Shorter secrets would match by accident, in every text.
  private static let shortest = 8

  private let secrets: [String]
  /// The forms in which a service may repeat the secrets, longest first.
  private let needles: [[UInt8]]

  package init(_ secrets: [String]) {
    let secrets = secrets.filter { $0.count >= Self.shortest }
    let forms = secrets.flatMap { secret in
      [
        secret, secret.percentEncoded, secret.replacing(" ", with: "+"),
        secret.replacing("/", with: #"\/"#),
      ]
    }
    self.secrets = secrets.map { $0.lowercased() }
    needles = Set(forms).map { Array($0.utf8) }.sorted { $0.count > $1.count }
  }

  /// The reply without the secrets.
  package func redacted(_ response: HTTPResponse) -> HTTPResponse {
    guard !needles.isEmpty else { return response }
    var response = response
    response.headers = response.headers.map { (redacted($0.name), redacted($0.value)) }
    if let body = redacted(response.body) { response.body = body }
    return response
  }

  /// The text without the secrets.
  package func redacted(_ text: String) -> String {
    guard !needles.isEmpty, let redacted = redacted(Data(text.utf8)) else { return text }
    return String(decoding: redacted, as: UTF8.self)
  }

  /// Whether a text holds a secret, upper or lower case.
  func mentions(inAnyCase text: String) -> Bool {
    let text = text.lowercased()
    return secrets.contains { text.contains($0) }
  }

  /// The bytes without the secrets; `nil` if there were none, which costs one scan for each form.
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
  /// Where `needle` first occurs; `nil` if it does not, or is empty.
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
