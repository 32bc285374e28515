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

  @Test(arguments: ["file:///etc/hostname", "/etc/hostname", "file://localhost/etc/hostname"])
  func `a file is no source of a page`(place: String) async throws {
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let reply = try await server.post("/api/v1/sources", #"{"name":"own","url":"\#(place)"}"#)
    #expect(reply.status == 422, "\(reply.text)")
    #expect(reply.text.contains("must begin with https:"), "\(reply.text)")
    try await server.stop()
  }

  @Test(arguments: [
    (
      LoopbackReply.html(title: "Welcome"), "web page, not an API",
      "use the URL of a list of the API"
    ),
    (.json(#"{"items":[{"id":1,"na"#), "ends early", "try again when all of it is sent"),
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
    let closed = try await server.post(
      "/api/v1/sources", #"{"name":"lands","url":"http://127.0.0.1:1/"}"#)
    #expect(try closed.json()["hint"] == "check that the service runs at this address")
    #expect(try await home.run("sources list").output.contains("lands") == false)
    try await server.stop()
  }

  /// A service with one record for a header field, or a parameter, that has the key.
  private func lockedService(_ refusal: LoopbackReply) throws -> LoopbackServer {
    try LoopbackServer { request in
      let isKnown =
        request.header("X-Api-Key") == "s3cret+Key"
        || request.query["k"] == "s3cret+Key"
      guard isKnown else { return refusal }
      return .status(
        200, #"[{"id":7,"name":"Seven"}]"#, headers: [("Content-Type", "application/json")])
    }
  }

  @Test(
    arguments: [
      ("no key", [], "'/lands?a=1' -H 'Authorization: Bearer ${LANDS_KEY}'"),
      (
        "no key", [("WWW-Authenticate", "Token realm=\"x\"")],
        "'/lands?a=1' -H 'Authorization: Token ${LANDS_KEY}'"
      ),
      (#"{"error":"no X-Shop-Key header"}"#, [], "'/lands?a=1' -H 'X-Shop-Key: ${LANDS_KEY}'"),
      (#"{"error":"api_key is missing"}"#, [], "'/lands?a=1&api_key=${LANDS_KEY}'"),
    ] as [(String, [(String, String)], String)])
  func `a service that wants a key leads to the command that takes one`(
    text: String, headers: [(String, String)], arguments: String
  ) async throws {
    let refusing = try LoopbackServer { _ in .status(401, text, headers: headers) }
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let body = #"{"name":"lands","url":"\#(refusing.baseURL)/lands?a=1"}"#
    let reply = try await server.post("/api/v1/sources", body)
    #expect(reply.status == 422, "\(reply.text)")
    let hint = try #require(try reply.json()["hint"]?.string)
    let command = arguments.replacing("'/", with: "'\(refusing.baseURL)/")
    #expect(hint.hasSuffix("aggregator sources add lands \(command)"), "\(hint)")
    try await server.stop()
  }

  @Test(arguments: ["X-Api-Key", "?k"])
  func `a key is a setting that only the host of the URL gets, and on no page`(
    place: String
  ) async throws {
    let locked = try lockedService(.status(401, "no X-Api-Key"))
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let headers = [
      "Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html",
      "Origin": "http://127.0.0.1:\(server.port)",
    ]
    func preview(_ more: String, at url: String) async throws -> ServingProgram.Reply {
      let form = "name=lands&url=\(url.percentEncoded)&\(more)"
      return try await server.post("/add", form, headers)
    }
    let url = "\(locked.baseURL)/lands"
    let refused = try await preview("", at: url)
    #expect(refused.status == 422 && refused.text.contains("<details open"), "\(refused.text)")
    #expect(refused.text.contains(#"name="keyPlace" value="X-Api-Key""#))
    let typed = "key=s3cret%2BKey&keyPlace=\(place.percentEncoded)"
    let shown = try await preview(typed, at: url)
    #expect(shown.status == 200 && shown.text.contains("Seven"), "\(shown.text)")
    #expect(shown.header("Cache-Control") == "no-store")
    // Another preview names it, and one for another host does not get it.
    let id = try #require(shown.text.firstMatch(of: /name="keyID" value="([0-9a-f]+)"/)?.output.1)
    let again = try await preview("keyID=\(id)&id=id", at: url)
    #expect(again.status == 200 && again.text.contains("Seven"), "\(again.text)")
    let other = try lockedService(.status(401, "no X-Api-Key"))
    #expect(try await preview("keyID=\(id)", at: "\(other.baseURL)/lands").status == 422)

    let proposal = try #require(
      again.text.firstMatch(of: /name="proposal" value="([0-9a-f]+)"/)?.output.1)
    let saved = try await server.post("/add", "proposal=\(proposal)", headers)
    #expect(saved.status == 303, "\(saved.text)")
    #expect(try await server.get("/api/v1/lands").text.contains("Seven"))
    for reply in [refused, shown, again, saved] { #expect(!reply.text.contains("s3cret")) }
    let folder = "home/.config/aggregator"
    #expect(!(try home.sandbox.text(of: "\(folder)/sources/lands.json")).contains("s3cret"))
    #expect(try home.sandbox.text(of: "\(folder)/config.xcconfig").contains("s3cret+Key"))
    #expect(try await server.stop().errors.contains("s3cret") == false)
  }

  @Test(arguments: ["X-Api-Key", "?k"])
  func `another URL of the same host keeps the key, and one of another host gets none`(
    place: String
  ) async throws {
    let locked = try lockedService(.status(401, "no X-Api-Key"))
    let other = try lockedService(.status(401, "no X-Api-Key"))
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let headers = [
      "Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html",
      "Origin": "http://127.0.0.1:\(server.port)",
    ]
    let key = #""key":"s3cret+Key","keyPlace":"\#(place)""#
    let body = #"{"name":"lands","url":"\#(locked.baseURL)/old",\#(key),"save":true}"#
    let added = try await server.post("/api/v1/sources", body)
    #expect(added.status == 201, "\(added.text)")
    let file = "home/.config/aggregator/sources/lands.json"
    let first = try home.sandbox.text(of: file)
    #expect(try await server.get("/edit/lands").text.contains(#"href="/add?replace=lands""#))
    let form = try await server.get("/add?replace=lands").text
    #expect(form.contains(#"name="replace" value="lands""#) && !form.contains("s3cret"))
    let parameter = place == "?k" ? "?k=${LANDS_K}" : ""
    #expect(form.contains(#"value="\#(locked.baseURL)/old\#(parameter)""#), "\(form)")
    #expect(try await server.get("/add?replace=countries").status == 404)

    func preview(_ url: String, _ headers: [String: String]) async throws -> ServingProgram.Reply {
      try await server.post("/add", "replace=lands&url=\(url.percentEncoded)", headers)
    }
    let (new, elsewhere) = ("\(locked.baseURL)/new\(parameter)", "\(other.baseURL)/new")
    #expect(try await preview(elsewhere, headers).status == 422)
    #expect(try await preview(elsewhere + parameter, headers).status == 422)
    let foreign = headers.merging(["Origin": "https://a.example"]) { $1 }
    #expect(try await preview(new, foreign).status == 403)
    #expect(try home.sandbox.text(of: file) == first)

    let shown = try await preview(new, headers)
    #expect(shown.status == 200 && shown.text.contains("Seven"), "\(shown.text)")
    let id = try #require(
      shown.text.firstMatch(of: /name="proposal" value="([0-9a-f]+)"/)?.output.1)
    let saved = try await server.post("/add", "proposal=\(id)", headers)
    #expect(saved.status == 303, "\(saved.text)")
    #expect(try home.sandbox.text(of: file) == first.replacing("/old", with: "/new"))
    #expect(try await server.get("/api/v1/lands").text.contains("Seven"))
    try await server.stop()
  }

  @Test func `another URL finds a member that was null before as a field`() async throws {
    let service = try LoopbackServer { request in
      let note = request.path == "/old" ? "null" : #""run 3""#
      return .json(#"[{"id":7,"name":"Seven","size":1,"note":\#(note)}]"#)
    }
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let headers = [
      "Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html",
      "Origin": "http://127.0.0.1:\(server.port)",
    ]
    let body = #"{"name":"lands","url":"\#(service.baseURL)/old","save":true}"#
    #expect(try await server.post("/api/v1/sources", body).status == 201)
    let edited = try await home.run("sources edit lands --fields size,name")
    #expect(edited.status == 0, "\(edited)")
    let new = "\(service.baseURL)/new".percentEncoded
    let shown = try await server.post("/add", "replace=lands&url=\(new)", headers)
    #expect(shown.text.contains("The records have size, name, note"), "\(shown.text)")
    #expect(shown.text.contains(#"name="field:note""#), "\(shown.text)")
    let id = try #require(
      shown.text.firstMatch(of: /name="proposal" value="([0-9a-f]+)"/)?.output.1)
    #expect(try await server.post("/add", "proposal=\(id)", headers).status == 303)
    let saved = try home.sandbox.text(of: "home/.config/aggregator/sources/lands.json")
    #expect(
      JSON(reading: Data(saved.utf8))?["fields"] == ["size", "name", "note"], "\(saved)")
    try await server.stop()
  }

  @Test(arguments: [
    #""key":"two words""#, #""key":"${HOME}""#, #""key":"a","keyPlace":"X Y: Z""#,
    #""key":"a","keyPlace":"?""#, #""key":"a\nHost: b""#,
  ])
  func `a key that no request can have is refused`(members: String) async throws {
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let body = #"{"name":"lands","url":"\#(url)",\#(members)}"#
    let reply = try await server.post("/api/v1/sources", body)
    #expect(reply.status == 422, "\(reply.text)")
    #expect(reply.text.contains("invalid"))
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
    #expect(question.text.contains("Unless you choose this, they stay on this machine"))
    #expect(!question.text.contains("Nothing of it is cached"))

    // An empty ID of a record.
    let slash = try await server.send("DELETE", "/api/v1/lands/")
    #expect(slash.status == 404 && slash.text.contains("without the ID"), "\(slash)")
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

  @Test(arguments: ["page", "command line", "page, after it was added there"])
  func `the name of a removed source can be used again, for another URL`(place: String) async throws
  {
    let other = try LoopbackServer { _ in
      .status(200, #"[{"id":7,"name":"Seven"}]"#, headers: [("Content-Type", "application/json")])
    }
    #expect(try await home.run("sources add lands \(url)").status == 0)
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    func add(_ url: String) async throws {
      let reply = try await server.post(
        "/api/v1/sources", #"{"name":"lands","url":"\#(url)","save":true}"#)
      #expect(reply.status == 201, "\(reply.text)")
    }
    func remove() async throws {
      #expect(try await server.send("DELETE", "/api/v1/lands").status == 204)
    }
    #expect(try await server.get("/api/v1/lands?limit=1").text.contains("Seven") == false)
    if place == "command line" {
      #expect(try await home.run("sources remove lands --yes").status == 0)
    } else {
      try await remove()
      #expect(try await server.get("/api/v1/lands").status == 404)
    }
    if place.contains("after") {
      try await add(url)
      try await remove()
    }
    try await add("\(other.baseURL)/seven")
    func cachedNames() async throws -> [JSON?]? {
      let query = "/api/v1/sql?sql=SELECT%20name%20FROM%20lands"
      return try await server.get(query).json()["items"]?.array?.map { $0["name"] }
    }
    #expect(try await cachedNames() == [], "those of the other URL are kept apart")
    let items = try await server.get("/api/v1/lands").json()["items"]
    #expect(items?.array?.map { $0["name"] } == ["Seven"], "\(items?.text ?? "")")
    #expect(try await cachedNames() == ["Seven"])
    let cached = try await home.run("lands list --offline --format tsv")
    #expect(cached.output.hasSuffix("7\tSeven\n"), "\(cached.output)")
    let names = try await server.get("/api/v1/sources").json()["items"]?.array?.map { $0["name"] }
    #expect(names?.count { $0 == "lands" } == 1, "it is there once")
    try await server.stop()
  }

  @Test func `title, ID and fields are changed before a source is saved`() async throws {
    let rows = (1...3).map {
      #"{"id":\#($0),"code":"c\#($0)","name":"N\#($0)","town":"T","rest":1}"#
    }
    let text = "[\(rows.joined(separator: ","))]"
    let service = try LoopbackServer { _ in
      .status(200, text, headers: [("Content-Type", "application/json")])
    }
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let headers = [
      "Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html",
      "Origin": "http://127.0.0.1:\(server.port)",
    ]
    func preview(_ more: String) async throws -> String {
      let form = "name=lands&url=\("\(service.baseURL)/lands".percentEncoded)\(more)"
      return try await server.post("/add", form, headers).text
    }
    let found = try await preview("")
    #expect(found.contains(#"<option value="">id</option><option value="name">"#), "\(found)")
    let chosen = try await preview("&id=code")
    let id = try #require(
      chosen.firstMatch(of: /name="proposal" value="([0-9a-f]+)"/)?.output.1)
    #expect(chosen.contains(#"name="field:town" value="town""#))
    let nothing = ["id", "name", "code", "town", "rest"].map { "&field:\($0)=" }.joined()
    let none = try await server.post("/add", "proposal=\(id)\(nothing)", headers)
    #expect(none.status == 422, "\(none.text)")
    let form =
      "proposal=\(id)&title=town&field:id=id&field:name=who&field:town=Home+town&field:code="
      + "&field:rest="
    let saved = try await server.post("/add", form, headers)
    #expect(saved.status == 303, "\(saved.text)")
    let manifest = try home.sandbox.text(of: "home/.config/aggregator/sources/lands.json")
    let json = try JSONDecoder().decode(JSON.self, from: Data(manifest.utf8))
    #expect(json["id"] == "code" && json["title"] == "town", "\(manifest)")
    #expect(
      json["fields"] == [
        // The field of the ID has the name id.
        ["name": "who", "path": "name"], ["name": "id_2", "path": "id"],
        ["name": "Home town", "path": "town"],
      ], "\(manifest)")
    try await server.stop()
  }

  @Test func `the web page and the picture of a record are chosen, and changed later`() async throws
  {
    let rows = (1...3).map {
      #"{"id":\#($0),"name":"N\#($0)","page":"https://a.example/\#($0)","face":"https://b.example/\#($0)"}"#
    }
    let text = "[\(rows.joined(separator: ","))]"
    let service = try LoopbackServer { _ in
      .status(200, text, headers: [("Content-Type", "application/json")])
    }
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let headers = [
      "Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html",
      "Origin": "http://127.0.0.1:\(server.port)",
    ]
    func proposal(in page: String) throws -> String {
      let match = page.firstMatch(of: /name="proposal" value="([0-9a-f]+)"/)
      return String(try #require(match, "\(page)").output.1)
    }
    func manifest() throws -> JSON {
      let text = try home.sandbox.text(of: "home/.config/aggregator/sources/lands.json")
      return try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    }
    let url = "\(service.baseURL)/lands".percentEncoded
    let shown = try await server.post("/add", "name=lands&url=\(url)", headers).text
    // The picture has an address that does not look like that of one.
    let form = "proposal=\(try proposal(in: shown))&link=page&image=face&field:face="
    let saved = try await server.post("/add", form, headers)
    #expect(saved.status == 303, "\(saved.text)")
    let first = try manifest()
    #expect(first["link"] == "page" && first["image"] == "face", "\(first.text)")

    let edit = try await server.get("/edit/lands", ["Accept": "text/html"]).text
    // One that is no field can be chosen again.
    #expect(edit.contains(#"<option value="face" selected="">face</option>"#), "\(edit)")
    #expect(edit.contains(#"<option value="page" selected="">page</option>"#), "\(edit)")
    let change = "proposal=\(try proposal(in: edit))&link=&image=face"
    let changed = try await server.post("/edit/lands", change, headers)
    #expect(changed.status == 303, "\(changed.text)")
    let second = try manifest()
    #expect(second["link"] == nil && second["image"] == "face", "\(second.text)")
    try await server.stop()
  }

  @Test func `all sources that can be synced are synced at once`() async throws {
    #expect(try await home.run("sources add lands \(url)").status == 0)
    let server = try await ServingProgram("--source lands,users", in: home.sandbox)
    let own = ["Origin": "http://127.0.0.1:\(server.port)"]
    let foreign = try await server.post("/sync", "", ["Origin": "http://evil.example"])
    #expect(foreign.status == 403)
    let reply = try await server.post("/sync", "", own)
    #expect(reply.status == 303 && reply.header("Location") == "/?sync=all", "\(reply.text)")
    let page = try await server.get("/?sync=all", ["Accept": "text/html"])
    #expect(page.text.contains("Not synced: Users (its list has no end).</p>"))
    let jobs = try await server.get("/api/v1/sync").json()["items"]?.array
    #expect(jobs?.map { $0["source"] } == ["lands"])
    #expect(try await server.get("/?sort=size").status == 400)
    #expect(try await server.get("/?sort=count").status == 200)
    try await server.stop()
    let closed = try await ServingProgram("--source lands --read-only", in: home.sandbox)
    #expect(try await closed.post("/sync", "", own).status == 403)
    try await closed.stop()
  }

  @Test func `the name of a service is not free`() async throws {
    let manifest =
      #"{"service": {"base": "https://a.example"}, "resources": {"all": {"url": "/a"}}}"#
    try home.sandbox.write(manifest, to: "home/.config/aggregator/sources/crm.json")
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let reply = try await server.post(
      "/api/v1/sources", #"{"name":"crm","url":"\#(url)","save":true}"#)
    #expect(reply.status == 422, "\(reply.text)")
    #expect(reply.text.contains("there is a service"))
    #expect(try home.sandbox.text(of: "home/.config/aggregator/sources/crm.json") == manifest)
    try await server.stop()
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
    ("https://api.example.com/v2/Line%20Items.json", "line-items"),
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
