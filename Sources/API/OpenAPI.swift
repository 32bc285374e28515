package import AggregatorKit
import AggregatorTerminal

/// The description of the API in OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1.html).
package enum OpenAPI {
  package struct Server {
    package var title = "aggregator"
    package let version: String
    /// A URL without a path.
    package let address: String
    package var isReadOnly = false
    /// False if everyone may access it.
    package var hasToken = true
    /// True if clients may add sources.
    package var mayAdd = false
    /// The names of the sources that clients may remove.
    package var removable: Set<String> = []
  }

  /// A source, and the names of what it is in the document.
  struct Source {
    let source: any ServedSource
    /// In camel case with a capital: generators make names of classes, functions and files of it.
    let identifier: String
    /// Those of ``ServedSource/observedKinds()``.
    let kinds: [String: [RowSchema.Kind]]

    var record: JSON { reference("schemas", "\(identifier)Record") }
    var page: JSON { reference("schemas", "\(identifier)Page") }
  }

  /// Returns the document of a server.
  ///
  /// - Parameter kinds: Of the fields of each source, by its name.
  package static func document(
    for sources: [any ServedSource], of server: Server,
    _ kinds: [String: [String: [RowSchema.Kind]]] = [:]
  ) -> JSON {
    let names = identifiers(of: sources.map(\.name))
    let described = zip(sources, names).map {
      Source(source: $0, identifier: $1, kinds: kinds[$0.name] ?? [:])
    }
    let paths = described.flatMap { self.paths(of: $0, server) } + commonPaths(of: sources, server)
    let security: JSON = ["token": ["type": "http", "scheme": "bearer"]]
    return [
      "openapi": "3.1.0",
      "info": [
        "title": .string(server.title), "version": .string(server.version),
        "description": """
        Records of web APIs from one always-answering cache: live, else cached, else bundled sample data. \
        `provenance` and the header field `X-Aggregator-Origin` name the origin of each answer.
        """,
      ],
      "servers": [["url": .string(server.address)]],
      "security": server.hasToken ? [["token": []]] : [],
      "tags": .array(
        sources.map { ["name": .string($0.name), "description": .string($0.summary)] }),
      "paths": .object(paths),
      "components": [
        "securitySchemes": server.hasToken ? security : .object([]),
        "parameters": .object(parameters),
        "headers": .object(headers),
        "responses": .object(responses),
        "schemas": .object(commonSchemas + described.flatMap { schemas(of: $0) }),
      ],
    ]
  }

  /// The names of sources in camel case: `SpaceFlights` for `space-flights`.
  ///
  /// They differ by more than their case, as do the names that generators make of them for functions and files; a
  /// later one that would not has a number. None makes the name of a schema that is the same for all sources.
  private static func identifiers(of names: [String]) -> [String] {
    var taken: Set = [
      "changes", "facets", "schemachanges", "search", "sources", "sql", "summary", "syncs",
    ]
    return names.map { name in
      let words = name.split { !$0.isASCII || !$0.isLetter && !$0.isNumber }
      let base = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
      var (identifier, number) = (base, 1)
      while !taken.insert(identifier.lowercased()).inserted {
        number += 1
        identifier = "\(base)Source\(number)"
      }
      return identifier
    }
  }

  static func reference(_ kind: String, _ name: String) -> JSON {
    ["$ref": .string("#/components/\(kind)/\(name)")]
  }

  // MARK: - Parameters, header fields and responses

  /// - Parameter place: The place where it is required; an optional one is in the query.
  static func parameter(
    _ name: String, requiredIn place: String? = nil, _ schema: JSON, _ description: String,
    example: String? = nil
  ) -> JSON {
    var members: [JSON.Member] = [
      .init("name", .string(name)), .init("in", .string(place ?? "query")),
      .init("description", .string(description)),
    ]
    if place != nil { members.append(.init("required", true)) }
    members.append(.init("schema", schema))
    if let example { members.append(.init("example", .string(example))) }
    return .object(members)
  }

  /// The parameters that are the same for all sources, by name.
  private static var parameters: [JSON.Member] {
    let caches = ServedQuery.Cache.allCases.map { JSON.string($0.rawValue) }
    let cache: JSON = ["type": "string", "enum": .array(caches), "default": "normal"]
    let cursor: JSON = [
      "type": "string", "pattern": "^[A-Za-z][A-Za-z0-9._-]*$",
      "maxLength": .integer(PageCursor.maximumLength),
    ]
    let formats: JSON = [
      "type": "string", "enum": .array(Format.served.map { .string($0.rawValue) }),
    ]
    let sizes: JSON = [
      "type": "string", "enum": .array(ImageSize.allCases.map { .string($0.rawValue) }),
    ]
    func member(_ name: String, _ schema: JSON, _ description: String) -> JSON.Member {
      .init(name, parameter(name, schema, description))
    }
    return [
      member(
        "cursor", cursor,
        """
        The position after a page: `page.next` of its answer. One that does not belong to the query has \
        status 404.
        """),
      member(
        "format", formats,
        """
        The format of the list, which overrides `Accept`. All have the same fields as `json`, as the command export \
        writes them; `csv` and `tsv` begin with their names. The header fields have the rest of the document.
        """),
      member(
        "cache", cache,
        """
        `normal`: fresh cached data, else the service, else local data. `offline`: local data. `reload`: \
        the service, else local data. `live`: the service, or an error.
        """),
      member(
        "offset", ["type": "integer", "minimum": 0, "maximum": 1_000_000_000],
        """
        The number of records before the page, of those that are cached: without `sort`, in the order in which they were \
        first cached, which may differ from that of the service. With a cursor, or while none are cached, \
        the status is 409.
        """),
      member(
        "all", ["type": "boolean", "default": false],
        """
        All cached records at once, of 64 MB at most; without `sort`, in the order in which they were first cached. With `limit`, `cursor` or `offset` the status is 409.
        """),
      member("size", sizes, "The size of an image."),
      member(
        "number", ["type": "integer", "minimum": 1, "maximum": 1000],
        "The number of an image among those of the record; the best one by default."),
    ]
  }

  private static var headers: [JSON.Member] {
    func header(_ description: String, _ schema: JSON) -> JSON {
      ["description": .string(description), "schema": schema]
    }
    let origins: JSON = ["live", "cached", "bundled", "mixed"]
    return [
      .init(
        "Link",
        header(
          """
          The next page, as `rel="next"`, and the first one, as `rel="first"`. A list of cached records with `where`, `sort` or \
          `offset` also has the page before, as `rel="prev"`, and the last one, as `rel="last"`.
          """,
          ["type": "string"]
        )),
      .init("Age", header("The age of cached data in seconds.", ["type": "integer"])),
      .init(
        "ETag", header("The tag of the answer, for `If-None-Match`.", ["type": "string"])),
      .init(
        "X-Aggregator-Origin",
        header(
          "The origin of the records; `mixed` if they have several.",
          ["type": "string", "enum": origins])),
      .init("Allow", header("The methods of the path.", ["type": "string"])),
      .init(
        "WWW-Authenticate", header("The way to send the token: `Bearer`.", ["type": "string"])),
      .init(
        "Retry-After", header("The time to wait before a retry, in seconds.", ["type": "integer"])),
    ]
      + ListingSummary.headerNames.map { name in
        let member = name.split(separator: "-").last?.lowercased() ?? ""
        return .init(
          name,
          header(
            "The member `\(member)` of the JSON document, as JSON in ASCII; with other formats.",
            ["type": "string"]))
      }
  }

  static let problems = [
    ("BadRequest", 400, "Invalid parameter, or one that is given more than once."),
    ("Unauthorized", 401, "The access token is missing or wrong."),
    ("Forbidden", 403, "The server is read-only, or the request is from a page of another origin."),
    (
      "NotFound", 404,
      "There is no such record, or none in the part of the list that was read, no page at the cursor, or nothing is cached."
    ),
    ("NotAcceptable", 406, "The client accepts none of the formats."),
    (
      "Conflict", 409,
      "`where`, `sort` or `all`, which read cached records, with another `cache`, or a source that syncs."
    ),
    ("ContentTooLarge", 413, "The body, or the result, is too large."),
    ("UnsupportedMediaType", 415, "The body is neither JSON nor a form."),
    ("UnprocessableContent", 422, "A query that the database refuses, or a URL that is no source."),
    ("TooManyRequests", 429, "Rate limited, by the service or by the limit of this program."),
    ("BadGateway", 502, "The service is unreachable or failed, or its answer is invalid."),
    (
      "ServiceUnavailable", 503,
      "The service is paused, its API key is missing, or the store is locked."
    ),
    ("GatewayTimeout", 504, "The service timed out."),
  ]

  private static var responses: [JSON.Member] {
    let others = "Another problem, such as 405 for a method that the path does not have."
    return (problems + [("Problem", 0, others)]).map { name, status, description in
      var members: [JSON.Member] = [.init("description", .string(description))]
      if let field = [0: "Allow", 401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"][
        status]
      {
        let header = JSON.Member(field, reference("headers", field))
        members.append(.init("headers", .object([header])))
      }
      let content: JSON = [
        "application/problem+json": ["schema": reference("schemas", "Problem")]
      ]
      members.append(.init("content", content))
      return .init(name, .object(members))
    }
  }
}

extension OpenAPI.Server {
  package init(version: String, address: String) {
    self.version = version
    self.address = address
  }
}
