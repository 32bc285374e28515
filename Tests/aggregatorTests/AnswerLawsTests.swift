import AggregatorFakeServices
import Foundation
import Testing

@testable import AggregatorArguments
@testable import AggregatorProgramTesting

/// Rules for the answers of every source, in every format.
@Suite struct AnswerLawsTests {
  @Test func `every source has every verb`() {
    let verbs = [
      "list", "next", "search", "show", "pick", "sync", "diff", "delete", "restore", "open",
      "image",
    ]
    for (source, _) in FourServices.sources {
      let node = CommandTree.standard.find([source]).node
      #expect(Set(node.children.map(\.word)).isSuperset(of: verbs), "\(source)")
      #expect(node.children.allSatisfy { $0.command != nil })
    }
  }

  /// The ids that an answer in a format has.
  private func ids(_ outcome: Outcome, _ format: String, _ field: String) -> [String] {
    switch format {
    case "json", "ndjson":
      outcome.lines.compactMap { line -> String? in
        let start = "{\"\(field)\":"
        let row = line.trimmingCharacters(in: [" ", ","])
        guard row.hasPrefix(start) else { return nil }
        return row.dropFirst(start.count).dropLast().filter { $0 != "\"" }
      }
    case "csv": outcome.output.split(separator: "\r\n").dropFirst().map(String.init)
    default: outcome.lines
    }
  }

  @Test(arguments: ["list", "search a"])
  func `terminal, pipe and every format have the same records`(verb: String) async throws {
    for (source, field) in FourServices.sources {
      let home = try TestHome()
      let line = "\(source) \(verb) -L 7 --offline --fields \(field)"
      let expected = try await home.run("\(line) --tsv").lines
      #expect(expected.count == 7)
      for format in ["csv", "json", "ndjson"] {
        let outcome = try await home.run("\(line) --format \(format)")
        #expect(ids(outcome, format, field) == expected, "\(outcome)")
      }
      for width in ["200", "30"] {
        let shown = try await home.run(
          line, ["AGGREGATOR_FORCE_TTY": width, "TERM": "dumb", "NO_COLOR": "1"])
        let cells = shown.lines.dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(cells == expected, "\(shown)")
      }
    }
  }

  @Test func `every truncated, stale or local answer is marked`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    for (source, _) in FourServices.sources {
      let bundled = try await home.run("\(source) list -L 2 --offline")
      #expect(
        bundled.errors.contains("warning: \(source): showing bundled sample data ("), "\(bundled)")
      #expect(bundled.errors.contains("2 of "), "\(bundled)")
      let live = try await home.run("\(source) list -L 2")
      #expect(live.errors.contains(" \(source) · more: "), "\(live)")
      #expect(!live.errors.contains("warning"), "\(live)")
      // Immediately: fresh data would be stale after a wait in the queue of programs.
      let fresh = try await home.start("\(source) list -L 2").outcome()
      #expect(fresh.errors.contains("note: cached, fetched "), "\(fresh)")
    }
    try home.file.age(byDays: 30)
    services.stop()
    for (source, _) in FourServices.sources {
      let stale = try await home.run("\(source) list -L 2")
      let says =
        source == "users"
        ? "note: cached, fetched 30 days ago" : "warning: \(source): cached, fetched 30 days ago ("
      #expect(stale.errors.contains(says), "\(stale)")
      let shown = try await home.run("\(source) list -L 2 --json")
      #expect(shown.output.contains(#""origin":"cached""#), "\(shown)")
    }
  }
}
