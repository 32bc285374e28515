import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Programs of others that read the document of `serve`, and one that tests the server by it.
///
/// `Scripts/install tests` installs them.
@Suite(
  .timeLimit(.minutes(10)), .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed")
) struct OpenAPIToolsTests {
  private static let programs = Repository.root.appending(path: ".build/python/bin").path

  static func has(_ name: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: "\(programs)/\(name)")
  }

  /// The services of the program's own sources cannot be reached, that of the added one can.
  private let home: TestHome
  private let pets: FakePets
  private let server: ServingProgram

  init() async throws {
    home = try TestHome()
    pets = try FakePets(["cat", "dog 1", "größe", "none"])
    let added = try await home.run("sources add my-pets \(pets.server.baseURL)/pets --rate off")
    #expect(added.status == 0, "\(added)")
    let synced = try await home.run("my-pets sync")
    #expect(synced.status == 0, "\(synced)")
    server = try await ServingProgram(in: home.sandbox)
  }

  private func run(_ command: String) async throws -> Outcome {
    // The program of these tests is the last argument, which is taken for the name of the shell.
    try await Binary.run(
      [String](), in: home.sandbox,
      by: ["/bin/sh", "-c", "PATH='\(Self.programs)':$PATH; \(command)"])
  }

  @discardableResult private func writeDocument(
    _ change: (String) -> String = { $0 }
  ) async throws -> String {
    let text = change(try await server.get("/openapi.json").text)
    return try home.sandbox.write(text, to: "work/openapi.json").path
  }

  @Test(.enabled(if: has("schemathesis"), "schemathesis is not installed"))
  func `schemathesis finds nothing`() async throws {
    // That a service cannot be reached is no error of this server, and no schema says what a database accepts.
    try home.sandbox.write(
      """
      [checks.not_a_server_error]
      expected-statuses = ["2xx", "3xx", "4xx", 502, 503, 504]
      [[operations]]
      include-path = "/api/v1/sql"
      checks.positive_data_acceptance.expected-statuses = ["2xx", 401, 422, "5xx"]
      """, to: "work/schemathesis.toml")
    let token = try #require(server.token)
    let options =
      "--url http://127.0.0.1:\(server.port) -H 'Authorization: Bearer \(token)' --checks all "
      + "--generation-deterministic --max-examples 30 --continue-on-failure --no-color"
    let document = try await writeDocument()
    let outcome = try await run("schemathesis run '\(document)' \(options)")
    let report = outcome.output.split(separator: "\n").map { $0.prefix(500) }
    #expect(outcome.status == 0, "\(report.joined(separator: "\n")) \(outcome.errors)")
    let count = outcome.output.firstMatch(of: /([0-9]+) generated, ([0-9]+) passed/)
    #expect(count.flatMap { Int($0.1) } ?? 0 > 1000)

    // It would find something: here that the server runs, which a document denies.
    let wrong = try await writeDocument { text in
      text.replacing(
        #""description":"It runs.","content":{"application/json":{"schema":{"type":"object"}"#,
        with: #""description":"It runs.","content":{"application/json":{"schema":{"type":"array"}"#)
    }
    let finding = try await run("schemathesis run '\(wrong)' \(options) --include-path /healthz")
    #expect(finding.status == 1 && finding.output.contains("violates schema"), "\(finding)")
    try await server.stop()
  }

  @Test(.enabled(if: has("datamodel-codegen"), "datamodel-code-generator is not installed"))
  func `datamodel-code-generator makes classes of the document`() async throws {
    let document = try await writeDocument()
    let outcome = try await run(
      "datamodel-codegen --input '\(document)' --input-file-type openapi --output models.py "
        + "--output-model-type pydantic_v2.BaseModel --formatters builtin && python -W error -c '"
        + "import models; print(models.MyPetsPage.model_fields[\"items\"].annotation)'")
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
    #expect(outcome.output.contains("MyPetsRecord"), "\(outcome)")
    try await server.stop()
  }

  @Test(.enabled(if: has("openapi-python-client"), "openapi-python-client is not installed"))
  func `openapi-python-client makes a client that reads a list`() async throws {
    let document = try await writeDocument()
    let outcome = try await run(
      "openapi-python-client generate --path '\(document)' --meta none --output-path client "
        + "--fail-on-warning")
    #expect(outcome.status == 0, "\(outcome)")
    let words = (outcome.output + outcome.errors).lowercased()
    #expect(!words.contains("warning") && !words.contains("error"), "\(words)")

    let token = try #require(server.token)
    try home.sandbox.write(
      """
      from client import AuthenticatedClient
      from client.api.my_pets import list_my_pets, show_my_pets
      from client.models.list_my_pets_fields_item import ListMyPetsFieldsItem
      client = AuthenticatedClient("http://127.0.0.1:\(server.port)", "\(token)")
      page = list_my_pets.sync(client=client, query="dog", fields=[ListMyPetsFieldsItem.NAME])
      print([record.name for record in page.items])
      print(show_my_pets.sync("dog 1", client=client).items[0].id)
      """, to: "work/use.py")
    let used = try await run("python use.py")
    #expect(used.output == "['Pet dog 1']\ndog 1\n", "\(used)")
    try await server.stop()
  }
}
