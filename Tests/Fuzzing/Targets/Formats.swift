import AggregatorFormats
import AggregatorInference
import AggregatorKit
import AggregatorOpenAPI
import AggregatorSourceTesting
import DeclaredSource

/// Bodies in formats other than JSON.
extension FuzzTarget {
  static let formats = [table, lines, document, compressed, yaml, description]

  private static let maxBytes = 1 << 16

  /// Converts a body; what comes of it is JSON of a bounded size, and an error is harmless.
  private static func converted(
    _ bytes: [UInt8], _ type: String, _ format: BodyFormat? = nil, rows: [String]? = nil
  ) throws -> JSON? {
    do throws(FormatError) {
      let origin = ConvertedBody.Origin(contentType: type, path: "/", format: format, rows: rows)
      guard let body = try ConvertedBody(Data(bytes), from: origin, maxBytes: maxBytes) else {
        return nil
      }
      if body.format == nil { return nil }
      guard let text = JSONText(body.json) else { throw FormatError(.invalid, "not JSON") }
      return JSON(text)
    } catch {
      if error.reason == "not JSON" { throw BrokenInvariant("the converted body is not JSON") }
      try expectHarmless(error.sourceError(from: "fuzz"))
      return nil
    }
  }

  /// The rows are the same in whatever pieces the text arrives.
  private static func expectSameInPieces(_ bytes: [UInt8], _ format: BodyFormat) throws {
    func rows(_ sizes: [Int]) throws(FormatError) -> (Data, String) {
      var reader = try RowReader(format, head: bytes)
      var rows = JSONRows()
      var (start, index) = (0, 0)
      while start < bytes.count {
        let piece = Array(bytes[start...].prefix(sizes[index % sizes.count]))
        var position = 0
        while position < piece.count {
          try reader.read(piece, from: &position, into: &rows, upTo: rows.count + 3)
        }
        start += piece.count
        index += 1
      }
      let cut = try reader.finish(after: 0, into: &rows)
      return (rows.json, (cut ?? "") + (rows.fault ?? ""))
    }
    func answer(_ sizes: [Int]) -> String {
      do throws(FormatError) {
        let (json, faults) = try rows(sizes)
        return String(decoding: json, as: UTF8.self) + faults
      } catch {
        return error.description
      }
    }
    let whole = answer([max(bytes.count, 1)])
    try expect(answer([1]) == whole, "other rows byte by byte")
    try expect(answer([7, 3, 11]) == whole, "other rows in pieces")
  }

  private static let table = FuzzTarget(
    "table",
    texts: [
      "id,name\n1,x\n2,\"a \"\"b\"\"\r\nc\"\n", "id;price\r\n1;2,5\r\n\r\n2;\r\n",
      "\u{FEFF}id\tname\n1\t\n",
    ], tokens: [",", ";", "\t", "\"", "\"\"", "\r\n", "\n", "\0"]
  ) { text in
    let bytes = Array(text.utf8)
    for format in [BodyFormat.csv, .tsv] {
      if case .array(let rows)? = try converted(bytes, "text/csv", format) {
        for case .object(let members) in rows {
          let names = Set(members.map(\.name))
          try expect(names.count == members.count, "two columns of one name")
        }
      }
      try expectSameInPieces(bytes, format)
    }
  }

  private static let lines = FuzzTarget(
    "json-lines", texts: ["{\"id\": 1}\n{\"id\": 2}\r\n\n[3]", "1\n\"x\"\nnull\n"],
    tokens: ["\n", "{", "}", "\"", "null"]
  ) { text in
    _ = try converted(Array(text.utf8), "application/x-ndjson", .ndjson)
    try expectSameInPieces(Array(text.utf8), .ndjson)
  }

  private static let document = FuzzTarget(
    "xml",
    samples: [
      "<?xml version=\"1.0\"?><rss><channel><item><guid a='1'>7</guid></item></channel></rss>",
      "<feed xmlns=\"urn:x\"><link rel=\"next\" href=\"/2\"/><entry>&amp;<![CDATA[<]]></entry></feed>",
      "<!DOCTYPE a [<!ENTITY b \"x\">]><a>&b;&#x41;</a>",
      "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a><b/><b/>t</a>",
    ].map { Array($0.utf8) },
    tokens: ["<", ">", "</", "/>", "&", ";", "<![CDATA[", "]]>", "<!--", "-->", "=\"", "xmlns:"],
    cost: .medium
  ) { bytes in
    _ = try converted(bytes, "text/xml", .xml)
    _ = try converted(bytes, "text/xml; charset=utf-16", .xml, rows: ["a", "b"])
  }

