import AggregatorKit
import Foundation

@testable import AggregatorInference
@testable import DeclaredSource

/// Manifests, and what is inferred from the responses of unknown services.
extension FuzzTarget {
  static let manifests = [manifest, inference]

  private static let manifest = FuzzTarget(
    "manifest",
    samples: [
      #"{"url": "https://a.example/x?k=${KEY}", "rows": "data.*.items", "id": ["a", "b"], "next": "last.id", "token": "after=*"}"#,
      "{ // comment\n\"url\": \"https://a.example\", /* more */ \"fields\": [\"a\", {\"name\": \"b\", \"path\": \"c.0\"},], }",
      #"{"url": "https://a.example", "headers": {"A": "b ${C}"}, "page": "page=1", "size": "n=20", "more": "!done", "rate": "off"}"#,
      #"{"url": "https://a.example", "auth": {"basic": {"user": "mary", "password": "${P}"}}}"#,
      #"{"url": "https://a.example", "auth": {"oauth": {"token": "https://b.example/t", "grant": "refresh_token", "id": "${I}", "secret": "${S}", "refresh": "${R}", "scope": "x", "send": "body", "parameters": {"a": "b"}}}}"#,
      #"{"url": "https://a.example/{value}/x?y={value}", "each": {"values": ["a", "b/c"]}, "item": "https://a.example/{value}/{id}"}"#,
      #"{"url": "https://a.example/{date}", "each": {"dates": "2024-01-01", "step": "7d", "lookback": "12h"}, "errors": [{"status": 403, "then": "skip"}]}"#,
      #"{"url": "https://a.example/{repos.full_name}", "each": "repos"}"#,
      #"{"tap": {"command": ["tap-x", "-v"], "config": {"k": "${K}"}, "catalog": {"streams": []}, "variables": ["TZ"]}, "stream": "a", "id": "b"}"#,
    ].map { Array($0.utf8) },
    tokens: [
      "\"each\":", "{date}", "{a.b}", "\"url\":", "\"next\":", "\"id\":", "${A}", "{}", "\"*\"",
      "a.b", "//", "/*", "*/", ",}",
    ]
  ) { bytes in
    let manifest: Manifest
    do throws(SourceError) { manifest = try Manifest(reading: Data(bytes)) } catch {
      return try expectHarmless(error)
    }
    let text = manifest.json.text
    let again = try? Manifest(reading: Data(text.utf8))
    try expect(again?.json.text == text, "written and read it is another manifest")
    if let filled = try? manifest.filled(with: "@b.example:1/é") {
      try expect(filled.authority == manifest.authority, "a value chooses the host")
    }
    let response = HTTPResponse(
      status: 200, headers: [("Link", text)],
      body: Data(#"{"data": {"x": {"items": [{"a": 1}]}}}"#.utf8))
    do throws(SourceError) { _ = try manifest.decode(response, by: "it") } catch {
      try expectHarmless(error)
    }
  }

  private static let inference = FuzzTarget(
    "inference",
    samples: [
      #"{"page": 1, "total": "30", "next": "/x?page=2", "items": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}"#,
      #"[{"total": 7}, [{"key": "a", "tags": ["x"]}, {"key": "b", "o": {"p": 1.5}}]]"#,
      #"{"a": {"x": 1}, "b": {"x": 2}, "c": {"x": 3}}"#,
    ].map { Array($0.utf8) },
    tokens: ["\"id\":", "\"next\":", "\"has_more\":true", "[{", "}]", "\"rel\":\"next\""]
  ) { bytes in
    guard let document = JSON(inOrder: Data(bytes)),
      let url = URL(string: "https://a.example/items?limit=2")
    else { return }
    let exchange = Exchange(
      url: url, body: nil, headers: [("link", String(decoding: bytes, as: UTF8.self))],
      document: document)
    for candidate in exchange.rowsCandidates() {
      let found = candidate.path.rows(in: document)
      try expect(found != nil, "no list at \(candidate.path)")
      let rows = found ?? []
      try expect(rows.isEmpty == candidate.rows.isEmpty, "no rows at \(candidate.path)")
      if let id = IDInference(rows: rows, noun: exchange.noun).best {
        let ids = rows.compactMap { try? DeclaredRecord($0, id: id).id }
        try expect(Set(ids).count == rows.count, "the ID is not unique")
      }
      _ = FieldInference(rows: rows, id: []).fields
      _ = exchange.totalPath(rowCount: rows.count, rows: candidate.path.path)
      _ =
        PagingInference(
          exchange: exchange, rows: candidate.path.path, rowCount: rows.count, id: JSONPath("id")
        )
        .candidates
    }
  }
}
