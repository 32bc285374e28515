import AggregatorFakeServices
import AggregatorFiles
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The program's directory, locked by another process that does not let go.
@Suite struct HomeLockTests {
  private let services: FourServices
  private let home: TestHome

  init() throws {
    services = try FourServices()
    home = try TestHome(services.settings)
  }

  @Test func `every command that opens the store ends with 75 after the time limit`() async throws {
    #expect(try await home.run("users load 10").status == 0)
    let directory = URL(filePath: home.file.path).deletingLastPathComponent().path
    let lock = try OpenFile(directory: directory)
    #expect(try lock.lock(.exclusive, within: .zero))
    // A file to which nobody writes is read without locks.
    try home.file.setModified(in: 86_400)
    let lines = [
      "users list", "users search a", "users next", "heroes list", "heroes list --offline",
      "countries show FR", "products search a --offline", "users load 5",
    ]
    for line in lines + ["sql SELECT/**/1"] {
      let outcome = try await home.run("\(line) --timeout 200ms")
      #expect(outcome.status == 75, "\(line): \(outcome)")
      #expect(outcome.errors.contains("store.sqlite is locked by another process"), "\(outcome)")
      #expect(outcome.output == "", "\(line)")
    }
    // After the busy timeout of 5 s.
    let status = try await home.run("store status")
    #expect(status.status == 75, "\(status)")
    lock.unlock()
    #expect(try await home.run("store status").status == 0)
  }
}
