import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Layout rules beyond those of the compiler: `Package.swift` declares the imports between targets,
/// and SwiftPM rejects cycles.
@Suite struct LayoutTests {
  static let files = (try? Repository.swiftFiles(under: "Sources")) ?? []

  @Test func `no task is left open in the code`() throws {
    #expect(Self.files.count > 100)
    for file in Self.files {
      let text = try Repository.text(of: file)
      // An expression over all code takes seconds.
      let words = ["TODO", "FIXME", "XXX", "HACK"]
      guard words.contains(where: { text.contains($0) }) else { continue }
      #expect(!text.contains(/\b(TODO|FIXME|XXX|HACK)\b/), "\(file)")
    }
  }

  @Test func `time limits of tests guard against hanging and measure nothing`() throws {
    var count = 0
    for file in try Repository.swiftFiles(under: "Tests") {
      for match in try Repository.text(of: file).matches(of: /timeLimit\(\.(\w+\(\w+\))\)/) {
        #expect(match.1 == "minutes(10)", "\(file)")
        count += 1
      }
    }
    #expect(count > 100)
  }

  @Test func `the core uses no file and no network`() throws {
    let core = Self.files.filter { $0.hasPrefix("Sources/Core/") }
    #expect(core.count > 20)
    for file in core {
      let text = try Repository.text(of: file)
      let calls = text.firstMatch(
        of: /\b(FileManager|FileHandle|URLSession|URLRequest|fopen|getenv)\b/)
      #expect(calls == nil, "\(file)")
    }
  }

  @Test func `what a store can do is asked, not cast`() throws {
    for file in Self.files {
      let text = try Repository.text(of: file)
      guard text.contains("SourceStore") else { continue }
      let cast = text.firstMatch(of: /\b(as|is)[?!]? (any )?\w+SourceStore\b/)
      #expect(cast == nil, "\(file)")
    }
  }

  /// All other texts of a library are for logs and developers.
  @Test func `the translation of errors alone has words for people`() throws {
    let files = try Self.files.filter { file in
      let text = try Repository.text(of: file)
      return ["LocalizedError", "LocalizedStringResource", "NSLocalizedString", "String(localized"]
        .contains { text.contains($0) }
    }
    #expect(files == ["Sources/Core/ErrorTranslation/ErrorTranslation.swift"])
  }

  /// On a watch an `Int` has 32 bits: a larger constant is 0 there, and a date after 2038 traps.
  @Test func `code for apps fits into 32 bits`() throws {
    let folders: Set<Substring> = [
      "AggregatorKit", "Authorization", "Core", "Files", "Formats", "Foundation", "HTTP", "Images",
      "JSON", "Observation", "SQLite", "Settings", "Store", "Sync", "Text", "URLSession",
      "Sources-Countries", "Sources-Heroes", "Sources-Products", "Sources-Users", "Thumbnails",
    ]
    var count = 0
    for file in Self.files where folders.contains(file.split(separator: "/")[1]) {
      for line in try Repository.text(of: file).split(separator: "\n")
      where line.contains("<<") || line.contains("Int(") {
        let isLarge = line.contains(/\b\d+ << (3[1-9]|[4-6]\d)/)
        let isConverted = line.contains(/\bInt\((?!clamping|exactly)[^)]*(1970|nanoseconds)/)
        guard isLarge || isConverted else { continue }
        count += 1
        #expect(line.contains("Int64"), "\(file): \(line)")
      }
    }
    #expect(count > 0)
  }

