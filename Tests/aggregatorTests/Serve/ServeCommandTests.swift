import AggregatorFakeServices
import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The API of `serve`, over a socket.
@Suite(
  .timeLimit(.minutes(10)), .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed")
) struct ServeCommandTests {
  @Test func `a list is the document of --json, and continues by its link`() async throws {
    let home = try TestHome()
    let server = try await ServingProgram("--source countries", in: home.sandbox)
    let first = try await server.get("/api/v1/countries?limit=100&cache=offline")
    #expect(first.status == 200)
    #expect(first.header("Content-Type") == "application/json")
    #expect(first.header("X-Aggregator-Origin") == "bundled")
    let printed = try await home.run("countries list --limit 100 --offline --json").output
    #expect(first.text == printed)

    var codes: [String] = []
    var path: String? = "/api/v1/countries?limit=100&cache=offline"
    while let next = path {
      let reply = try await server.get(next)
      for country in try reply.json()["items"]?.array ?? [] {
        codes.append(try #require(country["code"]?.string))
      }
      path = reply.header("Link").flatMap { $0.firstMatch(of: /<(.+)>; rel="next"/) }
        .map { String($0.1) }
    }
    #expect(codes.count == 250 && Set(codes).count == 250)
    try await server.stop()
  }

  @Test func `a record, its fields, and IDs with slashes and percent signs`() async throws {
    let server = try await ServingProgram("--source countries,users")
    let record = try await server.get("/api/v1/countries/CW?fields=name,capital&cache=offline")
    #expect(
      record.text.contains(#"    {"name":"Curaçao","capital":"Willemstad"}"#), "\(record.text)")
    let missing = try await server.get("/api/v1/countries/a%2Fb%25c?cache=offline")
    #expect(missing.status == 404)
    #expect(missing.header("Content-Type") == "application/problem+json")
    #expect(try missing.json()["detail"]?.string?.contains("a/b%c") == true, "\(missing.text)")
    try await server.stop()
  }

  static let mistakes: [(String, Int, String)] = [
    ("/api/v1/countries?limit=0", 400, "invalidRequest"),
    ("/api/v1/countries?limit=1000000", 400, "invalidRequest"),
    ("/api/v1/countries?limit=x", 400, "invalidRequest"),
    ("/api/v1/countries?fields=nam", 400, "invalidRequest"),
    ("/api/v1/countries?where=nam%3Dx", 400, "invalidRequest"),
    ("/api/v1/countries?sort=nam", 400, "invalidRequest"),
    ("/api/v1/countries?cache=none", 400, "invalidRequest"),
    ("/api/v1/countries?limi=1", 400, "invalidRequest"),
    ("/api/v1/countries?cursor=abc", 404, "invalidCursor"),
    ("/api/v1/countries?cursor=", 400, "invalidCursor"),
    ("/api/v1/countries?query=%2E%2E%2E%20%00", 400, ""),
    ("/api/v1/countries?query=%2E%2E%2E", 400, "invalidRequest"),
    ("/api/v1/countries?query=%20", 400, "invalidRequest"),
    ("/api/v1/countries?limit=1&limit=1", 400, "invalidRequest"),
    ("/api/v1/countries?q=a&query=a", 400, "invalidRequest"),
    ("/api/v1/countries?fields=", 400, "invalidRequest"),
    ("/api/v1/countries?query=" + String(repeating: "a", count: 501), 400, "invalidRequest"),
    ("/api/v1/countries/" + String(repeating: "a", count: 1001), 400, "invalidRequest"),
    ("/api/v1/countries?" + String(repeating: "where=name~a&", count: 21), 400, "invalidRequest"),
    ("/api/v1/countries?format=xml", 400, "invalidRequest"),
    ("/api/v1/countries/schema/changes?limit=1", 400, "invalidRequest"),
    ("/api/v1/sources?limit=1", 400, "invalidRequest"),
    ("/api/v1/search?query=a&limit=101", 400, "invalidRequest"),
    ("/api/v1/search", 400, "invalidRequest"),
    ("/sources/planets", 404, "unknownSource"),
    ("/sources/countries?cursor=abc", 404, "failed"),
    ("/api/v1/heroes/abc", 404, "notFound"),
    ("/api/v1/planets", 404, "unknownSource"),
    ("/api/v1/countries/CW/x", 404, "notFound"),
    ("/api/v2/countries", 404, "notFound"),
    ("/etc/passwd", 404, "notFound"),
    ("/../../etc/passwd", 404, "notFound"),
    ("/assets/..%2F..%2Fetc%2Fpasswd", 404, "notFound"),
    ("/api/v1/users/sync", 404, "notFound"),
    ("/api/v1/heroes?cache=live", 503, "missingKey"),
    ("/api/v1/products?cache=live", 502, "unreachable"),
  ]

  @Test func `mistakes and failures are problems with a status that fits`() async throws {
    let server = try await ServingProgram()
    for (path, status, code) in Self.mistakes {
      let reply = try await server.get(path)
      #expect(reply.status == status, "\(path): \(reply.text)")
      #expect(reply.header("Content-Type") == "application/problem+json", "\(path)")
      for name in ["Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options"] {
        #expect(reply.header(name) != nil, "\(path)")
      }
      guard !code.isEmpty else { continue }
      let problem = try reply.json()
      #expect(problem["code"]?.string == code, "\(path): \(reply.text)")
      #expect(problem["status"]?.int == status)
      if status == 503 { #expect(reply.header("Retry-After") != nil) }
    }
    let cursor = try await server.get("/api/v1/countries?limit=1&cache=offline").json()["page"]?[
      "next"]
    let foreign = try await server.get(
      "/api/v1/heroes?cache=offline&cursor=\(try #require(cursor?.string).percentEncoded)")
    #expect(foreign.status == 404)
    #expect(try foreign.json()["code"]?.string == "invalidCursor")
    try await server.stop()
  }

  @Test func `a mistake is named by the parameter, whatever else is wrong`() async throws {
    let server = try await ServingProgram()
    for (path, text) in [
      ("/api/v1/countries?limit=0", #""hint":"from 1 to "#),
      ("/api/v1/countries?limit=100000", #"; all=true has all cached records""#),
      ("/api/v1/countries?limit=-1", #""hint":"from 1 to "#),
      ("/api/v1/search?query=a&limit=0", #""hint":"from 1 to 100""#),
      ("/api/v1/countries/records/changes?since=soon", #"invalid value \"soon\" for since:"#),
      ("/api/v1/countries/records/changes?kind=stats", #""hint":"the kinds are added, "#),
      ("/api/v1/countries/records/changes?field=size", #""hint":"the fields are code, "#),
      ("/api/v1/countries/records/changes?limit=1001", #""hint":"from 1 to 1000""#),
      ("/api/v1/countries?limit=1&limit=2", #""hint":"give it once; only where is repeated""#),
      ("/api/v1/countries/schema/summary", #""hint":"the fields are code, "#),
      ("/api/v1/sql", #""hint":"set it to a SELECT, such as sql=SELECT%201""#),
    ] {
      let reply = try await server.get(path)
      #expect(reply.status == 400 && reply.text.contains(text), "\(path): \(reply.text)")
    }
    let page = try await server.get("/changes/countries?since=soon")
    #expect(page.status == 400 && !page.text.contains("--since"))
    let root = try await server.get("/api/v1")
    #expect(try root.json()["items"] == (try await server.get("/api/v1/sources").json()["items"]))
    #expect(root.header("Link") == #"</openapi.json>; rel="service-desc""#)
    try await server.stop()
  }

  @Test func `a page is narrowed by the filters that work, and names the others`() async throws {
    let server = try await ServingProgram("--source countries")
    let html = ["Accept": "text/html"]
    let path = "/sources/countries?filters=shown&view=table&sort=name&cache=offline&where="
    let all = try await server.get(path + "region%3DEU", html).text
    for filters in ["region%3DEU&where=nam%3Dx", "region%3DEU%20and%20nam%3Dx"] {
      let page = try await server.get(path + filters, html)
      #expect(page.status == 400, "\(filters)")
      #expect(
        page.text.contains("<p>This filter does not work, so the list is shown without it.</p>"))
      #expect(page.text.contains("Did you mean “<bdi>Name is x</bdi>”?"), "\(filters)")
      func records(_ text: String) -> [String] {
        text.matches(of: /data-id="([^"]*)"/).map { String($0.output.1) }
      }
      #expect(!records(all).isEmpty && records(page.text) == records(all), "\(filters)")
      #expect(page.text.contains(#"class="facets""#))
    }
    // In quotes, half of a condition would be a text that no record has.
    let half = try await server.get(
      path + "region%3DEU%20and%20name%3DFrance%20and%20capital%20is%20null", html)
    #expect(half.status == 400 && half.text.contains("Write capital=, which matches records"))
    #expect(half.text.contains(#"value="name=France and capital is null""#))
    let reply = try await server.get(
      "/api/v1/countries?cache=offline&where=name%3DFrance%20and%20capital%20is%20null")
    #expect(reply.status == 400 && reply.text.contains("write capital=, which"), "\(reply.text)")
    // Another mistake is none of the filters.
    let other = try await server.get("/sources/countries?where=region%3DEU&sort=nam")
    #expect(other.status == 400 && !other.text.contains("This filter"), "\(other.text)")
    try await server.stop()
  }

  @Test func `every path names its methods`() async throws {
    let server = try await ServingProgram()
    let readOnly = try await ServingProgram("--read-only")
    for (path, methods, reading) in [
      ("/api/v1/countries", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/api/v1/countries/AF", "GET, DELETE, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/api/v1/heroes/1/image", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/api/v1/countries/AF/restore", "POST, OPTIONS", nil),
      ("/api/v1/sync", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/api/v1/sync/countries", "GET, POST, DELETE, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/api/v1/countries/schema/changes", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/api/v1/countries/records/changes", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/api/v1", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/api/v1/search", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/healthz", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/openapi.json", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/metrics", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/", "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS"),
      ("/sources/countries/AF/delete", "POST, OPTIONS", nil),
    ] as [(String, String, String?)] {
      #expect(try await server.send("OPTIONS", path).header("Allow") == methods, "\(path)")
      #expect(try await readOnly.send("OPTIONS", path).header("Allow") == reading, "\(path)")
      for method in ["PUT", "PATCH", "TRACE", "LINK"] {
        for server in [server, readOnly] {
          let reply = try await server.send(method, path)
          #expect(reply.status == 405, "\(method) \(path): \(reply.text)")
          #expect(reply.header("Allow") != nil, "\(method) \(path)")
          #expect(reply.header("Content-Type") == "application/problem+json")
        }
      }
    }
    #expect(try await server.send("OPTIONS", "/nothing").header("Allow") == nil)
    try await server.stop()
    try await readOnly.stop()
  }

  @Test func `conditions and order select cached records`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    _ = try await home.run("countries sync")
    let server = try await ServingProgram(
      environment: home.environment, in: home.sandbox)
    let reply = try await server.get(
      "/api/v1/countries?where=region%3DEurope&sort=-name&limit=2&fields=name")
    let names = try reply.json()["items"]?.array?.compactMap { $0["name"]?.string }
    let printed = try await home.run(
      "countries list --where region=Europe --sort -name --limit 2 --fields name --tsv")
    #expect(names == printed.lines)
    #expect(try await server.get("/api/v1/countries?sort=name&cache=live").status == 409)
    try await server.stop()
  }

  /// The service does not know that cursor.
  @Test func `a list that begins at an offset goes on by its cursor`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    _ = try await home.run("products sync")
    let server = try await ServingProgram(environment: home.environment, in: home.sandbox)
    for words in ["", "&query=a"] {
      let path = "/api/v1/products?limit=5\(words)"
      let cursor = try await server.get("\(path)&offset=10").json()["page"]?["next"]?.string
      let next = "\(path)&cursor=\(try #require(cursor).percentEncoded)"
      let expected = try await server.get("\(path)&offset=15").json()
      #expect(expected["items"]?.array?.count == 5)
      for cache in ["", "&cache=offline"] {
        let answer = try await server.get(next + cache).json()
        #expect(answer["items"] == expected["items"], "\(words) \(cache)")
        #expect(answer["provenance"]?["origin"]?.string == "cached")
      }
      #expect(try await server.get(next + "&cache=live").status == 404)
    }
    try await server.stop()
  }

  @Test func `a list of cached records links to the pages before and the last one`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    _ = try await home.run("countries sync")
    let server = try await ServingProgram(environment: home.environment, in: home.sandbox)
    func links(_ path: String) async throws -> [String: String] {
      let header = try #require(try await server.get(path).header("Link"))
      return Dictionary(
        header.matches(of: /<([^>]+)>; rel="(\w+)"/).map { (String($0.2), String($0.1)) }
      ) { first, _ in first }
    }
    let path = "/api/v1/countries?sort=name&limit=100"
    let first = try await links(path)
    #expect(first["last"] == "\(path)&offset=200" && first["prev"] == nil)
    // A cursor has its position.
    let second = try await links(try #require(first["next"]))
    #expect(second["prev"] == "\(path)&offset=0" && second["last"] == "\(path)&offset=200")
    let last = try await links("\(path)&offset=200")
    #expect(last["next"] == nil && last["prev"] == "\(path)&offset=100")
    #expect(try await links("\(path)&offset=60")["prev"] == "\(path)&offset=0")
    let beyond = "\(path)&offset=5000"
    let total = try #require(try await server.get(beyond).json()["page"]?["total"]?.int)
    #expect(200 < total && total <= 300)
    #expect(try await links(beyond)["prev"] == "\(path)&offset=\(total - 100)")
    for other in ["?limit=100", "?all=true", "?where=name%3Dnone"] {
      let names = try await links("/api/v1/countries\(other)").keys
      #expect(Set(names).isDisjoint(with: ["prev", "last"]), "\(other)")
    }
    try await server.stop()
  }

  @Test func `the page for SQL has the queries that the command line has saved`() async throws {
    let home = try TestHome()
    let server = try await ServingProgram("--source countries", in: home.sandbox)
    #expect(try await server.get("/sql").text.contains(#"id="saved" hidden="""#))
    // It may change while the server runs.
    let queries = """
      mine = sql 'SELECT 1 AS "<one>"'
      by = sql 'SELECT $1'
      all = countries list
      """
    try home.sandbox.write(queries, to: "home/.config/aggregator/queries")
    let html = try await server.get("/sql").text
    #expect(html.contains(#"<a href="/sql?sql=SELECT%201%20AS%20%22%3Cone%3E%22""#))
    #expect(html.contains(">mine</a>") && !html.contains(">by</a>") && !html.contains(">all</a>"))
    try await server.stop()
  }

  @Test func `all sources are searched at once, and one that fails is named`() async throws {
    let server = try await ServingProgram()
    let reply = try await server.get("/api/v1/search?query=spider&cache=live")
    #expect(reply.status >= 500)
    let offline = try await server.get("/api/v1/search?query=spider&cache=offline")
    let found = try offline.json()
    #expect(found["items"]?.array?.first?["source"]?.string == "heroes")
    #expect(found["sources"]?["users"]?["error"] == .null)
    // A shorter name of the parameter.
    #expect(try await server.get("/api/v1/search?q=spider&cache=offline").text == offline.text)
    try await server.stop()
  }

  @Test func `a search across sources has the matches of each, in their order`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let server = try await ServingProgram(
      "--source \(FourServices.names)", environment: home.environment, in: home.sandbox)
    for cache in ["live", "offline"] {
      let found = try await server.get("/api/v1/search?query=an&limit=3&cache=\(cache)").json()
      let names = FourServices.sources.map(\.name)
      guard case .object(let answers)? = found["sources"] else {
        Issue.record("\(found)")
        continue
      }
      #expect(answers.map(\.name) == names, "\(cache)")
      for name in names {
        let answer = found["sources"]?[name]
        let items = (found["items"]?.array ?? []).filter { $0["source"]?.string == name }
        #expect(answer?["error"] == .null, "\(cache) \(name)")
        #expect(answer?["provenance"]?["origin"]?.string != nil, "\(cache) \(name)")
        #expect(answer?["page"]?["count"]?.int == items.count, "\(cache) \(name)")
      }
      #expect(found["items"]?.array?.isEmpty == false)
      let totals = names.map { found["sources"]?[$0]?["page"]?["total"]?.int }
      let total = totals.contains(nil) ? nil : totals.compactMap(\.self).reduce(0, +)
      #expect(found["page"]?["total"]?.int == total, "\(cache)")
      // The command joins the answers alike.
      let option = cache == "live" ? "--refresh --no-fallback" : "--offline"
      let command = try await home.run(
        "search an --limit 3 --json \(option) --source \(FourServices.names)")
      let printed = try JSONDecoder().decode(JSON.self, from: Data(command.output.utf8))
      for member in ["items", "page", "warnings"] {
        #expect(printed[member] == found[member], "\(cache) \(member)")
      }
      for name in names {
        let left = printed["sources"]?[name]
        let right = found["sources"]?[name]
        // Each reading of the first page has cursors of its own.
        for member in ["count", "total"] {
          #expect(left?["page"]?[member] == right?["page"]?[member], "\(cache) \(name)")
        }
        #expect(left?["provenance"]?["origin"] == right?["provenance"]?["origin"])
      }
    }
    try await server.stop()
  }

  @Test func `a deleted record is gone until it is restored`() async throws {
    let home = try TestHome()
    let server = try await ServingProgram(in: home.sandbox)
    let path = "/api/v1/countries/AF"
    let deletion = try await server.send("DELETE", path)
    #expect(deletion.status == 204 && deletion.header("Content-Type") == nil)
    #expect(try await server.get(path + "?cache=offline").status == 404)
    #expect(try await home.run("countries show AF --offline").status == 1)
    #expect(try await server.send("POST", path + "/restore").status == 204)
    #expect(try await server.get(path + "?cache=offline").status == 200)
    let again = try await server.send("POST", path + "/restore")
    #expect(again.status == 404)
    #expect(try again.json()["detail"]?.string == "country AF is not deleted")
    #expect(try await server.send("DELETE", "/api/v1/countries/XXX").status == 404)
    try await server.stop()
  }

  @Test func `a download reports its progress as events`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let server = try await ServingProgram(environment: home.environment, in: home.sandbox)
    let reply = try await server.send("POST", "/api/v1/sync/products")
    #expect(reply.header("Content-Type") == "text/event-stream")
    #expect(reply.text.contains("event: progress\ndata: {"))
    let end = try #require(reply.text.firstMatch(of: /event: done\ndata: (.*)\n\n/))
    let result = try JSONDecoder().decode(JSON.self, from: Data(end.1.utf8))
    #expect(result["complete"] == .bool(true))
    #expect(
      try await server.get("/api/v1/products?cache=offline").header("X-Aggregator-Origin")
        == "cached")
    #expect(try await server.send("POST", "/api/v1/sync/users").status == 400)
    services.products.stop()
    let failed = try await server.send("POST", "/api/v1/sync/products")
    #expect(failed.text.contains("event: error\n"), "\(failed.text)")
    try await server.stop()
  }

  @Test func `live, cached, then offline with its reason`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let server = try await ServingProgram(environment: home.environment, in: home.sandbox)
    let path = "/api/v1/heroes?query=spider"
    #expect(try await server.get(path).header("X-Aggregator-Origin") == "live")
    let cached = try await server.get(path)
    #expect(cached.header("X-Aggregator-Origin") == "cached")
    #expect(cached.header("Age").flatMap { Int($0) } != nil)
    services.heroes.stop()
    let reloaded = try await server.get(path + "&cache=reload")
    #expect(reloaded.header("X-Aggregator-Origin") == "cached")
    #expect(try reloaded.json()["provenance"]?["reason"]?.string == "unreachable")
    #expect(try await server.get(path + "&cache=live").status >= 500)
    try await server.stop()
  }

  @Test func `an image has its type, and a record without one is a problem`() async throws {
    let pictures = try FakePictures()
    let heroes = try FakeComicVine([
      FakeCharacter(id: 1, name: "One", picture: .at(pictures.url.absoluteString)),
      FakeCharacter(id: 2, name: "Two", picture: .blank),
    ])
    let server = try await ServingProgram(environment: heroes.settings.mapValues { $0 })
    let image = try await server.get("/api/v1/heroes/1/image?size=small")
    #expect(image.status == 200, "\(image.text)")
    #expect(image.body == FakePictures.picture)
    #expect(image.header("Content-Type") == "image/png")
    #expect(image.header("X-Content-Type-Options") == "nosniff")
    let bytes = try await server.get(
      "/api/v1/heroes/1/image?size=small", ["Accept": "application/octet-stream"])
    #expect(bytes.body == image.body)
    #expect(bytes.header("Content-Type") == "application/octet-stream")
    #expect(try await server.get("/api/v1/heroes/1/image?size=huge").status == 400)
    #expect(try await server.get("/api/v1/heroes/2/image").status == 404)
    #expect(try await server.get("/api/v1/countries/AF/image").status == 404)
    try await server.stop()
  }

  @Test func `a hostile SVG is sent as it is, with a policy that runs nothing`() async throws {
    let text = """
      <?xml version="1.0"?>
      <!DOCTYPE svg [<!ENTITY a "&b;&b;"><!ENTITY b SYSTEM "file:///etc/passwd">]>
      <svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script>
      <image href="https://tracker.example/1.png"/><text>&a;</text></svg>
      """
    let pictures = try FakePictures()
    // Whatever the type says.
    pictures.fail(with: .ok(Data(text.utf8), headers: [("Content-Type", "text/html")]))
    let heroes = try FakeComicVine([
      FakeCharacter(id: 1, name: "One", picture: .at(pictures.url.absoluteString))
    ])
    let server = try await ServingProgram(environment: heroes.settings.mapValues { $0 })
    let image = try await server.get("/api/v1/heroes/1/image")
    #expect(image.status == 200, "\(image.text)")
    #expect(image.body == Data(text.utf8))
    #expect(image.header("Content-Type") == "image/svg+xml")
    #expect(image.header("X-Content-Type-Options") == "nosniff")
    #expect(
      image.header("Content-Security-Policy")
        == "sandbox; default-src 'none'; style-src 'unsafe-inline'")
    // The limit of other images holds for it.
    pictures.fail(with: .ok(Data(text.utf8) + Data(count: 17 << 20)))
    let large = try await server.get("/api/v1/heroes/1/image?size=large")
    #expect(large.status == 502 && large.text.contains("larger than 16 MiB"), "\(large)")
    try await server.stop()
  }

  @Test func `the document has the kinds of fields that a sync has found`() async throws {
    let pets = try await PetHome(["a", "none"])
    let server = try await ServingProgram("--source pets,countries", in: pets.sandbox)
    func type(_ name: String) async throws -> JSON? {
      let document = try await server.get("/openapi.json").json()
      return document["components"]?["schemas"]?["PetsRecord"]?["properties"]?[name]?["type"]
    }
    #expect(try await type("name") == nil)
    #expect(try await pets.run("pets sync").status == 0)
    #expect(try await type("name") == ["string", "null"])
    #expect(try await type("image") == ["string", "null"])
    try await server.stop()
  }

  @Test func `IDs may contain any character`() async throws {
    let pets = try await PetHome(["a/b", "50%", "q?x=1&y#z", "é"])
    let server = try await ServingProgram("--source pets", in: pets.sandbox)
    for id in ["a/b", "50%", "q?x=1&y#z", "é"] {
      let path = "/api/v1/pets/\(id.percentEncoded)"
      let reply = try await server.get(path)
      #expect(try reply.json()["items"]?.array?.first?["id"]?.string == id, "\(reply.text)")
      #expect(try await server.get(path + "/image").header("Content-Type") == "image/png")
      #expect(try await server.send("DELETE", path).status == 204)
      #expect(try await server.get(path).status == 404)
      #expect(try await server.send("POST", path + "/restore").status == 204)
      let page = try await server.get("/sources/pets/\(id.percentEncoded)")
      #expect(page.status == 200)
    }
    try await server.stop()
  }

  @Test func `a replayed recording is served without a key`() async throws {
    let recording = Repository.root.appending(path: "Tests/HeroesTests/Recordings/working").path
    let server = try await ServingProgram(
      "--replay \(recording) --source heroes", environment: ["COMIC_VINE_URL": nil])
    let reply = try await server.get("/api/v1/heroes")
    #expect(reply.header("X-Aggregator-Origin") == "live", "\(reply.text)")
    try await server.stop()
  }

  @Test func `signals end it, and requests in flight are answered`() async throws {
    for signal in [SIGINT, SIGTERM] {
      let gate = DispatchSemaphore(value: 0)
      let service = try LoopbackServer { _ in
        gate.wait()
        return .json("{}")
      }
      let server = try await ServingProgram(
        "--source countries", environment: ["COUNTRIES_URL": "\(service.baseURL)"])
      async let reply = server.get("/api/v1/countries")
      _ = await service.requests(atLeast: 1)
      server.run.child.send(signal)
      gate.signal()
      #expect(try await reply.header("X-Aggregator-Origin") == "bundled")
      #expect(try await server.run.outcome().ending == .signal(signal))
    }
  }

  @Test func `a port in use is an error with its remedy`() async throws {
    let server = try await ServingProgram("--source countries")
    let outcome = try await Binary.run("serve --port \(server.port)")
    #expect(outcome.status == 74)
    #expect(outcome.errors.contains("port \(server.port) is in use"), "\(outcome.errors)")
    #expect(outcome.errors.contains("hint: "))
    try await server.stop()
  }

  @Test func `listening for others requires a decision about the token`() async throws {
    let outcome = try await Binary.run("serve --listen 0.0.0.0 --port 0")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("--token-file or --no-token"))
  }
}

extension JSON {
  fileprivate var int: Int? { if case .integer(let number) = self { number } else { nil } }
}
