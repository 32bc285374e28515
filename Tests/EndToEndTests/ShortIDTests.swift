import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The beginnings of IDs, as tables show them, in the verbs that take an ID.
@Suite struct ShortIDTests {
  private static let ids = [
    "6513270e-269e-4d37-b2a7-4de452e6b438", "d23f0824-128b-4f33-8c5c-7fd0a6a3a450",
    "12345678-5d9d-49f8-9818-e811892f902b", "abcd1111-6f03-475a-9600-a35a099950d8",
    "abcd2222-1738-47d9-bd9c-172411e20b8f",
  ]

  private let home: TestHome
  private let service: LoopbackServer

  init() async throws {
    home = try TestHome()
    service = try LoopbackServer { request in
      func card(_ id: String) -> String {
        #"{"id": "\#(id)", "name": "card", "html_url": "http://cards.example/\#(id)", "#
          + #""image": "http://cards.example/\#(id).png"}"#
      }
      let last = request.path.split(separator: "/").last.map(String.init) ?? ""
      if last != "cards" {
        return Self.ids.contains(last) ? .json(card(last)) : .status(404)
      }
      let rows = Self.ids.map(card).joined(separator: ",")
      return .json(#"{"total": \#(Self.ids.count), "cards": [\#(rows)]}"#)
    }
    let url = "\(service.baseURL)/cards"
    let added = try await home.run(
      "sources add cards \(url) --rate off --single --item \(url)/{id}")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.run("cards sync").status == 0)
  }

  private func left() async throws -> [String] {
    try await home.column("id", "cards list --offline")
  }

  @Test(arguments: [("6513270e", 0), ("12345678", 2), ("abcd1", 3)])
  func `the beginning of one ID names its record in every verb`(
    text: String, index: Int
  ) async throws {
    let id = Self.ids[index]
    #expect(try await home.column("id", "cards show \(text)") == [id])
    let opened = try await home.run("cards open \(text) --print-url")
    #expect(opened.output == "http://cards.example/\(id)\n", "\(opened)")
    let count = service.requests.count
    let deleted = try await home.run("cards delete \(text) --yes")
    #expect(
      deleted.errors == "Deleted 1 card. Undo: aggregator cards restore \(id)\n", "\(deleted)")
    #expect(try await left() == Self.ids.filter { $0 != id })
    let restored = try await home.run("cards restore \(text)")
    #expect(restored.errors == "Restored 1 card\n", "\(restored)")
    #expect(try await left() == Self.ids)
    // Only complete IDs are sent to the service.
    #expect(service.requests.count == count)
    #expect(!service.requests.contains { $0.path.hasSuffix("/\(text)") })
  }

  @Test func `an image is named after the whole ID`() async throws {
    let home = try TestHome()
    let bytes = try #require(
      Data(
        base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
          + "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="))
    let picture = try LoopbackServer { request in
      let url = "http://\(request.header("host") ?? "")/x"
      return request.path == "/cards"
        ? .json(#"[{"id": "\#(Self.ids[0])", "image": "\#(url)"}]"#) : .ok(bytes)
    }
    let url = "\(picture.baseURL)/cards"
    let added = try await home.run("sources add cards \(url) --rate off --single")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.run("cards sync").status == 0)
    for line in ["cards image 6513270e -o .", "cards image 6513270e 651327 -o pictures"] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 0, "\(outcome)")
    }
    let name = "cards-\(Self.ids[0]).png"
    #expect(try home.sandbox.files(under: "work") == [name, "pictures", "pictures/\(name)"])
  }

  @Test(arguments: ["show abcd", "open abcd --print-url", "image abcd -o .", "delete abcd --yes"])
  func `the beginning of several IDs lists them, and does nothing`(line: String) async throws {
    let outcome = try await home.run("cards \(line)")
    #expect(outcome.status == 64, "\(outcome)")
    #expect(
      outcome.errors.contains(
        "ambiguous card \"abcd\"\nhint: candidates: \(Self.ids[3]) (card), \(Self.ids[4]) (card)\n"),
      "\(outcome)")
    #expect(try await left() == Self.ids)
  }

  @Test func `restore lists several as well, and restores the others`() async throws {
    #expect(try await home.run("cards delete abcd1 abcd2 6513 --yes").status == 0)
    let none = try await home.run("cards restore abcd")
    #expect(none.status == 64)
    #expect(none.errors.contains("ambiguous card \"abcd\""), "\(none)")
    let some = try await home.run("cards restore abcd 6513")
    #expect(some.status == 3)
    #expect(some.errors.contains("Restored 1 card"), "\(some)")
    #expect(try await left() == Array(Self.ids[0..<3]))
  }

  @Test(arguments: ["open d23 --print-url", "delete d23 --yes", "delete d23f0824 --yes -q"])
  func `three characters are too few, and quiet guesses nothing`(line: String) async throws {
    let outcome = try await home.run("cards \(line)")
    #expect(outcome.status == (line.hasSuffix("-q") ? 64 : 1), "\(outcome)")
    #expect(try await left() == Self.ids)
  }
}
