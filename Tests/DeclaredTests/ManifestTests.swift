import AggregatorKit
import Foundation
import Testing

@testable import DeclaredSource

struct ManifestTests {
  private func read(_ text: String) throws(SourceError) -> Manifest {
    try Manifest(reading: Data(text.utf8))
  }

  @Test func `Comments and trailing commas are allowed`() throws {
    let manifest = try read(
      """
      {
        // The list.
        "url": "https://api.example/things?a=b//c", /* all
        of them */ "id": ["namespace", "name",],
      }
      """)
    #expect(manifest.url == "https://api.example/things?a=b//c")
    #expect(manifest.id.map(\.description) == ["namespace", "name"])
  }

  @Test(arguments: [
    ("http://127.0.0.1:8080/items?page=1", "127.0.0.1:8080/items"),
    ("https://api.example:443/things", "api.example/things"),
    ("http://[::1]:81/a", "[::1]:81/a"),
  ])
  func `The summary has the port of the service`(url: String, summary: String) {
    #expect(DeclaredPlugin("things", Manifest(url: url)).summary == summary)
  }

  @Test func `A manifest is written as it is read`() throws {
    let text = """
      {"url":"https://api.example/v2?lang=en","summary":"things","headers":{"Authorization":"Bearer ${TOKEN}"},\
      "body":{"a":[1,{"b":null}]},"rows":"data.items","id":["a","b.c"],\
      "fields":["title",{"name":"tags","path":"labels.*.name","search":false},\
      {"name":"body","path":"body","shown":false}],\
      "tables":{"lines":{"path":"a.line_items","fields":["sku",{"name":"n","path":"x.*.n"}]},"codes":"codes"},\
      "next":"meta.cursor",\
      "token":"after=*","tokenOnce":true,"hosts":["pub.example"],"size":"variables.first=30","more":"!done",\
      "deepest":10000,"total":"header:X-Total","paging":"proved","item":"https://api.example/v2/{id}",\
      "search":"url:https://api.example/s?q={query}","image":"img","link":"page","title":"title",\
      "errors":[{"status":422,"path":"error.code","equals":"too_deep","message":"error.*.text","then":"end"},\
      {"path":"busy","exists":true,"then":"wait"},{"path":"rows","exists":false,"then":"retry"},\
      {"status":418,"then":"fail"}],"rate":"off","fresh":"2h","timeout":"20s"}
      """
    #expect(try read(text).json.text == text)
  }

