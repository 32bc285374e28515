public import AggregatorCore
import Foundation

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

  /// True if the URI itself contains a password.
  public let hasPassword: Bool

  /// True for a text that begins like a connection URI.
  public static func isAddress(_ text: String) -> Bool {
    ["postgresql://", "postgres://"].contains { text.hasPrefix($0) }
  }

  /// - Throws: ``SourceError`` with code `invalidRequest` for a text that is not a connection URI.
  public init(_ text: String) throws(SourceError) {
    guard Self.isAddress(text), !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
      throw SourceError(
        .invalidRequest, "the address of a PostgreSQL database begins with postgresql://",
        remedy: "write postgresql://USER@HOST/DATABASE")
    }
    uri = Secret(text)
    let visible = Self.withoutPassword(text)
    description = visible
    hasPassword = visible != text
  }

  /// The URI without the password of its user, and without the parameters that carry one.
  private static func withoutPassword(_ uri: String) -> String {
    let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var address = String(parts[0])
    // libpq takes everything before the first "@" for the user, unless a slash comes first.
    if let start = address.range(of: "://")?.upperBound,
      let at = address[start...].firstIndex(where: { $0 == "@" || $0 == "/" }),
      address[at] == "@", let colon = address[start..<at].firstIndex(of: ":")
    {
      address.removeSubrange(colon..<at)
    }
    guard parts.count > 1 else { return address }
    let parameters = parts[1].split(separator: "&").filter { parameter in
      let name = parameter.prefix { $0 != "=" }
      return !["password", "sslpassword"].contains(name.removingPercentEncoding ?? "")
    }
    return parameters.isEmpty ? address : "\(address)?\(parameters.joined(separator: "&"))"
  }
}

extension PostgresAddress: CustomStringConvertible {}
