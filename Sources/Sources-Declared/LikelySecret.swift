package import AggregatorKit

/// Guesses by names and values which parts of a request are secrets.
package enum LikelySecret {
  private static let headerWords = [
    "auth", "cookie", "credential", "key", "password", "secret", "session", "signature", "token",
  ]

  /// The parameters that carry keys, without `-` and `_`.
  private static let parameters: Set<String> = [
    "apikey", "key", "token", "accesstoken", "authtoken", "secret", "clientsecret", "appid",
    "appkey", "subscriptionkey", "password", "auth", "signature",
  ]

  /// The parameters whose names have other meanings, too.
  private static let ambiguous: Set<String> = ["key", "token", "auth", "appid"]

  /// Returns true for a header field that probably authenticates.
  package static func isHeader(_ name: String, value: String) -> Bool {
    let name = name.lowercased()
    return headerWords.contains { name.contains($0) } || value.looksLikeKey
  }

  /// Returns true for a query parameter that probably authenticates.
  package static func isParameter(_ name: some StringProtocol) -> Bool {
    parameters.contains(name.lowercased().filter { $0.isLetter || $0.isNumber })
  }

  /// The names of the members of a JSON value that probably are secrets.
  package static func members(of json: JSON) -> [String] {
    switch json {
    case .array(let elements): elements.flatMap(members)
    case .object(let own):
      own.flatMap { member -> [String] in
        guard case .string(let text) = member.value, !text.isEmpty else {
          return members(of: member.value)
        }
        let isSecret =
          isParameter(member.name)
          && (!ambiguous.contains(member.name.lowercased()) || text.looksLikeKey)
        return isSecret ? [member.name] : []
      }
    default: []
    }
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
