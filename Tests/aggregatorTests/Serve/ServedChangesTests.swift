import AggregatorFakeServices
import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Changes of sources and keys while a server runs: on its pages, and on the command line beside it.
@Suite(
  .timeLimit(.minutes(10)), .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed")
) struct ServedChangesTests {
  private let home: TestHome
  private let service: LoopbackServer

  init() throws {
    home = try TestHome()
    let rows = (1...3).map { #"{"id":\#($0),"code":"c\#($0)","name":"N\#($0)"}"# }
    service = try LoopbackServer { [text = "[\(rows.joined(separator: ","))]"] _ in
      .status(200, text, headers: [("Content-Type", "application/json")])
    }
  }

  private var url: String { "\(service.baseURL)/lands" }
  private static let folder = "home/.config/aggregator"

  /// Requests a path until the server has seen a change, for which it looks at most once a second.
  @discardableResult
  private func reply(
    of server: ServingProgram, _ path: String, when isRight: (ServingProgram.Reply) -> Bool
  ) async throws -> ServingProgram.Reply {
    while true {
      try Task.checkCancellation()
      let reply = try await server.get(path)
      if isRight(reply) { return reply }
    }
  }

  /// Posts a form as a page of the server does, or as one of another origin.
  private func post(
    _ path: String, _ form: String, to server: ServingProgram, from origin: String? = nil
  ) async throws -> ServingProgram.Reply {
    try await server.post(
      path, form,
      [
        "Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html",
        "Origin": origin ?? "http://127.0.0.1:\(server.port)",
      ])
  }

  private func proposal(in reply: ServingProgram.Reply) throws -> Substring {
    try #require(reply.text.firstMatch(of: /name="proposal" value="([0-9a-f]+)"/)?.output.1)
  }

  @Test func `sources that the command line changes are served as they are then`() async throws {
    let server = try await ServingProgram(in: home.sandbox)
    #expect(try await server.get("/api/v1/lands").status == 404)
    #expect(try await home.run("sources add lands \(url)").status == 0)
    try await reply(of: server, "/api/v1/lands") { $0.status == 200 }
    #expect(try await server.get("/", ["Accept": "text/html"]).text.contains("/sources/lands"))
    let sql = "/api/v1/sql?sql=SELECT%20count(*)%20AS%20n%20FROM%20lands"
    #expect(try await server.get(sql).json()["items"]?.array?.first?["n"] == 3)

    let path = "\(Self.folder)/sources/lands.json"
    let text = try home.sandbox.text(of: path)
    let summary = text.replacing("{", with: #"{"summary": "All the lands","#, maxReplacements: 1)
    try home.sandbox.write(summary, to: path)
    try await reply(of: server, "/api/v1/sources") { $0.text.contains("All the lands") }
    // One that cannot be read says so, and the others stay.
    try home.sandbox.write("{", to: path)
    try await reply(of: server, "/api/v1/sources") { $0.text.contains("not valid JSON") }
    #expect(try await server.get("/api/v1/lands").text.contains("not valid JSON"))
    #expect(try await server.get("/api/v1/countries?cache=offline").status == 200)
    try home.sandbox.write(text, to: path)
    try await reply(of: server, "/api/v1/lands") { $0.status == 200 }

    #expect(try await home.run("sources rename lands places").status == 0)
    try await reply(of: server, "/api/v1/places?cache=offline") { $0.status == 200 }
    #expect(try await server.get("/api/v1/lands").status == 404)
    #expect(try await home.run("sources remove places --yes").status == 0)
    try await reply(of: server, "/api/v1/places") { $0.status == 404 }
    #expect(try await server.get(sql.replacing("lands", with: "places")).status == 422)
    try await server.stop()
  }

  @Test func `a server of chosen sources serves no others`() async throws {
    #expect(try await home.run("sources add lands \(url)").status == 0)
    let server = try await ServingProgram("--source lands", in: home.sandbox)
    #expect(try await home.run("sources add places \(url)").status == 0)
    #expect(try await home.run("sources remove lands --yes").status == 0)
    try await reply(of: server, "/api/v1/lands") { $0.status == 404 }
    #expect(try await server.get("/api/v1/places").status == 404)
    try await server.stop()
  }

  @Test func `a key that the command line sets is used`() async throws {
    let service = try FakeComicVine()
    var variables: [String: String?] = service.settings.mapValues(Optional.some)
    variables["COMIC_VINE_API_KEY"] = nil
    let server = try await ServingProgram(
      "--source heroes", environment: variables, in: home.sandbox)
    #expect(try await server.get("/api/v1/heroes?cache=live").status == 503)
    let outcome = try await home.run(
      "config set COMIC_VINE_API_KEY --no-verify", variables, input: FakeComicVine.key)
    #expect(outcome.status == 0, "\(outcome.errors)")
    try await reply(of: server, "/api/v1/heroes?cache=live&limit=1") { $0.status == 200 }
    try await server.stop()
  }

  @Test func `an added source is edited on the page, and its records move with its name`()
    async throws
  {
    #expect(try await home.run("sources add lands \(url)").status == 0)
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    #expect(try await server.get("/api/v1/lands").status == 200)
    let list = try await server.get("/sources/lands", ["Accept": "text/html"])
    #expect(list.text.contains(#"<p class="aside"><a href="/edit/lands">Edit<span"#))
    #expect(try await server.get("/edit/countries").status == 404)

    let again = try await post("/add", "url=\(url.percentEncoded)", to: server)
    #expect(
      again.text.contains(#"<a href="/sources/lands">lands</a> has this URL already."#),
      "\(again.text)")

    let form = try await server.get("/edit/lands", ["Accept": "text/html"])
    #expect(form.text.contains(#"name="name" value="lands""#), "\(form.text)")
    #expect(form.text.contains(#"<option value="name" selected="">name</option>"#))
    #expect(form.text.contains(#"name="field:code" value="code""#))
    let edits =
      "proposal=\(try proposal(in: form))&name=places&id=&title=code&field:name=who&field:code=code"
    let foreign = try await post("/add", edits, to: server, from: "http://evil.example")
    #expect(foreign.status == 403)
    let taken = edits.replacing("name=places", with: "name=countries")
    // At the address of the form, so that a reload shows it again.
    #expect(form.text.contains(#"action="/edit/lands" method="post""#))
    let refused = try await post("/edit/lands", taken, to: server)
    #expect(refused.status == 422)
    // The form has what was typed.
    #expect(refused.text.contains(#"role="alert" dir="auto">Not saved: "#), "\(refused.text)")
    #expect(refused.text.contains(#"name="name" value="countries""#))
    #expect(refused.text.contains(#"<option value="code" selected="">code</option>"#))
    #expect(refused.text.contains(#"name="field:name" value="who""#))
    let saved = try await post("/edit/lands", edits, to: server)
    #expect(saved.status == 303 && saved.header("Location") == "/sources/places", "\(saved.text)")
    #expect(try await post("/add", edits, to: server).status == 409, "it was saved already")
    let records = try await server.get("/api/v1/places?cache=offline").json()
    #expect(records["items"]?.array?.map { $0["who"] } == ["N1", "N2", "N3"], "\(records.text)")
    #expect(try await server.get("/api/v1/lands").status == 404)
    #expect(try await home.run("places list --offline --json").output.contains(#""who":"N3""#))
    let manifest = try home.sandbox.text(of: "\(Self.folder)/sources/places.json")
    let json = try JSONDecoder().decode(JSON.self, from: Data(manifest.utf8))
    #expect(json["title"] == "code" && json["id"] == "id", "\(manifest)")

    let second = try await server.get("/edit/places", ["Accept": "text/html"])
    let other = try await post("/add", "proposal=\(try proposal(in: second))&id=code", to: server)
    #expect(other.status == 303, "\(other.text)")
    let anew = try await server.get("/api/v1/places").json()
    #expect(anew["items"]?.array?.map { $0["id"] } == ["c1", "c2", "c3"], "\(anew.text)")
    #expect(anew["items"]?.array?.map { $0["who"] } == ["N1", "N2", "N3"], "\(anew.text)")

    // What another program has changed meanwhile is not undone.
    let third = try await server.get("/edit/places", ["Accept": "text/html"])
    let path = "\(Self.folder)/sources/places.json"
    try home.sandbox.write("// Mine\n\(try home.sandbox.text(of: path))", to: path)
    let late = try await post("/add", "proposal=\(try proposal(in: third))&title=", to: server)
    #expect(late.status == 409)
    let commented = try await server.get("/edit/places", ["Accept": "text/html"])
    #expect(commented.text.contains("has comments, which saving removes"))
    try await server.stop()

    let closed = try await ServingProgram(in: home.sandbox)
    #expect(try await closed.get("/edit/places").status == 404)
    try await closed.stop()
  }

  @Test func `a key is typed on the page, and its source uses it at once`() async throws {
    let service = try FakeComicVine()
    var variables: [String: String?] = service.settings.mapValues(Optional.some)
    variables["COMIC_VINE_API_KEY"] = nil
    let server = try await ServingProgram("--allow-add", environment: variables, in: home.sandbox)
    let field = #"name="setting" value="COMIC_VINE_API_KEY""#
    #expect(try await server.get("/", ["Accept": "text/html"]).text.contains(field))
    func form(_ key: String, _ setting: String = "COMIC_VINE_API_KEY") -> String {
      "setting=\(setting)&key=\(key.percentEncoded)"
    }
    let foreign = try await post(
      "/key", form(FakeComicVine.key), to: server, from: "http://evil.example")
    #expect(foreign.status == 403)
    for refused in [
      form("wrong"), form(""), form("a", "PATH"), form("a", "COMIC_VINE_URL"),
      form("a", "AGGREGATOR_STORE_PASSWORD"),
    ] {
      #expect(try await post("/key", refused, to: server).status == 422, "\(refused)")
    }
    #expect(throws: (any Error).self) {
      try home.sandbox.text(of: "\(Self.folder)/config.xcconfig")
    }
    let saved = try await post("/key", form(FakeComicVine.key), to: server)
    #expect(saved.status == 303 && saved.header("Location") == "/sources/heroes", "\(saved.text)")
    #expect(try await server.get("/api/v1/heroes?cache=live&limit=1").status == 200)
    let first = try await server.get("/", ["Accept": "text/html"]).text
    #expect(!first.contains(field) && !first.contains(FakeComicVine.key))
    let settings = try home.sandbox.text(of: "\(Self.folder)/config.xcconfig")
    #expect(settings.contains("COMIC_VINE_API_KEY = "))
    #expect(try await server.stop().errors.contains(FakeComicVine.key) == false)

    let closed = try await ServingProgram(in: home.sandbox)
    #expect(try await post("/key", form(FakeComicVine.key), to: closed).status == 404)
    try await closed.stop()
  }

  @Test(arguments: [true, false])
  func `the key of a removed source is named, and removed on request`(isRemoved: Bool) async throws
  {
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let body = #"{"name":"lands","url":"\#(url)?api_key=s3cret-Key","save":true}"#
    #expect(try await server.post("/api/v1/sources", body).status == 201)
    let question = try await server.get("/remove/lands", ["Accept": "text/html"])
    #expect(question.text.contains("Also remove LANDS_API_KEY"), "\(question.text)")
    let answer = "confirm=yes&data=yes\(isRemoved ? "&keys=yes" : "")"
    let removed = try await post("/remove/lands", answer, to: server)
    #expect(removed.status == 200, "\(removed.text)")
    #expect(removed.text.contains("config unset LANDS_API_KEY") != isRemoved)
    let settings = try home.sandbox.text(of: "\(Self.folder)/config.xcconfig")
    #expect(settings.contains("s3cret-Key") != isRemoved)
    #expect(try await home.run("config").output.contains("LANDS_API_KEY") != isRemoved)

    let undone = try await post("/add", "proposal=\(try proposal(in: removed))", to: server)
    #expect(undone.status == 303, "\(undone.text)")
    let page = try await server.get("/sources/lands", ["Accept": "text/html"])
    let field = #"name="setting" value="LANDS_API_KEY""#
    #expect(page.text.contains(field) == isRemoved, "\(page.text)")
    if isRemoved {
      let form = try await post("/key", "setting=LANDS_API_KEY&key=another-Key", to: server)
      #expect(form.status == 303, "\(form.text)")
    }
    #expect(try await server.get("/api/v1/lands").status == 200)
    try await server.stop()
  }

  @Test func `a rename on the page changes saved queries as they are then`() async throws {
    #expect(try await home.run("sources add lands \(url)").status == 0)
    #expect(try await home.run("query save mine -- lands list --limit 2").status == 0)
    #expect(try await home.run("query save old -- lands list").status == 0)
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    #expect(try await home.run("query save mine --replace -- lands search n1").status == 0)
    #expect(try await home.run("query save new -- lands list --limit 1").status == 0)
    #expect(try await home.run("query remove old --yes").status == 0)
    let form = try await server.get("/edit/lands", ["Accept": "text/html"])
    let saved = try await post(
      "/add", "proposal=\(try proposal(in: form))&name=places", to: server)
    #expect(saved.status == 303, "\(saved.text)")
    let queries = try home.sandbox.text(of: "\(Self.folder)/queries")
    let lines = queries.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(lines == ["mine = places search n1", "new = places list --limit 1"])
    try await server.stop()
  }

  @Test func `a key is saved only with the source, and what is not verified is said`() async throws
  {
    let rows = #"[{"id":1,"name":"N1"}]"#
    let service = try LoopbackServer { request in
      let key = request.query["api_key"]
      return .status(
        key == "refused-Key" ? 401 : 200, key == "odd-Key" ? "not JSON" : rows,
        headers: [("Content-Type", "application/json")])
    }
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let body =
      #"{"name":"lands","url":"\#(service.baseURL)/lands?api_key=s3cret-Key","save":true}"#
    #expect(try await server.post("/api/v1/sources", body).status == 201)
    #expect(try await home.run("sources add foo \(url)").status == 0)
    let paths = ["config.xcconfig", "sources/lands.json"].map { "\(Self.folder)/\($0)" }
    let before = try paths.map(home.sandbox.text)
    // A source that another one names cannot be renamed.
    let parts =
      #"{"url": "\#(service.baseURL)/{lands.id}", "each": "lands", "rows": "$", "id": "id"}"#
    try home.sandbox.write(parts, to: "\(Self.folder)/sources/parts.json")

    let form = try await server.get("/edit/lands", ["Accept": "text/html"])
    let edits = "proposal=\(try proposal(in: form))&title=&key:LANDS_API_KEY="
    for refused in [
      "good-Key&name=foo", "refused-Key&name=places", "your_api_key_here&name=places",
      "good-Key&name=elsewhere",
    ] {
      let reply = try await post("/add", edits + refused, to: server)
      #expect(reply.status == 422, "\(refused): \(reply.text)")
      #expect(try paths.map(home.sandbox.text) == before, "\(refused)")
    }
    #expect(try await home.run("sources remove parts --yes").status == 0)
    let saved = try await post("/add", "\(edits)good-Key&name=places", to: server)
    #expect(saved.status == 303 && saved.header("Location") == "/sources/places", "\(saved.text)")
    #expect(try home.sandbox.text(of: paths[0]).contains("LANDS_API_KEY = good-Key"))
    #expect(try await server.get("/api/v1/places?cache=live").status == 200)
    #expect(service.requests.last?.query["api_key"] == "good-Key")

    let doubt = "Saved, but the key could not be verified"
    let odd = try await post("/key", "setting=LANDS_API_KEY&key=odd-Key", to: server)
    #expect(odd.status == 200 && odd.text.contains(doubt), "\(odd.text)")
    #expect(odd.text.contains(#"href="/sources/places""#) && !odd.text.contains("odd-Key"))
    #expect(try home.sandbox.text(of: paths[0]).contains("LANDS_API_KEY = odd-Key"))
    let second = try await server.get("/edit/places", ["Accept": "text/html"])
    let again = try await post(
      "/add", "proposal=\(try proposal(in: second))&key:LANDS_API_KEY=odd-Key", to: server)
    #expect(again.status == 200 && again.text.contains(doubt), "\(again.text)")
    try await server.stop()
  }

  @Test func `a server of chosen sources changes no others`() async throws {
    #expect(try await home.run("sources add lands \(url)").status == 0)
    #expect(try await home.run("sources add places \(url)?api_key=s3cret-Key").status == 0)
    let path = "\(Self.folder)/config.xcconfig"
    let settings = try home.sandbox.text(of: path)
    let server = try await ServingProgram("--source lands --allow-add", in: home.sandbox)
    #expect(try await server.get("/edit/places").status == 404)
    let key = try await post("/key", "setting=PLACES_API_KEY&key=another-Key", to: server)
    #expect(key.status == 422, "\(key.text)")
    #expect(try home.sandbox.text(of: path) == settings)

    // A name that is refused is not served either.
    let form = try await server.get("/edit/lands", ["Accept": "text/html"])
    let taken = try await post(
      "/add", "proposal=\(try proposal(in: form))&name=places", to: server)
    #expect(taken.status == 422, "\(taken.text)")
    try await changeSummary(of: server)
    #expect(try await server.get("/api/v1/places").status == 404)
    try await server.stop()
  }

  /// Changes the source `lands` in its file, and waits until a server has seen that.
  private func changeSummary(of server: ServingProgram) async throws {
    let path = "\(Self.folder)/sources/lands.json"
    let text = try home.sandbox.text(of: path)
    try home.sandbox.write(
      text.replacing("{", with: #"{"summary": "All the lands","#, maxReplacements: 1), to: path)
    try await reply(of: server, "/api/v1/sources") { $0.text.contains("All the lands") }
  }

  @Test func `settings that cannot be read stay as they were`() async throws {
    #expect(try await home.run("sources add lands \(url)").status == 0)
    let service = try FakeComicVine()
    var variables: [String: String?] = service.settings.mapValues(Optional.some)
    variables["COMIC_VINE_API_KEY"] = nil
    let server = try await ServingProgram(environment: variables, in: home.sandbox)
    let set = try await home.run(
      "config set COMIC_VINE_API_KEY --no-verify", variables, input: FakeComicVine.key)
    #expect(set.status == 0, "\(set.errors)")
    let list = "/api/v1/heroes?cache=live&limit=1"
    try await reply(of: server, list) { $0.status == 200 }
    try home.sandbox.write("no setting\n", to: "\(Self.folder)/config.xcconfig")
    try await changeSummary(of: server)
    let heroes = try await server.get(list)
    #expect(heroes.status == 200, "\(heroes.text)")
    try await server.stop()
  }

  @Test func `a source that cannot be served is tried again, and says why once`() async throws {
    #expect(try await home.run("sources add lands \(url)").status == 0)
    let text = try home.sandbox.text(of: "\(Self.folder)/sources/lands.json")
    let passing = ["first", "second"].map { "\(Self.folder)/sources/\($0).json" }
    for path in passing { try home.sandbox.write(text, to: path) }
    // A file that the server does not watch.
    let included = "\(Self.folder)/home.xcconfig"
    try home.sandbox.write("", to: included)
    try home.sandbox.write("#include \"home.xcconfig\"\n", to: "\(Self.folder)/config.xcconfig")
    let server = try await ServingProgram(in: home.sandbox)
    try home.sandbox.write("AGGREGATOR_HOME = elsewhere\n", to: included)
    try home.sandbox.write(text, to: "\(Self.folder)/sources/places.json")
    // Each is gone after another look.
    for (name, path) in zip(["first", "second"], passing) {
      try FileManager.default.removeItem(at: home.sandbox.root.appending(path: path))
      try await reply(of: server, "/api/v1/\(name)") { $0.status == 404 }
    }
    #expect(try await server.get("/api/v1/places").status == 404)
    try home.sandbox.write("", to: included)
    try await reply(of: server, "/api/v1/places") { $0.status == 200 }
    let errors = try await server.stop().errors
    #expect(errors.ranges(of: "warning: places: ").count == 1, "\(errors)")
  }

  @Test func `a source with two fields on one path is edited on the page`() async throws {
    #expect(try await home.run("sources add lands \(url)").status == 0)
    let path = "\(Self.folder)/sources/lands.json"
    let text = try home.sandbox.text(of: path)
    let label = #""fields": [{"name": "label", "path": "name"},"#
    try home.sandbox.write(text.replacing(#""fields": ["#, with: label), to: path)
    let server = try await ServingProgram("--allow-add", in: home.sandbox)
    let form = try await server.get("/edit/lands", ["Accept": "text/html"])
    let inputs = form.text.matches(of: /name="(field:[a-z]+)" value="([a-z]+)"/)
      .map { "&\($0.output.1)=\($0.output.2 == "label" ? "who" : $0.output.2)" }
    #expect(inputs.sorted() == ["&field:code=code", "&field:name=who"])
    let saved = try await post(
      "/add", "proposal=\(try proposal(in: form))\(inputs.joined())", to: server)
    #expect(saved.status == 303, "\(saved.text)")
    let records = try await server.get("/api/v1/lands").json()
    let first = try #require(records["items"]?.array?.first)
    #expect(first["who"] == "N1" && first["name"] == "N1" && first["code"] == "c1", "\(records)")
    try await server.stop()
  }
}
