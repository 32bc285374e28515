import AggregatorKit
import AggregatorServer
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Access to the server: the token, the cookie, `Host` and `Origin`.
@Suite(
  .timeLimit(.minutes(10)), .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed")
) struct AccessTests {
  private static let path = "/api/v1/countries?cache=offline&limit=1"

  @Test func `without the token nothing but its health is told`() async throws {
    let server = try await ServingProgram("--source countries")
    let token = try #require(server.token)
    #expect(token.utf8.count == 64)
    let wrong = token.dropLast() + (token.hasSuffix("0") ? "1" : "0")
    for authorization in [
      "", "Bearer", "Bearer x", "Bearer \(wrong)", "Basic \(token)",
    ] {
      for path in [
        Self.path, "/", "/openapi.json", "/metrics", "/sources/countries", "/assets/style.css",
        "/favicon.ico",
      ] {
        let reply = try await server.get(
          path, ["Authorization": authorization, "Accept": "text/html"])
        #expect(reply.status == 401, "\(path) \(authorization)")
        #expect(!reply.text.contains("countries"), "\(reply.text)")
        if path == "/sources/countries" {
          #expect(reply.text.contains("the command serve printed"), "\(reply.text)")
        }
      }
    }
    for (method, path) in [
      ("DELETE", "/api/v1/countries/AF"), ("POST", "/api/v1/sync/countries"),
      ("POST", "/sources/countries/AF/delete"), ("TRACE", Self.path), ("PUT", "/nothing"),
    ] {
      let reply = try await server.send(method, path, ["Authorization": ""])
      #expect(reply.status == 401, "\(method) \(path)")
      #expect(reply.header("WWW-Authenticate") == "Bearer")
    }
    #expect(try await server.get("/healthz", ["Authorization": ""]).status == 200)
    #expect(try await server.get(Self.path, ["Authorization": "bearer \(token)"]).status == 200)
    try await server.stop()
  }

  @Test func `the address with the token gives a cookie, and the token leaves it`() async throws {
    let sandbox = try Sandbox()
    let server = try await ServingProgram("--source countries", in: sandbox)
    let token = try #require(server.token)
    let redirect = try await server.get("/search?query=a&token=\(token)", ["Authorization": ""])
    #expect(redirect.status == 303)
    #expect(redirect.header("Location") == "/search?query=a")
    let field = try #require(redirect.header("Set-Cookie"))
    #expect(field.contains("; HttpOnly") && field.contains("; SameSite=Strict"))
    #expect(field.hasPrefix("aggregator_\(server.port)=") && !field.contains(token))
    let cookie = String(field.prefix { $0 != ";" })
    #expect(try await server.get(Self.path, ["Cookie": "a=b; \(cookie); c=d"]).status == 200)
    #expect(try await server.get(Self.path, ["Cookie": cookie + "0"]).status == 401)
    #expect(try await server.get("/?token=x", ["Authorization": ""]).status == 401)
    #expect(
      try await server.get("//evil.example/?token=\(token)").header("Location") == "/evil.example/")

    // Both survive `kill -9`, unless a new token is wanted.
    try await server.stop(by: SIGKILL)
    let file = "home/.local/state/aggregator/serve-token"
    #expect(try sandbox.permissions(of: file) == 0o600)
    let second = try await ServingProgram(
      "--source countries --port \(server.port)", in: sandbox)
    #expect(second.token == token)
    #expect(try await second.get(Self.path, ["Cookie": cookie]).status == 200)
    try await second.stop()
    let third = try await ServingProgram(
      "--source countries --port \(server.port) --new-token", in: sandbox)
    #expect(third.token != token)
    #expect(try await third.get(Self.path, ["Cookie": cookie]).status == 401)
    try await third.stop()
  }

  private static let finders = [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  ]

  @Test func `a browser that finds names of localhost gets its cookie under one of its own`()
    async throws
  {
    let sandbox = try Sandbox()
    let server = try await ServingProgram("--source countries", in: sandbox)
    let (port, token) = (server.port, try #require(server.token))
    let path = "/search?query=a%20b&token=\(token)"
    var names: Set<String> = []
    for agent in Self.finders {
      for host in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        let redirect = try await server.get(
          path, ["Authorization": "", "User-Agent": agent, "Host": "\(host):\(port)"])
        #expect(redirect.status == 303)
        #expect(
          redirect.header("Set-Cookie")
            == "aggregator_\(port)=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
        let target = try #require(redirect.header("Location"))
        #expect(target.hasPrefix("http://") && target.hasSuffix(".localhost:\(port)\(path)"))
        names.insert(String(target.dropFirst("http://".count).prefix { $0 != ":" }))
      }
    }
    #expect(names.count == 1)
    let name = try #require(names.first)
    #expect(name.wholeMatch(of: /[0-9a-f]{16}\.localhost/) != nil, "\(name)")

    let own = ["Authorization": "", "User-Agent": Self.finders[0], "Host": "\(name):\(port)"]
    let exchange = try await server.get(path, own)
    // Firefox sends no strict cookie on a second redirect.
    #expect(exchange.status == 200 && exchange.body.isEmpty)
    #expect(exchange.header("Refresh") == "0; url=/search?query=a%20b")
    let field = try #require(exchange.header("Set-Cookie"))
    #expect(!field.contains("Domain") && !field.contains(token))
    let session = own.merging(["Cookie": String(field.prefix { $0 != ";" })]) { $1 }
    #expect(try await server.get(Self.path, session).status == 200)
    let page = session.merging(["Origin": "http://\(name):\(port)"]) { $1 }
    #expect(try await server.send("POST", "/sources/countries/AF/delete", page).status == 303)
    #expect(try await server.send("POST", "/sources/countries/AF/restore", page).status == 303)
    #expect(try await server.get("/?token=x", own).status == 401)
    let other = own.merging(["Host": "0123456789abcdef.localhost:\(port)"]) { $1 }
    #expect(try await server.get(path, other).status == 421)
    try await server.stop()

    // The name stays as long as the cookie.
    let second = try await ServingProgram("--source countries --port \(port)", in: sandbox)
    #expect(try await second.get(Self.path, session).status == 200)
    try await second.stop()
    let third = try await ServingProgram(
      "--source countries --port \(port) --new-token", in: sandbox)
    #expect(try await third.get(Self.path, session).status == 421)
    try await third.stop()
  }

  @Test func `other browsers and other names get the cookie where they are`() async throws {
    let sandbox = try Sandbox()
    try sandbox.write("my-own-token-0123\n", to: "work/token")
    let server = try await ServingProgram("--source countries --host box.local", in: sandbox)
    let open = try await ServingProgram(
      "--source countries --listen 0.0.0.0 --token-file token", in: sandbox)
    let webKit = "AppleWebKit/605.1.15 (KHTML, like Gecko)"
    for (server, host, agent) in [
      (
        server, "127.0.0.1",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) \(webKit) Version/18.0 Safari/605.1.15"
      ),
      (
        server, "127.0.0.1",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) \(webKit) CriOS/140.0 Mobile/15E148 Safari/604.1"
      ),
      (
        server, "127.0.0.1",
        "Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) \(webKit) FxiOS/140.0 Mobile/15E148 Safari/605.1.15"
      ),
      (server, "127.0.0.1", "w3m/0.5.3"), (server, "127.0.0.1", ""),
      (server, "box.local", Self.finders[0]), (open, "127.0.0.1", Self.finders[0]),
    ] {
      let token = try #require(server.token)
      let redirect = try await server.get(
        "/?token=\(token)",
        ["Authorization": "", "User-Agent": agent, "Host": "\(host):\(server.port)"])
      #expect(redirect.header("Location") == "/", "\(host) \(agent)")
      let field = try #require(redirect.header("Set-Cookie"))
      #expect(!field.contains("Max-Age=0"))
      let cookie = String(field.prefix { $0 != ";" })
      #expect(
        try await server.get(Self.path, ["Cookie": cookie, "Host": "\(host):\(server.port)"]).status
          == 200)
    }
    try await server.stop()
    try await open.stop()
  }

  @Test func `a request line that is wrong is a problem with all header fields`() async throws {
    let server = try await ServingProgram("--source countries")
    for (path, headers) in [
      ("/a b", [:]), ("*", [:]), ("a", [:]), (Self.path, ["Host": ""]),
      (Self.path, ["host": "127.0.0.1:\(server.port)"]),
      (Self.path, ["Host ": "127.0.0.1:\(server.port)"]),
    ] {
      let reply = try await server.get(path, headers)
      #expect(reply.status == 400, "\(path) \(headers)")
      #expect(reply.header("Content-Type") == "application/problem+json")
      #expect(reply.header("Content-Security-Policy") != nil)
      #expect(reply.header("X-Content-Type-Options") == "nosniff")
    }
    try await server.stop()
  }

  @Test func `other hosts and origins are refused`() async throws {
    let server = try await ServingProgram(
      "--source countries --host box.local --allow-origin https://app.example")
    let port = server.port
    for host in [
      "127.0.0.1:\(port)", "localhost:\(port)", "LOCALHOST:\(port)", "box.local:\(port)",
    ] {
      #expect(try await server.get(Self.path, ["Host": host]).status == 200, "\(host)")
    }
    for host in [
      "evil.example", "evil.example:\(port)", "127.0.0.1", "127.0.0.1:\(port).evil.example",
    ] {
      #expect(try await server.get(Self.path, ["Host": host]).status == 421, "\(host)")
    }
    for origin in ["https://evil.example", "null", "http://localhost", "https://localhost:\(port)"]
    {
      #expect(try await server.get(Self.path, ["Origin": origin]).status == 403, "\(origin)")
      #expect(
        try await server.send("DELETE", "/api/v1/countries/AF", ["Origin": origin]).status == 403)
    }
    let own = try await server.get(Self.path, ["Origin": "http://127.0.0.1:\(port)"])
    #expect(own.status == 200 && own.header("Access-Control-Allow-Origin") == nil)
    let allowed = try await server.get(Self.path, ["Origin": "https://app.example"])
    #expect(allowed.header("Access-Control-Allow-Origin") == "https://app.example")
    #expect(allowed.headers.contains { $0.name == "Vary" && $0.value.contains("Origin") })
    let preflight = try await server.send(
      "OPTIONS", Self.path,
      [
        "Origin": "https://app.example", "Access-Control-Request-Method": "DELETE",
        "Authorization": "",
      ])
    #expect(preflight.status == 204)
    #expect(preflight.header("Access-Control-Allow-Methods")?.contains("DELETE") == true)
    try await server.stop()
  }

  static let mistakes = [
    ("--listen nonsense --no-token", "invalid address \"nonsense\""),
    ("--listen 0.0.0.0", "--listen 0.0.0.0 requires --token-file or --no-token"),
    ("--listen 0.0.0.0 --replay-wire x", "--listen 0.0.0.0 requires --no-token"),
    ("--replay x --replay-wire y", "--replay and --replay-wire cannot be used together"),
    ("--allow-origin app.example", "invalid origin \"app.example\""),
    ("--host https://box.example/path", "invalid name \"https://box.example/path\""),
    ("--host ftp://box.example", "invalid name"), ("--host box.example:70000", "invalid name"),
    ("--allow-origin https://app.example/path", "invalid origin"),
    ("--source planets", "planets"),
  ]

  @Test(arguments: mistakes)
  func `mistakes are explained`(options: String, message: String) async throws {
    let outcome = try await Binary.run("serve --port 0 \(options)")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
    #expect(outcome.errors.contains("hint: "))
  }

  @Test func `a change by cookie needs the origin of the page`() async throws {
    let server = try await ServingProgram("--source countries")
    let token = try #require(server.token)
    let redirect = try await server.get("/?token=\(token)", ["Authorization": ""])
    let cookie = String(try #require(redirect.header("Set-Cookie")).prefix { $0 != ";" })
    let path = "/sources/countries/AF/delete"
    #expect(try await server.send("POST", path, ["Cookie": cookie]).status == 403)
    let own = ["Cookie": cookie, "Origin": "http://127.0.0.1:\(server.port)"]
    let reply = try await server.send("POST", path, own)
    #expect(reply.status == 303)
    #expect(reply.header("Location") == "/sources/countries?deleted=AF")
    #expect(try await server.send("POST", "/sources/countries/AF/restore", own).status == 303)
    try await server.stop()
  }

  @Test func `behind a proxy that speaks TLS the address is that of the proxy`() async throws {
    let server = try await ServingProgram(
      "--source countries --host https://box.example --host box.local:9000")
    let token = try #require(server.token)
    for (host, port, origin, end) in [
      ("Box.example", 443, "https://box.example", "; Secure"),
      ("box.example:443", 443, "https://box.example", "; Secure"),
      ("box.local:9000", 9000, "http://box.local:9000", "; SameSite=Strict"),
    ] {
      let redirect = try await server.get("/?token=\(token)", ["Authorization": "", "Host": host])
      let field = try #require(redirect.header("Set-Cookie"))
      #expect(field.hasPrefix("aggregator_\(port)=") && field.hasSuffix(end), "\(field)")
      let session = ["Host": host, "Cookie": String(field.prefix { $0 != ";" })]
      #expect(try await server.get(Self.path, session).status == 200)
      let own = session.merging(["Origin": origin]) { $1 }
      #expect(try await server.send("POST", "/sources/countries/AF/delete", own).status == 303)
      #expect(try await server.send("POST", "/sources/countries/AF/restore", own).status == 303)
      let document = try await server.get("/openapi.json", session).json()
      #expect("\(document["servers"] ?? .null)".contains("\(origin)\""), "\(document)")
    }
    for host in ["box.example:80", "box.example:\(server.port)", "box.local", "www.box.example"] {
      #expect(try await server.get(Self.path, ["Host": host]).status == 421, "\(host)")
    }
    for origin in ["http://box.example", "https://box.local:9000", "https://box.example:8443"] {
      let foreign = ["Host": "box.example", "Origin": origin]
      #expect(try await server.get(Self.path, foreign).status == 403, "\(origin)")
    }
    try await server.stop()
  }

  @Test func `a read-only server changes nothing`() async throws {
    let server = try await ServingProgram("--source countries --read-only")
    #expect(try await server.send("DELETE", "/api/v1/countries/AF").status == 403)
    #expect(try await server.send("POST", "/api/v1/sync/countries").status == 403)
    #expect(try await server.get("/sources/countries?cache=offline").status == 200)
    try await server.stop()
  }

  @Test func `a token of the user's, and none`() async throws {
    let sandbox = try Sandbox()
    try sandbox.write("my-own-token-0123\n", to: "work/token")
    try sandbox.write("short\n", to: "work/short")
    let server = try await ServingProgram("--source countries --token-file token", in: sandbox)
    #expect(server.address.hasSuffix("/?token=my-own-token-0123"))
    try await server.stop()
    let invalid = try await Binary.run("serve --port 0 --token-file short", in: sandbox)
    #expect(invalid.status == 78)
    #expect(invalid.errors.contains("16 or more"))
    let long = String(repeating: "my-own-token-0123", count: 2)
    for second in ["short", "\(long); Domain=example", long] {
      try sandbox.write("\(long)\n\(second)\n", to: "work/invalid")
      let outcome = try await Binary.run("serve --port 0 --token-file invalid", in: sandbox)
      #expect(outcome.status == 78)
      #expect(outcome.errors.contains("second line of invalid"), "\(outcome.errors)")
      #expect(!outcome.errors.contains(long))
    }
    let open = try await ServingProgram("--source countries --no-token", in: sandbox)
    #expect(open.token == nil)
    #expect(try await open.get(Self.path).status == 200)
    #expect(try await open.get(Self.path, ["Host": "evil.example"]).status == 421)
    try await open.stop()
  }

  @Test func `every response is guarded against framing, sniffing and scripts`() async throws {
    let server = try await ServingProgram("--source countries")
    for path in [
      "/", "/sources/countries", Self.path, "/nothing", "/metrics", "/healthz",
      "/api/v1/countries/%00", "/?query=%ff", "/?query=\(String(repeating: "a", count: 20_000))",
    ] {
      let reply = try await server.get(path, ["Accept": "text/html"])
      #expect(reply.header("X-Content-Type-Options") == "nosniff", "\(path)")
      #expect(reply.header("X-Frame-Options") == "DENY")
      let policy = try #require(reply.header("Content-Security-Policy"))
      #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"))
    }
    try await server.stop()
  }

  @Test func `a request that cannot be read is a problem, or a page, and is counted`() async throws
  {
    let server = try await ServingProgram("--source countries --allow-origin https://app.example")
    let long = "/api/v1/countries?query=\(String(repeating: "a", count: 20_000))"
    for (path, status, code) in [
      ("/api/v1/countries/%00", 400, "invalidRequest"), ("/?query=%ff", 400, "invalidRequest"),
      (long, 431, "headTooLarge"),
    ] {
      let headers = ["Authorization": "", "Origin": "https://app.example"]
      let reply = try await server.get(path, headers)
      #expect(reply.status == status)
      #expect(reply.header("Content-Type") == "application/problem+json")
      #expect(reply.header("Access-Control-Allow-Origin") == "https://app.example")
      let problem = try reply.json()
      #expect(problem["code"] == .string(code), "\(reply.text)")
      #expect(problem["status"] == .integer(status))
      let page = try await server.get(path, ["Authorization": "", "Accept": "text/html"])
      #expect(page.status == status)
      #expect(page.header("Content-Type") == "text/html; charset=utf-8")
      // The client has shown no token.
      #expect(page.text.hasSuffix("</html>\n") && !page.text.contains("countries"), "\(page.text)")
    }
    let metrics = try await server.get("/metrics").text
    for (status, count) in [(400, 4), (431, 2)] {
      #expect(
        metrics.contains(
          #"aggregator_http_requests_total{method="GET",route="other",status="\#(status)"} \#(count)"#
        ),
        "\(metrics)")
    }
    try await server.stop()
  }
}
