import Foundation
import Testing

/// All of Foundation would bring ICU to a static binary, 60 MB, and 2 ms to each start.
@Suite struct LinkedLibrariesTests {
  @Test func `the program needs only the essentials of Foundation`() throws {
    // The names of the libraries that it needs are between NULs in its table of dynamic strings.
    let binary = try Data(contentsOf: URL(filePath: Binary.path))
    func needs(_ library: String) -> Bool { binary.range(of: Data("\0\(library)\0".utf8)) != nil }
    #expect(needs("libFoundationEssentials.so"))
    for library in [
      "libFoundation.so", "libFoundationNetworking.so", "libFoundationXML.so",
      "libFoundationInternationalization.so", "lib_FoundationICU.so",
    ] {
      #expect(!needs(library), "\(library)")
    }
  }

  @Test func `only what the trait and the tests compile imports all of Foundation`() throws {
    let all = /^ *(?:@\w+ +)?(?:(?:public|package|internal|private) +)?import +Foundation(?:\W.*)?$/
    var found: [String] = []
    for path in try Repository.swiftFiles(under: "Sources")
    where !path.hasPrefix("Sources/SourceTesting/") {
      var conditions: [Substring] = []
      for line in try Repository.text(of: path).split(separator: "\n") {
        let code = line.drop { $0 == " " }
        if code.hasPrefix("#if ") { conditions.append(code) }
        if code.hasPrefix("#else") { conditions[conditions.count - 1] = "" }
        if code.hasPrefix("#endif") { conditions.removeLast() }
        if line.wholeMatch(of: all) != nil,
          !conditions.contains(where: { $0.contains("URLSessionOnLinux") })
        {
          found.append(path)
        }
      }
    }
    // It exports the right one of both.
    #expect(found == ["Sources/Foundation/Exports.swift"])
  }
}
