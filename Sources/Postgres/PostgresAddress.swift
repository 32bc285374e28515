public import AggregatorCore
import AggregatorFoundation
import AggregatorText

/// The address of a PostgreSQL database: a connection URI of libpq, such as
/// `postgresql://user@host/database?sslmode=verify-full`.
///
/// See https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING. What it leaves out comes
/// from libpq's environment variables, such as `PGPASSWORD`, and from `~/.pgpass`.
public struct PostgresAddress: Hashable, Sendable {
  /// The URI, which may contain a password.
  let uri: Secret

  /// The password; `nil` to leave it to the URI, the environment or `~/.pgpass`.
  public var password: Secret?

  /// The URI without its password.
  public let description: String

  /// The addresses of standbys of this database, at which a store reads records as long as they are close behind; none by
  /// default.
  public var standbys: [PostgresAddress] = []

  /// True for a text that begins like a connection URI.
  public static func isAddress(_ text: String) -> Bool {
    ["postgresql://", "postgres://"].contains { text.hasPrefix($0) }
  }

  /// The parts of the URI that are left out of ``description``.
  private let passwords: [Secret]

  /// - Throws: ``SourceError`` with code `invalidRequest` for a text that is not a connection URI.
  public init(_ text: String) throws(SourceError) {
    guard Self.isAddress(text), !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
      throw SourceError(
        .invalidRequest, "the address of a PostgreSQL database begins with postgresql://",
        remedy: "write postgresql://USER@HOST/DATABASE")
    }
    // Otherwise libpq takes a part of the password for the host, and names it in its messages.
    guard Self.isEncoded(text) else {
      throw SourceError(
        .invalidRequest,
        "a user, password or database name with a special character is not encoded",
        remedy: "write @ as %40, / as %2F and ? as %3F")
    }
    let (visible, passwords) = Self.separated(text)
    uri = Secret(text)
    description = visible
    self.passwords = passwords.map(Secret.init)
  }

  /// The addresses in a text that separates them by commas.
  ///
  /// - Throws: ``SourceError`` with code `invalidRequest` for a text that is not a list of connection URIs.
  public static func list(_ text: String) throws(SourceError) -> [PostgresAddress] {
    // A URI has a comma between its hosts, too.
    var parts: [String] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let part = String(part).trimmed
      if parts.isEmpty || part.isEmpty || isAddress(part) {
        parts.append(part)
      } else {
        parts[parts.count - 1] += ",\(part)"
      }
    }
    var addresses: [PostgresAddress] = []
    for part in parts { addresses.append(try PostgresAddress(part)) }
    return addresses
  }

  /// True if the URI itself contains a password.
  public var hasPassword: Bool { !passwords.isEmpty }

  /// False if an `@`, `/` or `?` is where only an encoded one can be.
  private static func isEncoded(_ uri: String) -> Bool {
    let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts[0].split(separator: "/", omittingEmptySubsequences: false).dropFirst(3)
    return parts[0].count { $0 == "@" } < 2 && !path.contains { $0.contains("@") }
      && parts.dropFirst().allSatisfy { $0.split(separator: "&").allSatisfy { $0.contains("=") } }
  }

  /// The URI without the password of its user and the parameters that carry one, and these passwords.
  private static func separated(_ uri: String) -> (visible: String, passwords: [String]) {
    let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var address = String(parts[0])
    var passwords: [String] = []
    // libpq takes everything before the first "@" for the user, unless a slash comes first.
    if let start = address.firstRange(of: "://")?.upperBound,
      let at = address[start...].firstIndex(where: { $0 == "@" || $0 == "/" }),
      address[at] == "@", let colon = address[start..<at].firstIndex(of: ":")
    {
      passwords.append(String(address[colon..<at].dropFirst()))
      address.removeSubrange(colon..<at)
    }
    guard parts.count > 1 else { return (address, passwords) }
    var parameters: [Substring] = []
    for parameter in parts[1].split(separator: "&") {
      let name = parameter.prefix { $0 != "=" }
      if ["password", "sslpassword"].contains(name.percentDecoded ?? "") {
        passwords.append(String(parameter.dropFirst(name.count + 1)))
      } else {
        parameters.append(parameter)
      }
    }
    let query = parameters.isEmpty ? "" : "?\(parameters.joined(separator: "&"))"
    return (address + query, passwords)
  }

  /// A message of libpq without the passwords that it may repeat.
  func redacted(_ message: String) -> String {
    let secrets = passwords + [password].compactMap(\.self)
    return secrets.reduce(uri.reveal { message.replacing($0, with: description) }) {
      message, secret in
      secret.reveal { secret in
        guard !secret.isEmpty else { return message }
        let decoded = secret.percentDecoded ?? secret
        return message.replacing(secret, with: "…").replacing(decoded, with: "…")
      }
    }
  }
}

extension PostgresAddress: CustomStringConvertible {}
