package import AggregatorKit
import Foundation

/// The first request of a source that is being added, as it was typed.
package struct SourceRequest: Hashable, Sendable {
  package struct Header: Hashable, Sendable {
    package var name: String
    package var value: String
  }

  package var url = ""
  package var headers: [Header] = []
  package var body: JSON?
}

extension SourceRequest.Header {
  /// Parses `NAME: VALUE`.
  init(parsing field: String) throws(CommandError) {
    let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else {
      // The value may be a secret.
      throw CommandError(
        .usage, "invalid header field \"\(field.prefix { $0 != " " && $0 != "=" })\"",
        hint: "write it as 'NAME: VALUE'")
    }
    name = String(parts[0])
    value = parts[1].trimmingCharacters(in: .whitespaces)
  }

  /// True for a literal secret.
  fileprivate var isSecret: Bool {
    let name = name.lowercased()
    return ["auth", "cookie", "key", "token", "secret", "password", "session", "credential"]
      .contains { name.contains($0) } || value.looksLikeKey
  }

  /// The name of the scheme and a space, such as `Bearer `; empty for none.
  fileprivate var scheme: Substring {
    value.prefixMatch(of: /(?i)(bearer|basic|token|apikey) +/)?.output.0 ?? ""
  }
}

extension String {
  /// True for a long text of letters and digits, as keys are.
  fileprivate var looksLikeKey: Bool {
    utf8.count >= 24 && contains(where: \.isNumber) && contains(where: \.isLetter)
      && utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
      }
  }
}

extension SourceRequest {
  /// The names of the members of the body that probably are secrets.
  var secretBodyMembers: [String] { body?.secretMembers ?? [] }

  /// A secret that was typed, and the setting that takes its place.
  package struct LiteralSecret: Hashable, Sendable {
    package let setting: String
    package let value: String
  }

  /// The parameters that carry keys, without `-` and `_`.
  fileprivate static let secretParameters: Set<String> = [
    "apikey", "key", "token", "accesstoken", "authtoken", "secret", "clientsecret", "appid",
    "appkey", "subscriptionkey", "password", "auth", "signature",
  ]

  /// Replaces the literal secrets in the header fields and in the query by settings, `${NAME}`.
  ///
  /// - Parameters:
  ///   - source: The name of the source, with which the names of the settings begin.
  ///   - taken: The names of other settings.
  package mutating func extractSecrets(of source: String, avoiding taken: Set<String>)
    -> [LiteralSecret]
  {
    var secrets: [LiteralSecret] = []
    func placeholder(_ part: String, _ value: String) -> String {
      let plain = "\(source)_\(part)".uppercased().replacing(/[^A-Z0-9]/, with: "_")
      var name = plain
      var number = 2
      while taken.contains(name) || secrets.contains(where: { $0.setting == name }) {
        name = "\(plain)_\(number)"
        number += 1
      }
      secrets.append(LiteralSecret(setting: name, value: value))
      return "${\(name)}"
    }
    for (index, header) in headers.enumerated()
    where header.isSecret && !header.value.contains("${") {
      let (name, scheme) = (header.name, header.scheme)
      let value = String(header.value.dropFirst(scheme.count))
      headers[index].value = scheme + placeholder(name, value)
    }
    guard let start = url.firstIndex(of: "?") else { return secrets }
    let (query, fragment) = url[url.index(after: start)...].divided(at: "#")
    let items = query.split(separator: "&", omittingEmptySubsequences: false).map { item in
      let (name, value) = item.divided(at: "=")
      let plain = name.lowercased().filter { $0 != "-" && $0 != "_" }
      guard Self.secretParameters.contains(plain), let value, !value.isEmpty,
        !value.contains("${")
      else { return String(item) }
      let text = value.replacing("+", with: "%20")
      return "\(name)=\(placeholder(String(name), text.removingPercentEncoding ?? String(value)))"
    }
    url = url[...start] + items.joined(separator: "&") + (fragment.map { "#\($0)" } ?? "")
    return secrets
  }
}

extension Substring {
  /// The text before and after the first separator; `nil` if there is none.
  fileprivate func divided(at separator: Character) -> (Substring, Substring?) {
    guard let mark = firstIndex(of: separator) else { return (self, nil) }
    return (self[..<mark], self[index(after: mark)...])
  }
}

extension JSON {
  fileprivate var secretMembers: [String] {
    switch self {
    case .array(let elements): elements.flatMap(\.secretMembers)
    case .object(let members):
      members.flatMap { member -> [String] in
        guard case .string(let text) = member.value, !text.isEmpty else {
          return member.value.secretMembers
        }
        let name = member.name.lowercased().filter { $0.isLetter || $0.isNumber }
        // `key` and `token` have other meanings, too.
        let isSecret =
          name.count > 5
          ? SourceRequest.secretParameters.contains(name)
          : SourceRequest.secretParameters.contains(name) && text.looksLikeKey
        return isSecret ? [member.name] : []
      }
    default: []
    }
  }
}
