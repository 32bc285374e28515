import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorProgramTesting

/// A sync says how the rows of an added source have changed, and `diff --schema` lists it.
@Suite struct SchemaDiffTests {
  @Test func `says what has become of the members`() async throws {
    let isNew = Mutex(false)
    let server = try LoopbackServer { request in
      let rows: [JSON] = (1...3).map { number in
        isNew.withLock(\.self)
          ? ["id": .integer(number), "price": "3 EUR", "discount": 1, "shop": ["town": "Ulm"]]
          : ["id": .integer(number), "price": 3, "vat": 2, "shop": ["city": "Ulm"]]
      }
      return .json(JSON.array(request.query["page"] == "2" ? [] : rows).text)
    }
    let home = try TestHome()
    let added = try await home.run(
      "sources add lamps \(server.baseURL)/lamps --single --rate off")
    #expect(added.status == 0, "\(added)")
    let unknown = try await home.run("lamps diff --schema")
    #expect(unknown.status == 69 && unknown.errors.contains("are not known"), "\(unknown)")
    #expect(try await home.run("lamps sync").errors == "")
    let nothing = try await home.run("lamps diff --schema --exit-code")
    #expect(nothing.status == 0, "\(nothing)")

    isNew.withLock { $0 = true }
    let synced = try await home.run("lamps sync --json")
    #expect(synced.status == 0, "\(synced)")
    #expect(synced.output.matches(of: /"code":\s*"schemaChanged"/).count == 5, "\(synced)")
    #expect(
      synced.errors == """
        warning: lamps: rows have a new member "discount" (number)
        warning: lamps: the member "price" is text now, and was number
        warning: lamps: rows no longer have the member "shop.city"
        warning: lamps: rows have a new member "shop.town" (text)
        warning: lamps: rows no longer have the member "vat"

        """)
    let diff = try await home.run(
      "lamps diff --schema --exit-code --fields change,member,before,after --tsv")
    #expect(diff.status == 1, "\(diff)")
    #expect(
      diff.lines == [
        "appeared\tdiscount\t\tnumber", "changed\tprice\tnumber\ttext",
        "vanished\tshop.city\ttext\t", "appeared\tshop.town\t\ttext", "vanished\tvat\tnumber\t",
      ])
    #expect(try await home.run("lamps diff --schema --since 1h --exit-code").status == 1)
    let old = try await home.run("lamps diff --schema --since sync")
    #expect(old.status == 64, "\(old)")
    // A field that is added later needs no request.
    #expect(try await home.run("lamps sync").errors == "")
    let query =
      "SELECT json_extract(_row, '$.discount'), price, json_extract(_row, '$.vat') FROM lamps"
    let row = try await Binary.run(
      ["sql", query], environment: home.environment, in: home.sandbox)
    #expect(row.lines == Array(repeating: "1\t3 EUR\t", count: 3), "\(row)")

    let copied = try await home.run("store copy \(home.file.path) copy.sqlite")
    #expect(copied.status == 0, "\(copied)")
    let copy = home.sandbox.root.appending(path: "work/copy.sqlite").path
    let there = try await home.run("lamps diff --schema --tsv", ["AGGREGATOR_STORE": copy])
    #expect(there.lines.count == 5, "\(there)")
    try await expectServed(in: home)
  }

  private func expectServed(in home: TestHome) async throws {
    let server = try await ServingProgram(
      "--source lamps", environment: home.environment, in: home.sandbox)
    let reply = try await server.get("/api/v1/lamps/schema/changes")
    let printed = try await home.run("lamps diff --schema --json")
    let document = try JSONDecoder().decode(JSON.self, from: Data(printed.output.utf8))
    #expect(document["items"] != nil)
    for member in ["verb", "source", "items", "page"] {
      #expect(try reply.json()[member] == document[member], "\(reply.text)")
    }
    let page = try await server.get("/sources/lamps")
    #expect(
      page.text.contains("rows have a new member &#34;discount&#34; (number)"), "\(page.text)")
    let search = try await server.get("/sources/lamps?query=x")
    #expect(!search.text.contains("discount"))
    try await server.stop()
  }

  @Test func `watch passes the changes to its command`() async throws {
    let isNew = Mutex(false)
    let server = try LoopbackServer { request in
      let row: JSON = isNew.withLock(\.self) ? ["id": 1, "new": 1] : ["id": 1]
      return .json(JSON.array(request.query["page"] == "2" ? [] : [row]).text)
    }
    let home = try TestHome()
    let added = try await home.run(
      "sources add lamps \(server.baseURL)/lamps --single --rate off")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.run("lamps sync").status == 0)
    isNew.withLock { $0 = true }
    let seen = home.sandbox.root.appending(path: "seen").path
    let run = try Binary.Run(
      [
        "watch", "lamps", "--every", "1h", "--exec", "cat > \(seen).new; mv \(seen).new \(seen)",
      ], environment: home.environment, in: home.sandbox)
    while !FileManager.default.fileExists(atPath: seen) { await Task.yield() }
    run.child.send(SIGINT)
    let outcome = try await run.outcome()
    #expect(
      outcome.errors.contains("warning: lamps: rows have a new member \"new\" (number)\n"),
      "\(outcome)")
    let lines = try String(contentsOfFile: seen, encoding: .utf8).split(separator: "\n")
    let change = #"{"change":"appeared","member":"new","before":null,"after":"number","foundAt":""#
    #expect(lines.last?.hasPrefix(change) == true, "\(lines)")
  }
}
