import AggregatorKit
import AggregatorPlugins
import Foundation
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorQueries

/// A query reads the same fields of a record that every other command shows, computed ones too.
@Suite struct StoredFieldTests {
  @Test(arguments: AggregatorPlugins.plugins.map(\.name))
  func `every field is a column with its value`(name: String) async throws {
    let plugin = try #require(AggregatorPlugins.plugins.first { $0.name == name })
    try await compare(plugin)
  }

  private func compare<P: Plugin>(_ plugin: P) async throws {
    let sandbox = try Sandbox()
    let store = SQLiteStore(at: sandbox.root.appending(path: "store.sqlite").path)
    let items = try await plugin.bundled.page(PageRequest(limit: 500)).records
    #expect(items.count > 2)
    let encoder = JSONEncoder()
    let entries = try items.map { item in
      StoreEntry(id: item.id.description, json: try encoder.encode(item)) {
        FoldedText("")
      } mergedWithStored: { _ in
        nil
      }
    }
    _ = try await store.save(
      StoreBatch(entries), of: plugin.name, at: Date(timeIntervalSince1970: 0))
    let query = try await store.query(
      "SELECT * FROM \(plugin.name)", over: SQLView.all(of: plugin), within: .seconds(60))
    var rows: [[SQLValue]] = []
    while let page = try await query.page(within: .seconds(60)) { rows += page }
    let fields = plugin.fields
    #expect(await query.columns == fields.map(\.name))
    #expect(rows.count == items.count)
    for (item, row) in zip(items, rows) {
      for (field, value) in zip(fields, row) {
        // A list is the text of a JSON array.
        if field.kind == .list, case .text(let text) = value {
          let list = try JSONDecoder().decode([String].self, from: Data(text.utf8))
          #expect(field[item] == list.json, "\(field.name) of \(item.id)")
        } else {
          #expect(field[item] == value.json, "\(field.name) of \(item.id)")
        }
      }
    }
  }
}
