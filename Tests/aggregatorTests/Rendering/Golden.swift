import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Compares `text` with the file of this name in `Golden/`.
///
/// `AGGREGATOR_RECORD_GOLDEN=1` rewrites the file instead and fails, so that no recording
/// goes unnoticed.
func expectGolden(
  _ name: String, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Golden/\(name).txt")
  if ProcessInfo.processInfo.environment["AGGREGATOR_RECORD_GOLDEN"] == "1" {
    try Data(text.utf8).write(to: file, options: .atomic)
    Issue.record("recorded \(file.lastPathComponent): read it", sourceLocation: sourceLocation)
    return
  }
  let expected = String(decoding: try Data(contentsOf: file), as: UTF8.self)
  #expect(text == expected, "differs from \(file.path)", sourceLocation: sourceLocation)
}
