import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `api SOURCE PATH`: one request with the credentials of a source.
@Suite(.timeLimit(.minutes(10))) struct APICommandTests {
  private static let key = "hunter2hunter2"

  private let server: LoopbackServer
  private let other: LoopbackServer
  private let home: TestHome

  /// An added source `things` that signs in with a header field.
  init() async throws {
    let other = try LoopbackServer { _ in .json(#"{"other": true}"#) }
    self.other = other
    server = try LoopbackServer { request in
      let query = request.query
      switch request.path {
      case "/things": return .json(#"[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]"#)
      case "/echo":
        return .json(
          #"{"method": "\#(request.method)", "q": "\#(query["q"] ?? "")", "body": "#
            + (request.body.isEmpty ? "null" : String(decoding: request.body, as: UTF8.self)) + "}")
      case "/pages":
        let page = query["page"].flatMap { Int($0) } ?? 1
        let link = "</pages?page=\(page + 1)>; rel=\"next\""
        return .status(200, "[\(page)]", headers: page < 3 ? [("Link", link)] : [])
      case "/keyed":
        // The service repeats the key, and has made another one.
        guard query["api_key"] == Self.key else { return .status(403) }
        let page = query["page"].flatMap { Int($0) } ?? 1
        let link =
          "</keyed?api_key=\(Self.key)&page=\(page + 1)&token=made-\(page)>; rel=\"next\""
        return .status(200, "[\(page)]", headers: page < 3 ? [("Link", link)] : [])
      case "/numbered":
        // Without a link, and as large as it is asked for.
        let (page, size) = (query["page"].flatMap { Int($0) }, query["size"].flatMap { Int($0) })
        let first = ((page ?? 1) - 1) * (size ?? 20) + 1
        let ids = Array(first..<(first + (size ?? 20))).filter { $0 <= 5 }
        let rows = ids.map { "{\"id\":\($0)}" }.joined(separator: ",")
        return .json("{\"total\":\(query["short"] == nil ? 5 : 9),\"rows\":[\(rows)]}")
      case "/offset":
        // At most 10 rows, whatever is asked for.
        let first = query["offset"].flatMap { Int($0) } ?? 0
        guard first < 100 else { return .json("{}", status: 404) }
        let size = query["limit"].flatMap { Int($0) } ?? 10
        let ids = (first..<(first + min(size, 10))).filter { $0 < 45 }
        return .json("[\(ids.map { "{\"id\":\($0)}" }.joined(separator: ","))]")
      case "/many", "/turning":
        let page = query["page"].flatMap { Int($0) } ?? 1
        let link = "<\(request.path)?page=\(page + 1)>; rel=\"next\""
        let number = request.path == "/many" ? page : page % 2
        return .status(200, "[\(number)]", headers: page == 60 ? [] : [("Link", link)])
      case "/cut":
        guard query["page"] == nil else { return .status(200, #"[{"id":1,"#) }
        return .status(200, "[1]", headers: [("Link", "</cut?page=2>; rel=\"next\"")])
      case "/stalling":
        guard query["page"] == nil else { return .stalled }
        return .status(200, "[1]", headers: [("Link", "</stalling?page=2>; rel=\"next\"")])
      case "/refusing":
        guard query["page"] == nil else { return .json(#"["no"]"#, status: 403) }
        return .status(200, "[1]", headers: [("Link", "</refusing?page=2>; rel=\"next\"")])
      case "/cookie":
        let fields = [("Set-Cookie", "id=abc"), ("X-Note", "\(Self.key)")]
        return .status(404, "{}", headers: fields)
      case "/said": return .json(query["body"] ?? "")
      case "/abroad": return .redirect(to: "\(other.baseURL)/x")
      case "/text": return .status(200, "a\tb\u{1B}[31m\n")
      case let path where path.hasPrefix("/status/"):
        let status = Int(path.dropFirst(8)) ?? 500
        return .json(#"{"message": "no \#(status)"}"#, status: status)
      default: return .status(404)
      }
    }
    home = try TestHome(["THINGS_AUTHORIZATION": Self.key])
    let added = try await Binary.run(
      [
        "sources", "add", "things", "\(server.baseURL)/things", "--rate", "off", "--header",
        "Authorization: Bearer ${THINGS_AUTHORIZATION}",
      ], environment: home.environment, in: home.sandbox)
    try #require(added.status == 0, "\(added)")
    try #require(
      try await home.run(
        "config set THINGS_AUTHORIZATION --no-verify", input: Self.key
      ).status == 0)
  }

  private func requests(of path: String) -> [LoopbackRequest] {
    server.requests.filter { $0.path == path }
  }

  @Test func `a request has the credentials of its source, and its response is printed`()
    async throws
  {
    for line in ["api things echo?q=1", "things api /echo?q=1", "api things echo -f q=1"] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
      #expect(outcome.output == #"{"method": "GET", "q": "1", "body": null}"#)
    }
    let request = try #require(requests(of: "/echo").last)
    #expect(request.header("Authorization") == "Bearer \(Self.key)")
    let terminal = try await home.run("api things echo", ["AGGREGATOR_FORCE_TTY": "80"]).output
    #expect(
      terminal.hasPrefix("{\n  \u{1B}[1;34m\"method\"\u{1B}[0m: \u{1B}[32m\"GET\""), "\(terminal)")
    let text = try await home.run("api things text", ["AGGREGATOR_FORCE_TTY": "80"]).output
    #expect(text == "a\tb␛[31m\n")
    #expect(try await home.run("api things text").output == "a\tb\u{1B}[31m\n")
  }

  @Test(
    arguments: [
      ("things", "/v1.0/things"), ("/echo?q=1", "/v1.0/echo"), ("?q=1", "/v1.0/deep/a"),
      ("a/b/", "/v1.0/a/b/"),
    ])
  func `a path is below the base of a service with several lists`(
    path: String, sent: String
  ) async throws {
    for base in ["v1.0", "v1.0/"] {
      try home.sandbox.write(
        """
        {"service": {"base": "\(server.baseURL)/\(base)", "rows": "data", "id": "id"},
         "resources": {"a": {"url": "/deep/a"}}}
        """, to: home.manifestPath("crm.json"))
      let outcome = try await home.run("api crm-a \(path)")
      #expect(outcome.status == 69, "\(outcome)")
      #expect(server.requests.last?.path == sent)
    }
    _ = try await home.run("api crm-a \(server.baseURL)/echo")
    #expect(server.requests.last?.path == "/echo")
  }

  @Test func `jq filters the body`() async throws {
    let filtered = try await home.run("api things things --jq .[].name")
    #expect(filtered.status == 0 && filtered.output == "a\nb\n", "\(filtered)")
    let unfit = try await home.run("api things things --jq .name.x")
    #expect(unfit.errors.hasSuffix("hint: without --jq you see the body\n"), "\(unfit)")
    let text = try await home.run("api things text --jq .")
    #expect(text.status == 76 && text.errors.contains("parse error"), "\(text)")
    let failed = try await home.run("api things status/404 --jq .message")
    #expect(failed.status == 69, "\(failed)")
    #expect(failed.output == "", "\(failed)")
  }

  @Test(arguments: ["cut", "refusing"])
  func `pages before a failure are filtered`(path: String) async throws {
    for (options, filter) in [("", ".[]"), (" --slurp", ".[][]")] {
      let outcome = try await home.run("api things \(path) --paginate\(options) --jq \(filter)")
      #expect(outcome.status == 3 && outcome.output == "1\n", "\(outcome)")
      let words = path == "cut" ? "page 2 is not JSON" : "403"
      #expect(outcome.errors.contains(words), "\(outcome)")
    }
  }

  @Test func `a key in the query is sent, too, and that of the path comes first`() async throws {
    let service = try FakeComicVine()
    let outcome = try await Binary.run(
      "api heroes characters/?limit=1&format=json",
      environment: service.settings.mapValues(Optional.some), in: home.sandbox)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.contains("\"results\""))
    let request = try #require(service.requests.last)
    #expect(request.path == "/api/characters/" && request.query["limit"] == "1")
    #expect(request.query["api_key"] == FakeComicVine.key && request.query["offset"] == nil)
    #expect(!outcome.errors.contains(FakeComicVine.key))
  }

  @Test func `other methods are typed, and have a body of fields or of a file`() async throws {
    for (line, body) in [
      ("-X POST -f q=1 -f name=x=y", #"{"q":"1","name":"x=y"}"#),
      ("-X PATCH --input - -f q=1", "[1]"), ("-X PUT --input body.json", "[2]"),
      ("-X DELETE", "null"), ("-X PURGE", "null"), ("-X REPORT -f a=1", #"{"a":"1"}"#),
    ] {
      try home.sandbox.write("[2]", to: "work/body.json")
      let outcome = try await home.run("api things echo \(line)", input: "[1]")
      let method = line.split(separator: " ")[1]
      let query = line.contains("--input -") ? "1" : ""
      #expect(
        outcome.output == #"{"method": "\#(method)", "q": "\#(query)", "body": \#(body)}"#,
        "\(outcome)")
    }
    #expect(
      requests(of: "/echo").allSatisfy { $0.header("Authorization") == "Bearer \(Self.key)" })
  }

  @Test func `typed fields are numbers, Booleans, null and files in the body`() async throws {
    try home.sandbox.write("a text", to: "work/note.txt")
    let outcome = try await home.run(
      "api things echo -X POST -F a=1 -F b=1 -f x=3 -F c=-2.5 -F d=true -F e=null -F f=007 -F g=@note.txt"
    )
    #expect(
      outcome.output
        == #"{"method": "POST", "q": "", "body": {"a":1,"b":1,"x":"3","c":-2.5,"d":true,"e":null,"f":"007","g":"a text"}}"#,
      "\(outcome)")
    let query = try await home.run("api things echo -F q=1")
    #expect(query.output == #"{"method": "GET", "q": "1", "body": null}"#, "\(query)")
    let missing = try await home.run("api things echo -X POST -F a=@nothing.txt")
    #expect(missing.status == 74 && missing.errors.contains("nothing.txt"), "\(missing)")
  }

  @Test(arguments: [
    ("[1, 2]", "", "application/json"), ("a=1&b=2", "", "application/octet-stream"),
    ("a=1", " -H content-type:text/x-form", "text/x-form"),
  ])
  func `the content type is that of the input, unless it is given`(
    input: String, options: String, type: String
  ) async throws {
    _ = try await home.run("api things echo -X POST --input -\(options)", input: input)
    let request = try #require(requests(of: "/echo").last)
    #expect(
      request.header("Content-Type") == type
        && String(decoding: request.body, as: UTF8.self) == input)
  }

  @Test(arguments: [
    ("-F a[b]=3", #"{"a":{"b":3}}"#), ("-F l[]=1 -F l[]=x", #"{"l":[1,"x"]}"#),
    ("-F a[b][]=x -F c=1 -F a[b][]=null", #"{"a":{"b":["x",null]},"c":1}"#),
    (
      "-F a[][b]=1 -F a[][c]=2 -F a[][b]=3 -F d[][]=4",
      #"{"a":[{"b":1,"c":2},{"b":3}],"d":[[4]]}"#
    ),
    ("-F a[] -f b[c]=1 -F b[d][]", #"{"a":[],"b":{"c":"1","d":[]}}"#),
    ("-F l[] -F l[]=1", #"{"l":[1]}"#),
  ])
  func `fields are nested in the body`(fields: String, body: String) async throws {
    let outcome = try await home.run("api things echo -X POST \(fields)")
    #expect(outcome.output == #"{"method": "POST", "q": "", "body": \#(body)}"#, "\(outcome)")
  }

  @Test func `a name is sent in a query as it is`() async throws {
    _ = try await home.run("api things echo -F l[]=1 -f a[b]=2")
    #expect(requests(of: "/echo").last?.query == ["l[]": "1", "a[b]": "2"])
  }

  @Test func `HEAD prints the header, and OPTIONS is a method, too`() async throws {
    let head = try await home.run("api things things -X HEAD --timeout 60")
    #expect(head.status == 0 && head.output.hasPrefix("HTTP/1.1 200 Loopback\n"), "\(head)")
    #expect(head.output.hasSuffix("\n\n") && !head.output.contains("\"id\""), "\(head)")
    #expect(requests(of: "/things").last?.method == "HEAD")
    let options = try await home.run("api things echo -X OPTIONS")
    #expect(options.output.contains(#""method": "OPTIONS""#), "\(options)")
    let curl = try await home.run("api things things -X HEAD --curl")
    #expect(curl.output.hasPrefix("curl -I "), "\(curl)")
  }

  @Test func `a body is saved as a whole, and a failure leaves the file as it is`() async throws {
    let saved = try await home.run("api things text -o text.txt")
    #expect(saved.status == 0 && saved.output.isEmpty, "\(saved)")
    #expect(saved.errors.contains("Saved text.txt"), "\(saved)")
    #expect(try home.sandbox.text(of: "work/text.txt") == "a\tb\u{1B}[31m\n")
    let onTerminal = try await home.run(
      "api things text -o text.txt", ["AGGREGATOR_FORCE_TTY": "80"])
    #expect(onTerminal.errors.contains("Replaced text.txt"), "\(onTerminal)")
    #expect(onTerminal.status == 0 && onTerminal.output.isEmpty, "\(onTerminal)")
    let failed = try await home.run("api things status/404 -o text.txt")
    #expect(failed.status == 69 && failed.output.isEmpty, "\(failed)")
    #expect(try home.sandbox.text(of: "work/text.txt") == "a\tb\u{1B}[31m\n")
  }

  @Test func `paths of the service are completed`() async throws {
    try home.sandbox.write(
      #"{"service": {"base": "\#(server.baseURL)/v3", "rows": "$", "id": "id"}, "#
        + #""resources": {"a": {"url": "/contacts"}, "b": {"url": "/deals"}}}"#,
      to: home.manifestPath("crm.json"))
    let host = "\(server.baseURL)".trimmingPrefix("http://")
    for (source, paths) in [
      ("things", "/things\t\(host)/things\n"),
      ("crm-a", "contacts\t\(host)/v3/contacts\ndeals\t\(host)/v3/deals\n"),
    ] {
      let outcome = try await Binary.run(
        ["__complete", "bash", "--line", "aggregator api \(source) "],
        environment: home.environment, in: home.sandbox)
      #expect(outcome.output == paths, "\(outcome)")
    }
  }

  @Test func `verbose prints both heads, without secrets`() async throws {
    let outcome = try await home.run("api things echo -X POST -f a=1 -H X-Trace:1 -v")
    #expect(outcome.status == 0 && outcome.output.hasPrefix("{"), "\(outcome)")
    for line in [
      "> POST \(server.baseURL)/echo", "> X-Trace: 1", "> Authorization: REDACTED",
      "> body of 9 bytes", "< HTTP/1.1 200 Loopback",
    ] { #expect(outcome.errors.contains("\(line)\n"), "\(line): \(outcome)") }
    #expect(!outcome.errors.contains(Self.key), "\(outcome)")
    for words in ["echo?api_key=typed", "echo?api%5Fkey=typed", "echo -X GET -f api_key=typed"] {
      let keyed = try await home.run("api things \(words) -v")
      #expect(keyed.status == 0 && !keyed.errors.contains("typed"), "\(keyed)")
      #expect(keyed.errors.contains("echo?api_key=REDACTED\n"), "\(keyed)")
    }
  }

  @Test func `a key that the service repeats in the next link is sent, and not shown`() async throws
  {
    let outcome = try await home.run("api things keyed?api_key=\(Self.key) --paginate -v")
    #expect(outcome.status == 0 && outcome.output == "[1]\n[2]\n[3]", "\(outcome)")
    #expect(requests(of: "/keyed").map { $0.query["token"] } == [nil, "made-1", "made-2"])
    #expect(outcome.errors.contains("token=REDACTED"), "\(outcome)")
    for key in [Self.key, "made-"] { #expect(!outcome.errors.contains(key), "\(outcome)") }
  }

  @Test func `a word is no key, though its parameter may have one`() async throws {
    for words in [
      "echo?q=page-0000001&token=page-0000001", "echo -f q=english-us -f key=english-us",
    ] {
      let outcome = try await home.run("api things \(words)")
      let sent = try #require(requests(of: "/echo").last).query
      #expect(sent["q"] == sent["token"] ?? sent["key"], "\(sent)")
      #expect(outcome.output.contains("\"q\": \"\(sent["q"] ?? "")\""), "\(outcome)")
    }
  }

  @Test func `a failing page leaves the file as it was, and that is said`() async throws {
    let first = try await home.run("api things cut --paginate -o cut.json")
    #expect(first.status == 3 && first.output.isEmpty, "\(first)")
    #expect(first.errors.contains("cut.json was not written: "), "\(first)")
    try home.sandbox.write("old", to: "work/cut.json")
    let second = try await home.run("api things cut --paginate --slurp -o cut.json")
    #expect(second.status == 3, "\(second)")
    #expect(second.errors.contains("cut.json stays as it was: "), "\(second)")
    #expect(try home.sandbox.text(of: "work/cut.json") == "old")
  }

  @Test(arguments: [("", "printed"), (" --slurp", "read")])
  func `Ctrl-C says how many pages were printed or read`(
    option: String, word: String
  ) async throws {
    let count = server.requests.count
    let run = try home.start("api things stalling --paginate\(option) --timeout 10m")
    _ = await server.requests(atLeast: count + 2)
    run.child.send(SIGINT)
    let outcome = try await run.outcome()
    #expect(outcome.ending == .signal(SIGINT))
    #expect(
      outcome.errors == "Interrupted; 1 page \(word), others may be missing\n", "\(outcome)")
  }

  @Test func `all pages are one array`() async throws {
    let all = try await home.run("api things pages --paginate --slurp")
    #expect(all.status == 0 && all.output == "[[1],[2],[3]]\n", "\(all)")
    let some = try await home.run("api things pages --paginate --slurp --max-pages 2")
    #expect(some.status == 3 && some.output == "[[1],[2]]\n", "\(some)")
    let cut = try await home.run("api things cut --paginate --slurp")
    #expect(cut.status == 3 && cut.output == "[[1]]\n", "\(cut)")
    let text = try await home.run("api things text --paginate --slurp")
    #expect(text.status == 76 && text.output == "", "\(text)")
  }

  @Test(
    arguments: [
      (#"{"id":1,"name":"job 1","ok":false,"error":"disk full"}"#, 0, nil),
      (#"{"id":1,"success":false,"name":"x"}"#, 0, nil), (#"{"id":1,"status":"error"}"#, 0, nil),
      (#"{"id":1,"errors":["a"]}"#, 0, nil),
      (#"{"ok":false,"error":"not_authed"}"#, 0, "reports an error: \"not_authed\""),
      (#"{"data":null,"errors":[{"message":"bad"}]}"#, 69, "reports an error: \"bad\""),
      (#"[{"id":1},{"id":"#, 0, "the body is incomplete JSON: it ends after 16 bytes"),
    ] as [(String, Int32, String?)])
  func `the status of a response decides, not what its record says of itself`(
    body: String, status: Int32, words: String?
  ) async throws {
    let arguments = ["api", "things", "said", "-f", "body=\(body)"]
    let outcome = try await Binary.run(
      arguments, environment: home.environment, in: home.sandbox)
    #expect(outcome.status == status && outcome.output == body, "\(outcome)")
    #expect(words.map { outcome.errors.contains($0) } ?? outcome.errors.isEmpty, "\(outcome)")
    let saved = try await Binary.run(
      arguments + ["-o", "said.json"], environment: home.environment, in: home.sandbox)
    #expect(saved.status == status, "\(saved)")
    let files = try home.sandbox.files(under: ".")
    #expect(files.contains { $0.hasSuffix("said.json") } == (status == 0), "\(files)")
  }

  @Test(
    arguments: [
      ("404", 69, 1), ("401", 77, 1), ("429", 75, nil), ("500", 69, 3), ("500 -X POST", 69, 1),
    ] as [(String, Int32, Int?)])
  func `an error status has its exit code, after the body`(
    line: String, status: Int32, count: Int?
  ) async throws {
    let outcome = try await home.run("api things status/\(line) --timeout 60")
    #expect(outcome.status == status, "\(outcome)")
    #expect(outcome.output == #"{"message": "no \#(line.prefix(3))"}"#)
    #expect(outcome.errors.hasPrefix("error: things: ") && !outcome.errors.contains(Self.key))
    #expect(!outcome.errors.contains("things: things"), "\(outcome)")
    if let count { #expect(requests(of: "/status/\(line.prefix(3))").count == count) }
  }

  @Test(
    arguments: [
      (
        "countries", "401", "", 77, "those of countries are for its own host; send credentials with"
      ),
      (
        "countries", "403", "", 77, "those of countries are for its own host; send credentials with"
      ),
      ("countries", "401", "-H Authorization:x", 77, "check the credentials of --header"),
      ("countries", "403", "-H Authorization:x", 69, nil), ("things", "403", "", 69, nil),
      ("things", "401", "-H Authorization:x", 77, "check the credentials of --header"),
      ("open", "401", "", 77, "send credentials with --header 'Authorization: Bearer TOKEN'"),
      ("open", "403", "", 77, "send credentials with --header 'Authorization: Bearer TOKEN'"),
    ] as [(String, String, String, Int32, String?)])
  func `a call without usable credentials is an error of the key`(
    source: String, status: String, options: String, code: Int32, hint: String?
  ) async throws {
    try home.sandbox.write(
      #"{"url": "\#(server.baseURL)/things", "rows": "$", "id": "id"}"#,
      to: home.manifestPath("open.json"))
    let outcome = try await home.run(
      "api \(source) \(server.baseURL)/status/\(status) \(options)")
    #expect(outcome.status == code, "\(outcome)")
    if let hint { #expect(outcome.errors.contains("\nhint: \(hint)"), "\(outcome)") }
    let edit = "hint: aggregator sources edit open --header 'Authorization: Bearer ${TOKEN}'\n"
    #expect(outcome.errors.hasSuffix(edit) == (source == "open"), "\(outcome)")
  }

  @Test func `an error has a line of its own, also in the file of the body`() async throws {
    let outcome = try await Binary.run(
      "api things status/404", environment: home.environment, in: home.sandbox, isMerged: true)
    #expect(outcome.output.contains("\"no 404\"}\nerror: things: "), "\(outcome)")
  }

  @Test func `a path that does not exist names that of the list`() async throws {
    let outcome = try await home.run("api things thing")
    #expect(outcome.status == 69, "\(outcome)")
    #expect(outcome.errors.hasSuffix("\nhint: aggregator api things '/things'\n"), "\(outcome)")
    let other = try await home.run("api things e/404")
    #expect(other.status == 69 && !other.errors.contains("hint:"), "\(other)")
  }

  @Test func `fields that were sent as a query, where nothing is, may be meant for a body`()
    async throws
  {
    for (end, hint) in [
      ("status/404 -F a=1", "aggregator api things 'status/404' -X POST -F 'a=1'"),
      ("status/405 -f a=1", "aggregator api things 'status/405' -X POST -f 'a=1'"),
      ("status/404 -F a=1 -H X-Note:b", "add --method POST"),
    ] {
      let outcome = try await home.run("api things \(end)")
      #expect(outcome.errors.hasSuffix("\nhint: \(hint)\n"), "\(end): \(outcome)")
    }
    for end in ["status/404 -F a=1 -X GET", "status/404", "status/500 -F a=1"] {
      let outcome = try await home.run("api things \(end)")
      #expect(!outcome.errors.contains("POST"), "\(end): \(outcome)")
    }
  }

  @Test(arguments: [("", "kind=a&$top=5"), ("?per_page=1", "per_page=1")])
  func `an empty path and a query are of the URL of the source itself`(
    path: String, query: String
  ) async throws {
    try home.sandbox.write(
      #"{"url": "\#(server.baseURL)/things?kind=a&key=${THINGS_AUTHORIZATION}&$top=5", "rows": "$", "id": "id"}"#,
      to: home.manifestPath("more.json"))
    let outcome = try await Binary.run(
      ["api", "more", path, "-f", "x=1"], environment: home.environment, in: home.sandbox)
    #expect(outcome.status == 0, "\(outcome)")
    let request = try #require(requests(of: "/things").last)
    #expect(request.rawQuery == "\(query)&x=1&key=\(Self.key)", "\(outcome)")
  }

  @Test func `no other host gets credentials`() async throws {
    let outcome = try await home.run("api things \(other.baseURL)/x")
    #expect(outcome.status == 0 && outcome.output == #"{"other": true}"#, "\(outcome)")
    #expect(other.requests.count == 1 && other.requests[0].header("Authorization") == nil)
    let redirected = try await home.run("api things abroad")
    #expect(redirected.status == 69 && redirected.errors.contains("redirects"), "\(redirected)")
    #expect(other.requests.count == 1)
  }

  @Test func `pages are followed by the links of the responses, up to a limit`() async throws {
    let all = try await home.run("api things pages --paginate")
    #expect(all.status == 0 && all.output == "[1]\n[2]\n[3]", "\(all)")
    #expect(requests(of: "/pages").count == 3)
    let some = try await home.run("api things pages --paginate --max-pages 2")
    #expect(some.status == 3 && some.output == "[1]\n[2]", "\(some)")
    #expect(some.errors.contains("stopped after 2 pages"))
    let cut = try await home.run("api things cut --paginate")
    #expect(cut.status == 3 && cut.output == "[1]\n[{\"id\":1,", "\(cut)")
    #expect(cut.errors.contains("page 2 is not JSON"), "\(cut)")
    let one = try await home.run("api things things --paginate")
    #expect(one.status == 0 && one.errors.contains("1 page: the list of things"), "\(one)")
    let other = try await home.run("api things echo --paginate")
    #expect(other.status == 0 && other.errors.contains("only one page was requested"), "\(other)")
  }

  @Test func `pages that no response names are requested as lists request them`() async throws {
    try home.sandbox.write(
      #"{"url": "\#(server.baseURL)/numbered?key=${THINGS_AUTHORIZATION}", "rows": "rows", "id": "id", "#
        + #""total": "total", "page": "page=1", "size": "size=2", "rate": "off"}"#,
      to: home.manifestPath("numbered.json"))
    func run(_ words: String...) async throws -> Outcome {
      try await Binary.run(
        ["api", "numbered"] + words + ["--paginate"], environment: home.environment,
        in: home.sandbox)
    }
    let all = try await run("", "-f", "kind=a", "--slurp")
    #expect(all.status == 0 && all.output.components(separatedBy: "\"id\"").count == 6, "\(all)")
    #expect(requests(of: "/numbered").map { $0.query["page"] }.prefix(3) == ["1", "2", "3"])
    let queries = requests(of: "/numbered").map(\.query)
    #expect(queries.allSatisfy { $0["size"] == "2" && $0["kind"] == "a" }, "\(queries)")
    #expect(queries.allSatisfy { $0["key"] == Self.key }, "\(queries)")
    let capped = try await run("", "--max-pages", "2")
    #expect(capped.status == 3 && capped.errors.contains("stopped after 2 pages"), "\(capped)")
    // The service contradicts itself: there may be more.
    let short = try await run("?short=1")
    #expect(short.status == 3 && short.errors.contains("reports 9 records but sent 5"), "\(short)")
    for (path, ids) in [
      ("?size=1", 1...5), ("?size=9", 1...5), ("?page=2", 3...5), ("?page=4&size=1", 4...5),
    ] {
      let own = try await run(path, "-f", "kind=b")
      #expect(own.status == 0 && Self.ids(in: own) == Array(ids), "\(own)")
      #expect(requests(of: "/numbered").last?.query["kind"] == "b")
    }
    // The source's pages begin with 1.
    let other = try await run("?page=0&size=2")
    #expect(other.status == 3 && other.errors.contains("only one page was requested"), "\(other)")
  }

  private static func ids(in outcome: Outcome) -> [Int] {
    outcome.output.matches(of: /"id":([0-9]+)/).map { Int($0.1) ?? -1 }
  }

  @Test(
    arguments: [
      ("", 0, "5"), ("?offset=40", 40, "5"), ("?offset=41&limit=2", 41, "2"),
      ("?limit=100", 0, "100"), ("?offset=7&limit=100", 7, "100"),
    ])
  func `pages go on from the offset of a request, with its page size`(
    path: String, first: Int, size: String
  ) async throws {
    try home.sandbox.write(
      #"{"url": "\#(server.baseURL)/offset", "rows": "$", "id": "id", "offset": "offset=0", "#
        + #""size": "limit=5", "rate": "off"}"#,
      to: home.manifestPath("rows.json"))
    let outcome = try await Binary.run(
      ["api", "rows", path, "--paginate"], environment: home.environment, in: home.sandbox)
    #expect(outcome.status == 0 && Self.ids(in: outcome) == Array(first..<45), "\(outcome)")
    // That there are no more is seen from an empty page.
    #expect(!outcome.output.contains("[]"), "\(outcome)")
    #expect(requests(of: "/offset").allSatisfy { $0.query["limit"] == size })
    let deep = try await Binary.run(
      ["api", "rows", "?offset=100", "--paginate"], environment: home.environment, in: home.sandbox)
    #expect(deep.status == 69 && deep.output == "{}", "\(deep)")
  }

  @Test func `a long list is read to its end, and one that repeats a page is not`() async throws {
    let many = try await home.run("api things many?page=1 --paginate")
    #expect(many.status == 0 && many.output.hasSuffix("\n[60]"), "\(many)")
    let turning = try await home.run("api things turning --paginate")
    #expect(turning.status == 3 && requests(of: "/turning").count == 3, "\(turning)")
    #expect(turning.errors.contains("page 3 repeats an earlier one"), "\(turning)")
  }

  @Test func `the head of each response comes before its body, without secrets`() async throws {
    let pages = try await home.run("api things pages -i --paginate --max-pages 2")
    let heads = pages.output.components(separatedBy: "HTTP/1.1 200 Loopback\n")
    #expect(pages.status == 3 && heads.count == 3 && heads[0].isEmpty, "\(pages)")
    #expect(heads[1].contains("link: </pages?page=2>; rel=\"next\"\n"), "\(pages)")
    #expect(heads[1].hasSuffix("\n\n[1]\n") && heads[2].hasSuffix("\n\n[2]"), "\(pages)")
    let failed = try await home.run("api things cookie --include")
    #expect(failed.output.hasPrefix("HTTP/1.1 404 Loopback\n") && failed.output.hasSuffix("\n\n{}"))
    #expect(failed.output.contains("set-cookie: REDACTED\n"), "\(failed)")
    #expect(failed.output.contains("x-note: ") && !failed.output.contains(Self.key), "\(failed)")
    #expect(failed.status != 0)
  }

  @Test func `a curl command has a variable for each secret, and nothing is sent`() async throws {
    let outcome = try await home.run("api things echo?q=it's -X POST -f a=1 --curl")
    #expect(outcome.status == 0 && requests(of: "/echo").isEmpty, "\(outcome)")
    #expect(outcome.output.hasPrefix("curl -X POST -H "), "\(outcome)")
    #expect(outcome.output.contains(#"-H 'Authorization: Bearer '"$THINGS_AUTHORIZATION""#))
    #expect(!outcome.output.contains(Self.key))
    let script = try home.sandbox.write(outcome.output, to: "work/run.sh")
    let run = try await Binary.run(
      [String](), environment: ["THINGS_AUTHORIZATION": Self.key], in: home.sandbox,
      by: ["/bin/sh", script.path])
    if run.status != 127 {
      #expect(run.output.contains(#""method": "POST""#) && run.output.contains(#"{"a":"1"}"#))
      #expect(requests(of: "/echo").last?.header("Authorization") == "Bearer \(Self.key)")
    }
  }

  @Test func `a curl command keeps the scheme of a secret that was typed`() async throws {
    let outcome = try await Binary.run(
      ["api", "countries", "", "--curl", "-H", "Authorization: Bearer key-of-4711"],
      in: home.sandbox)
    #expect(outcome.output.contains(#"-H 'Authorization: Bearer '"$SECRET""#), "\(outcome)")
    #expect(!outcome.output.contains("4711"))
  }

  @Test(arguments: [nil, "your_api_key_here"])
  func `a curl command needs no secret`(key: String?) async throws {
    let outcome = try await Binary.run(
      "api heroes characters --curl",
      environment: ["COMIC_VINE_URL": "http://127.0.0.1:1/api", "COMIC_VINE_API_KEY": key])
    #expect(
      outcome.output
        == "curl 'http://127.0.0.1:1/api/characters?api_key='\"$COMIC_VINE_API_KEY\"\n",
      "\(outcome)")
    #expect(outcome.status == 0 && outcome.errors == "")
  }

  @Test func `a request is recorded and replayed`() async throws {
    let live = try await home.run("api things echo -X POST -f a=1 --record tape")
    let count = server.requests.count
    let replay = try await home.run("api things echo -X POST -f a=1 --replay tape")
    #expect(
      live.status == 0
        && replay.output.filter { !$0.isWhitespace } == live.output.filter { !$0.isWhitespace },
      "\(replay)")
    #expect(server.requests.count == count)
    // A recording does not have the version.
    let head = try await home.run("api things echo -X POST -f a=1 -i --replay tape")
    #expect(head.output.hasPrefix("HTTP 200\n"), "\(head)")
    #expect(try await home.run("api things echo -X PUT --replay tape").status == 69)
  }

  @Test(arguments: [
    ("api", "missing argument: SOURCE"), ("api things", "missing argument: PATH"),
    ("api things a b", "unexpected argument \"b\""),
    (
      "api things a -q .name",
      "unexpected argument \".name\": -q is --quiet\n\nDid you mean \"--jq .name\"?"
    ),
    (
      "api POST things echo",
      "unexpected argument \"POST\"\n\nDid you mean \"api things echo --method POST\"?"
    ),
    ("api nothing x", "unknown source \"nothing\""),
    ("api things ../x", "invalid path \"../x\""), ("api things a/%2e%2e/x", "invalid path"),
    ("api things //evil.example/x", "invalid path"),
    ("api things file:///etc/passwd", "invalid path"),
    ("api things echo --input x", "--input requires a method with a body"),
    ("api things echo -f x", "invalid value \"x\" for --raw-field"),
    ("api things echo --paginate -X POST", "--paginate requires the method GET"),
    ("api things echo --slurp", "--slurp requires --paginate"),
    ("api things echo -F x", "invalid value \"x\" for --field"),
    ("api things echo -H Host:x", "header field \"Host\" cannot be set"),
    ("api things echo -H transfer-encoding:chunked", "header field \"transfer-encoding\""),
    ("api things echo -F x[]", "invalid value \"x[]\" for --field"),
    ("api things echo -X POST -F a=1 -F a=2", "invalid field \"a\": another one has a value"),
    ("api things echo -X POST -F a=1 -F a[b]=2", "invalid field \"a[b]\": another one has"),
    ("api things echo -X POST -F a[]=1 -F a[b]=2", "invalid field \"a[b]\": another one has"),
    ("api things echo -X POST -F a[b]=2 -F a[]=1", "invalid field \"a[]\": another one has"),
    ("api things echo -X POST -F a[b=2", "invalid field \"a[b\": must be a name such as"),
    ("api things echo -X POST -F a]=2", "invalid field \"a]\": must be a name such as"),
    ("api things echo -X POST -F [a]=2", "invalid field \"[a]\": must be a name such as"),
    ("api things echo -I", "unknown option \"-I\"\n\nDid you mean \"--method HEAD\"?"),
    ("api things echo -i --jq .q", "--include and --jq cannot be used together"),
    ("api things echo -o x --jq .q", "--output and --jq cannot be used together"),
    ("api things echo --jq .q --jq .q", "--jq is given twice"),
    ("api things echo -X a/b", "invalid value \"a/b\" for --method"),
    ("api things echo -X CONNECT", "invalid value \"CONNECT\" for --method"),
  ])
  func `a mistake sends nothing`(line: String, words: String) async throws {
    let count = server.requests.count
    let outcome = try await home.run(line)
    #expect(outcome.status == 64 && outcome.errors.hasPrefix("error: \(words)"), "\(outcome)")
    #expect(server.requests.count == count)
  }
}
