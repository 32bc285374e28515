import AggregatorFiles
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// A lock between processes, tested with two descriptors.
@Suite struct FileLockTests {
  private let sandbox: Sandbox
  private let lock: FileLock
  private let clock = ManualClock()

  init() throws {
    sandbox = try Sandbox()
    lock = FileLock(path: sandbox.root.appending(path: "home/a/b/x.lock").path)
  }

  @Test func `the second waits for the first`() async throws {
    let gate = Gate()
    async let first: Void = lock.holding(within: .seconds(1), clock: clock) {
      try await gate.pass()
    }
    await gate.holds(1)
    async let second = lock.holding(within: .seconds(1), clock: clock) { gate.count }
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(20))
    await clock.sleepers(atLeast: 1)
    #expect(gate.count == 1)
    gate.open()
    try await first
    clock.advance(by: .milliseconds(20))
    #expect(try await second == 0)
    #expect(try sandbox.permissions(of: "home/a/b/x.lock") == 0o600)
    #expect(try sandbox.permissions(of: "home/a") == 0o700)
  }

  @Test func `waiting times out`() async throws {
    try await lock.holding(within: .zero, clock: clock) {
      await #expect(throws: FileLock.Taken.self) {
        try await lock.holding(within: .zero, clock: clock) {}
      }
      let other = Task { [lock, clock] in
        try await lock.holding(within: .milliseconds(30), clock: clock) {}
      }
      for _ in 0..<2 {
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .milliseconds(20))
      }
      await #expect(throws: FileLock.Taken.self) { try await other.value }
    }
  }

  @Test func `is released after an error, and when waiting is cancelled`() async throws {
    await #expect(throws: CocoaError.self) {
      try await lock.holding(within: .zero, clock: clock) { throw CocoaError(.featureUnsupported) }
    }
    try await lock.holding(within: .zero, clock: clock) {
      let waiter = Task { [lock, clock] in
        try await lock.holding(within: .seconds(9), clock: clock) {}
      }
      await clock.sleepers(atLeast: 1)
      waiter.cancel()
      let error = await #expect(throws: SourceError.self) { try await waiter.value }
      #expect(error?.code == .cancelled)
    }
    #expect(try await lock.holding(within: .zero, clock: clock) { 7 } == 7)
  }

  @Test func `fails with a storage error if the file cannot be created`() async throws {
    let file = try sandbox.write("", to: "home/file")
    let error = await #expect(throws: SourceError.self) {
      try await FileLock(path: "\(file.path)/x.lock").holding(within: .zero, clock: clock) {}
    }
    #expect(error?.code == .storage)
  }
}
