import AggregatorKit
import AggregatorPlugins
import Foundation
import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorServer
@testable import AggregatorWeb

@Suite struct OpenAPITests {
  /// `Scripts/install tests` installs it.
  static let validator = [
    Repository.root.appending(path: ".build/python/bin/openapi-spec-validator").path
  ].first(where: FileManager.default.isExecutableFile)

  private static let server = OpenAPI.Server(version: "1.2.3", address: "http://127.0.0.1:8080")

  /// Fails all requests.
  private struct NoNetwork: Transport {
    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      throw SourceError(.unreachable, "no network")
    }
  }

  private let sandbox: Sandbox
  private let sources: [any ServedSource]
  private let sql: ServedSQL
  private let syncs: SyncJobs
  private let document: JSON

  init() throws {
    sandbox = try Sandbox()
    let environment = PluginEnvironment(
      settings: SourceSettings([:]), transport: NoNetwork(),
      store: SQLiteStore(at: sandbox.root.appending(path: "store.sqlite").path))
    sources = AggregatorPlugins.plugins.map { Self.served($0, in: environment) }
    sql = ServedSQL(of: AggregatorPlugins.plugins, in: environment)
    syncs = SyncJobs(in: environment)
    document = OpenAPI.document(for: sources, of: Self.server)
  }

  private static func served(
    _ plugin: some Plugin, in environment: PluginEnvironment
  ) -> any ServedSource {
    ServedPlugin(plugin, in: environment)
  }

  private func validate(_ document: JSON) async throws -> Outcome {
    let validator = try #require(Self.validator)
    let file = try sandbox.write(document.text, to: "openapi.json")
    // The program of these tests is the last argument, which is taken for the name of the shell.
    return try await Binary.run(
      [String](), in: sandbox,
      by: ["/bin/sh", "-c", "'\(validator)' --errors all '\(file.path)'"])
  }

  @Test(.enabled(if: validator != nil, "openapi-spec-validator is not installed"))
  func `the document is valid`() async throws {
    for document in [
      document, OpenAPI.document(for: sources, of: Self.restricted),
      OpenAPI.document(for: [], of: Self.server),
    ] {
      let outcome = try await validate(document)
      #expect(outcome.status == 0, "\(outcome)")
    }
    // The validator is one.
    guard case .object(let members) = document else { return }
    let outcome = try await validate(.object(members.filter { $0.name != "info" }))
    #expect(outcome.status != 0)
    #expect(outcome.output.contains("info") || outcome.errors.contains("info"), "\(outcome)")
  }

  @Test func `a schema has the fields of its source and their kinds`() throws {
    for source in sources {
      let identifier = source.name.prefix(1).uppercased() + source.name.dropFirst()
      let schema = document["components"]?["schemas"]?["\(identifier)Record"]
      guard case .object(let properties)? = schema?["properties"] else {
        Issue.record("\(source.name) has no schema")
        continue
      }
      #expect(properties.map(\.name) == source.fields.map(\.id))
      let types = [
        "text": "string", "integer": "integer", "number": "number", "bool": "boolean",
        "list": "array",
      ]
      for (property, field) in zip(properties, source.fields) {
        let type = types[field.kind].map { JSON.array([.string($0), "null"]) }
        #expect(property.value["type"] == type)
        #expect(property.value["description"] == .string(field.about))
      }
    }
  }

  /// The operations of the document.
  private func operations(
    of document: JSON? = nil
  ) -> [(path: String, method: String, operation: JSON)] {
    guard case .object(let paths)? = (document ?? self.document)["paths"] else { return [] }
    return paths.flatMap { path -> [(path: String, method: String, operation: JSON)] in
      guard case .object(let methods) = path.value else { return [] }
      return methods.filter { $0.name != "parameters" }.map {
        (path.name, $0.name.uppercased(), $0.value)
      }
    }
  }

  @Test func `operations have names of their own`() {
    let names = operations().compactMap { $0.operation["operationId"] }
    #expect(names.count == operations().count)
    #expect(Set(names).count == names.count)
    #expect(names.contains("listHeroes"))
  }

  @Test func `names of sources become identifiers that generators keep apart`() throws {
    let names = [
      "a-b", "ab", "top-10", "top10", "search", "page", "schema-changes", "changes", "facets", "x-",
    ]
    let sources = names.map { MadeUpSource(name: $0, summary: "", records: []) }
    let document = OpenAPI.document(for: sources, of: Self.server)
    var operations: [String] = []
    for case .string(let name) in self.operations(of: document).compactMap({
      $0.operation["operationId"]
    }) { operations.append(name) }
    guard case .object(let schemas)? = document["components"]?["schemas"] else { return }
    for group in [operations, schemas.map(\.name)] {
      #expect(group.count > names.count * 2)
      #expect(Set(group.map { $0.lowercased() }).count == group.count, "\(group)")
      for name in group { #expect(name.wholeMatch(of: /[A-Za-z][A-Za-z0-9]*/) != nil, "\(name)") }
    }
    #expect(operations.contains("listAB") && operations.contains("listAbSource2"))
    #expect(schemas.contains { $0.name == "SearchSource2Page" })
  }

  @Test func `fields of any kind have the kinds that were found`() {
    var source = MadeUpSource(name: "pets", summary: "", records: [])
    source.fields = [
      FieldEntry(Field<ServedRecord>("age", "Age", .any, about: "Age.") { _ in .null }),
      FieldEntry(Field<ServedRecord>("tags", "Tags", .any, about: "Tags.") { _ in .null }),
      FieldEntry(Field<ServedRecord>("more", "More", .any, about: "More.") { _ in .null }),
    ]
    let document = OpenAPI.document(
      for: [source], of: Self.server, ["pets": ["age": [.text, .number], "tags": [.list]]])
    let properties = document["components"]?["schemas"]?["PetsRecord"]?["properties"]
    #expect(properties?["age"]?["type"] == ["string", "number", "null"])
    #expect(properties?["tags"]?["type"] == ["array", "null"])
    #expect(properties?["more"]?["type"] == nil && properties?["more"] != nil)
  }

  @Test func `a document without a token requires none`() {
    #expect(document["security"] == [["token": []]])
    let open = OpenAPI.document(for: sources, of: Self.restricted)
    #expect(open["security"] == [])
    #expect(open["components"]?["securitySchemes"] == .object([]))
  }

  private static let restricted = OpenAPI.Server(
    version: "1", address: "http://127.0.0.1:8080", isReadOnly: true, hasToken: false)

  @Test func `what can be asked for again has a tag, and 304`() {
    func responses(_ method: String, _ path: String) -> JSON? {
      document["paths"]?[path]?[method]?["responses"]
    }
    for path in ["/api/v1/heroes", "/api/v1/heroes/{id}", "/api/v1/search", "/api/v1/sql"] {
      #expect(responses("get", path)?["200"]?["headers"]?["ETag"] != nil, "\(path)")
      #expect(responses("get", path)?["304"] != nil, "\(path)")
    }
    #expect(responses("post", "/api/v1/sql")?["200"] != nil)
    #expect(responses("post", "/api/v1/sql")?["304"] == nil)
    #expect(responses("delete", "/api/v1/heroes/{id}")?["304"] == nil)
  }

  @Test func `the API knows all paths and parameters of the document, and no others`() async throws
  {
    let api = API(
      sources: sources, sql: sql, syncs: syncs, now: { Date(timeIntervalSince1970: 0) })
    let values = [
      "query": "a", "limit": "1", "cursor": "x", "cache": "offline", "fields": "id",
      "where": "id=1", "sort": "id", "size": "small", "pages": "1", "format": "csv", "offset": "0",
      "all": "false", "sql": "SELECT 1", "field": "id", "kind": "stats", "number": "1",
      "since": "7d",
    ]
    var count = 0
    for (path, method, operation) in operations() where path.hasPrefix("/api/") {
      var query: [ServerRequest.Parameter] = []
      if case .array(let parameters)? = operation["parameters"] {
        for parameter in parameters {
          let name = name(of: parameter)
          query.append(.init(name, try #require(values[name], "\(name)")))
        }
      }
      let request = ServerRequest(
        method: method, rawPath: path,
        path: path.split(separator: "/").map { $0 == "{id}" ? "unknown" : String($0) },
        query: query)
      let response = await answer(to: request, by: api)
      let text = response.text
      #expect(Route(request.path).methods.contains(method), "\(method) \(path)")
      #expect(!text.contains("no such path"), "\(method) \(path)")
      #expect(!text.contains("unknown parameter"), "\(method) \(path): \(text)")
      count += 1
    }
    #expect(count > 4 * 6)
    // The messages of the API are those.
    let unknown = ServerRequest(
      method: "GET", path: ["api", "v1", "heroes"], query: [.init("x", "y")])
    #expect(await answer(to: unknown, by: api).text.contains("unknown parameter"))
    let nowhere = ServerRequest(method: "GET", path: ["api", "v1", "heroes", "1", "x"])
    #expect(await answer(to: nowhere, by: api).text.contains("no such path"))
  }

  /// The response of the API, or the problem as the site sends it.
  private func answer(to request: ServerRequest, by api: API) async -> ServerResponse {
    guard case .api(let route) = Route(request.path) else { return Problem.unknownPath.response }
    do { return try await api.response(to: request, for: route) } catch {
      return Problem(error).response
    }
  }

  /// The name of a parameter, which may be a reference.
  private func name(of parameter: JSON) -> String {
    if case .string(let name)? = parameter["name"] { return name }
    guard case .string(let reference)? = parameter["$ref"] else { return "" }
    return reference.split(separator: "/").last.map(String.init) ?? ""
  }

  @Test func `answers have the members that the document requires`() async throws {
    let api = API(
      sources: sources, sql: sql, syncs: syncs, now: { Date(timeIntervalSince1970: 0) })
    for (path, query, schema) in [
      (["countries"], [("cache", "offline")], "CountriesPage"),
      (["countries", "FR"], [("cache", "offline")], "CountriesPage"),
      (["search"], [("query", "spider"), ("cache", "offline")], "SearchPage"),
      (["sources"], [], "SourcesPage"),
      ([], [], "SourcesPage"),
      (["countries", "schema", "facets"], [], "FacetsPage"),
      (["sql"], [("sql", "SELECT 1 AS one")], "SQLPage"),
      (["sql"], [("sql", "SELECT FROM")], "Problem"),
      (["countries", "schema", "changes"], [], "SchemaChangesPage"),
      (["heroes", "schema", "summary"], [("field", "publisher")], "SummaryPage"),
      (["sync"], [], "SyncsPage"),
      (["heroes"], [("limit", "0")], "Problem"),
    ] {
      let response = await answer(
        to: ServerRequest(
          method: "GET", path: ["api", "v1"] + path,
          query: query.map { .init($0.0, $0.1) }),
        by: api)
      let body = try #require(JSON(reading: Data(response.text.utf8)))
      expect(body, toHave: try #require(document["components"]?["schemas"]?[schema]), "\(path)")
    }
  }

  /// Checks the members of objects, and those of the objects in them.
  private func expect(_ value: JSON, toHave schema: JSON, _ place: String) {
    if case .string(let reference)? = schema["$ref"] {
      let name = reference.split(separator: "/").last.map(String.init) ?? ""
      guard let schema = document["components"]?["schemas"]?[name] else {
        Issue.record("\(place): \(name) is missing")
        return
      }
      return expect(value, toHave: schema, place)
    }
    switch value {
    case .object(let members):
      if case .array(let options)? = schema["anyOf"], let first = options.first {
        return expect(value, toHave: first, place)
      }
      if let additional = schema["additionalProperties"] {
        for member in members {
          expect(member.value, toHave: additional, "\(place).\(member.name)")
        }
        return
      }
      guard case .object(let properties)? = schema["properties"] else {
        Issue.record("\(place) has no schema")
        return
      }
      if case .array(let required)? = schema["required"] {
        let names = members.map { JSON.string($0.name) }
        for name in required { #expect(names.contains(name), "\(place): \(name.text)") }
      }
      // A search has records of all sources.
      guard properties.count > 1 else { return }
      for member in members {
        let property = properties.first { $0.name == member.name }?.value
        #expect(property != nil, "\(place).\(member.name) is not in the document")
        if let property { expect(member.value, toHave: property, "\(place).\(member.name)") }
      }
    case .array(let elements):
      guard let items = schema["items"] else {
        Issue.record("\(place) is no array")
        return
      }
      for element in elements { expect(element, toHave: items, place) }
    default: break
    }
  }

  @Test func `a read-only server has no operations that change anything`() throws {
    let document = OpenAPI.document(for: sources, of: Self.restricted)
    guard case .object(let paths)? = document["paths"] else { return }
    for path in paths {
      guard case .object(let item) = path.value else { continue }
      // A query in SQL changes nothing.
      let reading = ["get", "parameters"] + (path.name.hasSuffix("/sql") ? ["post"] : [])
      #expect(item.allSatisfy { reading.contains($0.name) }, "\(path.name)")
    }
    #expect(paths.count > 4 * 2)
  }
}

extension ServerResponse {
  fileprivate var text: String {
    guard case .bytes(let bytes) = body else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }
}
