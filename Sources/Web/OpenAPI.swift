import AggregatorKit

/// The description of the API in OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1.html).
enum OpenAPI {
  /// Returns the document of a server, whose address is a URL without a path.
  static func document(
    for sources: [any ServedSource], title: String = "aggregator", version: String, address: String,
    isReadOnly: Bool = false
  ) -> JSON {
    var paths: [JSON.Member] = []
    for source in sources { paths += self.paths(of: source, isReadOnly: isReadOnly) }
    return [
      "openapi": "3.1.0",
      "info": [
        "title": .string(title), "version": .string(version),
        "description": """
        Records of web APIs from one always-answering cache: live, else cached, else bundled sample data. \
        `provenance` and the header field `X-Aggregator-Origin` name the origin of each answer.
        """,
      ],
      "servers": [["url": .string(address)]],
      "security": [["token": []]],
      "tags": .array(
        sources.map { ["name": .string($0.name), "description": .string($0.summary)] }),
      "paths": .object(paths + commonPaths(of: sources)),
      "components": [
        "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
        "parameters": .object(parameters),
        "headers": .object(headers),
        "responses": .object(responses),
        "schemas": .object(commonSchemas + sources.flatMap { schemas(of: $0) }),
      ],
    ]
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
    let text: JSON = ["type": "string"]
    let caches = ServedQuery.Cache.allCases.map { JSON.string($0.rawValue) }
    let cache: JSON = ["type": "string", "enum": .array(caches), "default": "normal"]
    let limit: JSON = ["type": "integer", "minimum": 1, "default": 20]
    let pages: JSON = ["type": "integer", "minimum": 1]
    let sizes: JSON = [
      "type": "string", "enum": .array(ImageSize.allCases.map { .string($0.rawValue) }),
    ]
    func member(_ name: String, _ schema: JSON, _ description: String) -> JSON.Member {
      .init(name, parameter(name, schema, description))
    }
    return [
      member("limit", limit, "The most records of a page."),
      member("cursor", text, "The position after a page: `page.next` of its answer."),
      member(
        "cache", cache,
        """
        `normal`: fresh cached data, else the service, else local data. `offline`: local data. `reload`: \
        the service, else local data. `live`: the service, or an error.
        """),
      member("fields", text, "The names of the fields of a record, separated by commas."),
      member(
        "where", ["type": "array", "items": text],
        "A condition on a field, such as `name~new` or `id<100`; repeat it for several."),
      member("sort", text, "Fields separated by commas; with a dash before for descending order."),
      member("size", sizes, "The size of an image."),
      member(
        "pages", pages,
        "The most pages to download; all if it is missing, which endless sources refuse."),
    ]
  }

  private static var headers: [JSON.Member] {
    func header(_ description: String, _ schema: JSON) -> JSON {
      ["description": .string(description), "schema": schema]
    }
    let origins: JSON = ["live", "cached", "bundled", "mixed"]
    return [
      .init("Link", header("The next page, as `rel=\"next\"`.", ["type": "string"])),
      .init("Age", header("The age of cached data in seconds.", ["type": "integer"])),
      .init(
        "X-Aggregator-Origin",
        header("The origin of the records.", ["type": "string", "enum": origins])),
      .init(
        "X-Aggregator-Warnings",
        header(
          "The codes of the warnings of an answer, such as `incomplete`, separated by commas.",
          ["type": "string"])),
      .init(
        "Retry-After", header("The time to wait before a retry, in seconds.", ["type": "integer"])),
    ]
  }

  static let problems = [
    ("BadRequest", 400, "Invalid parameter, such as a cursor of another query."),
    ("Unauthorized", 401, "The access token is missing or wrong."),
    ("Forbidden", 403, "The server is read-only, or the request is from a page of another origin."),
    ("NotFound", 404, "There is no such record, or nothing is cached."),
    ("ContentTooLarge", 413, "The result is too large for one answer."),
    ("TooManyRequests", 429, "Rate limited, by the service or by the limit of this program."),
    ("BadGateway", 502, "The service is unreachable or failed, or its answer is invalid."),
    (
      "ServiceUnavailable", 503,
      "The service is paused, its API key is missing, or the store is locked."
    ),
    ("GatewayTimeout", 504, "The service timed out."),
  ]

  private static var responses: [JSON.Member] {
    (problems + [("Problem", 0, "Another problem.")]).map { name, status, description in
      var members: [JSON.Member] = [.init("description", .string(description))]
      if [429, 503].contains(status) {
        members.append(.init("headers", ["Retry-After": reference("headers", "Retry-After")]))
      }
      let content: JSON = [
        "application/problem+json": ["schema": reference("schemas", "Problem")]
      ]
      members.append(.init("content", content))
      return .init(name, .object(members))
    }
  }
}
