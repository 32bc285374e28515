import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Each decision says whether it holds, and one that holds names no type and no file that is gone.
@Suite struct DecisionTests {
  private static let folder = "Docs/Decisions"

  /// The file names of the decisions, in their order.
  private static let files =
    ((try? FileManager.default.contentsOfDirectory(
      atPath: Repository.root.appending(path: folder).path)) ?? [])
    .filter { $0.wholeMatch(of: /\d{4}-[a-z-]+\.md/) != nil }.sorted()

  @Test func `decisions are numbered without gaps`() throws {
    #expect(Self.files.count > 30)
    #expect(Self.files.compactMap { Int($0.prefix(4)) } == Array(1...Self.files.count))
    for file in Self.files {
      let text = try Repository.text(of: "\(Self.folder)/\(file)")
      #expect(text.hasPrefix("# \(Int(file.prefix(4)) ?? 0). "), "\(file)")
    }
  }

  /// The README of the decisions defines the line.
  @Test func `the line below the title is the status`() throws {
    for file in Self.files {
      let text = try Repository.text(of: "\(Self.folder)/\(file)")
      let status = Self.status(of: text)
      let replacement = /\[\d+\]\([^)]+\)/
      let isValid =
        status == "Status: in force"
        || status.wholeMatch(of: /Status: replaced by \[\d+\]\([^)]+\)/) != nil
        || status.hasPrefix("Status: in force, except ") && status.hasSuffix(" replaces")
          && status.contains(replacement)
      #expect(isValid, "\(file): \(status)")
      for match in status.matches(of: /\[(\d+)\]\(([^)]+)\)/) {
        let successor = String(match.2)
        #expect(Self.files.contains(successor), "\(file): \(successor)")
        #expect(Int(successor.prefix(4)) == Int(match.1), "\(file): \(status)")
        #expect(successor > file, "\(file): \(status)")
        let text = try Repository.text(of: "\(Self.folder)/\(successor)")
        #expect(text.contains("](\(file))"), "\(successor) does not say that it changes \(file)")
      }
    }
  }

  @Test func `a decision in force names nothing that is gone`() throws {
    for file in Self.files {
      let text = try Repository.text(of: "\(Self.folder)/\(file)")
      guard !Self.status(of: text).hasPrefix("Status: replaced") else { continue }
      #expect(Self.missingNames(in: text) == [], "\(file)")
    }
  }

  @Test func `a type or a file that is gone is found`() throws {
    #expect(Self.declared.count > 1000)
    let text = """
      `SourceError`, `Page<Item>`, `Program("name").main()`, `Task`, `AggregatorKit`, `sliced`, `HEAD`,
      `Scripts/test --debug`, `Sources/Core`, `Package.swift`, `Retry-After` and
      `ShelfOfRecords`, `ShelfOfRecords<Item>.count`, `Page.shelfOfRecords(_:)`, `Sources/Core/Shelf.swift`, `Scripts/shelve`
      """
    #expect(
      Self.missingNames(in: text) == [
        "ShelfOfRecords", "ShelfOfRecords<Item>.count", "Page.shelfOfRecords(_:)",
        "Sources/Core/Shelf.swift", "Scripts/shelve",
      ])
  }

  private static func status(of decision: String) -> Substring {
    decision.split(separator: "\n").dropFirst().first ?? ""
  }

  // MARK: - Names

  /// Types of the standard library and Foundation, and header fields, which look like types.
  private static let foreign: Set<Substring> = [
    "AsyncSequence", "Bundle", "Codable", "JSONDecoder", "Mirror", "StaticString", "Task", "Thread",
    "ETag", "Host", "Link", "Origin", "Refresh",
  ]

  /// The code of a text that looks like a type, with or without a member, or like a path, and is neither.
  private static func missingNames(in text: String) -> [String] {
    let prose = text.components(separatedBy: "```").enumerated()
      .compactMap { $0.offset.isMultiple(of: 2) ? $0.element : nil }.joined()
    return prose.matches(of: /`([^`]+)`/).map(\.1).filter { code in
      let path = code.prefix { $0 != " " }
      if exists(path) { return false }
      if let folder = path.wholeMatch(of: /(\w+)\/\S+/) { return exists(folder.1) }
      guard let name = code.wholeMatch(of: /([A-Z]\w*[a-z]\w*)(?:<.*>)?(?:\(.*?\))?(?:\.(\w+).*)?/)
      else { return false }
      if foreign.contains(name.1) { return false }
      let isType = declared.contains(name.1) || package.contains("\"\(name.1)\"")
      return !isType || !(name.2.map(declared.contains) ?? true)
    }.map(String.init)
  }

  private static func exists(_ path: Substring) -> Bool {
    FileManager.default.fileExists(atPath: Repository.root.appending(path: String(path)).path)
  }

  private static let package = (try? Repository.text(of: "Package.swift")) ?? ""

  /// The names of all declarations in the code and the tests.
  private static let declared: Set<Substring> = {
    let keywords: Set<Substring> = [
      "actor", "associatedtype", "case", "class", "enum", "func", "let", "protocol", "struct",
      "typealias", "var",
    ]
    var names: Set<Substring> = []
    for folder in ["Sources", "Tests"] {
      for file in (try? Repository.swiftFiles(under: folder)) ?? [] {
        for line in ((try? Repository.text(of: file)) ?? "").split(separator: "\n") {
          let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
          for (keyword, name) in zip(words, words.dropFirst()) where keywords.contains(keyword) {
            names.insert(name)
          }
        }
      }
    }
    return names
  }()
}