  @Test(arguments: [
    #"{"basic":{"user":"mary","password":"${SHOP_PASSWORD}"}}"#,
    #"{"basic":{"user":"${SHOP_KEY}"}}"#,
    #"{"oauth":{"token":"https://login.example/token?v=2","grant":"client_credentials","id":"${SHOP_ID}","#
      + #""secret":"${SHOP_SECRET}","scope":"a b","send":"body","parameters":{"audience":"x"}}}"#,
    #"{"oauth":{"token":"https://login.example/token","grant":"refresh_token","id":"shop","#
      + #""refresh":"${SHOP_REFRESH}","send":"basic-raw"}}"#,
  ])
  func `How a source signs in is written as it is read`(auth: String) throws {
    let manifest = try read(#"{"url":"https://api.example/v2","auth":\#(auth)}"#)
    #expect(manifest.auth?.json.text == auth)
    #expect(manifest.json["auth"]?.text == auth)
    // Each secret belongs to the host that gets it.
    let host = auth.contains("oauth") ? "login.example" : "api.example"
    #expect(!manifest.secretNames.isEmpty)
    for name in manifest.secretNames {
      #expect(name.hasPrefix("SHOP_"))
      #expect(manifest.secretHosts[name] == host)
    }
  }

  @Test(arguments: [
    ("\"x\"", "line 2: \"auth\" must be an object"),
    ("{}", "line 2: \"auth\" must have either \"basic\" or \"oauth\""),
    ("{\"basic\": {},\n\"oauth\": {}}", "line 2: \"auth\" must have either"),
    ("{\n\"basc\": {}}", "line 3: \"auth.basc\" is an unknown key; did you mean \"basic\"?"),
    ("{\"basic\": {\n\"password\": \"${P}\"}}", "line 2: \"auth.basic\" needs \"user\""),
    (
      "{\"basic\": {\"user\": \"mary\",\n\"password\": \"hunter2hunter2\"}}",
      "line 3: \"auth.basic.password\" must be ${NAME}, a secret setting"
    ),
    (
      "{\"basic\": {\"user\": \"${A}/token\"}}",
      "line 2: \"auth.basic.user\" must be a text, or ${NAME} alone"
    ),
    (
      "{\"oauth\": {\n\n\"token\": \"login\", \"grant\": \"client_credentials\"}}",
      "line 4: \"auth.oauth.token\" must be an http or https URL without secrets"
    ),
    (
      "{\"oauth\": {\"token\": \"https://a.example\",\n\"grant\": \"password\", \"id\": \"x\"}}",
      "line 3: \"auth.oauth.grant\" must be \"client_credentials\" or \"refresh_token\""
    ),
    (
      "{\"oauth\": {\"token\": \"https://a.example\", \"grant\": \"client_credentials\", \"id\": \"x\"}}",
      "line 2: \"auth.oauth\" needs \"secret\""
    ),
    (
      "{\"oauth\": {\"token\": \"https://a.example\", \"grant\": \"refresh_token\", \"id\": \"x\",\n"
        + "\"send\": \"header\"}}",
      "line 3: \"auth.oauth.send\" must be \"basic\", \"basic-raw\" or \"body\""
    ),
    (
      "{\"basic\": {\"user\": \"x\",\n\"user\": \"y\"}}",
      "line 2: \"auth.basic.user\" is there twice"
    ),
    (
      "{\"basic\": {\"user\": \"mary\"}}, \"headers\": {\"authorization\": \"Basic ${B}\"}",
      "line 2: \"auth\" must be absent if there is a header field"
    ),
    (
      "{\"oauth\": {\"token\": \"https://a.example\", \"grant\": \"client_credentials\", \"id\": \"x\", "
        + "\"secret\": \"${S}\"}}, \"headers\": {\"X-Key\": \"${S}\"}",
      "line 2: \"auth\" must be without ${S}, which is sent to another host"
    ),
    (
      "{\"oauth\": {\"token\": \"https://a.example\", \"grant\": \"client_credentials\", \"id\": \"x\", "
        + "\"secret\": \"${S}\"}}, \"item\": \"https://api.example/{id}?key=${S}\"",
      "line 2: \"auth\" must be without ${S}, which is sent to another host"
    ),
    (
      "{\"oauth\": {\"token\": \"https://a.example\", \"grant\": \"client_credentials\", \"id\": \"x\", "
        + "\"secret\": \"${S}\"}}, \"search\": \"url:https://api.example/?q={query}&key=${S}\"",
      "line 2: \"auth\" must be without ${S}, which is sent to another host"
    ),
  ])
  func `A mistake in how a source signs in names its line and key`(
    auth: String, message: String
  ) throws {
    let error = #expect(throws: SourceError.self) {
      try read("{\"url\": \"https://api.example\",\n\"auth\": \(auth)}")
    }
    #expect(error?.code == .invalidSettings)
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("hunter2") == false)
  }

  @Test(arguments: [
    ("{}", "line 1: \"url\" is missing"),
    ("[]", "line 1: a manifest is a JSON object"),
    (
      "{\n\"url\": \"https://a.example\",\n\"rowz\": \"$\"\n}",
      "line 3: unknown key \"rowz\"; did you mean \"rows\"?"
    ),
    ("{\n\"url\": \"ftp://a.example\"}", "line 2: \"url\" must be an http or https URL"),
    (
      "{\"url\": \"https://a.example\",\n\n\"rows\": \"a..b\"}",
      "line 3: \"rows\" must be a path such as \"data.items\""
    ),
    (
      "{\"url\": \"https://a.example\",\n\"page\": \"page\"}",
      "line 2: \"page\" must be a parameter and its start, such as \"page=1\""
    ),
    (
      "{\"url\": \"https://a.example\", \"token\": \"after\"}",
      "line 1: \"token\" must be beside \"next\", which says where the token is"
    ),
    (
      "{\"url\": \"https://a.example\",\n\"url\": \"https://b.example\"}",
      "line 2: \"url\" is there twice"
    ),
    ("{\n\"url\": \"https://a.example\"\n\"id\": 1}", "line 3: not valid JSON"),
    (
      "{\"url\": \"https://a.example\",\n\"headers\": {\"A B\": \"c\"}}",
      "line 2: \"headers\" must be an object of header fields and their values"
    ),
    (
      "{\"url\": \"https://a.example\", \"headers\": {\"A\": \"b\\r\\nX: y\"}}",
      "line 1: \"headers\" must be an object of header fields and their values"
    ),
    (
      "{\"url\": \"https://a.example\", \"item\": \"https://a.example/x\"}",
      "line 1: \"item\" must be a URL with {id}"
    ),
    (
      "{\"url\": \"https://a.example\", \"tokenOnce\": true}",
      "line 1: \"tokenOnce\" must be beside \"next\", which says where the token is"
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tokenOnce\": 1}",
      "line 2: \"tokenOnce\" must be true or false"
    ),
    (
      "{\"url\": \"https://a.example\",\n\"body\": {\"k\": \"${API_KEY}\"}}",
      "line 2: \"body\" must be without ${NAME}: secrets can be in header fields and in the query"
    ),
    (
      "{\"url\": \"https://a.example\",\n\"errors\": {\"then\": \"end\"}}",
      "line 2: \"errors\" must be a list of at most 32 rules"
    ),
    (
      "{\"url\": \"https://a.example\", \"errors\": [\n{\"status\": 422, \"then\": \"end\"},\n7]}",
      "line 3: a rule of \"errors\" must be an object"
    ),
    (
      "{\"url\": \"https://a.example\", \"errors\": [{\"then\": \"end\"}]}",
      "line 1: a rule of \"errors\" must have a \"status\" or a \"path\""
    ),
    (
      "{\"url\": \"https://a.example\", \"errors\": [\n{\"status\": 422,\n\"than\": \"end\"}]}",
      "line 3: unknown key \"than\"; did you mean \"then\"?"
    ),
    (
      "{\"url\": \"https://a.example\", \"errors\": [{\"status\": 1,\n\"status\": 2}]}",
      "line 2: \"status\" is there twice"
    ),
    (
      "{\"url\": \"https://a.example\", \"errors\": [\n{\"status\": \"422\", \"then\": \"end\"}]}",
      "line 2: \"status\" of a rule in \"errors\" must be a number from 100 to 599"
    ),
    (
      "{\"url\": \"https://a.example\", \"errors\": [\n{\"status\": 422}]}",
      "line 2: \"then\" of a rule in \"errors\" must be one of \"fail\", \"retry\", \"wait\", \"end\", \"skip\""
    ),
    (
      "{\"url\": \"https://a.example\", \"errors\": [{\"status\": 404,\n\"then\": \"skip\"}]}",
      "line 2: \"skip\" leaves out one of the lists of \"each\", which is missing"
    ),
    (
      "{\"url\": \"https://a.example\", \"errors\": [{\"path\": \"a..b\", \"then\": \"end\"}]}",
      "line 1: \"path\" of a rule in \"errors\" must be a path such as \"error.code\""
    ),
    (
      "{\"url\": \"https://a.example\", \"errors\": [{\"path\": \"a\",\n\"equals\": [1], \"then\": \"end\"}]}",
      "line 2: \"equals\" of a rule in \"errors\" must be a text, a number, true, false or null"
    ),
    (
      "{\"url\": \"https://a.example\", \"errors\": [{\"status\": 422,\n\"exists\": true, \"then\": \"end\"}]}",
      "line 2: \"exists\" of a rule in \"errors\" must be beside a \"path\", and only one of \"equals\" and "
        + "\"exists\""
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": []}",
      "line 2: \"tables\" must be an object of at most 32 names and paths of lists"
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\n\"Lines\": \"x\"}}",
      "line 3: invalid name \"Lines\" in \"tables\": must be 1 to 32 lower-case letters, digits and _"
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\"a\": \"a\",\n\"b\": \"a.*.b\"}}",
      "line 3: \"tables.b\" must be the path of a list, of names such as \"order.line_items\", or an object with \"path\" and \"fields\""
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\"a\": \"a\",\n\"b\": \"a.0\"}}",
      "line 3: \"tables.b\" must be the path of a list, of names such as \"order.line_items\", or an object with \"path\" and \"fields\""
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\"a\": \"a\",\n\"b\": \"$\"}}",
      "line 3: \"tables.b\" must be the path of a list, of names such as \"order.line_items\", or an object with \"path\" and \"fields\""
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\"a\": \"a\",\n\"b\": 7}}",
      "line 3: \"tables.b\" must be the path of a list, of names such as \"order.line_items\", or an object with \"path\" and \"fields\""
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\"a\": \"a\",\n\"b\": {\"fields\": [\"a\"]}}}",
      "line 3: \"tables.b\" must be the path of a list, of names such as \"order.line_items\", or an object with \"path\" and \"fields\""
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\"b\": {\n\"pth\": \"x\"}}}",
      "line 3: unknown key \"pth\"; did you mean \"path\"?"
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\"b\": \"x\",\n\"b\": \"y\"}}",
      "line 3: \"b\" is there twice"
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\"b\": {\"path\": \"x\",\n\"fields\": []}}}",
      "line 3: \"fields\" of \"tables.b\" must be a list of paths, or of objects with \"name\" and \"path\", none with the name \"position\""
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\"b\": {\"path\": \"x\",\n\"fields\": [\"Position\"]}}}",
      "line 3: \"fields\" of \"tables.b\" must be a list of paths, or of objects with \"name\" and \"path\", none with the name \"position\""
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\"b\": {\"path\": \"x\",\n\"fields\": [\"a\", \"A\"]}}}",
      "line 3: \"fields\" of \"tables.b\" must be a list of paths, or of objects with \"name\" and \"path\", none with the name \"position\""
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\"b\": {\"path\": \"x\",\n\"fields\": [{\"name\": \"a\", \"search\": false}]}}}",
      "line 3: \"fields\" of \"tables.b\" must be a list of paths, or of objects with \"name\" and \"path\", none with the name \"position\""
    ),
    (
      "{\"url\": \"https://a.example\",\n\"tables\": {\"b\": {\"path\": \"x\",\n\"fields\": \"a\"}}}",
      "line 3: \"fields\" of \"tables.b\" must be a list of paths, or of objects with \"name\" and \"path\", none with the name \"position\""
    ),
    (
      "{\"url\": \"https://a.example\", \"fields\": [\"a\", \"*\"]}",
      "line 1: \"fields\" must be a list of paths, or of objects with \"name\" and \"path\", none named \"*\""
    ),
    (
      "{\"url\": \"https://a.example\", \"fields\": [{\"name\": \"*\", \"path\": \"a\"}]}",
      "line 1: \"fields\" must be a list of paths, or of objects with \"name\" and \"path\", none named \"*\""
    ),
    (
      "{\"url\": \"https://a.example\", \"deepest\": -1}",
      "line 1: \"deepest\" must be a number of records"
    ),
  ])
  func `A mistake is reported with its line`(text: String, message: String) {
    let error = #expect(throws: SourceError.self) { try read(text) }
    #expect(error?.message == message)
  }

  @Test func `A manifest that is too large is refused`() {
    let error = #expect(throws: SourceError.self) {
      try Manifest(reading: Data(repeating: 0x20, count: Manifest.maxBytes + 1))
    }
    #expect(error?.message == "a manifest has at most 256 KB")
  }

  @Test func `Secrets are named in the URL and in header fields`() throws {
    let manifest = try read(
      #"{"url": "https://a.example:8443/x?key=${API_KEY}&k=${LIST_KEY}&$top=5", "headers": {"X": "${API_KEY}", "Y": "$limit"}}"#
    )
    #expect(manifest.secretNames == ["API_KEY", "LIST_KEY"])
    #expect(manifest.authority == "a.example:8443")
  }

  @Test func `A value in the place of a list is a list of one`() throws {
    let plugin = DeclaredPlugin(
      "orders",
      try read(
        #"{"url": "https://a.example", "id": "id", "tables": {"codes": "a.codes", "lines": {"path": "a.lines", "fields": ["n.m"]}}}"#
      ))
    func rows(_ table: Int, _ row: JSON) throws -> [[JSON]] {
      let fields = plugin.tables[table].fields(of: "orders", plugin.fields)
      let record = try DeclaredRecord(row, id: [JSONPath("id")].compactMap(\.self))
      return plugin.tables[table].rows(of: record, plugin.fields).map { row in
        fields.map { $0[row] }
      }
    }
    #expect(try rows(0, ["id": 1, "a": ["codes": "x"]]) == [[1, 0, "x"]])
    #expect(
      try rows(0, ["id": 1, "a": ["codes": ["x", .null]]]) == [[1, 0, "x"], [1, 1, .null]])
    #expect(try rows(0, ["id": 1, "a": ["codes": .null]]) == [])
    #expect(try rows(0, ["id": 1, "a": ["b"]]) == [])
    // An element of XML.
    #expect(try rows(1, ["id": 1, "a": ["lines": ["n": ["m": 7]]]]) == [[1, 0, 7]])
  }

  @Test func `A composite ID is joined, and its parts are escaped`() throws {
    let record = try DeclaredRecord(
      ["a": "x/y%", "b": 7], id: [JSONPath("a"), JSONPath("b")].compactMap(\.self))
    #expect(record.id == "x%2Fy%25/7")
    #expect(throws: SourceError.self) {
      try DeclaredRecord(["a": nil], id: [JSONPath("a")].compactMap(\.self))
    }
  }
}
