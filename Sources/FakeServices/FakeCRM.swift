package import AggregatorKit
package import AggregatorTestSupport
import Foundation

/// A service with six lists, each paged in another way, and an OpenAPI document that describes them.
package final class FakeCRM: Sendable {
  package let server: LoopbackServer

  package static let lists = ["contacts", "deals", "notes", "tags", "tasks", "users"]

  /// The lists that have URLs of single records.
  package static let items = ["contacts", "deals", "notes", "users"]

  package static let count = 45

  /// The header field without which nothing but the document is sent.
  package static let key = "hunter2hunter2"

  /// A key with which all lists but `users` are sent.
  package static let limitedKey = "hunter3hunter3"

  private static let pageSize = 20

  /// - Parameter document: The document to serve instead of ``document(at:)``.
  package init(document: (@Sendable (_ address: String) -> String)? = nil) throws {
    server = try LoopbackServer { request in
      let address = "http://\(request.header("host") ?? "")"
      if request.path == "/openapi.yaml" {
        return .ok(
          Data((document ?? Self.document)(address).utf8),
          headers: [("Content-Type", "application/yaml")])
      }
      let key = request.header("x-api-key")
      guard [Self.key, Self.limitedKey].contains(key) else { return .status(401, "no key") }
      if key == Self.limitedKey, request.path.hasPrefix("/v1/users") {
        return .status(403, "no users")
      }
      return Self.reply(to: request)
    }
  }

  package static func rows(of list: String) -> [JSON] {
    let isShort = list == "tags"
    return (1...(isShort ? 3 : count)).map { number in
      [
        "id": .integer(number), "name": .string("\(list) \(number)"),
        "amount": .string("\(number).5"),
      ]
    }
  }

  private static func reply(to request: LoopbackRequest) -> LoopbackReply {
    let parts = request.path.split(separator: "/").map(String.init)
    guard parts.count >= 2, parts[0] == "v1", lists.contains(parts[1]) else { return .status(404) }
    let rows = rows(of: parts[1])
    if parts.count == 3 {
      let row = items.contains(parts[1]) ? rows.first { $0["id"]?.text == parts[2] } : nil
      return row.map { .json($0.text) } ?? .status(404)
    }
    func number(_ name: String) -> Int? { request.query[name].flatMap { Int($0) } }
    let size = min(number("per_page") ?? number("limit") ?? pageSize, pageSize)
    let start =
      switch parts[1] {
      case "contacts": ((number("page") ?? 1) - 1) * size
      case "deals": number("skip") ?? 0
      case "tags": 0
      default: number("cursor") ?? number("after") ?? 0
      }
    let page = JSON.array(Array(rows.dropFirst(start).prefix(size)))
    let next = start + size < rows.count ? start + size : nil
    let address = "/v1/\(parts[1])?after="
    return switch parts[1] {
    case "contacts": .json((["data": page] as JSON).text)
    case "deals":
      .json((["deals": page, "total": .integer(rows.count), "skip": .integer(start)] as JSON).text)
    case "notes":
      .json(
        ([
          "results": page, "paging": ["next_cursor": next.map { .string("\($0)") } ?? .null],
        ] as JSON).text)
    case "tasks":
      .ok(
        Data(page.text.utf8),
        headers: [("Content-Type", "application/json")]
          + (next.map { [("Link", "<\(address)\($0)>; rel=\"next\"")] } ?? []))
    case "users":
      .json(
        (["items": page, "links": ["next": next.map { .string("\(address)\($0)") } ?? .null]]
          as JSON)
          .text)
    default: .json(page.text)
    }
  }

  /// A document in YAML.
  package static func document(at address: String) -> String {
    """
    # Written by hand, as most are.
    openapi: 3.1.0
    info: {title: CRM, version: "1"}
    servers:
      - url: "\(address)/{version}"
        variables: {version: {default: v1}}
    security:
      - key: []
    paths:
      /contacts:
        parameters:
          - $ref: '#/components/parameters/page'
        get:
          parameters:
            - {name: per_page, in: query, schema: {type: integer, maximum: 50, default: 10}}
          responses:
            200:
              content:
                application/json:
                  schema:
                    type: object
                    properties:
                      warnings: {type: array, items: {type: object, properties: {text: {type: string}}}}
                      data: &records {type: array, items: {$ref: '#/components/schemas/Record'}}
      /contacts/{contact_id}:
        get: &item
          parameters: [{name: contact_id, in: path, required: true, schema: {type: string}}]
          responses:
            200: {content: {application/json: {schema: {$ref: '#/components/schemas/Record'}}}}
      /contacts/{contact_id}/addresses:
        get:
          responses: {200: {content: {application/json: {schema: *records}}}}
      /deals:
        get:
          parameters:
            - {name: skip, in: query, schema: {type: integer}}
            - {name: limit, in: query, schema: {type: integer, default: 10, maximum: 20}}
            - {name: state, in: query, required: true, schema: {type: string, enum: [open]}}
          responses:
            "200":
              content:
                application/json:
                  schema:
                    allOf:
                      - {$ref: '#/components/schemas/Counted'}
                      - {properties: {deals: *records}}
      /deals/{id}: {get: *item, delete: {responses: {204: {description: gone}}}}
      /notes:
        get:
          parameters: [{name: cursor, in: query, schema: {type: string}}]
          responses:
            200:
              content:
                application/json:
                  schema:
                    properties:
                      results: *records
                      paging: {properties: {next_cursor: {type: [string, "null"]}}}
      /notes/{id}: {get: *item}
      /tags:
        get:
          responses: {200: {content: {application/json: {schema: *records}}}}
      /tasks:
        get:
          responses:
            200:
              headers: {Link: {schema: {type: string}}}
              content: {application/json: {schema: *records}}
      /users/:
        get:
          parameters: [{name: after, in: query, schema: {type: string}}]
          responses:
            200:
              content:
                application/json:
                  schema:
                    oneOf:
                      - type: "null"
                      - properties:
                          items: *records
                          links: {properties: {next: {type: string, format: uri}}}
      /users/{id}: {get: *item}
      /users/me: {get: *item}
      /reports:
        get:
          parameters: [{name: day, in: query, required: true, schema: {type: string}}]
          responses: {200: {content: {application/json: {schema: *records}}}}
      /old:
        get:
          deprecated: true
          responses: {200: {content: {application/json: {schema: *records}}}}
      /looping:
        get:
          responses: {200: {content: {application/json: {schema: {$ref: '#/components/schemas/Loop'}}}}}
    components:
      securitySchemes:
        key: {type: apiKey, in: header, name: X-API-Key}
      parameters:
        page: {name: page, in: query, schema: {type: integer, minimum: 1}}
      schemas:
        Record:
          type: object
          properties:
            id: {type: integer}
            name: {type: string}
            amount: {type: number}
            parent: {$ref: '#/components/schemas/Record'}
        Counted: {type: object, properties: {total: {type: integer}, skip: {type: integer}}}
        Loop: {$ref: '#/components/schemas/Loop2'}
        Loop2: {$ref: '#/components/schemas/Loop'}

    """
  }
}
