import AggregatorKit
import CountriesSource
import Foundation
import HeroesSource
import ProductsSource
import UsersSource

/// Replies of the four services.
extension FuzzTarget {
  static let replies = [
    page(of: CountriesPlugin(), "countries-list", Samples.replies("Countries")),
    page(of: HeroesPlugin(), "heroes-list", Samples.replies("Heroes", to: "/characters")),
    page(of: HeroesPlugin(), "heroes-search", Samples.replies("Heroes", to: "/search"), "spider"),
    item(of: HeroesPlugin(), "heroes-detail", Samples.replies("Heroes", to: "/character/"), 1253),
    page(of: ProductsPlugin(), "products-list", Samples.replies("Products", to: "/products")),
    item(
      of: ProductsPlugin(), "products-detail", Samples.replies("Products", to: "/product/"),
      "00000000-0000-4000-8000-000000000030"),
    page(of: UsersPlugin(), "users-list", Samples.replies("Users")),
    identities,
  ]

  private static let statuses = [200, 200, 200, 200, 200, 200, 401, 404, 420, 429, 500, 503]

  /// A source whose service always replies with these bytes.
  private static func source<P: Plugin>(
    of plugin: P, answering bytes: [UInt8]
  ) throws -> any DataSource<P.Item> {
    // Depends on the first bytes only, so that longer inputs of a kind have the same status.
    let sum = bytes.prefix(40).reduce(0) { $0 &* 31 &+ Int($1) }
    let status = statuses[Int(sum.magnitude % UInt(statuses.count))]
    let transport = CannedTransport(
      reply: HTTPResponse(status: status, headers: [("retry-after", "9")], body: Data(bytes)))
    return try plugin.remote(in: .fuzzing(transport))
  }

  private static func page<P: Plugin>(
    of plugin: P, _ name: String, _ samples: [[UInt8]], _ words: String? = nil
  ) -> FuzzTarget {
    FuzzTarget(name, samples: samples, cost: .medium) { bytes in
      let source = try source(of: plugin, answering: bytes)
      let request = PageRequest(matching: try words.map { try SearchQuery($0) }, limit: 10)
      let page: Page<P.Item>
      do throws(SourceError) { page = try await source.page(request) } catch {
        return try expectHarmless(error)
      }
      try expect(page.records.count <= request.limit, "\(page.records.count) records of 10")
      try expect(page.total.map { $0 >= 0 } ?? true, "a total of \(page.total ?? 0)")
      let reason = page.unreadable.firstReason
      try expectHarmless(SourceError(.malformed, reason ?? ""))
      for record in page.records { try expectSound(record, plugin.fields) }
      guard let next = page.next else { return }
      try expect(PageCursor(next.description) == next, "a cursor reads as another one")
      for count in [0, 1, 1000, .max] {
        _ = source.cursor(skipping: count, from: request.after(next))
      }
      // The same reply again.
      do throws(SourceError) { _ = try await source.page(request.after(next)) } catch {
        try expectHarmless(error)
      }
    }
  }

  private static func item<P: Plugin>(
    of plugin: P, _ name: String, _ samples: [[UInt8]], _ id: P.Item.ID
  ) -> FuzzTarget {
    FuzzTarget(name, samples: samples, cost: .medium) { bytes in
      let source = try source(of: plugin, answering: bytes)
      let found: LookupResult<P.Item>
      do throws(SourceError) { found = try await source.item(id) } catch {
        return try expectHarmless(error)
      }
      try expect(found.item.id == id, "another record than was asked for")
      try expectSound(found.item, plugin.fields)
    }
  }

  /// Checks a record from any input.
  private static func expectSound<Item: SourceRecord>(_ record: Item, _ fields: [Field<Item>])
    throws
  {
    let id = record.id.description
    try expect(Item.ID(id) == record.id, "the id \(id) does not read back")
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let bytes = try encoder.encode(record)
    let again = try JSONDecoder().decode(Item.self, from: bytes)
    try expect(again == record, "stored and read again it is another record: \(id)")
    try expect(record.merged(over: record) == record, "merged with itself it is another record")
    for field in fields {
      let json = field[record]
      let isOfKind =
        switch (json, field.kind) {
        case (.null, _), (.string, .text), (.integer, .integer), (.integer, .number),
          (.number, .number), (.bool, .bool), (.array, .list):
          true
        default: false
        }
      try expect(isOfKind, "\(field.name) is not of kind \(field.kind): \(json.text)")
    }
    _ = fields.searchableText(of: record)
  }

  private static let identities = FuzzTarget(
    "identities", texts: ["Ann.Lee@Example.com", "AF", "İ@İ.example"], tokens: ["@", "İ", "\u{A0}"]
  ) { text in
    if let email = EmailAddress(text) {
      try expect(EmailAddress(email.description) == email, "an e-mail address does not read back")
    }
    if let code = CountryCode(text) {
      try expect(CountryCode(code.description) == code, "a code does not read back")
    }
  }
}

/// Recordings, which people may edit.
extension FuzzTarget {
  static let recordings = [recording]

  private static let recording = FuzzTarget(
    "recording",
    samples: ["Countries", "Heroes", "Products", "Users"].flatMap(Samples.recordings),
    tokens: [
      "# aggregator recording 1\n", "# 2026-01-05T09:12:44Z\n", "GET http://h/?a=b\n", "\n", "###",
      "### HTTP 200\n", "### failed timedOut\n", "### silent\n", "# body: base64\n", "a: b\n",
      "retry-after: 1e99\n", "message: x\n",
    ], cost: .medium
  ) { bytes in
    let exchange: RecordedExchange
    do throws(RecordedExchange.FormatError) { exchange = try RecordedExchange(Data(bytes)) } catch {
      let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
      return try expect(1...lines ~= error.line, "a fault in line \(error.line) of \(lines)")
    }
    let text = exchange.text
    guard let again = try? RecordedExchange(text) else {
      throw BrokenInvariant("what was written cannot be read: \(Array(text).escaped)")
    }
    try expect(again.text == text, "written again it is another text")
    let differences = again.request.differences(from: exchange.request)
    try expect(differences.isEmpty, "read again it \(differences.first ?? "")")
  }
}
