import AggregatorKit
import Foundation

extension StoreEntry {
  /// A record that has a text and something that queries do not look into.
  init(_ id: String, _ text: String? = nil, mark: Int = 0) {
    let text = text ?? "text of \(id)"
    self.init(
      id: id,
      json: Data(
        #"{"id":\#(JSON.string(id).text),"mark":\#(mark),"text":\#(JSON.string(text).text)}"#.utf8)
    ) { Folded(text) }
  }
}

extension Date {
  /// Seconds after a day of the tests' calendar.
  static func day(_ seconds: Double = 0) -> Date {
    Date(timeIntervalSince1970: 1_700_000_000 + seconds)
  }
}

extension Store {
  /// Saves records of `things`.
  @discardableResult
  func save(
    _ entries: [StoreEntry], of source: String = "things", at seconds: Double = 0
  ) async throws(SourceError) -> StoreChanges {
    try await save(StoreBatch(entries), of: source, at: .day(seconds))
  }

  /// The JSON of every record that matches, by pages of `limit`.
  func found(
    _ query: String? = nil, of source: String = "things", limit: Int = 1000
  ) async throws -> [String] {
    var texts: [String] = []
    var position: Int64 = 0
    while true {
      let slice = try await records(
        of: source, matching: query.map { try Query($0).words } ?? [], after: position,
        limit: limit)
      texts += slice.records.map { String(decoding: $0.json, as: UTF8.self) }
      guard slice.hasMore, let last = slice.records.last else { return texts }
      position = last.position
    }
  }

  /// The ids of every record that matches, by pages of `limit`.
  func ids(
    _ query: String? = nil, of source: String = "things", limit: Int = 1000
  ) async throws -> [String] {
    try await found(query, of: source, limit: limit).map { json in
      try JSONDecoder().decode(Identified.self, from: Data(json.utf8)).id
    }
  }
}

private struct Identified: Decodable {
  let id: String
}
