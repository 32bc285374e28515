package import AggregatorKit

/// The first request of a source that is being added, as it was typed.
package struct SourceRequest: Hashable, Sendable {
  package struct Header: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A user name and password, as `curl -u` has them.
  package struct User: Hashable, Sendable {
    package var name: String
    /// `nil` if it must still be asked for.
    package var password: String?

    package init(name: String, password: String? = nil) {
      self.name = name
      self.password = password
    }
  }

  package var url = ""
  package var headers: [Header] = []
  package var user: User?
  package var body: JSON?

  package init(url: String = "", headers: [Header] = [], body: JSON? = nil) {
    self.url = url
    self.headers = headers
    self.body = body
  }
}

extension SourceRequest.Header {
  /// Parses `NAME: VALUE`.
  package init(parsing field: String) throws(SourceError) {
    let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else {
      // The value may be a secret.
      throw SourceError(
        .invalidRequest, "invalid header field \"\(field.prefix { $0 != " " && $0 != "=" })\"",
        remedy: "write it as 'NAME: VALUE'")
    }
    name = String(parts[0])
    value = parts[1].trimmed
  }

  /// The name of the scheme and a space, such as `Bearer `; empty for none.
  package var scheme: Substring {
    value.prefixMatch(of: /(?i)(bearer|basic|token|apikey) +/)?.output.0 ?? ""
  }
}

extension SourceRequest {
  /// The `auth` of a manifest for the user; `nil` if there is none.
  package var basicAuth: JSON? {
    user.map { user in
      var members = [JSON.Member("user", .string(user.name))]
      if let password = user.password, !password.isEmpty {
        members.append(JSON.Member("password", .string(password)))
      }
      return ["basic": .object(members)]
    }
  }

  /// The names of the members of the body that probably are secrets.
  package var secretBodyMembers: [String] { body.map(LikelySecret.members) ?? [] }

  /// A secret that was typed, and the setting that takes its place.
  package struct LiteralSecret: Hashable, Sendable {
    package let setting: String
    package let value: String

    package init(setting: String, value: String) { (self.setting, self.value) = (setting, value) }
  }

  /// Adds a key to a header field or to the query, and returns the name of the field or the parameter.
  ///
  /// - Parameter place: A header field, perhaps with a scheme, such as `X-Api-Key` or `Authorization: Bearer`, or a query
  ///   parameter after a question mark, such as `?api_key`.
  /// - Throws: ``SourceError`` with code `invalidRequest`, without the key.
  package mutating func add(key: String, in place: String) throws(SourceError) -> String {
    let isParameter = place.hasPrefix("?")
    let (field, scheme) = place.dropFirst(isParameter ? 1 : 0).divided(at: ":")
    let (name, prefix) = (String(field), scheme.map { String($0).trimmed } ?? "")
    guard !name.isEmpty, "\(name)\(prefix)".utf8.allSatisfy(\.isTokenCharacter) else {
      throw SourceError(
        .invalidRequest, "invalid place of the key \"\(place.oneLine(atMost: 80))\"",
        remedy: "write a header field, such as X-Api-Key, or ? and a query parameter")
    }
    // A key that looks like a reference to a setting would become its value.
    guard 1...4000 ~= key.utf8.count, key.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
      !key.contains("${")
    else {
      throw SourceError(
        .invalidRequest, "invalid key", remedy: "a key has up to 4000 visible ASCII characters")
    }
    if isParameter {
      let (start, fragment) = url[...].divided(at: "#")
      url =
        "\(start)\(start.contains("?") ? "&" : "?")\(name)=\(key.percentEncoded)"
        + (fragment.map { "#\($0)" } ?? "")
    } else {
      headers.append(Header(name: name, value: prefix.isEmpty ? key : "\(prefix) \(key)"))
    }
    return name
  }

  /// Replaces the literal secrets in the header fields and in the query by settings, `${NAME}`.
  ///
  /// - Parameters:
  ///   - source: The name of the source, with which the names of the settings begin.
  ///   - taken: The names of other settings.
  ///   - key: The name of a header field or parameter that is a secret, whatever it looks like.
  package mutating func extractSecrets(
    of source: String, avoiding taken: Set<String>, including key: String? = nil
  ) -> [LiteralSecret] {
    var secrets: [LiteralSecret] = []
    func placeholder(_ part: String, _ value: String?) -> String {
      let plain = "\(source)_\(part)".uppercased().replacing(/[^A-Z0-9]/, with: "_")
      var name = plain
      var number = 2
      while taken.contains(name) || secrets.contains(where: { $0.setting == name }) {
        name = "\(plain)_\(number)"
        number += 1
      }
      if let value { secrets.append(LiteralSecret(setting: name, value: value)) }
      return "${\(name)}"
    }
    for (index, header) in headers.enumerated()
    where !header.value.contains("${")
      && (header.name == key || LikelySecret.isHeader(header.name, value: header.value))
    {
      let (name, scheme) = (header.name, header.scheme)
      let value = String(header.value.dropFirst(scheme.count))
      headers[index].value = scheme + placeholder(name, value)
    }
    if let user {
      // A key may be the name, without a password.
      if user.password == "" || user.name.looksLikeKey, !user.name.contains("${") {
        self.user?.name = placeholder("key", user.name)
      }
      if user.password != "", user.password?.contains("${") != true {
        self.user?.password = placeholder("password", user.password)
      }
    }
    guard let start = url.firstIndex(of: "?") else { return secrets }
    let (query, fragment) = url[url.index(after: start)...].divided(at: "#")
    let items = query.split(separator: "&", omittingEmptySubsequences: false).map { item in
      let (name, value) = item.divided(at: "=")
      guard name[...] == key?[...] || LikelySecret.isParameter(name), let value, !value.isEmpty,
        !value.contains("${")
      else { return String(item) }
      let text = value.replacing("+", with: "%20")
      return "\(name)=\(placeholder(String(name), text.percentDecoded ?? String(value)))"
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

extension LikelySecret {
  private static let headerWords = [
    "auth", "cookie", "credential", "key", "password", "secret", "session", "signature", "token",
  ]

  /// The parameters whose names have other meanings, too.
  private static let ambiguous: Set<String> = ["key", "token", "auth", "appid"]

  /// Returns true for a header field that probably authenticates.
  package static func isHeader(_ name: String, value: String) -> Bool {
    let name = name.lowercased()
    return headerWords.contains { name.contains($0) } || value.looksLikeKey
  }

  /// The names of the members of a JSON value that probably are secrets.
  package static func members(of json: JSON) -> [String] {
    if let elements = json.array { return elements.flatMap(members) }
    return json.members.flatMap { member -> [String] in
      guard let text = member.value.string, !text.isEmpty else { return members(of: member.value) }
      return isParameter(member.name, value: text) ? [member.name] : []
    }
  }

  /// Returns true for a parameter that probably authenticates, by its value if its name has other meanings.
  package static func isParameter(_ name: String, value: String) -> Bool {
    isParameter(name) && (!ambiguous.contains(name.lowercased()) || value.looksLikeKey)
  }
}

extension String {
  /// True for a long text of letters and digits, as keys are.
  fileprivate var looksLikeKey: Bool {
    utf8.count >= 24 && contains(where: \.isNumber) && contains(where: \.isLetter)
      && utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
  }
}
