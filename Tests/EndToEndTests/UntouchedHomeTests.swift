import AggregatorKit
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Commands that only read leave the files of a person alone.
@Suite struct UntouchedHomeTests {
  private static let reading = [
    "--version", "help", "help countries", "countries list --offline",
    "countries search new --offline --json", "heroes show 1443 --offline",
    "users search aino --offline", "products list --offline", "search lamp --offline", "sources",
    "config", "config get COMIC_VINE_URL", "store path",
  ]

  @Test(arguments: reading)
  func `an empty home stays empty`(line: String) async throws {
    let sandbox = try Sandbox()
    let before = try FileTimes(under: sandbox.home)
    let outcome = try await Binary.run(line, in: sandbox)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try FileTimes(under: sandbox.home) == before)
    #expect(try sandbox.files(under: "home").isEmpty)
  }

  @Test func `AGGREGATOR_HOME is not created to read`() async throws {
    let sandbox = try Sandbox()
    let home = sandbox.root.appending(path: "none").path
    for line in Self.reading {
      let outcome = try await Binary.run(line, environment: ["AGGREGATOR_HOME": home], in: sandbox)
      #expect(outcome.status == 0, "\(line): \(outcome)")
    }
    #expect(!FileManager.default.fileExists(atPath: home))
  }

  @Test func `nothing in a home is modified, created or removed`() async throws {
    let household = try await PopulatedHome(["a": "Lamp", "b": "Lamp of brass"]).household
    try household.file.setModified(in: -86_400)
    let home = household.sandbox.home
    let before = try FileTimes(under: home)
    #expect(before.byPath.keys.contains { $0.hasSuffix("store.sqlite") })
    for line in Self.reading + ["products show a b --offline", "products list --deleted"] {
      let outcome = try await household.run(line)
      // Of two records nothing shows that they are all.
      let isPart = outcome.errors.contains("limited to cached records: 2 products are cached")
      #expect(outcome.status == (isPart ? 3 : 0), "\(line): \(outcome)")
      #expect(try FileTimes(under: home) == before, "\(line)")
    }
    // The store was read.
    #expect(try await household.column("title", "products show b --offline") == ["Lamp of brass"])
    #expect(try FileTimes(under: home) == before)
  }

  @Test func `an idle store is read beside a program that writes later`() async throws {
    let household = try await PopulatedHome(["a": "Lamp"]).household
    try household.file.setModified(in: -86_400)
    #expect(try await household.run("products show a --offline").status == 0)
    #expect(try await household.run("products delete a --yes").status == 0)
    #expect(try await household.run("products show a --offline").status == 1)
  }
}

/// The size and the time of the last change of a directory and everything in it.
private struct FileTimes: Equatable {
  private(set) var byPath: [String: [Int]] = [:]

  init(under directory: URL) throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
    for name in names + ["."] {
      var status = stat()
      guard lstat("\(directory.path)/\(name)", &status) == 0 else { continue }
      #if canImport(Darwin)
        let time = status.st_mtimespec
      #else
        let time = status.st_mtim
      #endif
      byPath[name] = [Int(status.st_size), time.tv_sec, time.tv_nsec, Int(status.st_ino)]
    }
  }
}
