import AggregatorFakeServices
import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting

/// Adding sources to a server that runs.
@Suite(
  .timeLimit(.minutes(10)), .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed")
) struct SourceAddingTests {
  private let service: FakeCountries
  private let home: TestHome

  init() throws {
    service = try FakeCountries()
    home = try TestHome()
  }

  private var url: String { service.url.absoluteString }

  @Test func `a URL at which there is nothing is said to be that`() async throws {
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let place = url.hasSuffix("/") ? "\(url)nothing" : "\(url)/nothing"
    let reply = try await server.post("/api/v1/sources", #"{"url":"\#(place)?key=secret"}"#)
    #expect(reply.status == 422, "\(reply.text)")
    let answer = try reply.json()
    #expect(answer["detail"] == .string("there is nothing at \(place): its service answered 404"))
    #expect(reply.text.contains("open the URL in a browser"))
    try await server.stop()
  }

  @Test(arguments: [
    (
      LoopbackReply.html(title: "Welcome"), "web page, not an API",
      "use the URL of a list of the API"
    ),
    (.json(#"{"items":[{"id":1,"na"#), "JSON", "open the URL in a browser"),
  ])
  func `a URL of a page or half a response is said to be that`(
    reply: LoopbackReply, words: String, hint: String
  ) async throws {
    let service = try LoopbackServer { _ in reply }
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let answer = try await server.post("/api/v1/sources", #"{"url":"\#(service.baseURL)/"}"#)
    #expect(answer.status == 422, "\(answer.text)")
    #expect(answer.text.contains(words), "\(answer.text)")
    #expect(try answer.json()["hint"]?.text.contains(hint) == true)
    try await server.stop()
  }

  @Test func `a source is shown, then saved, and served from then on`() async throws {
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let shown = try await server.post("/api/v1/sources", #"{"name":"lands","url":"\#(url)"}"#)
    #expect(shown.status == 200)
    let answer = try shown.json()
    #expect(answer["saved"] == false)
    #expect(answer["proved"] == true)
    #expect(answer["evidence"]?.array?.first?["key"] == "rows")
    #expect(try await server.get("/api/v1/lands").status == 404, "nothing is saved yet")
    let missing = try await server.get("/sources/lands", ["Accept": "text/html"])
    #expect(missing.status == 404 && missing.text.contains("Add a source"))

    let saved = try await server.post(
      "/api/v1/sources", #"{"name":"lands","url":"\#(url)","save":true}"#)
    #expect(saved.status == 201, "\(saved.text)")
    #expect(saved.header("Location") == "/api/v1/lands")
    let list = try await server.get("/api/v1/lands?limit=2")
    #expect(try list.json()["items"]?.array?.count == 2, "\(list.text)")
    let count = try await server.get("/api/v1/sql?sql=SELECT%20count(*)%20AS%20n%20FROM%20lands")
    #expect(count.status == 200, "\(count.text)")
    let document = try await server.get("/openapi.json")
    #expect(document.text.contains("/api/v1/lands"))
    // The first page has it where its name belongs.
    let first = try await server.get("/", ["Accept": "text/html"])
    let cards = first.text.matches(of: /<h2><a href="\/sources\/([a-z]+)"/).map {
      String($0.output.1)
    }
    #expect(cards.contains("lands") && cards == cards.sorted(), "\(cards)")
    let again = try await server.post("/api/v1/sources", #"{"name":"lands","url":"\#(url)"}"#)
    #expect(again.status == 422)
    #expect(again.text.contains("there is a source"))
    try await server.stop()

    // It is the source that the command adds, and the command line has it, too.
    let other = try TestHome()
    _ = try await other.run("sources add lands \(url)")
    let path = "home/.config/aggregator/sources/lands.json"
    #expect(try home.sandbox.text(of: path) == other.sandbox.text(of: path))
    let listed = try await home.run("lands list --limit 1 --json").output
    #expect(listed.contains(#""source": "lands""#))
  }

  @Test func `what a response leaves open can be chosen`() async throws {
    let people = (1...5).map { #"{"id":\#($0),"name":"N\#($0)"}"# }.joined(separator: ",")
    let colors = (1...5).map { #"{"shade":"S\#($0)","hex":"h\#($0)"}"# }.joined(separator: ",")
    let text = #"{"people":[\#(people)],"colors":[\#(colors)]}"#
    let both = try LoopbackServer { _ in
      .status(200, text, headers: [("Content-Type", "application/json")])
    }
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    func answer(_ hints: String) async throws -> JSON {
      let body = #"{"name":"palette","url":"\#(both.baseURL)/palette"\#(hints)}"#
      let reply = try await server.post("/api/v1/sources", body)
      #expect(reply.status == 200, "\(reply.text)")
      return try reply.json()
    }
    func found(_ key: String, _ answer: JSON) -> JSON? {
      answer["evidence"]?.array?.first { $0["key"] == .string(key) }?["value"]
    }
    let lists = try await answer("")
    #expect(Set(lists["choices"]?["rows"]?.array ?? []) == ["people", "colors"])
    let second = try await answer(#","rows":"colors""#)
    #expect(found("rows", second) == "colors")
    #expect(second["choices"] == ["id": ["shade", "hex"]], "\(second.text)")
    let third = try await answer(#","rows":"colors","id":"shade""#)
    #expect(found("id", third) == "shade" && third["choices"] == [:], "\(third.text)")
    for wrong in [#","rows":"nowhere""#, #","rows":"colors","id":"a..b""#] {
      let body = #"{"name":"palette","url":"\#(both.baseURL)/palette"\#(wrong)}"#
      let status = try await server.post("/api/v1/sources", body).status
      #expect([200, 422].contains(status), "\(wrong): \(status)")
    }
    try await server.stop()
  }

  @Test func `a key in the URL is a setting, and in no answer`() async throws {
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let reply = try await server.post(
      "/api/v1/sources", #"{"name":"lands","url":"\#(url)?api_key=s3cret-Key","save":true}"#)
    #expect(reply.status == 201, "\(reply.text)")
    #expect(!reply.text.contains("s3cret"))
    let folder = "home/.config/aggregator"
    #expect(!(try home.sandbox.text(of: "\(folder)/sources/lands.json")).contains("s3cret"))
    #expect(try home.sandbox.text(of: "\(folder)/config.xcconfig").contains("s3cret-Key"))
    #expect(try await server.get("/api/v1/lands?limit=1").status == 200)
    let outcome = try await server.stop()
    #expect(!outcome.errors.contains("s3cret"))
  }

  @Test func `what is no source is refused with the reason, and nothing is saved`() async throws {
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let mistakes: [(String, Int)] = [
      (#"{"name":"Lands","url":"\#(url)"}"#, 422), (#"{"name":"sources","url":"\#(url)"}"#, 422),
      (#"{"name":"lands","url":"file:///etc/passwd"}"#, 422),
      (#"{"name":"lands","url":"\#(url)?k=${LANDS_KEY}"}"#, 422),
      (#"{"name":"lands","url":"\#(url)/nowhere"}"#, 422),
      (#"{"name":"lands","url":"http://127.0.0.1:1/"}"#, 502),
      (#"{"name":"lands"}"#, 400), (#"{"url":7}"#, 400), ("[]", 400), ("{", 400),
      (#"{"name":"lands","url":"\#(url)","save":"yes"}"#, 400),
      (#"{"name":"lands","url":"\#(url)","more":1}"#, 400),
    ]
    for (body, status) in mistakes {
      let reply = try await server.post("/api/v1/sources", body)
      #expect(reply.status == status, "\(body): \(reply.text)")
      #expect(reply.header("Content-Type") == "application/problem+json")
    }
    #expect(try await home.run("sources list").output.contains("lands") == false)
    try await server.stop()
  }

  @Test func `a service that wants a key leads to the command that takes one`() async throws {
    let refusing = try LoopbackServer { _ in .status(401, "no key") }
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let body = #"{"name":"lands","url":"\#(refusing.baseURL)/lands"}"#
    let reply = try await server.post("/api/v1/sources", body)
    #expect(reply.status == 422, "\(reply.text)")
    let hint = try reply.json()["hint"]
    #expect(
      hint?.text.contains("sources add lands URL -H 'Authorization: Bearer KEY'") == true,
      "\(reply.text)")
    try await server.stop()
  }

  @Test func `only the server's own pages and programs may add`() async throws {
    let server = try await ServingProgram(
      "--allow-add --allow-origin http://app.example", in: home.sandbox)
    let body = #"{"name":"lands","url":"\#(url)","save":true}"#
    for origin in ["http://app.example", "http://evil.example", "null"] {
      let reply = try await server.post("/api/v1/sources", body, ["Origin": origin])
      #expect(reply.status == 403, "\(origin): \(reply.text)")
    }
    let own = try await server.post(
      "/api/v1/sources", body, ["Origin": "http://127.0.0.1:\(server.port)"])
    #expect(own.status == 201)
    try await server.stop()
  }

  @Test func `an added source is removed, with its cached records only on request`() async throws {
    let server = try await ServingProgram(
      "--allow-add --allow-origin http://app.example", in: home.sandbox)
    func add() async throws {
      let body = #"{"name":"lands","url":"\#(url)","save":true}"#
      #expect(try await server.post("/api/v1/sources", body).status == 201)
      #expect(try await server.get("/api/v1/lands?limit=2").status == 200)
    }
    try await add()
    #expect(try await server.get("/openapi.json").text.contains(#""operationId":"removeLands""#))
    let allowed = try await server.send("OPTIONS", "/api/v1/lands").header("Allow")
    #expect(allowed == "GET, DELETE, HEAD, OPTIONS")
    // What is not added stays.
    for (path, status) in [
      ("/api/v1/countries", 405), ("/api/v1/nothing", 404), ("/api/v1/lands?data=perhaps", 400),
      ("/api/v1/lands?force=true", 400),
    ] {
      #expect(try await server.send("DELETE", path).status == status, "\(path)")
    }
    #expect(try await server.get("/remove/countries").status == 404)
    for origin in ["http://app.example", "http://evil.example"] {
      let reply = try await server.send("DELETE", "/api/v1/lands", ["Origin": origin])
      #expect(reply.status == 403, "\(origin)")
    }
    let question = try await server.get("/remove/lands", ["Accept": "text/html"])
    #expect(question.text.contains("Remove the source lands?"))
    #expect(question.text.contains("Also remove its "), "\(question.text)")

    #expect(try await server.send("DELETE", "/api/v1/lands").status == 204)
    #expect(try await server.get("/api/v1/lands").status == 404)
    #expect(try await server.send("DELETE", "/api/v1/lands").status == 404)
    #expect(try await server.get("/").text.contains("/sources/lands") == false)
    let gone = try await server.get("/api/v1/sql?sql=SELECT%20*%20FROM%20lands")
    #expect(gone.status == 422, "\(gone.text)")
    // Its cached records are there again with it, until they are removed as well.
    try await add()
    #expect(try await server.send("DELETE", "/api/v1/lands?data=true").status == 204)
    try await server.stop()
    #expect(try await home.run("lands list").status == 64)
    let status = try await home.run("store status --json").output
    #expect(!status.contains("lands"), "\(status)")

    let closed = try await ServingProgram(in: home.sandbox)
    #expect(try await closed.send("DELETE", "/api/v1/countries").status == 405)
    #expect(try await closed.get("/remove/countries").status == 404)
    try await closed.stop()
  }

  @Test func `without the option nothing can be added, and others never add`() async throws {
    let server = try await ServingProgram(in: home.sandbox)
    let reply = try await server.post("/api/v1/sources", #"{"name":"lands","url":"\#(url)"}"#)
    #expect(reply.status == 405)
    #expect(reply.header("Allow") == "GET, HEAD, OPTIONS")
    #expect(try await server.get("/add").status == 404)
    #expect(try await server.get("/").text.contains("Add a source") == false)
    try await server.stop()
    for options in [
      "--listen 0.0.0.0 --no-token", "--host names.example", "--read-only", "--replay .",
    ] {
      let outcome = try await home.run("serve --port 0 --allow-add \(options)")
      #expect(outcome.status == 64, "\(options): \(outcome.errors)")
    }
  }

  @Test(arguments: [
    ("https://api.example.com/v1/orders?page=2", "orders"),
    ("https://api.example.com/v2/Line%20Items.json", "line-20items"),
    ("https://shop.example/", "shop"), ("http://127.0.0.1:8000/v1", "list"),
    ("https://api.example.com/users/42", "users"), ("http://192.168.0.7/", "list"),
  ])
  func `a name is made of the URL`(url: String, name: String) {
    #expect(SourceName.proposed(for: url) == name)
  }

  @Test(arguments: [
    ("https://api.example.com/users", "example"), ("http://127.0.0.1:8000/list.json", "list-2"),
    ("https://shop.example/list/users.json", "shop"), ("https://a.example/orders/list", "orders"),
    ("http://127.0.0.1:8000/", "list-2"),
  ])
  func `a name that is taken is not proposed`(url: String, name: String) {
    #expect(SourceName.proposed(for: url) { !["users", "list"].contains($0) } == name)
  }

  @Test func `a long query is sent as a body`() async throws {
    let server = try await ServingProgram("--source countries --read-only", in: home.sandbox)
    let query = "SELECT 'Å' AS a" + ", '\(String(repeating: "b", count: 4000))' AS b"
    let json = try await server.post("/api/v1/sql", #"{"sql":"\#(query)"}"#)
    #expect(json.status == 200, "\(json.text)")
    #expect(try json.json()["items"]?.array?.first?["a"] == "Å")
    let form = ["Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"]
    let csv = try await server.post("/api/v1/sql?format=csv", "sql=SELECT+1+AS+a%2C2", form)
    #expect(csv.text == "a,2\r\n1,2\r\n", "\(csv.text)")
    let page = try await server.post("/sql", "sql=SELECT+'long'+AS+a", form)
    #expect(page.text.contains(">long</td>"))
    for (body, headers, status) in [
      ("{}", [:], 400), (#"{"sql":""}"#, [:], 400), (#"{"sql":"SELECT 1","x":1}"#, [:], 400),
      (#"{"sql":"SELECT 1","sql":"SELECT 2"}"#, [:], 400), ("SELECT 1", ["Content-Type": ""], 415),
      ("sql=%FF", form, 400), (#"{"sql":"DROP TABLE countries"}"#, [:], 422),
    ] {
      let reply = try await server.post("/api/v1/sql", body, headers)
      #expect(reply.status == status, "\(body): \(reply.text)")
    }
    try await server.stop()
  }
}
