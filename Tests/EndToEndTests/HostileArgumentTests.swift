import AggregatorKit
import AggregatorTerminal
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Arguments are quoted only after they were sanitized and truncated.
@Suite struct HostileArgumentTests {
  /// Where an argument can end up; `?` is the argument.
  static let places = [
    "?", "heroes ?", "help ?", "heroes list ?", "list heroes ?", "heroes list --?",
    "heroes list -?",
    "heroes show --offline ?", "heroes search --offline ?", "heroes open --offline ?",
    "countries open ?", "heroes list --cursor ?", "heroes list --limit ?", "heroes list --format ?",
    "heroes list --timeout ?", "heroes list --offline --fields ?", "heroes list --config ?",
    "sources show ?", "config get ?", "config set ? x", "config set COMIC_VINE_RATE ?",
    "config set COMIC_VINE_URL ?",
  ]

  static let arguments = [
    "\u{1B}]0;gone\u{7}\u{1B}[2J\nerror: forged\r\u{202E}\u{9B}",
    String(repeating: "x", count: 10_000), "", "../../etc/passwd; rm -rf ~",
  ]

  @Test(arguments: places)
  func `a hostile argument is sanitized and truncated`(place: String) async throws {
    for argument in Self.arguments {
      let words = place.split(separator: " ").map { $0.replacing("?", with: argument) }
      let outcome = try await Binary.run(words.map(String.init))
      #expect(outcome.status != nil && outcome.status != 70, "\(outcome)")
      #expect(
        !outcome.errors.unicodeScalars.contains { $0 != "\n" && $0.isInvisible }, "\(outcome)")
      #expect(!outcome.errors.contains("\nerror: forged"))
      #expect(outcome.errorLines.count <= 6)
      for line in outcome.errorLines { #expect(line.displayWidth <= 740) }
    }
  }

  @Test func `a hostile variable is sanitized too`() async throws {
    let outcome = try await Binary.run(
      "countries list --offline", environment: ["AGGREGATOR_CONFIG": "/no\u{1B}[2J/file"])
    #expect(outcome.status == 78)
    #expect(!outcome.errors.contains("\u{1B}"))
  }
}
