import Foundation
import Testing

@testable import AggregatorProgramTesting

/// All of Foundation would bring ICU to a static binary, 60 MB, and 2 ms to each start.
@Suite struct LinkedLibrariesTests {
  @Test(.enabled(if: Binary.isRelease, "a debug program"))
  func `the program needs only the essentials of Foundation`() throws {
    let binary = try Data(contentsOf: URL(filePath: try Binary.path))
    func contains(_ text: String) -> Bool { binary.range(of: Data(text.utf8)) != nil }
    // The names of the libraries that it needs are between NULs in its table of dynamic strings.
    #expect(contains("\0libc.so.6\0"))
    // Linked statically: its classes have mangled names, and ICU data begins with this word.
    for word in ["libFoundation", "lib_FoundationICU", "URLSessionTask", "icudt"] {
      #expect(!contains(word), "\(word)")
    }
    // Packaging/collectable.pl leaves out attributed strings, property lists, and the collections for them, but not the
    // files of them that have a function specialised for others, such as that of discontiguous substrings.
    for word in ["BigSubstring", "OrderedDictionary", "XMLPlist"] {
      #expect(!contains(word), "\(word)")
    }
    #expect(binary.count <= 20_000_000)
  }

  @Test func `only what tests and Apple systems compile imports all of Foundation`() throws {
    let all = /^ *(?:@\w+ +)?(?:(?:public|package|internal|private) +)?import +Foundation(?:\W.*)?$/
    let apart = ["FakeServices", "SourceTesting", "TestSupport", "URLSession"]
    var found: [String] = []
    for path in try Repository.swiftFiles(under: "Sources")
    where !apart.contains(where: { path.hasPrefix("Sources/\($0)/") }) {
      found += try Repository.text(of: path).split(separator: "\n")
        .filter { $0.wholeMatch(of: all) != nil }.map { _ in path }
    }
    // It exports the right one of both.
    #expect(found == ["Sources/Foundation/Exports.swift"])
  }
}
