import AggregatorFakeServices
import AggregatorFiles
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Files that are written: never over the program's own, and nothing is left behind.
@Suite struct OwnFilesTests {
  private let pictures: FakePictures
  private let heroes: FakeComicVine
  private let home: TestHome

  init() throws {
    pictures = try FakePictures()
    heroes = try FakeComicVine([
      FakeCharacter(id: 1, name: "One", picture: .at(pictures.url.absoluteString))
    ])
    home = try TestHome(heroes.settings)
  }

  /// A store with a record, named like an export, and one with another record in the usual place.
  private func populate() async throws -> [String: String?] {
    #expect(try await home.run("heroes list").status == 0)
    let chosen = ["AGGREGATOR_STORE": home.sandbox.work.appending(path: "data.db").path as String?]
    #expect(try await home.run("heroes list", chosen).status == 0)
    return chosen
  }

  @Test(arguments: [
    "export heroes -o data.db", "export heroes -o link.db", "export heroes -o hard.csv",
    "export countries -o data.db", "heroes image 1 -o data.db", "heroes image 1 -o link.db",
    "export heroes -o ../home/.local/share/aggregator/usual.json",
  ])
  func `no store is replaced, by whatever name`(line: String) async throws {
    let chosen = try await populate()
    let files = FileManager.default
    let store = home.sandbox.work.appending(path: "data.db")
    try files.createSymbolicLink(
      at: home.sandbox.work.appending(path: "link.db"), withDestinationURL: store)
    try files.linkItem(at: store, to: home.sandbox.work.appending(path: "hard.csv"))
    try files.copyItem(
      atPath: home.file.path,
      toPath: home.sandbox.root.appending(
        path: "home/.local/share/aggregator/usual.json"
      ).path)
    let outcome = try await home.run(line, chosen)
    #expect(outcome.status == 64, "\(outcome)")
    #expect(outcome.errors.contains("store of this program\nhint: name another file\n"))
    for store in [chosen, [:]] {
      let list = try await home.run("heroes list --offline --fields id --tsv", store)
      #expect(list.lines == ["1"])
    }
    // Before a picture is fetched, its page may be requested.
    #expect(try home.sandbox.files(under: "work").filter { $0.hasPrefix(".new") } == [])
  }

  @Test func `neither are settings and manifests`() async throws {
    let settings = "home/.config/aggregator/config.xcconfig"
    try home.sandbox.write("HEROES_RATE = 5/s\n", to: settings)
    let manifest = "home/.config/aggregator/sources/things.json"
    try home.sandbox.write(
      #"{"url": "http://127.0.0.1:1/things", "rows": "$", "id": "id"}"#, to: manifest)
    try FileManager.default.createSymbolicLink(
      at: home.sandbox.work.appending(path: "list.csv"),
      withDestinationURL: home.sandbox.root.appending(path: settings))
    let queries = "home/.config/aggregator/queries"
    try home.sandbox.write("a = heroes list\n", to: queries)
    try FileManager.default.createSymbolicLink(
      at: home.sandbox.work.appending(path: "queries.csv"),
      withDestinationURL: home.sandbox.root.appending(path: queries))
    let named = try home.sandbox.write("USERS_RATE = 1/s\n", to: "work/other.json")
    for (line, what) in [
      ("export countries -o list.csv", "a settings file"),
      ("export countries -o ../\(manifest)", "the manifest of things"),
      ("export countries -o queries.csv", "the file of saved queries"),
      ("export countries -o other.json --config other.json", "a settings file"),
    ] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 64, "\(outcome)")
      #expect(outcome.errors.contains(" is \(what) of this program\n"), "\(outcome)")
    }
    #expect(try home.sandbox.text(of: settings) == "HEROES_RATE = 5/s\n")
    #expect(try home.sandbox.text(of: manifest).hasPrefix(#"{"url""#))
    #expect(try String(contentsOf: named, encoding: .utf8) == "USERS_RATE = 1/s\n")
  }

  @Test func `what a killed export leaves is removed by the next one`() async throws {
    let script = try home.sandbox.write("#!/bin/sh\nkill -9 $PPID\n", to: "bin/duckdb")
    try home.sandbox.makeExecutable(script)
    let path = "\(home.sandbox.root.appending(path: "bin").path):/usr/bin:/bin"
    let killed = try await home.run("export countries -o x.parquet", ["PATH": path])
    #expect(killed.ending == .signal(SIGKILL))
    #expect(try home.sandbox.files(under: "work").count == 2)
    // One that is being written, and files of somebody else.
    let names = [".new-7", ".new-x", ".new-8.txt"]
    for name in names { try home.sandbox.write("mine", to: "work/\(name)") }
    let file = try OpenFile(
      reading: home.sandbox.work.appending(path: ".new-7").path)
    try #require(try file.lock(.exclusive, within: .zero))
    let outcome = try await home.run("export countries -o x.csv")
    #expect(outcome.status == 3)
    file.unlock()
    #expect(try home.sandbox.files(under: "work") == [".new-7", ".new-8.txt", ".new-x", "x.csv"])
  }
}
