import AggregatorKit
import AggregatorSQLite
import AggregatorSourceTesting
import Foundation
import Testing

/// Reading a file to which nobody writes: without locks, and without files beside it.
struct IdleFileTests {
  private let directory: StoreDirectory

  /// A store with the record `a` that was saved long ago.
  init() async throws {
    directory = try StoreDirectory()
    try await directory.store().save([StoreEntry("a")])
    try directory.setModified(in: -86_400)
  }

  @Test func `reading creates no file`() async throws {
    let store = directory.store()
    #expect(try await store.ids() == ["a"])
    #expect(directory.names == ["store.sqlite"])
  }

  @Test func `a file that was changed a moment ago is locked`() async throws {
    try directory.setModified(in: 3_600)
    let store = directory.store()
    #expect(try await store.ids() == ["a"])
    #expect(directory.names == ["store.sqlite", "store.sqlite-shm", "store.sqlite-wal"])
  }

  @Test func `a later change by others is seen at once`() async throws {
    let store = directory.store()
    let other = directory.store()
    #expect(try await store.ids() == ["a"])
    for id in ["b", "c"] {
      try await other.save([StoreEntry(id)])
      #expect(try await store.ids().last == id)
    }
  }

  @Test func `a change that is already in the file is seen, too`() async throws {
    let store = directory.store()
    #expect(try await store.ids() == ["a"])
    // The last connection copies its log into the file.
    try await directory.store().save([StoreEntry("b")])
    #expect(try await store.ids() == ["a", "b"])
  }

  @Test func `an answer read while the file changes is thrown away`() async throws {
    let store = directory.store()
    let readings = Counter()
    let count = try await store.read { [directory] connection throws(SQLiteFailure) in
      readings.add()
      // A read that began before the change sees some pages of before and some of after.
      if readings.value == 1 { try? directory.setModified(in: -3_600) }
      return readings.value
    }
    #expect(count == 2)
  }

  @Test func `a failure while the file changes is no damage`() async throws {
    let store = directory.store()
    let readings = Counter()
    let count = try await store.read { [directory] _ throws(SQLiteFailure) in
      readings.add()
      if readings.value == 1 {
        try? directory.setModified(in: -3_600)
        throw SQLiteFailure(11, on: nil)  // SQLITE_CORRUPT
      }
      return readings.value
    }
    #expect(count == 2)
    #expect(directory.warnings.isEmpty)
  }

  @Test func `the pages of a log that was left behind are read`() async throws {
    let other = directory.store()
    try await other.save([StoreEntry("b")])
    // As after `kill -9`: the log is there, and the file was changed long ago.
    try directory.setModified(in: -86_400)
    #expect(try await directory.store().ids() == ["a", "b"])
    withExtendedLifetime(other) {}
  }

  @Test(.enabled("the system does not list locks") { !descriptors.isEmpty })
  func `it ends without the locks of other connections`() async throws {
    let writer = directory.store()
    let reader = directory.store()
    #expect(try await reader.ids() == ["a"])
    #expect(try !isLocked())
    try await writer.save([StoreEntry("b")])
    // Closes the connection without locks: the process would lose those of the file with any other descriptor.
    #expect(try await reader.ids() == ["a", "b"])
    #expect(try isLocked())
    withExtendedLifetime((writer, reader)) {}
  }

  /// The names of the files in which Linux lists the locks of each descriptor of this process.
  private static var descriptors: [String] {
    let directory = "/proc/self/fdinfo"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.map { "\(directory)/\($0)" }
  }

  private func isLocked() throws -> Bool {
    let file = try FileManager.default.attributesOfItem(atPath: directory.path)
    let number = try #require(file[.systemFileNumber] as? Int)
    // Descriptors of other tests come and go.
    return Self.descriptors.compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }
      .flatMap { $0.split(separator: "\n") }
      .contains { $0.contains("POSIX") && $0.contains(":\(number) ") }
  }
}
