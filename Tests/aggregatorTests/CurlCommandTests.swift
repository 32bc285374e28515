import AggregatorKit
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal
@testable import DeclaredSource

/// Reading a `curl` command line.
@Suite struct CurlCommandTests {
  private func headers(_ command: CurlCommand) -> [String] {
    command.request.headers.map { "\($0.name): \($0.value)" }
  }

  @Test func `reads what browsers copy`() throws {
    let command = try CurlCommand(
      """
      curl 'https://api.example/v1/things?lang=en&page=2' \\
        -H 'accept: application/json' \\
        -H 'authority: api.example' -H 'Accept-Language: de' \\
        -H $'x-note: it\\'s \\u00e9' \\
        -H 'sec-ch-ua-mobile: ?0' -H 'Referer: https://www.example/' \\
        -b 'session=abc; theme=dark' \\
        -H 'user-agent: Mozilla/5.0' \\
        --compressed

      """)
    #expect(command.request.url == "https://api.example/v1/things?lang=en&page=2")
    #expect(
      headers(command) == [
        "accept: application/json", "x-note: it's é", "Cookie: session=abc; theme=dark",
      ])
    #expect(
      command.leftOut == [
        "authority", "Accept-Language", "sec-ch-ua-mobile", "Referer", "user-agent",
      ])
    #expect(command.request.body == nil)
  }

  @Test(arguments: [
    #"curl https://a.example/x -H "K: v" -X POST --data-raw '{"a": 1}' -H 'Content-Type: application/json'"#,
    #"$ curl -sSL -XPOST -HK:v -d '{"a": 1}' --url "https://a.example/x" | jq ."#,
    "curl\t--json '{\"a\": 1}' https://a.example/x -H 'K: v' > out.json",
    "/usr/bin/curl https://a.example/x \\\r\n  -H K:\\ v --data-binary $'{\\x22a\\x22: 1}' # all",
  ])
  func `reads one request in several ways`(line: String) throws {
    let command = try CurlCommand(line)
    #expect(command.request.url == "https://a.example/x")
    #expect(headers(command) == ["K: v"])
    #expect(command.request.body == ["a": 1])
  }

  @Test func `-G moves data into the URL, and credentials are the user's`() throws {
    let command = try CurlCommand(
      "curl -G https://a.example/x?y=1 -d z=2 --data-urlencode 'q=a b&c' -u me:pass -A agent -e ref"
    )
    #expect(command.request.url == "https://a.example/x?y=1&z=2&q=a%20b%26c")
    #expect(
      headers(command) == ["User-Agent: agent", "Referer: ref"])
    #expect(command.request.user == .init(name: "me", password: "pass"))
  }

  @Test(arguments: [
    ("me:pass:word", #"{"basic":{"user":"me","password":"${SHOP_PASSWORD}"}}"#, ["pass:word"]),
    // It is asked for.
    ("me", #"{"basic":{"user":"me","password":"${SHOP_PASSWORD}"}}"#, []),
    // Some services take a key as the user name.
    ("sk_test_4711:", #"{"basic":{"user":"${SHOP_KEY}"}}"#, ["sk_test_4711"]),
    ("me:$PASS", #"{"basic":{"user":"me","password":"${PASS}"}}"#, []),
  ])
  func `credentials sign in, and their secrets become settings`(
    user: String, auth: String, secrets: [String]
  ) throws {
    var request = try CurlCommand("curl https://a.example -u \(user)").request
    #expect(request.extractSecrets(of: "shop", avoiding: []).map(\.value) == secrets)
    #expect(request.basicAuth?.text == auth)
  }

  @Test func `variables of a shell become settings`() throws {
    let command = try CurlCommand(
      #"curl "https://a.example/x?k=${KEY}" -H "Authorization: Bearer $API_TOKEN" -H 'P: $5 ${q}'"#)
    #expect(command.request.url == "https://a.example/x?k=${KEY}")
    #expect(headers(command) == ["Authorization: Bearer ${API_TOKEN}", "P: $5 ${q}"])
  }

  @Test(arguments: [
    ("", "must begin with curl"),
    ("wget https://a.example", "must begin with curl"),
    ("curl", "it has no URL"),
    ("curl https://a.example https://b.example", "it has two URLs"),
    ("curl https://a.example --fancy", "unknown option --fancy"),
    ("curl https://a.example -sq", "unknown option -q"),
    ("curl -k https://a.example", "-k is not supported: certificates are always verified"),
    ("curl https://a.example -H", "the value of --header is missing"),
    ("curl https://a.example -X DELETE", "unsupported method \"DELETE\""),
    ("curl https://a.example -X POST", "a POST request without a body"),
    ("curl https://a.example -X GET -d {}", "a GET request with a body"),
    ("curl https://a.example -d a=b", "the body is not JSON"),
    ("curl https://a.example -d @file", "--data names a file"),
    ("curl https://a.example -b jar", "cookies in a file cannot be read"),
    ("curl https://a.example -u :secret", "the user is missing"),
    ("curl 'https://a.example", "a quote is not closed"),
    ("curl \"https://a.example", "a quote is not closed"),
    ("curl https://a.example/$name", "the shell variable \"name\" is unknown"),
    ("curl https://a.example/$(id)", "commands in it are not run"),
    ("curl https://a.example/`id`", "commands in it are not run"),
    ("curl https://a.example\ncurl https://b.example", "more than one command"),
    ("curl https://a.example ;\ncurl https://b.example", "more than one command"),
    ("curl ^\"https://a.example/^\" ^\n  -H ^\"a: b^\"", "quoted for Windows"),
  ])
  func `mistakes are named`(line: String, message: String) {
    let error = #expect(throws: SourceError.self) { try CurlCommand(line) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func `literal secrets become settings`() throws {
    var request = SourceRequest(
      url: "https://a.example/x?q=1&api_key=a%2Bb+c&page_token=7&key=${OWN}#top",
      headers: [
        .init(name: "Authorization", value: "Bearer abc"),
        .init(name: "Accept", value: "text/json"),
        .init(name: "X-Api-Key", value: "def"), .init(name: "x-api-key", value: "ghi"),
        .init(name: "X-Token", value: "${T}"),
        .init(name: "X-Client", value: "a1b2c3d4e5f6a1b2c3d4e5f6"),
      ])
    let secrets = request.extractSecrets(of: "my-api", avoiding: ["MY_API_API_KEY"])
    #expect(
      secrets.map { "\($0.setting)=\($0.value)" } == [
        "MY_API_AUTHORIZATION=abc", "MY_API_X_API_KEY=def", "MY_API_X_API_KEY_2=ghi",
        "MY_API_X_CLIENT=a1b2c3d4e5f6a1b2c3d4e5f6", "MY_API_API_KEY_2=a+b c",
      ])
    #expect(
      request.url
        == "https://a.example/x?q=1&api_key=${MY_API_API_KEY_2}&page_token=7&key=${OWN}#top"
    )
    #expect(
      request.headers.map(\.value) == [
        "Bearer ${MY_API_AUTHORIZATION}", "text/json", "${MY_API_X_API_KEY}",
        "${MY_API_X_API_KEY_2}", "${T}", "${MY_API_X_CLIENT}",
      ])
  }
}
