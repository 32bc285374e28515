import AggregatorKit
import Foundation
import Testing

@testable import DeclaredSource

/// Files that declare a service with several lists.
final class ServiceManifestTests {
  private let folder: ManifestFolder

  init() throws {
    let directory = FileManager.default.temporaryDirectory.appending(
      path: "services-\(UInt64.random(in: .min ... .max))")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    folder = ManifestFolder(directory.path)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder.path) }

  private func write(_ text: String, to file: String = "crm") throws {
    try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/\(file).json"))
  }

  private static let plain = #"{"url": "https://other.example/", "rows": "$", "id": "id"}"#

  @Test func `a file that no source reads any more may not be read`() throws {
    let url = "file:///data/a.json"
    let source: JSON = ["url": .string(url), "rows": "$", "id": "id"]
    for name in ["one", "two"] { try folder.write(service: source, as: name) }
    for (name, isAllowed) in [("one", true), ("two", false)] {
      #expect(try folder.remove(name))
      #expect(folder.isBound(url, to: ManifestFolder.fileMark) == isAllowed)
    }
  }

  @Test func `the file of bound secrets stays so small that it can be read`() throws {
    func url(_ number: Int) -> String { "file:///\(String(repeating: "a", count: 3600))/\(number)" }
    func add(_ number: Int) throws(SourceError) {
      try folder.write(
        service: ["url": .string(url(number)), "rows": "$", "id": "id"], as: "s\(number)")
    }
    for number in 0..<18 { try add(number) }
    let error = #expect(throws: SourceError.self) { try add(18) }
    #expect(error?.code == .tooLarge && folder.names.count == 18)
    #expect(folder.isBound(url(0), to: ManifestFolder.fileMark))
    #expect(try folder.remove("s0"))
    try add(18)
    #expect(folder.isBound(url(18), to: ManifestFolder.fileMark))
  }

  @Test func `each list has its own keys, and those of the service`() throws {
    try write(
      """
      {
        // Both lists of the service.
        "service": {"base": "https://api.example/v3/", "headers": {"X-Key": "${CRM_KEY}", "X-Lang": "en"},
          "rate": "8/s", "rows": "data", "id": "id", "next": "next", "token": "cursor", "total": "count"},
        "resources": {
          "contacts": {"url": "/contacts?sort=id", "item": "contacts/{id}", "search": "url:/find?q={query}",
            "headers": {"x-lang": "de"}, "total": null},
          "deals": {"url": "https://api.example/v4/deals", "page": "page=1", "rate": "2/s", "search": "q"},
        },
      }
      """)
    try write(Self.plain, to: "plain")
    #expect(folder.names == ["crm-contacts", "crm-deals", "plain"])
    #expect(folder.services == ["crm"])
    #expect(folder.plugins.map(\.name) == folder.names)
    let common = #""rows":"data","id":"id""#
    #expect(
      try folder.json(of: "crm-contacts").text
        == #"{"url":"https://api.example/v3/contacts?sort=id","headers":{"X-Key":"${CRM_KEY}","x-lang":"de"},"#
        + common
        + #","next":"next","token":"cursor","item":"https://api.example/v3/contacts/{id}","#
        + #""search":"url:https://api.example/v3/find?q={query}","rate":"8/s"}"#)
    #expect(
      try folder.json(of: "crm-deals").text
        == #"{"url":"https://api.example/v4/deals","headers":{"X-Key":"${CRM_KEY}","X-Lang":"en"},"#
        + common + #","page":"page=1","total":"count","search":"q","rate":"2/s"}"#)
    #expect(Set(folder.plugins.flatMap(\.settings)).count == 1)
    #expect(folder.file(of: "crm-deals") == "\(folder.path)/crm.json")
    #expect(folder.service(of: "crm-deals") == "crm" && folder.service(of: "plain") == nil)
    #expect(folder.sources(of: "crm") == ["crm-contacts", "crm-deals"])
    #expect(try folder.remove("crm"))
    #expect(folder.names == ["plain"])
  }

  @Test(arguments: [
    ("\"service\": {\"base\": \"https://a.example\"}", "line 1: \"resources\" must be an object"),
    ("\"resources\": {\"a\": {\"url\": \"/a\"}}", "line 1: \"service\" must be an object"),
    ("\"service\": {},\n\"resources\": {}", "line 2: \"resources\" must have 1 to 64 lists"),
    (
      "\"servise\": {},\n\"resources\": {}",
      "line 1: unknown key \"servise\"; did you mean \"service\"?"
    ),
    (
      "\"service\": {\n\"base\": \"https://a.example\", \"rat\": \"8/s\"},\n\"resources\": {}",
      "line 2: unknown key \"rat\"; did you mean \"rate\"?"
    ),
    (
      "\"service\": {\"url\": \"https://a.example\"}, \"resources\": {}",
      "line 1: unknown key \"url\""
    ),
    (
      "\"service\": {},\n\"resources\": {\n\"Big\": {}}",
      "line 3: invalid name \"crm-Big\": must be 1 to 32 lower-case letters"
    ),
    ("\"service\": {},\n\"resources\": {\n\"a\": 7}", "line 3: \"a\" must be an object"),
    ("\"service\": {},\n\"resources\": {\"a\": {},\n\"a\": {}}", "line 3: \"a\" is there twice"),
  ])
  func `a file that declares no lists is itself a source with the mistake`(
    members: String, message: String
  ) throws {
    try write("{\(members)}")
    #expect(folder.names == ["crm"])
    let problem = try #require(DeclaredPlugin("crm", in: folder).failure)
    #expect(problem.code == .invalidSettings)
    #expect(problem.message.hasPrefix("\(folder.path)/crm.json: \(message)"), "\(problem.message)")
  }

  @Test(arguments: [
    ("", "\"url\": \"/a\"", "line 1: \"base\" must be an http or https URL without a query"),
    ("\"base\": \"https://a.example?k=1\"", "\"url\": \"/a\"", "line 2: \"base\" must be"),
    ("\"base\": \"https://a.example\"", "\"rows\": \"$\"", "line 4: \"url\" is missing"),
    (
      "\"base\": \"https://a.example\"", "\n\"url\": \"https://b.example/a\"",
      "line 5: \"url\" must be a path, or a URL on the host of \"base\""
    ),
    (
      "\"base\": \"https://a.example\"", "\n\"url\": \"http://a.example/a\"",
      "line 5: \"url\" must be a path, or a URL on the host of \"base\""
    ),
    (
      "\"base\": \"https://a.example\"", "\"url\": \"/a\",\n\"lists\": \"b\"",
      "line 5: unknown key \"lists\""
    ),
    (
      "\"base\": \"https://a.example\", \"auth\": {\"basic\": {\n\"usr\": \"x\"}}",
      "\"url\": \"/a\"",
      "line 3: \"auth.basic.usr\" is an unknown key"
    ),
    (
      "\"base\": \"https://a.example\", \"fresh\": 3", "\"url\": \"/a\"",
      "line 2: \"fresh\" must be"
    ),
  ])
  func `a mistake in a list or its service names line and key`(
    service: String, list: String, message: String
  ) throws {
    try write(
      "{\"service\": {\n\(service)},\n\"resources\": {\"a\": {\(list)}}}".replacing(
        "{\"a\": {", with: "{\n\"a\": {"))
    #expect(folder.names == ["crm-a"])
    let problem = try #require(DeclaredPlugin("crm-a", in: folder).failure)
    #expect(problem.message.hasPrefix("\(folder.path)/crm.json: \(message)"), "\(problem.message)")
  }

  @Test func `a list cannot have the name of another source`() throws {
    try write(#"{"service": {"base": "https://a.example"}, "resources": {"a": {"url": "/a"}}}"#)
    try write(Self.plain, to: "crm-a")
    #expect(folder.names == ["crm", "crm-a"])
    #expect(
      DeclaredPlugin("crm", in: folder).failure?.message.hasSuffix(
        "line 1: \"a\" would be \"crm-a\", which is another source") == true)
    #expect(try folder.manifest("crm-a").url == "https://other.example/")
  }

  @Test func `an edited service is checked as a whole`() throws {
    let text =
      #"{"service": {"base": "https://a.example"}, "resources": {"a": {"url": "/a"}, "b": {"url": "/b"}}}"#
    try write(text)
    let error = #expect(throws: SourceError.self) {
      try folder.replace("crm-a", with: Array(text.replacing("/b", with: "ftp://b").utf8))
    }
    #expect(error?.message.contains("\"url\" must be a path") == true)
    try folder.replace("crm", with: Array(text.replacing("\"b\"", with: "\"c\"").utf8))
    #expect(folder.names == ["crm-a", "crm-c"])
  }

  @Test(arguments: [
    (#""auth": {"basic": {"user": "mary", "password": "${P}"}}"#, "mary"),
    (#""auth": {"basic": {"user": "${U}", "password": "${P}"}}"#, "${U}"),
    (#""auth": {"basic": {"user": "sk_live_1"}}"#, ""),
    (
      #""auth": {"oauth": {"token": "https://l.example/", "grant": "client_credentials", "id": "shop", "secret": "${S}"}}"#,
      "shop"
    ),
    (#""headers": {"X-B": "${B}", "X-A": "Key ${A}"}"#, "${A} ${B}"),
    (#""fresh": "1h""#, ""),
  ])
  func `an account is named by a client, a user or the settings of a key`(
    member: String, account: String
  ) throws {
    let manifest = try Manifest(reading: Data(#"{"url": "https://a.example", \#(member)}"#.utf8))
    #expect(DeclaredPlugin("a", manifest).account == account)
  }
}
