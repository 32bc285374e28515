import AggregatorKit
import AggregatorSinger

/// The configuration of this program as a tap: `{"sources": ["heroes"], "sync": true}`.
struct TapConfig: Sendable {
  /// The names of the sources; `nil` for all.
  private(set) var sources: [String]?

  /// True to sync each source first.
  private(set) var syncs = false

  init() {}

  /// - Throws: ``SourceError`` with code `invalidSettings`, or `storage` if the file cannot be read.
  init(reading path: String) throws(SourceError) {
    let file = TapFile(path, "config", .invalidSettings)
    for member in try file.read()?.members ?? [] {
      switch member.name {
      case "sources":
        let names = member.value.array?.compactMap(\.string)
        guard let names, names.count == member.value.array?.count else {
          throw file.failure("\"sources\" must be a list of names, such as [\"heroes\"]")
        }
        sources = names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
      case "sync":
        guard let bool = member.value.bool else {
          throw file.failure("\"sync\" must be true or false")
        }
        syncs = bool
      case let name:
        let near = nearest(to: name, in: ["sources", "sync"])
        throw file.failure(
          "unknown member \"\(name)\"",
          remedy: near.map { "did you mean \"\($0)\"?" } ?? "the members are sources and sync")
      }
    }
  }
}
