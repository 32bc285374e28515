import AggregatorCore
import CAggregatorPostgres

/// The client library of PostgreSQL, loaded at run time.
enum Libpq {
  private static let names =
    ["libpq.so.5", "libpq.5.dylib"]
    + ["/opt/homebrew/opt/libpq/lib", "/usr/local/opt/libpq/lib"].map { "\($0)/libpq.5.dylib" }

  private static let isLoaded = names.contains { cpq_load($0) }

  /// - Throws: ``SourceError`` with code `storage` if it is missing or too old.
  static func load() throws(SourceError) {
    guard isLoaded else {
      throw SourceError(
        .storage, "libpq 14 or later is not installed",
        remedy: "run \"apt-get install libpq5\", or use a store in a file")
    }
  }
}
