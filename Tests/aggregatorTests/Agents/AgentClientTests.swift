import AggregatorFakeServices
import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Questions that take several tools, asked by the client of the package `mcp`, which `Scripts/install tests` installs.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: OpenAPIToolsTests.has("mcp"), "the Python package mcp is not installed"))
struct AgentClientTests {
  private static let python = Repository.root.appending(path: ".build/python/bin/python").path

  private static let script = Repository.root.appending(
    path: "Tests/aggregatorTests/Agents/Client/questions.py"
  ).path

  private let services: FourServices
  private let home: TestHome

  init() async throws {
    services = try FourServices()
    home = try TestHome(services.settings)
    for source in ["countries", "heroes", "products"] {
      let synced = try await home.run("\(source) sync")
      #expect(synced.status == 0, "\(synced)")
    }
    #expect(try await home.run("users load 20").status == 0)
    // Whatever a program of agents does, the answers are there.
    services.stop()
  }

  private func ask(_ mode: String, _ arguments: String...) async throws -> JSON {
    let outcome = try await Binary.run(
      [String](), environment: home.environment, in: home.sandbox,
      by: [Self.python, Self.script, mode] + arguments)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return JSON(try #require(JSONText(Data(outcome.output.utf8)), "\(outcome)"))
  }

  private func expectAnswers(_ answer: JSON, tools: [JSON]) {
    #expect(answer["tools"]?.array == tools)
    #expect(answer["templates"] == ["aggregator://{source}/schema", "aggregator://{source}/{id}"])
    #expect(answer["completion"] == ["countries"])
    guard case .integer(let size)? = answer["size"], case .integer(let longest)? = answer["longest"]
    else { return _ = Issue.record("\(answer)") }
    #expect(size <= 12_000)
    #expect(longest <= 600)
    let countries = 249
    #expect(
      answer["answers"]
        == [
          [
            "countries": .integer(countries), "heroes": 257, "products": 30,
            "users": 25,
          ],
          ["Reykjavik", 53], [3, true], [true, true], [true, true], true, true,
          [.integer(countries), "Zimbabwe"], ["capital": "Kabul"], [257, 257, true],
        ], "\(answer)")
  }

  @Test(arguments: ["legacy", "auto", "2026-07-28"])
  func `ten questions are answered over standard input and output`(mode: String) async throws {
    let answer = try await ask(mode)
    #expect(answer["version"] == (mode == "legacy" ? "2025-11-25" : "2026-07-28"))
    expectAnswers(
      answer, tools: ["sources", "search", "list", "show", "sql", "changes", "sync"])
  }

  @Test(
    .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"),
    arguments: ["legacy", "auto", "2026-07-28"])
  func `ten questions are answered by serve`(mode: String) async throws {
    let server = try await ServingProgram(
      "--read-only", environment: home.environment, in: home.sandbox)
    let answer = try await ask(
      mode, "http://127.0.0.1:\(server.port)/mcp", try #require(server.token))
    expectAnswers(answer, tools: ["sources", "search", "list", "show", "sql", "changes"])
    try await server.stop()
  }
}
