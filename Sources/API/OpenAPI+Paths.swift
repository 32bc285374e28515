import AggregatorKit
import AggregatorQueries
import AggregatorSelection
import AggregatorTerminal

extension OpenAPI {
  static func paths(of described: Source, _ server: Server) -> [JSON.Member] {
    let source = described.source
    let id = parameter(
      "id", requiredIn: "path",
      [
        "type": "string", "minLength": 1, "maxLength": .integer(ServedQuery.maxIDLength),
        "pattern": "^[^\\u0000]+$",
      ], "The ID of a record, percent-encoded.", example: source.example.id)
    let hasDeletion = source.hasStore && !server.isReadOnly
    var record: [JSON.Member] = [
      .init("parameters", [id]), .init("get", show(described)),
    ]
    if hasDeletion {
      let summary = "Hide one \(source.noun.word(for: 1)) on this machine"
      record.append(.init("delete", change("delete", described, summary, "It is hidden.")))
    }
    var whole: [JSON.Member] = [.init("get", list(described))]
    if server.removable.contains(source.name) {
      whole.append(.init("delete", removal(described)))
    }
    var paths: [JSON.Member] = [
      .init(RoutePath(APIPath.list, source.name).text, .object(whole)),
      .init(RoutePath(APIPath.record, source.name, "{id}").text, .object(record)),
    ]
    func add(_ path: RoutePath<APIPath>, _ method: String, _ operation: JSON, _ parameters: JSON) {
      let item: JSON = .object([.init("parameters", parameters), .init(method, operation)])
      paths.append(.init(path.text, item))
    }
    if source.hasImages {
      add(RoutePath(.image, source.name, "{id}"), "get", image(described), [id])
    }
    if source.hasStore {
      add(RoutePath(.changes, source.name), "get", changes(described), [])
      add(RoutePath(.schemaChanges, source.name), "get", schemaChanges(described), [])
      add(RoutePath(.facets, source.name), "get", facets(described), [])
      add(RoutePath(.summary, source.name), "get", summary(described), [])
    }
    if hasDeletion {
      let summary = "Show a hidden \(source.noun.word(for: 1)) again"
      let restore = change("restore", described, summary, "It is shown again.")
      add(RoutePath(.restore, source.name, "{id}"), "post", restore, [id])
      paths.append(.init(RoutePath(APIPath.sync, source.name).text, .object(syncs(described))))
    }
    return paths
  }