  @Test func `no target has more than 6500 lines`() throws {
    var lines: [Substring: Int] = [:]
    for file in Self.files {
      let folder = file.split(separator: "/")[1]
      lines[folder, default: 0] += try Repository.text(of: file).count { $0 == "\n" }
    }
    #expect(lines.count > 20)
    for (folder, count) in lines { #expect(count <= 6500, "Sources/\(folder)") }
  }

  @Test func `no function has more than five parameters`() throws {
    var count = 0
    for file in Self.files {
      for text in try Repository.text(of: file).components(separatedBy: "func ").dropFirst() {
        guard let list = text.firstIndex(of: "("), text[..<list].allSatisfy({ $0 != "\n" })
        else { continue }
        count += 1
        let parameters = Self.parameterCount(text[list...].dropFirst())
        #expect(parameters <= 5, "\(file): \(text[..<list])")
      }
    }
    #expect(count > 1000)
  }

  /// The number of parameters of a list that has begun.
  private static func parameterCount(_ list: Substring) -> Int {
    var depth = 1
    var count = 0
    var isEmpty = true
    var last: Character = " "
    for character in list {
      switch character {
      case "(", "[", "{", "<": depth += 1
      case ">" where last == "-": break
      case ")", "]", "}", ">": depth -= 1
      case "," where depth == 1: count += 1
      default: break
      }
      if depth == 0 { break }
      isEmpty = isEmpty && character.isWhitespace
      last = character
    }
    return isEmpty ? 0 : count + 1
  }

  @Test func `no closure of a command has more than 30 lines`() throws {
    var count = 0
    for file in Self.files
    where ["AggregatorCommand", "SourceCommands"].contains(file.split(separator: "/")[1]) {
      let lines = try Repository.text(of: file).components(separatedBy: "\n")
      for (index, line) in lines.enumerated() where line.hasSuffix("{ invocation, context in") {
        let end = line.prefix { $0 == " " } + "}"
        let body = lines[(index + 1)...].prefix { !$0.hasPrefix(end) }
        count += 1
        #expect(body.count <= 30, "\(file):\(index + 1)")
      }
    }
    #expect(count > 10)
  }

  @Test func `the README draws the dependencies of the package`() throws {
    let package = try Self.dependenciesOfPackage()
    let drawing = try Self.dependenciesInDrawing()
    #expect(package.count > 15)
    let reached = Self.reached(in: package)
    let drawn = Self.reached(in: drawing)
    for name in Set(package.keys).union(drawing.keys).sorted() {
      let other = (drawn[name] ?? []).symmetricDifference(reached[name] ?? [])
      #expect(other.sorted() == [], "\(name)")
    }
  }

  /// Not drawn: the modules on which all others stand, and the plugin that embeds resources.
  private static let ground: Set = [
    "AggregatorEmbedJSON", "AggregatorFoundation", "AggregatorJSON", "AggregatorText",
  ]

  /// The direct dependencies of each target that `Package.swift` names in `Sources`; one source stands for all.
  private static func dependenciesOfPackage() throws -> [String: Set<String>] {
    let text = try Repository.text(of: "Package.swift")
    var found = ["CountriesSource": Set(["AggregatorKit"])]
    // An entry of the list of targets; tests and their programs come last.
    for entry in text.prefix(
      upTo: text.firstRange(of: "    .testTarget(")?.lowerBound ?? text.endIndex
    )
    .split(separator: "\n    .").dropFirst() {
      var words = entry.matches(of: /"(\w+)"/).map { String($0.1) }
      guard !words.isEmpty else { continue }
      let name =
        (entry.hasPrefix("library(\"") || entry.hasPrefix("library(\n") ? "Aggregator" : "")
        + words.removeFirst()
      if entry.contains("sourceModules") { words.append("CountriesSource") }
      found[name] = Set(words)
    }
    let modules = Set(found.keys.filter { !$0.hasPrefix("CAggregator") }).subtracting(ground)
    return found.filter { modules.contains($0.key) }.mapValues { $0.intersection(modules) }
  }

  /// The arrows of the drawing: `A & B --> C; C[label] --> D`.
  private static func dependenciesInDrawing() throws -> [String: Set<String>] {
    let text = try Repository.text(of: "README.md")
    let lines = text.split(separator: "```mermaid\n").last?.split(separator: "```").first ?? ""
    var labels: [Substring: String] = [:]
    func names(_ group: Substring) -> [String] {
      group.split(separator: " & ").map { word in
        let parts = word.split(whereSeparator: { " [],".contains($0) })
        let id = parts[0]
        if parts.count > 1 { labels[id] = String(parts[1]) }
        return labels[id] ?? (id == "aggregator" ? "aggregator" : "Aggregator\(id)")
      }
    }
    var found: [String: Set<String>] = [:]
    for statement in lines.split(whereSeparator: { "\n;".contains($0) }).dropFirst() {
      let groups = statement.split(separator: " --> ").map(names)
      for (users, used) in zip(groups, groups.dropFirst()) {
        for user in users { found[user, default: []].formUnion(used) }
        for name in used { found[name, default: []].formUnion([]) }
      }
    }
    return found
  }

  /// All modules that each depends on, directly or not.
  private static func reached(in graph: [String: Set<String>]) -> [String: Set<String>] {
    var reached = graph
    for _ in graph {
      for (name, used) in reached {
        reached[name] = used.union(used.flatMap { reached[$0] ?? [] })
      }
    }
    return reached
  }
}
