import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `aggregator sources export`: an added source as a Swift module.
///
/// `Scripts/check-new-source` compiles some.
@Suite struct ExportedSourceTests {
  private let home: TestHome
  private let lamps: FakeLamps

  init() throws {
    home = try TestHome()
    lamps = try FakeLamps()
  }

  private static let files = [
    "Sources/Sources-Lamps/Lamp.swift", "Sources/Sources-Lamps/LampsPlugin.swift",
    "Sources/Sources-Lamps/Resources/lamps.json", "Sources/Sources-Lamps/Resources/README.md",
    "Tests/LampsTests/LampsTests.swift",
  ]

  @Test func `a module has the types and records of the service`() async throws {
    #expect(try await home.add(lamps).status == 0)
    let exported = try await home.run("sources export lamps --swift -o package")
    #expect(exported.status == 0, "\(exported)")
    #expect(exported.lines == Self.files.map { "package/\($0)" })
    #expect(exported.errors.contains("LampsPlugin() to the sources of your program"))
    #expect(!exported.errors.contains("warning"), "\(exported)")
    let texts = try Self.files.map { try home.sandbox.text(of: "work/package/\($0)") }
    #expect(texts[0].contains("public struct Lamp: SourceRecord {"))
    #expect(texts[0].contains("public let maker: Maker?"))
    #expect(texts[1].contains(lamps.url))
    #expect(texts[2].contains("lamp 10"))
    #expect(!texts[2].contains("lamp 11"))
    #expect(texts[4].contains("of: LampsPlugin(), knowing: (1...230)"))
    #expect(lamps.pages.last == "1")

    let again = try await home.run("sources export lamps --swift -o package")
    #expect(again.status == 64)
    #expect(again.errors.contains("package/Sources/Sources-Lamps/Lamp.swift exists already"))
    let other = try await home.run("sources export lamps --swift --type Light -o other")
    #expect(other.lines.first == "other/Sources/Sources-Lamps/Light.swift")
  }

  @Test func `a secret is named, and never written`() async throws {
    let added = try await Binary.run(
      [
        "sources", "add", "lamps", lamps.url, "--rate", "off", "--header",
        "X-Api-Key: \(FakeLamps.key)",
      ], environment: home.environment, in: home.sandbox)
    #expect(added.status == 0, "\(added)")
    let exported = try await home.run("sources export lamps --swift")
    #expect(exported.status == 0, "\(exported)")
    for file in Self.files {
      let text = try home.sandbox.text(of: "work/\(file)")
      #expect(!text.contains(FakeLamps.key), "\(file)")
      #expect(text.contains("LAMPS_X_API_KEY") == file.hasSuffix("Plugin.swift"), "\(file)")
    }
  }

  @Test func `nothing is written without the service`() async throws {
    #expect(try await home.add(lamps).status == 0)
    lamps.server.stop()
    let failed = try await home.run("sources export lamps --swift")
    #expect(failed.status == 69, "\(failed)")
    #expect(failed.errors.hasPrefix("error: lamps: "))
    #expect(!home.hasFile("work/Sources"))
  }

  @Test func `mistakes are named`() async throws {
    #expect(try await home.add(lamps).status == 0)
    let mistakes: [(line: String, status: Int32, words: String)] = [
      ("sources export lamps", 64, "missing option --swift"),
      ("sources export lamps --swift --type lamp", 64, "invalid type \"lamp\""),
      ("sources export lamps --swift --type Plugin", 64, "invalid type \"Plugin\""),
      ("sources export heroes --swift", 1, "no source named \"heroes\" was added: it is built in"),
      (
        "sources edit heroes", 1, "\nhint: add one like it to edit: aggregator sources add NAME URL"
      ),
    ]
    for (line, status, words) in mistakes {
      let outcome = try await home.run(line)
      #expect(outcome.status == status, "\(line): \(outcome)")
      #expect(outcome.errors.contains(words), "\(line): \(outcome)")
    }
    #expect(!home.hasFile("work/Sources"))
  }
}
