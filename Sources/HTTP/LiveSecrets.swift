package import AggregatorCore
import Synchronization

/// The secrets of an environment, to which those are added that it learns while it is used, such as access tokens.
///
/// Whatever removes secrets reads them at each use.
package final class LiveSecrets: Sendable {
  private struct State {
    var permanent: [Secret] = []
    var temporary: [Secret] = []
    var version = 0
  }

  /// The most secrets that replace one another; the oldest are forgotten.
  private static let maxTemporary = 32

  private let others: LiveSecrets?
  private let state = Mutex(State())

  /// An empty set, which also has the secrets of another one, now and later.
  package init(with others: LiveSecrets? = nil) { self.others = others }

  /// Adds secrets that are never forgotten.
  package func add(_ secrets: [Secret]) {
    state.withLock { state in
      let new = secrets.filter { !state.permanent.contains($0) }
      guard !new.isEmpty else { return }
      state.permanent += new
      state.version += 1
    }
  }

  /// Adds a secret that will be replaced by others, such as a token.
  package func addTemporary(_ secret: Secret) {
    state.withLock { state in
      guard !state.temporary.contains(secret) else { return }
      state.temporary.append(secret)
      if state.temporary.count > Self.maxTemporary { state.temporary.removeFirst() }
      state.version += 1
    }
  }

  package var all: [Secret] { state.withLock { $0.permanent + $0.temporary } + (others?.all ?? []) }

  package var isEmpty: Bool { all.isEmpty }

  /// A number that changes with the secrets.
  fileprivate var version: Int { state.withLock(\.version) + (others?.version ?? 0) }
}

/// Finds the secrets that a live set has at the time.
package final class LiveScanner: Sendable {
  private let secrets: LiveSecrets
  private let made: Mutex<(scanner: SecretScanner, version: Int)>

  package init(_ secrets: LiveSecrets) {
    self.secrets = secrets
    let version = secrets.version
    made = Mutex((SecretScanner(secrets.all), version))
  }

  /// The scanner of the secrets that are known now.
  package var current: SecretScanner {
    made.withLock { made in
      // Read first: a secret that is added meanwhile is found the next time.
      let version = secrets.version
      if made.version != version { made = (SecretScanner(secrets.all), version) }
      return made.scanner
    }
  }
}
