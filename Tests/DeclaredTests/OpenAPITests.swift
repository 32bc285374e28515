import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorInference
@testable import AggregatorOpenAPI
@testable import DeclaredSource

/// Services that are added from their OpenAPI documents.
@Suite(.timeLimit(.minutes(10))) struct OpenAPITests {
  private var environment: PluginEnvironment {
    PluginEnvironment(
      settings: SourceSettings(["CRM_KEY": FakeCRM.key]),
      transport: LongTimeoutTransport())
  }

  private func described(
    _ text: String, only: [String]? = nil, url: String? = nil, in name: String = "openapi.yaml",
    beside files: [String: String] = [:]
  ) async throws -> DescribedService {
    let directory = URL.temporaryDirectory.appending(path: "openapi-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    for (name, text) in files.merging([name: text], uniquingKeysWith: { $1 }) {
      try Data(text.utf8).write(to: directory.appending(path: name))
    }
    let document = try await OpenAPIDocument(
      at: directory.appending(path: name).path, in: environment)
    var request = ServiceRequest(name: "crm")
    request.only = only
    request.url = url
    request.members = [JSON.Member("rate", "off")]
    return try DescribedService(document, for: request)
  }

  private func lists(_ file: JSON) throws -> [String: Manifest] {
    let file = try ManifestFile(reading: Data(file.text.utf8), named: "crm")
    return Dictionary(
      uniqueKeysWithValues: try (file.lists ?? []).map { ($0, try file.manifest(of: $0)) })
  }

  @Test(arguments: [true, false])
  func `six lists and four items of a document become sources`(isJSON: Bool) async throws {
    let crm = try FakeCRM()
    var text = FakeCRM.document(at: crm.server.baseURL.absoluteString)
    if isJSON {
      text = String(
        decoding: try YAMLReader.json(of: Array(text.utf8), atMost: 1 << 20), as: UTF8.self)
    }
    let described = try await described(text)
    #expect(described.names.sorted() == FakeCRM.lists)
    #expect(crm.server.requests.isEmpty)
    let service = try await ServiceProposal(described, isTold: false, in: environment)
    for list in service.lists { #expect(list.isProved, "\(list.name): \(list.result)") }
    #expect(service.nested == ["/contacts/{contact_id}/addresses"])
    let reasons = Dictionary(uniqueKeysWithValues: service.leftOut.map { ($0.path, $0.reason) })
    #expect(
      reasons == [
        "/reports": "needs the parameter day", "/old": "is deprecated",
        "/looping": "$ref \"#/components/schemas/Loop\" leads to itself",
      ])
    let lists = try lists(service.json(includingUnproved: false))
    #expect(lists.keys.sorted() == FakeCRM.lists)
    #expect(lists.filter { $0.value.item != nil }.keys.sorted() == FakeCRM.items)
    let paging = lists.mapValues { manifest in
      manifest.paging.step?.members.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
    }
    #expect(
      paging == [
        "contacts": "page page=1", "deals": "offset skip=0",
        "notes": "next paging.next_cursor, token cursor", "tags": nil, "tasks": "next header:Link",
        "users": "next links.next",
      ])
    for (name, manifest) in lists {
      #expect(manifest.id.map(\.description) == ["id"])
      #expect(manifest.kinds.paths.map(\.path.description) == ["amount"], "\(name)")
      let plugin = DeclaredPlugin("crm-\(name)", manifest)
      let remote = try plugin.remote(in: environment)
      var records: [DeclaredRecord] = []
      for try await step in remote.pages(size: 20) { records += step.items }
      #expect(records.map(\.id) == FakeCRM.rows(of: name).map { $0["id"]?.text })
      #expect(records.first?.row["amount"] == .number(1.5))
      guard FakeCRM.items.contains(name) else { continue }
      #expect(try await remote.item("7").item.row["name"] == .string("\(name) 7"))
    }
  }

  @Test func `without requests, a document is taken at its word, and nothing is proved`()
    async throws
  {
    let crm = try FakeCRM()
    let described = try await described(
      FakeCRM.document(at: crm.server.baseURL.absoluteString), only: ["notes", "tags"])
    let service = try await ServiceProposal(described, isTold: true, in: environment)
    #expect(crm.server.requests.isEmpty)
    #expect(service.lists.map(\.isProved) == [false, false])
    let lists = try lists(service.json(includingUnproved: true))
    let notes = try #require(lists["notes"])
    #expect(notes.rows?.description == "results")
    #expect(notes.id.map(\.description) == ["id"])
    #expect(notes.paging.proof == .unproved)
    #expect(Set(notes.fields.map(\.name)).isSuperset(of: ["name", "amount"]))
    #expect(service.json(includingUnproved: false)["resources"]?.members.isEmpty == true)
  }

  @Test func `what the document says wrongly is found out, and what nobody answers is named`()
    async throws
  {
    // The parameter is called otherwise, the rows are elsewhere, the single record does not exist, one list is empty
    // and one is forbidden.
    let server = try LoopbackServer { request in
      switch request.path {
      case "/things":
        let start = request.query["offset"].flatMap { Int($0) } ?? 0
        let rows = (0..<25).dropFirst(start).prefix(10).map { #"{"id": \#($0)}"# }
        return .json("{\"records\": [\(rows.joined(separator: ","))]}")
      case "/none": return .json(#"{"data": []}"#)
      default: return .status(403, "no")
      }
    }
    func list(_ name: String, _ parameter: String) -> String {
      """
        /\(name):
          get:
            parameters: [{name: \(parameter), in: query, schema: {type: integer}}]
            responses: {200: {content: {application/json: {schema: {properties: {data: {
              type: array, items: {properties: {id: {type: string}, name: {type: string}}}}}}}}}}

      """
    }
    let text = """
      openapi: 3.0.3
      servers: [{url: "\(server.baseURL)"}]
      paths:
      \(list("things", "page"))\(list("none", "page"))\(list("secret", "page"))
        /things/{id}: {get: {responses: {200: {description: one}}}}
      """
    let service = try await ServiceProposal(
      try await described(text), isTold: false, in: environment)
    #expect(service.lists.map(\.name) == ["things", "none", "secret"])
    #expect(service.lists.map(\.isProved) == [true, false, false])
    let things = try service.lists[0].result.get().manifest
    #expect(things.rows?.description == "records")
    #expect(things.paging.step == .offset(.init(name: "offset", value: 0)))
    #expect(things.item == nil)
    #expect(service.lists[1].isComplete)
    #expect(service.lists[2].result.failure?.code == .rejected)
    let file = service.json(includingUnproved: false)
    #expect(file["resources"]?.members.map(\.name) == ["things"])
  }

  @Test func `a list without its described token is not whole if its page is full`() async throws {
    // Only a flag that the document does not require makes the service send tokens.
    let server = try LoopbackServer { request in
      let start = request.query["offset"].flatMap { Int($0) } ?? 0
      let size = request.query["limit"].flatMap { Int($0) } ?? 10
      let rows = (0..<25).dropFirst(start).prefix(size).map { #"{"id": \#($0)}"# }
      return .json("{\"entries\": [\(rows.joined(separator: ","))]}")
    }
    let text = """
      openapi: 3.0.3
      servers: [{url: "\(server.baseURL)"}]
      paths:
        /users:
          get:
            parameters:
              - {name: marker, in: query, schema: {type: string}}
              - {name: offset, in: query, schema: {type: integer}}
              - {name: limit, in: query, schema: {type: integer, maximum: 10}}
            responses: {200: {content: {application/json: {schema: {properties: {
              next_marker: {type: string, nullable: true},
              entries: {type: array, items: {properties: {id: {type: integer}}}}}}}}}}
      """
    let service = try await ServiceProposal(
      try await described(text), isTold: false, in: environment)
    let users = try #require(service.lists.first).result.get()
    #expect(users.isProved)
    #expect(users.manifest.paging.step == .offset(.init(name: "offset", value: 0)))
  }

  @Test func `a pause that the service demands keeps what was proved before`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/b"
        ? .status(429, "slow down", headers: [("Retry-After", "3600")])
        : .json(#"[{"id": 1}, {"id": 2}]"#)
    }
    let list =
      "{get: {responses: {200: {content: {application/json: {schema: {type: array, items: {properties: {id: {type: integer}}}}}}}}}}"
    let service = try await ServiceProposal(
      try await described(
        """
        openapi: 3.0.3
        servers: [{url: "\(server.baseURL)"}]
        paths: {/a: \(list), /b: \(list), /c: \(list)}
        """), isTold: false, in: environment)
    #expect(service.lists.map(\.isProved) == [true, false, false])
    #expect(service.lists.dropFirst().allSatisfy { $0.result.failure?.code == .rateLimited })
    #expect(server.requests.count { $0.path == "/b" } == 1)
    #expect(!server.requests.contains { $0.path == "/c" })
  }

  @Test func `requests are signed as the document says, or as the person does`() async throws {
    let list =
      "{get: {responses: {200: {content: {application/json: {schema: {type: array, items: {properties: {id: {type: integer}}}}}}}}}}"
    func service(_ scheme: String, _ members: [JSON.Member] = []) throws -> JSON {
      let document = try OpenAPIDocument(
        reading: Data(
          """
          openapi: 3.0.3
          servers: [{url: "https://crm.example/v1"}]
          security: [{s: [read, write]}]
          paths: {/a: \(list)}
          components: {securitySchemes: {s: {\(scheme)}}}
          """.utf8))
      var request = ServiceRequest(name: "my-crm")
      request.members = members
      request.taken = ["MY_CRM_TOKEN"]
      return try #require(DescribedService(document, for: request).hints.first)
    }
    let bearer = try service("type: http, scheme: Bearer")
    #expect(bearer["headers"] == ["Authorization": "Bearer ${MY_CRM_TOKEN_2}"])
    let basic = try service("type: http, scheme: basic")
    #expect(
      basic["auth"] == ["basic": ["user": "${MY_CRM_USER}", "password": "${MY_CRM_PASSWORD}"]])
    let query = try service("type: apiKey, in: query, name: api key")
    #expect(query["url"] == "https://crm.example/v1/a?api%20key=${MY_CRM_KEY}")
    let client = try service(
      "type: oauth2, flows: {clientCredentials: {tokenUrl: /oauth/token, scopes: {}}}")
    #expect(
      client["auth"]
        == [
          "oauth": [
            "token": "https://crm.example/oauth/token", "grant": "client_credentials",
            "id": "${MY_CRM_ID}", "secret": "${MY_CRM_SECRET}", "scope": "read write",
          ]
        ])
    let both = try service(
      "type: apiKey, in: header, name: X-Key", [.init("headers", ["X-Version": "2"])])
    #expect(both["headers"] == ["X-Version": "2", "X-Key": "${MY_CRM_KEY}"])
    // A document that asks for other secrets gets none.
    let cookie = try service("type: apiKey, in: cookie, name: '${HOME}; k'")
    #expect(cookie["headers"] == nil)
    let scheme = "type: oauth2, flows: {clientCredentials: {tokenUrl: 'https://a.example/${HOME}'}}"
    #expect(throws: SourceError.self) { try service(scheme) }
    let own = try service(
      "type: apiKey, in: header, name: X-Key", [.init("headers", ["X-Own": "${MINE}"])])
    #expect(own["headers"] == ["X-Own": "${MINE}"])
  }

  // MARK: - Documents

  @Test func `a document of another service, or of none, is refused with what to do`() async throws
  {
    func error(_ text: String, in name: String = "d.yaml") async throws -> SourceError {
      try await #require(throws: SourceError.self) { _ = try await self.described(text, in: name) }
    }
    #expect(try await error("swagger: '2.0'").message.contains("Swagger 2.0"))
    #expect(try await error("{}", in: "d.json").message.contains("no OpenAPI document"))
    #expect(try await error("a: 1\n  b: 2\n").message.contains("line 2"))
    #expect(
      try await error("{\n\"openapi\": \"3.0.0\",\n", in: "d.json").message.contains("line 3"))
    #expect(try await error("openapi: 3.0.0").remedy?.text.contains("URL of the service") == true)
    let posting = "openapi: 3.0.0\nservers: [{url: 'https://a.example'}]\npaths: {/a: {post: {}}}"
    #expect(try await error(posting).message.contains("none of the 1 path"))
    let file = "openapi: 3.0.0\nservers: [{url: 'file:///etc'}]\npaths: {/a: {get: {}}}"
    #expect(try await error(file).code == .malformed)
  }

  @Test func `bombs of aliases, depth and references end with an error`() async throws {
    func json(_ text: String) throws -> String {
      String(decoding: try YAMLReader.json(of: Array(text.utf8), atMost: 1 << 20), as: UTF8.self)
    }
    var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for level in 1...12 {
      let aliases = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
      bomb += "a\(level): &a\(level) [\(aliases)]\n"
    }
    #expect(throws: (any Error).self) { try json(bomb) }
    let deep = String(repeating: "[", count: 500)
    #expect(throws: (any Error).self) { try json("a: \(deep)") }
    #expect(throws: (any Error).self) { try json("a: &a [*a]") }
    #expect(throws: (any Error).self) { try json("[a]: 1") }

    // A schema that contains itself is usual; one that is itself is not.
    var schemas = ""
    for level in 0..<40 {
      let properties = (0..<9).map { "p\($0): {$ref: '#/components/schemas/S\(level + 1)'}" }
      schemas += "    S\(level): {properties: {\(properties.joined(separator: ", "))}}\n"
    }
    let text = """
      openapi: 3.0.0
      servers: [{url: "https://crm.example"}]
      paths:
        /a: {get: {responses: {200: {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/S0'}}}}}}}}
        /b: {get: {responses: {200: {content: {application/json: {schema: {$ref: '#/components/schemas/T'}}}}}}}
      components:
        schemas:
          T: {type: array, items: {$ref: '#/components/schemas/T'}}
          U: {$ref: '#/components/schemas/U'}
      \(schemas)
      """
    let described = try await described(text)
    #expect(described.names == ["a"])
  }

  @Test func `YAML is read by the core schema`() throws {
    let text = """
      a: [yes, "true", true, Null, ~, '', 1, -2.5, 007, 0x1F, 1e3, .inf, 2026-11-24, !!str 5]
      200: |
        two
        lines
      "q\\"\\u0001": &x {n: 1}
      y: *x
      k: !custom v
      """
    let json = JSON(
      reading: Data(try YAMLReader.json(of: Array(text.utf8), atMost: 1 << 20)))
    #expect(
      json?["a"] == [
        "yes", "true", true, nil, nil, "", 1, .number(-2.5), "007", "0x1F", 1000, ".inf",
        "2026-11-24", "5",
      ])
    #expect(json?["200"] == "two\nlines\n")
    #expect(json?["q\"\u{1}"] == ["n": 1])
    #expect(json?["y"] == ["n": 1])
    #expect(json?["k"] == "v")
  }

  @Test func `a header field with a setting as its default is not sent`() async throws {
    let described = try await described(
      """
      openapi: 3.0.3
      servers: [{url: "https://crm.example/{v}", variables: {v: {default: 'v1'}}}]
      paths:
        /a: {get: &get {
          parameters: [{name: X, in: header, required: true, schema: {default: '${COMIC_VINE_API_KEY}'}}],
          responses: {200: {content: {application/json: {schema: {type: array, items: {properties: {id: {type: integer}}}}}}}}}}
        /b${COMIC_VINE_API_KEY}: {get: *get}
        /c: {get: {
          parameters: [{name: '${A}', in: query, required: true, schema: {default: '${COMIC_VINE_API_KEY}'}}],
          responses: {200: {content: {application/json: {schema: {type: array, items: {properties: {id: {type: integer}}}}}}}}}}
      """)
    #expect(described.names == ["c"])
    let url = described.hints.first?["url"]
    #expect(url == "https://crm.example/v1/c?%24%7BA%7D=%24%7BCOMIC_VINE_API_KEY%7D")
  }

  @Test func `a file refers to others beside it, and to none elsewhere`() async throws {
    let list = "{responses: {200: {content: {application/json: {schema: {$ref: 'REF'}}}}}}"
    func text(_ paths: [(String, String)]) -> String {
      "openapi: 3.0.0\nservers: [{url: 'https://crm.example'}]\npaths:\n"
        + paths.map { "  \($0): {get: \(list.replacing("REF", with: $1))}\n" }.joined()
    }
    let described = try await described(
      text([
        ("/a", "schemas.json#/A"), ("/b", "../outside.yaml#/A"), ("/c", "missing.yaml"),
        ("/d", "https://other.example/s.json"), ("/e", "schemas.json#/B"),
      ]),
      beside: [
        "schemas.json": ##"""
        {"A": {"type": "array", "items": {"$ref": "#/R"}},
         "R": {"properties": {"id": {"type": "integer"}, "n": {"type": "integer"}}}}
        """##
      ])
    #expect(described.names == ["a"])
    let service = try await ServiceProposal(described, isTold: true, in: environment)
    let reasons = Dictionary(uniqueKeysWithValues: service.leftOut.map { ($0.path, $0.reason) })
    #expect(reasons["/b"]?.contains("outside of its directory") == true)
    #expect(reasons["/c"]?.contains("no such file") == true)
    #expect(reasons["/d"]?.contains("other.example") == true)
    #expect(reasons["/e"]?.contains("leads nowhere") == true)
  }
}
