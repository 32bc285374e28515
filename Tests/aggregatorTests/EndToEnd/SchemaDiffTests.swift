import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

/// A sync says how the rows of an added source have changed, and `diff --schema` lists it.
@Suite struct SchemaDiffTests {
  @Test func `says what has become of the members`() async throws {
    let isNew = Mutex(false)
    let server = try LoopbackServer { request in
      let rows: [JSON] = (1...3).map { number in
        isNew.withLock(\.self)
          ? ["id": .integer(number), "price": "3 EUR", "discount": 1]
          : ["id": .integer(number), "price": 3, "vat": 2]
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
    #expect(synced.output.matches(of: /"code":\s*"schemaChanged"/).count == 3, "\(synced)")
    #expect(
      synced.errors == """
        warning: lamps: rows have a new member "discount" (number)
        warning: lamps: the member "price" is text now, and was number
        warning: lamps: rows no longer have the member "vat"

        """)
    let diff = try await home.run(
      "lamps diff --schema --exit-code --fields change,member,before,after --tsv")
    #expect(diff.status == 1, "\(diff)")
    #expect(
      diff.lines == [
        "appeared\tdiscount\t\tnumber", "changed\tprice\tnumber\ttext", "vanished\tvat\tnumber\t",
      ])
    #expect(try await home.run("lamps diff --schema --since 1h --exit-code").status == 1)
    let old = try await home.run("lamps diff --schema --since sync")
    #expect(old.status == 64, "\(old)")
    // A field that is added later needs no request.
    #expect(try await home.run("lamps sync").errors == "")
    let query = "SELECT json_extract(_row, '$.discount') FROM lamps"
    let row = try await Binary.run(
      ["sql", query], environment: home.environment, in: home.sandbox)
    #expect(row.lines == ["1", "1", "1"], "\(row)")
  }
}
