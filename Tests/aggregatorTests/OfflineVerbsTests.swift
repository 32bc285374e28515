import AggregatorFakeServices
import Foundation
import Testing

@testable import AggregatorArguments
@testable import AggregatorProgramTesting
@testable import AggregatorQueries

/// `--offline` means the same for every command that takes it.
@Suite struct OfflineVerbsTests {
  /// A harmless example of every command that takes `--offline`, by its path.
  private static var examples: [(path: String, line: String)] {
    var examples: [(String, String)] = []
    CommandTree.standard.root.visit { node in
      guard let command = node.command, command.options.contains(.offline),
        // They need a terminal.
        node.path != "browse", !node.path.hasSuffix(" pick"), let example = command.examples.first
      else { return }
      var line = "\(example.arguments) --offline"
      if command.options.contains(.printURL), !line.contains("--print-url") {
        line += " --print-url"
      }
      examples.append((node.path, line))
    }
    return examples
  }

  @Test func `no command sends a request, whatever is cached`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    #expect(Self.examples.count > 20)
    for hasStored in [false, true] {
      if hasStored {
        for source in ["countries", "heroes", "products"] {
          #expect(try await home.run("\(source) list").status == 0)
        }
        #expect(try await home.run("users load 20").status == 0)
      }
      let count = services.requestCount()
      for (path, line) in Self.examples {
        let outcome = try await home.run(line)
        // It may fail, but must not send a request.
        #expect([0, 1, 3, 69].contains(outcome.status), "\(path): \(outcome)")
        #expect(services.requestCount() == count, "\(path): \(outcome)")
      }
    }
  }
}