  static func commonPaths(of sources: [any ServedSource], _ server: Server) -> [JSON.Member] {
    let words = parameter(
      "query", requiredIn: "query", words,
      "Words to search for, those in double quotes together; `q` is another name of it.",
      example: sources.first?.example.query)
    let limit = parameter(
      "limit",
      [
        "type": "integer", "minimum": 1, "maximum": .integer(API.largestSearch),
        "default": .integer(SearchOfSources.defaultLimit),
      ], "The most records of each source.")
    let search = operation(
      "search", "Search all sources",
      parameters: [words, limit, reference("parameters", "cache")]
        + (sources.first(where: \.hasStore).map(selection(likeThatOf:)) ?? []),
      Answers(
        success: page(reference("schemas", "SearchPage")),
        failures: [400, 401, 406, 409, 429, 502, 503, 504]))
    let query = parameter(
      "sql", requiredIn: "query",
      ["type": "string", "maxLength": .integer(ServedSQL.maxLength)],
      "One `SELECT`; each source is a table. It is stopped after \(SQLRun.defaultTime.text).",
      example: sources.first.map { "SELECT * FROM \($0.name.sqlQuoted) LIMIT 10" })
    let rows = parameter(
      "limit", ["type": "integer", "minimum": 1, "maximum": .integer(ServedSQL.largestLimit)],
      "The most rows; all if it is missing. If there are more, the warning `stopped` says so, and the total is unknown."
    )
    let sql = operation(
      "sql", "Query the cached records of all sources with SQL",
      parameters: [query, rows, reference("parameters", "format")],
      Answers(
        success: page(reference("schemas", "SQLPage"), isList: true),
        failures: [400, 401, 406, 413, 422, 503, 504]))
    let longSQL = operation(
      "longSql", "Query with SQL of any length",
      parameters: [rows, reference("parameters", "format")],
      Answers(
        success: page(reference("schemas", "SQLPage"), isList: true),
        failures: [400, 401, 406, 413, 415, 422, 503, 504])
    ).taking([
      "sql": ["type": "string", "minLength": 1, "maxLength": .integer(ServedSQL.maxBodyLength)]
    ])
    let root = operation(
      "root", "The sources, with a link to this document",
      Answers(
        success: response(
          "The sources.", "application/json", reference("schemas", "SourcesPage")),
        failures: [401, 406]))
    let list = operation(
      "sources", "List the sources",
      Answers(
        success: response(
          "The sources.", "application/json", reference("schemas", "SourcesPage")),
        failures: [401, 406]))
    let syncs = operation(
      "syncs", "The syncs that run, and the last one of each source",
      Answers(
        success: response(
          "The syncs, in the order of the sources.", "application/json",
          reference("schemas", "SyncsPage")),
        failures: [401, 406]))
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
      .init(APIPath.root.rawValue, ["get": root]),
      .init(APIPath.search.rawValue, ["get": search]),
      .init(APIPath.sql.rawValue, ["get": sql, "post": longSQL]),
      .init(
        APIPath.sources.rawValue,
        .object([.init("get", list)] + (server.mayAdd ? [.init("post", addition)] : []))),
      .init(APIPath.syncs.rawValue, ["get": syncs]),
      .init(CommonPath.document.rawValue, ["get": document]),
      .init(CommonPath.health.rawValue, ["get": health]),
      .init(CommonPath.metrics.rawValue, ["get": metrics]),
    ]
  }

  /// Adding a source.
  private static var addition: JSON {
    let url: JSON = ["type": "string", "pattern": "^https?://", "maxLength": 2000]
    let name: JSON = ["type": "string", "pattern": "^[a-z][a-z0-9-]{0,31}$"]
    func path(_ description: String) -> JSON {
      ["type": "string", "maxLength": 200, "description": .string(description)]
    }
    return operation(
      "addSource", "Infer the list of records, their IDs and the paging at a URL, and add it",
      Answers(
        success: response(
          "What was found, with the evidence, and `choices` of `rows` and `id` that may fit as well.",
          "application/json", ["type": "object"]),
        others: [
          .init(
            "201",
            [
              "description": "It is saved, and one of the sources.",
              "content": ["application/json": ["schema": ["type": "object"]]],
            ])
        ], failures: [400, 401, 403, 413, 415, 422, 429, 502, 503, 504])
    ).taking(
      ["url": url],
      optional: [
        "name": name, "save": ["type": "boolean"],
        "rows": path("Where the records are in a response, such as `data.items`."),
        "id": path("What identifies a record, such as `id`."),
        "key": [
          "type": "string", "maxLength": 4000,
          "description":
            "A key of the service. It is saved as a setting, and sent to the host of the URL alone.",
        ],
        "keyPlace": path(
          "The header field of the key, such as `X-Api-Key` or `Authorization: Bearer`, or `?` and a query parameter."
        ),
      ])
  }

  // MARK: - Operations of a source

  private static func list(_ described: Source) -> JSON {
    let source = described.source
    let query = parameter(
      "query", words,
      "Words to search for, those in double quotes together; all records if it is missing. `q` is another name of it.",
      example: source.example.query)
    let limit = parameter(
      "limit",
      [
        "type": "integer", "minimum": 1, "maximum": .integer(source.largestPage),
        "default": .integer(min(ListingBounds.standardLimit, source.largestPage)),
      ], "The most records of a page.")
    return operation(
      "list", of: described, "List or search \(source.noun.plural)",
      parameters: [query, limit]
        + ["cursor", "cache"].map { reference("parameters", $0) }
        + [formats(ofLists: source)]
        + [fields(of: source)]
        + (source.hasStore
          ? [conditions(of: source), order(of: source)]
            + ["offset", "all"].map { reference("parameters", $0) } : []),
      Answers(
        success: page(described.page, isList: true, files: source.files),
        failures: [400, 401, 404, 406, 429, 502, 503, 504]
          + (source.hasStore ? [409, 413] : [])))
  }

  private static func show(_ described: Source) -> JSON {
    operation(
      "show", of: described, "Show one \(described.source.noun.word(for: 1))",
      parameters: [reference("parameters", "cache"), fields(of: described.source)],
      Answers(success: page(described.page), failures: [400, 401, 404, 406, 429, 502, 503, 504]))
  }

  /// Removing an added source.
  private static func removal(_ described: Source) -> JSON {
    operation(
      "remove", of: described, "Remove the source \(described.source.name) from this machine",
      parameters: [
        parameter(
          "data", ["type": "boolean", "default": false],
          """
          True to remove its cached records and images, too. Otherwise they stay in the store, and adding the same URL under the \
          same name finds them again.
          """)
      ],
      Answers(
        success: .init("204", ["description": "It is removed; its service is not changed."]),
        failures: [400, 401, 403, 404, 409, 503]))
  }

  private static func image(_ described: Source) -> JSON {
    let image: JSON = ["schema": ["type": "string", "format": "binary"]]
    return operation(
      "image", of: described, "The image of one \(described.source.noun.word(for: 1))",
      parameters: ["size", "number", "cache"].map { reference("parameters", $0) },
      Answers(
        success: .init(
          "200",
          [
            "description": "The image, as plain bytes for a client that accepts no images.",
            "content": ["image/*": image, "application/octet-stream": image],
          ]), failures: [400, 401, 404, 429, 502, 503, 504]))
  }

  /// A change on this machine, whose answer has no content.
  private static func change(
    _ verb: String, _ source: Source, _ summary: String, _ done: String
  ) -> JSON {
    operation(
      verb, of: source, summary,
      Answers(
        success: .init("204", ["description": .string(done)]),
        failures: [400, 401, 403, 404, 503]))
  }

  private static func syncs(_ described: Source) -> [JSON.Member] {
    let source = described.source
    let pages = parameter(
      "pages", requiredIn: source.isEndless ? "query" : nil,
      ["type": "integer", "minimum": 1, "maximum": .integer(API.maxPages)],
      "The most pages to fetch" + (source.isEndless ? "." : "; all if it is missing."))
    let events =
      "`text/event-stream`: `progress` with the counts so far; at the end `done` with the counts, "
      + "or `error` with the members `code`, `message` and `result`."
    let content: JSON = [
      "text/event-stream": [:], "application/json": ["schema": reference("schemas", "SyncsPage")],
    ]
    let job: JSON = [
      "description": .string("The sync. \(events)"), "content": content,
    ]
    let started: JSON = [
      "description": "The sync runs, or another one of this source did already.",
      "content": ["application/json": ["schema": reference("schemas", "SyncsPage")]],
    ]
    return [
      .init(
        "get",
        operation(
          "showSync", of: described, "The sync that runs, or the last one",
          Answers(success: .init("200", job), failures: [400, 401]))),
      .init(
        "post",
        operation(
          "sync", of: described, "Sync \(source.noun.plural)", parameters: [pages],
          Answers(
            success: .init(
              "200",
              [
                "description": .string(
                  "The sync, for a client that does not prefer JSON. It goes on when the client "
                    + "leaves. \(events)"),
                "content": ["text/event-stream": [:]],
              ]), others: [.init("202", started)], failures: [400, 401, 403, 503]))),
      .init(
        "delete",
        operation(
          "stopSync", of: described, "Stop the sync of \(source.noun.plural), wherever it runs",
          Answers(
            success: .init("204", ["description": "It stops; the next one goes on there."]),
            failures: [400, 401, 403, 404]))),
    ]
  }

  private static func facets(_ described: Source) -> JSON {
    let query = parameter(
      "query", words,
      "Words to search for, those in double quotes together; `q` is another name of it.",
      example: described.source.example.query)
    return operation(
      "facets", of: described, "How the records on this machine are spread over values",
      parameters: [query, conditions(of: described.source)],
      Answers(
        success: response(
          """
          A facet of each field whose values repeat, or can be put in ranges, with the ten most frequent values; \
          conditions on the field alone do not narrow it. `schema/summary` has all values of a field.
          """,
          "application/json",
          reference("schemas", "FacetsPage")),
        failures: [400, 401, 406, 503]))
  }

  private static func summary(_ described: Source) -> JSON {
    let source = described.source
    let query = parameter(
      "query", words,
      "Words to search for, those in double quotes together; `q` is another name of it.",
      example: source.example.query)
    let kinds = FieldSummary.Kind.allCases.map { JSON.string($0.rawValue) }
    let kind = parameter(
      "kind", ["type": "string", "enum": .array(kinds), "default": "groups"],
      "`groups`: each value and the number of its records. `stats`: one row of statistics. `distinct`: the values."
    )
    return operation(
      "summary", of: described, "The values of a field in the cached records",
      parameters: [query, conditions(of: source), field(of: source), kind]
        + [reference("parameters", "format")],
      Answers(
        success: page(reference("schemas", "SummaryPage"), isList: true),
        failures: [400, 401, 406, 503]))
  }

  private static func changes(_ described: Source) -> JSON {
    // Some of the points: those that never are in the future.
    let since = parameter(
      "since",
      [
        "type": "string", "default": "sync",
        "pattern":
          "^(sync|today|yesterday|[1-9][0-9]{0,3}[smhdw]|20[01][0-9](-(0[1-9]|1[0-2])-[01][1-9])?)$",
      ],
      """
      The point with which records are compared: `sync`, the end of the sync before the last one, `today`, `yesterday`, a \
      date, a time in UTC, or a span such as `2h`.
      """)
    let kinds = ChangeEntry.Kind.allCases.map { JSON.string($0.rawValue) }
    let kind = parameter(
      "kind", ["type": "string", "enum": .array(kinds)],
      "The kind of changes; all if it is missing.")
    let names = described.source.fields.map { JSON.string($0.id) }
    let field = parameter(
      "field", ["type": "string", "enum": .array(names)],
      "The name of the field that has changed; all changes if it is missing.")
    let limit = parameter(
      "limit",
      [
        "type": "integer", "minimum": 1, "maximum": .integer(ChangesQuery.largestLimit),
        "default": .integer(ChangesQuery.defaultLimit),
      ], "The most changes of a page.")
    let all = parameter(
      "all", ["type": "boolean", "default": false],
      "All changes from there on at once, or some 100 000: `next` is not null if there are more."
    )
    let success = page(reference("schemas", "ChangesPage"), isList: true)
    return operation(
      "changes", of: described, "How the cached records have changed",
      parameters: [since, kind, field, limit, all]
        + ["cursor", "format"].map { reference("parameters", $0) },
      Answers(success: success, failures: [400, 401, 404, 406, 503]))
  }

  private static func schemaChanges(_ source: Source) -> JSON {
    operation(
      "schemaChanges", of: source, "How the members of the rows have changed",
      Answers(
        success: response(
          "The changes that syncs have found.", "application/json",
          reference("schemas", "SchemaChangesPage")),
        failures: [400, 401, 406, 503]))
  }

  // MARK: - Parts

  /// The answers of an operation, besides the problem that any may have.
  private struct Answers {
    let success: JSON.Member
    var others: [JSON.Member] = []
    var failures = [401]
  }

  private static func operation(
    _ verb: String, of source: Source? = nil, _ summary: String,
    parameters: [JSON] = [], _ answers: Answers
  ) -> JSON {
    var members: [JSON.Member] = [
      .init("operationId", .string(verb + (source?.identifier ?? ""))),
      .init("summary", .string(summary)),
    ]
    if let source { members.append(.init("tags", [.string(source.source.name)])) }
    if !answers.failures.contains(401) { members.append(.init("security", [])) }
    if !parameters.isEmpty { members.append(.init("parameters", .array(parameters))) }
    var responses = [answers.success] + answers.others
    // Answers to POST have no tag.
    if answers.success.value["headers"]?["ETag"] != nil, verb != "longSql" {
      responses.append(
        .init("304", ["description": "The answer is that of the `ETag` in `If-None-Match`."]))
    }
    for (name, status, _) in problems where answers.failures.contains(status) {
      responses.append(.init("\(status)", reference("responses", name)))
    }
    responses.append(.init("default", reference("responses", "Problem")))
    members.append(.init("responses", .object(responses)))
    return .object(members)
  }

  private static func response(
    _ description: String, _ type: String, _ schema: JSON? = nil
  ) -> JSON.Member {
    let media = JSON.object(schema.map { [.init("schema", $0)] } ?? [])
    let content: JSON = .object([.init(type, media)])
    return .init("200", ["description": .string(description), "content": content])
  }

  /// - Parameter isList: True for what has pages, in several formats.
  private static func page(
    _ schema: JSON, isList: Bool = false, files: [ListFile] = []
  ) -> JSON.Member {
    let names =
      ["X-Aggregator-Origin", "Age", "ETag"] + (isList ? ["Link"] + ListingSummary.headerNames : [])
    let headers = names.map { JSON.Member($0, reference("headers", $0)) }
    let formats = isList ? Format.served : [.json]
    var content = formats.map { format in
      JSON.Member(format.mediaType, ["schema": format == .json ? schema : ["type": "string"]])
    }
    content += files.map {
      .init($0.mediaType, ["schema": ["type": "string", "format": "binary"]])
    }
    return .init(
      "200",
      [
        "description": "The records.", "headers": .object(headers), "content": .object(content),
      ])
  }
}

extension JSON {
  /// This operation with a body of required members, and optional ones.
  fileprivate func taking(_ required: [String: JSON], optional: [String: JSON] = [:]) -> JSON {
    let properties = required.merging(optional) { first, _ in first }.sorted { $0.key < $1.key }
    let schema: JSON = [
      "type": "object", "required": .array(required.keys.sorted().map(JSON.string)),
      "properties": .object(properties.map { JSON.Member($0.key, $0.value) }),
      "additionalProperties": false,
    ]
    let body: JSON = ["required": true, "content": ["application/json": ["schema": schema]]]
    return .object(members + [.init("requestBody", body)])
  }
}
