import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension OpenAPI {
  static func paths(of source: some ServedSource, isReadOnly: Bool) -> [JSON.Member] {
    let id = parameter(
      "id", requiredIn: "path", ["type": "string"], "The ID of a record, percent-encoded.",
      example: source.example.id)
    let hasDeletion = source.hasStore && !isReadOnly
    var record: [JSON.Member] = [
      .init("parameters", [id]), .init("get", show(source)),
    ]
    if hasDeletion {
      let summary = "Hide one \(source.noun.singular) on this machine"
      record.append(.init("delete", change("delete", source, summary, "It is hidden.")))
    }
    var paths: [JSON.Member] = [
      .init(RoutePath(APIPath.list, source.name).text, ["get": list(source)]),
      .init(RoutePath(APIPath.record, source.name, "{id}").text, .object(record)),
    ]
    func add(_ path: RoutePath<APIPath>, _ method: String, _ operation: JSON, _ parameters: JSON) {
      let item: JSON = .object([.init("parameters", parameters), .init(method, operation)])
      paths.append(.init(path.text, item))
    }
    if source.hasImages {
      add(RoutePath(.image, source.name, "{id}"), "get", image(source), [id])
    }
    if source.hasStore {
      add(RoutePath(.schemaChanges, source.name), "get", schemaChanges(source), [])
    }
    if hasDeletion {
      let summary = "Show a hidden \(source.noun.singular) again"
      let restore = change("restore", source, summary, "It is shown again.")
      add(RoutePath(.restore, source.name, "{id}"), "post", restore, [id])
      add(RoutePath(.record, source.name, APIPath.sync), "post", sync(source), [])
    }
    return paths
  }

  static func commonPaths(of sources: [any ServedSource]) -> [JSON.Member] {
    let words = parameter(
      "query", requiredIn: "query", ["type": "string"], "Words to search for.",
      example: sources.first?.example.query)
    let limit = parameter(
      "limit", ["type": "integer", "minimum": 1, "maximum": 100, "default": 5],
      "The most records of each source.")
    let search = operation(
      "search", "Search all sources",
      parameters: [words, limit, reference("parameters", "cache")],
      Answers(
        success: page(reference("schemas", "SearchPage"), hasLink: false),
        failures: [400, 401, 429, 502, 503, 504]))
    let query = parameter(
      "sql", requiredIn: "query",
      ["type": "string", "maxLength": .integer(SQLDiagnostics.maxTextSize)],
      "One `SELECT`; each source is a table. It is stopped after 30 seconds.",
      example: sources.first.map { "SELECT * FROM \($0.name.sqlQuoted) LIMIT 10" })
    let formats = API.sqlFormats.map { JSON.string($0.format.rawValue) }
    let format = parameter(
      "format", ["type": "string", "enum": .array(formats), "default": "json"],
      "The format of the result, as the command `sql` writes it.")
    let content = API.sqlFormats.map { format, type in
      JSON.Member(
        String(type.prefix { $0 != ";" }),
        [
          "schema": format == .json ? reference("schemas", "SQLPage") : ["type": "string"]
        ])
    }
    let rows: JSON = [
      "description": "The rows.",
      "headers": ["X-Aggregator-Warnings": reference("headers", "X-Aggregator-Warnings")],
      "content": .object(content),
    ]
    let sql = operation(
      "sql", "Query the cached records of all sources with SQL", parameters: [query, format],
      Answers(success: .init("200", rows), failures: [400, 401, 413, 503, 504]))
    let list = operation(
      "sources", "List the sources",
      Answers(
        success: response(
          "The sources.", "application/json", reference("schemas", "SourcesPage"))))
    let health = operation(
      "health", "Check that the server runs",
      Answers(success: response("It runs.", "application/json", ["type": "object"]), failures: []))
    let metrics = operation(
      "metrics", "Counters in the text format of Prometheus",
      Answers(success: response("The counters.", "text/plain", ["type": "string"])))
    let document = operation(
      "document", "This document",
      Answers(success: response("An OpenAPI document.", "application/json", ["type": "object"])))
    return [
      .init(APIPath.search.rawValue, ["get": search]),
      .init(APIPath.sql.rawValue, ["get": sql]),
      .init(APIPath.sources.rawValue, ["get": list]),
      .init(Route.document.metricLabel, ["get": document]),
      .init(Route.health.metricLabel, ["get": health]),
      .init(Route.metrics.metricLabel, ["get": metrics]),
    ]
  }

  // MARK: - Operations of a source

  private static func list(_ source: some ServedSource) -> JSON {
    let query = parameter(
      "query", ["type": "string"], "Words to search for; all records if it is missing.",
      example: source.example.query)
    let names =
      ["limit", "cursor", "cache", "fields"] + (source.hasStore ? ["where", "sort"] : [])
    return operation(
      "list", of: source, "List or search \(source.noun.plural)",
      parameters: [query] + names.map { reference("parameters", $0) },
      Answers(
        success: page(reference("schemas", "\(source.name).page")),
        failures: [400, 401, 429, 502, 503, 504]))
  }

  private static func show(_ source: some ServedSource) -> JSON {
    operation(
      "show", of: source, "Show one \(source.noun.singular)",
      parameters: ["cache", "fields"].map { reference("parameters", $0) },
      Answers(
        success: page(reference("schemas", "\(source.name).page"), hasLink: false),
        failures: [400, 401, 404, 429, 502, 503, 504]))
  }

  private static func image(_ source: some ServedSource) -> JSON {
    operation(
      "image", of: source, "The image of one \(source.noun.singular)",
      parameters: ["size", "cache"].map { reference("parameters", $0) },
      Answers(
        success: response("The image.", "image/*", ["type": "string", "format": "binary"]),
        failures: [400, 401, 404, 429, 502, 503, 504]))
  }

  /// A change on this machine, whose answer has no content.
  private static func change(
    _ verb: String, _ source: some ServedSource, _ summary: String, _ done: String
  ) -> JSON {
    operation(
      verb, of: source, summary,
      Answers(
        success: .init("204", ["description": .string(done)]), failures: [401, 403, 404, 503]))
  }

  private static func sync(_ source: some ServedSource) -> JSON {
    operation(
      "sync", of: source, "Download \(source.noun.plural)",
      parameters: [reference("parameters", "pages")],
      Answers(
        success: response(
          """
          Server-sent events: `progress` with the counts so far; at the end `done` with the counts, or `error` \
          with the members `code`, `message` and `result`. Closing the connection stops the download, which the \
          next one resumes.
          """, "text/event-stream", ["type": "string"]),
        failures: [400, 401, 403, 503]))
  }

  private static func schemaChanges(_ source: some ServedSource) -> JSON {
    operation(
      "schemaChanges", of: source, "How the members of the rows have changed",
      Answers(
        success: response(
          "The changes that syncs have found.", "application/json",
          reference("schemas", "SchemaChangesPage")),
        failures: [401, 503]))
  }

  // MARK: - Parts

  /// The answers of an operation, besides the problem that any may have.
  private struct Answers {
    let success: JSON.Member
    var failures = [401]
  }

  private static func operation(
    _ verb: String, of source: (any ServedSource)? = nil, _ summary: String,
    parameters: [JSON] = [], _ answers: Answers
  ) -> JSON {
    // Such as `listSpaceFlights`.
    let words = source?.name.split(separator: "-") ?? []
    let name = words.reduce(verb) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    var members: [JSON.Member] = [
      .init("operationId", .string(name)),
      .init("summary", .string(summary)),
    ]
    if let source { members.append(.init("tags", [.string(source.name)])) }
    if !answers.failures.contains(401) { members.append(.init("security", [])) }
    if !parameters.isEmpty { members.append(.init("parameters", .array(parameters))) }
    var responses = [answers.success]
    for (name, status, _) in problems where answers.failures.contains(status) {
      responses.append(.init("\(status)", reference("responses", name)))
    }
    responses.append(.init("default", reference("responses", "Problem")))
    members.append(.init("responses", .object(responses)))
    return .object(members)
  }

  private static func response(_ description: String, _ type: String, _ schema: JSON) -> JSON.Member
  {
    let content: JSON = .object([.init(type, ["schema": schema])])
    return .init("200", ["description": .string(description), "content": content])
  }

  private static func page(_ schema: JSON, hasLink: Bool = true) -> JSON.Member {
    let names = ["X-Aggregator-Origin", "Age"] + (hasLink ? ["Link"] : [])
    let headers = names.map { JSON.Member($0, reference("headers", $0)) }
    return .init(
      "200",
      [
        "description": "The records.", "headers": .object(headers),
        "content": ["application/json": ["schema": schema]],
      ])
  }
}