  private static let yaml = FuzzTarget(
    "yaml",
    samples: [
      "a: &x [1, 'two', \"th\\x41\", ~]\nb: *x\n? c\n: |\n  d\n",
      "{a: {b: [1.5, true]}, \"c\": !!str 7}",
      "- - a\n  - b: >-\n      c\n- &y {}\n- *y\n",
    ].map { Array($0.utf8) },
    tokens: [
      ": ", "- ", "&x ", "*x", "[", "]", "{", "}", "'", "\"", "|", "#", "\n  ", "<<", "---\n",
    ],
    cost: .medium
  ) { bytes in
    let json: [UInt8]
    do throws(FormatError) { json = try YAMLReader.json(of: bytes, atMost: maxBytes) } catch {
      return try expect(error.kind != .notInstalled, "no libyaml")
    }
    try expect(json.count <= maxBytes + 8192, "\(json.count) bytes from \(bytes.count)")
    try expect(json.isEmpty || JSON(reading: Data(json)) != nil, "not JSON")
  }

  private static let description = FuzzTarget(
    "openapi",
    texts: [
      """
      openapi: 3.0.0
      servers: [{url: "https://{h}.example/v1", variables: {h: {default: a}}}]
      security: [{k: []}]
      paths:
        /things: {get: {parameters: [{$ref: '#/components/parameters/P'}], responses: {200: {headers: {Link: {}},
          content: {application/json: {schema: {$ref: '#/components/schemas/L'}}}}}}}
        /things/{id}: {get: {responses: {200: {}}}}
      components:
        parameters: {P: {name: page, in: query, schema: {type: integer, default: 1}}}
        securitySchemes: {k: {type: apiKey, in: header, name: X-Key}}
        schemas:
          L: {allOf: [{properties: {data: {type: array, items: {$ref: '#/components/schemas/T'}}, next: {type: string}}}]}
          T: {properties: {id: {type: [integer, "null"]}, name: {type: string}, of: {$ref: '#/components/schemas/T'}}}

      """
    ],
    tokens: [
      "$ref: '#/components/schemas/L'", "allOf: [", "oneOf: [", "{", "}", "required: true",
      "enum: [a]", "in: path",
      "type: oauth2", "type: http", "/{id}", "default: ", "${HOME}", "in: header",
    ], cost: .medium
  ) { text in
    do throws(SourceError) {
      let document = try OpenAPIDocument(reading: Data(text.utf8))
      let service = try DescribedService(document, for: ServiceRequest(name: "crm"))
      let environment = PluginEnvironment(
        settings: SourceSettings(), transport: CannedTransport(reply: HTTPResponse(status: 404)))
      let proposal = try await ServiceProposal(service, isTold: true, in: environment)
      let file = proposal.json(includingUnproved: true)
      guard file["resources"]?.text != "{}" else { return }
      do throws(SourceError) {
        for manifest in try ManifestFolder.manifests(of: file, as: "crm") {
          guard manifest.secretNames.allSatisfy({ $0.hasPrefix("CRM_") }) else {
            throw SourceError(.malformed, "asks for another secret")
          }
        }
      } catch { throw SourceError(.malformed, "broken: \(error.message)") }
    } catch {
      if error.message.hasPrefix("broken") { throw BrokenInvariant(error.message) }
      try expectHarmless(error)
    }
  }

  private static let compressed = FuzzTarget(
    "compressed",
    samples: [Gzip.file(Data("id,name\n1,x\n".utf8)), Gzip.file(Data(count: 100_000))].map(
      Array.init),
    cost: .medium
  ) { bytes in
    if let json = try converted(bytes, "application/gzip") {
      try expect(json.text.utf8.count <= maxBytes * 8, "a bomb")
    }
  }
}
