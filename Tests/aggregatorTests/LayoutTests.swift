import Foundation
import Testing

/// The rules of who imports whom, and of what does not belong into a source file.
@Suite struct LayoutTests {
  static let files = (try? Repository.swiftFiles(under: "Sources")) ?? []

  /// What comes with every system.
  static let system: Set = ["Dispatch", "Foundation", "Synchronization", "Darwin", "Glibc", "Musl"]

  /// The modules of sources: `Heroes` is in `Sources/Sources-Heroes`.
  static let sources: Set<String> = {
    let others: Set = ["AggregatorCommand", "Core", "SourceTesting", "aggregator"]
    let directories = files.map { $0.split(separator: "/")[1] }
    return Set(directories.map { String($0.trimmingPrefix("Sources-")) }).subtracting(others)
  }()

  @Test func `imports go one way`() throws {
    #expect(Self.sources.isSuperset(of: ["Countries", "Heroes"]))
    #expect(Self.files.count > 100)
    for file in Self.files {
      let extra = try Self.imports(of: file).subtracting(Self.allowed(in: file))
      #expect(extra.isEmpty, "\(file) must not import \(extra.sorted().joined(separator: ", "))")
    }
  }

  @Test func `nothing is left to be done`() throws {
    for file in Self.files {
      let text = try Repository.text(of: file)
      #expect(!text.contains(/\b(TODO|FIXME|XXX|HACK)\b/), "\(file)")
    }
  }

  private static func allowed(in file: String) -> Set<String> {
    switch file.split(separator: "/").prefix(3).joined(separator: "/") {
    case "Sources/Core/HTTP": system.union(["CCurl", "FoundationNetworking"])
    case "Sources/Core/Store": system.union(["CSQLite"])
    case let path where path.hasPrefix("Sources/Core/"): system
    case let path where path.hasPrefix("Sources/Sources-"): system.union(["Core"])
    case let path where path.hasPrefix("Sources/SourceTesting/"): system.union(["Core", "Testing"])
    case let path where path.hasPrefix("Sources/AggregatorCommand/"): system.union(["Core"])
    case let path where path.hasPrefix("Sources/aggregator/"):
      sources.union(["AggregatorCommand", "Core"])
    default: []
    }
  }

  /// The modules that a file imports, in any of the ways to write it.
  private static func imports(of file: String) throws -> Set<String> {
    let pattern =
      /^\s*(?:@\w+(?:\(\w+\))? +)*(?:\w+ +)?import +(?:(?:struct|class|enum|func|protocol) +)?(\w+)/
    let lines = try Repository.text(of: file).split(separator: "\n")
    return Set(lines.compactMap { try? pattern.firstMatch(in: $0).map { String($0.1) } })
  }
}
