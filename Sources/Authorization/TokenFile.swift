import AggregatorCore
import AggregatorFiles
import AggregatorFoundation
import AggregatorText
import Dispatch

/// The tokens of a grant as they are kept on this machine.
struct StoredTokens: Hashable, Sendable {
  /// The refresh token that the service sent last; `nil` for that of the settings.
  var refresh: Secret?
  var access: AccessToken
  /// A digest of the client's ID and secret and of the scope, for which the access token was issued.
  var client: String
}

/// The private directory with the tokens of this machine: for each grant a file, and a lock between processes.
struct TokenDirectory: Hashable, Sendable {
  let path: String

  static let queue = DispatchQueue(label: "aggregator.tokens", attributes: .concurrent)

  private static let maxSaltBytes = 64

  /// A random text by which digests in file names tell nothing about what they were made from.
  ///
  /// It is made at first use, by one process.
  func salt() throws(SourceError) -> String {
    let file = PrivateFile(path: "\(path)/salt")
    if let bytes = try file.contents(atMost: Self.maxSaltBytes), !bytes.isEmpty {
      return String(decoding: bytes, as: UTF8.self)
    }
    var salt: [UInt8] = []
    try file.replace(atMost: Self.maxSaltBytes) { bytes throws(SourceError) in
      let random = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
      salt = bytes.isEmpty ? Array(random.joined().utf8) : bytes
      return salt
    }
    return String(decoding: salt, as: UTF8.self)
  }

  func file(of grant: Grant) throws(SourceError) -> TokenFile {
    let salt = try salt()
    func digest(_ text: String) -> String { String("\(salt)\0\(text)".fnv1a, radix: 36) }
    return TokenFile(
      path: "\(path)/\(digest(grant.identity))", client: digest(grant.accessIdentity))
  }
}

/// The file with the tokens of a grant.
struct TokenFile: Sendable {
  private static let maxBytes = 64 << 10

  /// The path without its ending.
  let path: String

  /// A digest of the client's ID and secret and of the scope.
  let client: String

  private var file: PrivateFile { PrivateFile(path: "\(path).json") }

  /// A lock between processes that renew.
  var lock: FileLock { FileLock(path: "\(path).lock") }

  /// - Throws: ``SourceError`` with code `storage` if the file cannot be read, or is damaged.
  func read() throws(SourceError) -> StoredTokens? {
    guard let bytes = try file.contents(atMost: Self.maxBytes, irregular: .storage) else {
      return nil
    }
    let json = JSONText(Data(bytes)).map { JSON($0) }
    guard case .string(let access)? = json?["access"], case .string(let client)? = json?["client"]
    else {
      throw SourceError(
        .storage, "\(file.path) is damaged", remedy: "delete the file, and sign in again")
    }
    var refresh: Secret?
    if case .string(let text)? = json?["refresh"] { refresh = Secret(text) }
    var renewal: Date?
    if case .integer(let seconds)? = json?["renewal"] {
      renewal = Date(timeIntervalSince1970: Double(seconds))
    }
    return StoredTokens(
      refresh: refresh, access: AccessToken(secret: Secret(access), renewal: renewal),
      client: client)
  }

  /// Deletes the tokens; the lock stays, as others may be waiting for it.
  ///
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  func remove() async throws(SourceError) {
    do {
      try await lock.holding(within: Grant.maxTime, clock: ContinuousClock()) {
        guard unlink(file.path) == 0 || errno == ENOENT else {
          throw SourceError(.storage, "cannot delete \(file.path)")
        }
      }
    } catch let error as SourceError {
      throw error
    } catch {
      throw SourceError(.busy, "another process is using \(file.path)", remedy: "try again later")
    }
  }

  /// Replaces the tokens; they are on the disk when it returns.
  ///
  /// - Throws: ``SourceError`` with code `storage`: the old ones are unchanged.
  func write(_ tokens: StoredTokens) throws(SourceError) {
    var members = [
      JSON.Member("access", .string(tokens.access.secret.reveal(\.self))),
      JSON.Member("client", .string(tokens.client)),
    ]
    if let refresh = tokens.refresh {
      members.append(.init("refresh", .string(refresh.reveal(\.self))))
    }
    if let renewal = tokens.access.renewal {
      let seconds = Int(clamping: Int64(renewal.timeIntervalSince1970))
      members.append(.init("renewal", .integer(seconds)))
    }
    let text = Array(JSON.object(members).text.utf8)
    // It also removes what processes left behind that were killed while they wrote.
    try file.replace(atMost: Self.maxBytes) { _ throws(SourceError) in text }
  }
}
