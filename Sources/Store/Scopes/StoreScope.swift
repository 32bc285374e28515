package import AggregatorCore
import AggregatorText

/// The settings that decide which records a source has: its URL, seed and IDs, and the secret of its account.
package struct StoreScope: Sendable {
  /// A digest of all but the secret.
  package let records: String

  /// The secret; `nil` if there is none, or if it is not set.
  let secret: Secret?

  package init(records: String, secret: Secret? = nil) {
    self.records = records
    self.secret = secret
  }

  /// A short digest of the secret, by which it is known again; `nil` without a secret.
  ///
  /// It has 30 bits: too few to tell which of many guesses is right. The salt is that of the store, so that all machines
  /// that share it agree.
  package func fingerprint(_ salt: String) -> String? {
    secret.map { secret in
      let digest = secret.reveal { "\(salt)\0\($0)".fnv1a }
      return String(digest % (1 << 30), radix: 36)
    }
  }
}

/// A scope as a store has it.
package struct ScopeStatus: Sendable {
  /// Unique among the scopes of a source, such as `d4e5~1b2c3`.
  package let name: String
  /// True for the scope that is shown; the others are kept.
  package let isShown: Bool
  /// The number of secrets that read it.
  package let secrets: Int
  package let status: StoreStatus

  init(_ mark: ScopeMark, isShown: Bool, _ status: StoreStatus) {
    name = mark.name
    self.isShown = isShown
    secrets = mark.readers.count
    self.status = status
  }
}

/// A scope and its secrets, as a checkpoint of its records: `1b2c3/d4e5,f6g7`.
struct ScopeMark: Hashable {
  let records: String

  /// The fingerprints of the secrets that read it, or, with a `-`, have read it; empty if it needs none.
  ///
  /// The first one is part of the name, so it stays.
  private var secrets: [String]

  init(records: String, secret: String?) {
    self.records = records
    secrets = [secret].compactMap(\.self)
  }

  init(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1)
    records = String(parts.first ?? "")
    secrets = parts.dropFirst().first?.split(separator: ",").map(String.init) ?? []
  }

  var text: String { secrets.isEmpty ? records : "\(records)/\(secrets.joined(separator: ","))" }

  /// The secret comes first, because tables shorten texts at their end.
  var name: String {
    (secrets.first.map { "\($0.trimmingPrefix(Self.former))~" } ?? "") + records
  }

  /// True if these settings read it.
  func isOf(_ scope: StoreScope, _ salt: String) -> Bool {
    guard records == scope.records else { return false }
    guard !secrets.isEmpty, let own = scope.fingerprint(salt) else { return true }
    return secrets.contains(own)
  }

  /// The fingerprints of the secrets that read it.
  var readers: [String] { secrets.filter { !$0.hasPrefix(Self.former) } }

  mutating func add(_ secret: String) {
    if let index = secrets.firstIndex(of: Self.former + secret) {
      secrets[index] = secret
    } else if !secrets.contains(secret) {
      secrets.append(secret)
    }
  }

  mutating func remove(_ secret: String) {
    secrets = secrets.map { $0 == secret ? Self.former + $0 : $0 }
  }

  /// Takes a name that no other scope has.
  mutating func rename() {
    secrets.insert(Self.former + String(UInt32.random(in: .min ... .max), radix: 36), at: 0)
  }

  private static let former = "-"
}
