import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// Processes that end while they change the scope of a source.
@Suite struct ScopeFaultTests {
  private let base = InMemoryStore()

  private func scoped(_ store: some ScopeKeepingStore, _ secret: String) -> ScopedStore {
    ScopedStore(store) { _ in StoreScope(records: "a", secret: Secret(secret)) }
  }

  /// The store of a process that ends before its write with a number.
  private func ending(before number: Int) -> FlawedStore {
    let writes = Counter()
    @Sendable func check() throws(SourceError) {
      if writes.next() >= number { throw SourceError(.storage, "ended") }
    }
    var store = FlawedStore(base: base)
    store.checkSwitch = check
    store.save = { base, batch, source, date throws(SourceError) in
      try check()
      return try await base.save(batch, of: source, at: date)
    }
    return store
  }

  @Test func `no scope is lost`() async throws {
    try await scoped(base, "ann").save([StoreEntry("1")])
    try await scoped(base, "bob").save([StoreEntry("2")])
    for number in 0..<8 {
      _ = try? await scoped(ending(before: number), "ann").ids()
      #expect(try await scoped(base, "ann").ids() == ["1"], "\(number)")
      #expect(try await scoped(base, "bob").scopes(of: "things").count == 2, "\(number)")
      #expect(try await scoped(base, "bob").ids() == ["2"], "\(number)")
    }
  }

  @Test func `a scope that was cleared leaves its name to the next one`() async throws {
    let directory = try StoreDirectory()
    try await InMemoryStore().expectToFreeNames()
    try await directory.store().expectToFreeNames()
  }

  @Test func `several reads look at the scope at the same time`() async throws {
    let gate = Gate()
    let isHeld = Atomic(false)
    var store = FlawedStore(base: base)
    store.beforeCheckpoint = {
      if isHeld.load(ordering: .relaxed) { try? await gate.pass() }
    }
    let scoped = scoped(store, "ann")
    try await scoped.save([StoreEntry("1")])
    #expect(try await scoped.ids() == ["1"])
    isHeld.store(true, ordering: .relaxed)
    async let first = scoped.ids()
    async let second = scoped.ids()
    await gate.holds(2)
    gate.open()
    #expect(try await first == ["1"])
    #expect(try await second == ["1"])
  }

  @Test func `a third account loses none of the others`() async throws {
    for number in 0..<8 {
      let base = InMemoryStore()
      var failing = ending(before: number)
      failing.base = base
      try await scoped(base, "ann").save([StoreEntry("1")])
      try await scoped(base, "bob").save([StoreEntry("2")])
      _ = try? await scoped(failing, "eve").save([StoreEntry("3")])
      #expect(try await scoped(base, "ann").ids() == ["1"], "\(number)")
      #expect(try await scoped(base, "bob").ids() == ["2"], "\(number)")
    }
  }
}

extension ScopeKeepingStore {
  /// Expects that two accounts find their records again after the scope of one was cleared.
  func expectToFreeNames(sourceLocation location: SourceLocation = #_sourceLocation) async throws {
    func scoped(_ secret: String) -> ScopedStore {
      ScopedStore(self) { _ in StoreScope(records: "a", secret: Secret(secret)) }
    }
    try await scoped("ann").save([StoreEntry("1")])
    try await scoped("bob").save([StoreEntry("2")])
    let kept = try await scoped("bob").scopes(of: "things").first { !$0.isShown }
    #expect(
      try await scoped("bob").clearScope(kept?.name ?? "", of: "things"), sourceLocation: location)
    try await scoped("ann").save([StoreEntry("3")])
    for _ in 0..<2 {
      #expect(try await scoped("bob").ids() == ["2"], sourceLocation: location)
      #expect(try await scoped("ann").ids() == ["3"], sourceLocation: location)
    }
    #expect(try await scoped("ann").scopes(of: "things").count == 2, sourceLocation: location)
  }
}

private final class Counter: Sendable {
  private let value = Mutex(0)

  /// Returns 0, 1, 2 and so on.
  func next() -> Int {
    value.withLock { value in
      defer { value += 1 }
      return value
    }
  }
}
