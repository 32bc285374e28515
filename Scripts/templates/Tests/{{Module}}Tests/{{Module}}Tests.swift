{{if secret}}
import AggregatorKit
{{end}}
import AggregatorSourceTesting
import Testing
import {{Module}}Source

@Test func `{{name}} satisfy the laws in all fault scenarios`() async throws {
  let rows = FakeRows(
{{if images}}
    (1...30).map {
      #"{"id": "\#($0)", "name": "Sample \#($0)", "image": "https://{{name}}.example/\#($0).png"}"#
    })
{{end}}
{{if !images}}
    (1...30).map { #"{"id": "\#($0)", "name": "Sample \#($0)"}"# })
{{end}}
{{if secret}}
  let settings = SourceSettings([{{Module}}Plugin.key: "a-key-of-this-test"])
  try await expectLawsUnderFaults(of: {{Module}}Plugin(), settings: settings) { request in
    guard request.header("Authorization") == "Bearer a-key-of-this-test" else {
      return .json("{}", status: 401)
    }
{{end}}
{{if !secret}}
  try await expectLawsUnderFaults(of: {{Module}}Plugin()) { request in
{{end}}
    if let id = request.path(below: "/items") { return rows.reply(id) }
    let (words, size) = (request.parameter("q"), request.number("limit") ?? 20)
{{if page}}
    let start = ((request.number("page") ?? 1) - 1) * size
{{end}}
{{if offset}}
    let start = request.number("skip") ?? 0
{{end}}
{{if link cursor}}
    let start = request.number("cursor") ?? 0
{{end}}
    let page = rows.page(from: start, size: size, with: words)
{{if page offset}}
    return .json(#"{"items": \#(page.json), "total": \#(page.total)}"#)
{{end}}
{{if link}}
    let next = page.next.map { "/items?cursor=\($0)&limit=\(size)&q=\(words ?? "")" }
    return .json(#"{"items": \#(page.json), "next": "\#(next ?? "")"}"#)
{{end}}
{{if cursor}}
    let next = page.next.map { "\($0)" }
    return .json(#"{"items": \#(page.json), "next": "\#(next ?? "")"}"#)
{{end}}
  }
}

@Test func `bundled {{name}} satisfy the laws`() async {
  await expectLaws(ofBundledDataOf: {{Module}}Plugin())
}
