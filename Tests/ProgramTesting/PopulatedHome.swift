import AggregatorKit
import Foundation

/// A home whose store has products with arbitrary IDs, saved without a service.
struct PopulatedHome: Sendable {
  /// The home and working directory.
  let household: TestHome

  /// - Parameter products: The titles by ID.
  init(_ products: [String: String]) async throws {
    household = try TestHome()
    let entries = products.map { id, title in
      let words = [id, title].map { JSON.string($0).text }
      let json = #"{"id":\#(words[0]),"images":[],"title":\#(words[1])}"#
      return StoreEntry(id: id, json: Data(json.utf8)) { FoldedText(title) }
    }
    _ = try await SQLiteStore(at: household.file.path).save(
      StoreBatch(entries), of: "products", at: Date(timeIntervalSince1970: 1_700_000_000))
  }

  /// The completions that the program prints.
  func complete(
    _ line: String, in shell: String = "zsh", _ variables: [String: String?] = [:]
  ) async throws -> Outcome {
    try await Binary.run(
      ["__complete", shell, "--line", "aggregator \(line)"],
      environment: household.environment.merging(variables) { $1 }, in: household.sandbox)
  }
}
