import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import DeclaredSource
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `aggregator sources add --openapi`: the lists of a service from the document that describes it.
@Suite(.timeLimit(.minutes(10))) struct OpenAPICommandTests {
  private let crm: FakeCRM
  private let home: TestHome

  init() throws {
    crm = try FakeCRM()
    home = try TestHome(["CRM_KEY": FakeCRM.key])
  }

  private var document: String { "\(crm.server.baseURL)/openapi.yaml" }
  private static let sources = FakeCRM.lists.map { "crm-\($0)" }

  @Test func `the lists of a document are sources`() async throws {
    let added = try await home.run("sources add crm --openapi \(document) --rate off")
    #expect(added.status == 0, "\(added)")
    #expect(added.lines.first?.hasPrefix("contacts") == true)
    #expect(added.lines.contains("left out  /reports needs the parameter day"))
    #expect(
      added.lines.contains(
        "left out  1 list of single records, such as /contacts/{contact_id}/addresses"))
    #expect(added.lines.last == "next      aggregator crm-contacts list")
    #expect(try await home.column("name", "sources").suffix(6) == Self.sources)
    for (list, source) in zip(FakeCRM.lists, Self.sources) {
      let ids = FakeCRM.rows(of: list).compactMap { $0["id"]?.text }
      #expect(try await home.column("id", "\(source) list --all") == ids)
    }
    #expect(try await home.column("name", "crm-deals show 7") == ["deals 7"])
    let synced = try await home.run("crm-notes sync --json")
    #expect(synced.status == 0 && synced.output.contains("\"complete\":true"), "\(synced)")
    // The file is the service's own, as one that was written by hand.
    let checked = try await home.run("sources check crm-users")
    #expect(checked.status == 0, "\(checked)")
    let again = try await home.run("sources add crm --openapi \(document)")
    #expect(again.status == 64)
    #expect(again.errors.contains("there is a service \"crm\" already"), "\(again)")
    // A list that cannot be read for the moment is not lost.
    let kept = try await home.run(
      "sources add crm --openapi \(document) --rate off --replace",
      ["CRM_KEY": FakeCRM.limitedKey])
    #expect(kept.status == 3, "\(kept)")
    #expect(kept.errors.contains("not proved: users"), "\(kept)")
    #expect(try await home.column("name", "sources").suffix(6) == Self.sources)
    let replaced = try await home.run(
      "sources add crm --openapi \(document) --rate off --replace --only tags,users")
    #expect(replaced.status == 0, "\(replaced)")
    #expect(try await home.column("name", "sources").suffix(2) == ["crm-tags", "crm-users"])
  }

  @Test func `no key ends it, and saves nothing`() async throws {
    for (key, status, requests) in [(nil, 77, 1), ("wrong", 77, 2)] as [(String?, Int32, Int)] {
      let count = crm.server.requests.count
      let refused = try await home.run(
        "sources add crm --openapi \(document) --no-input", ["CRM_KEY": key])
      #expect(refused.status == status, "\(refused)")
      #expect(refused.errors.contains("CRM_KEY"), "\(refused)")
      #expect(crm.server.requests.count == count + requests)
      #expect(!refused.errors.contains("wrong\n"))
    }
    #expect(try await home.column("name", "sources").allSatisfy { !$0.hasPrefix("crm") })
  }

  @Test func `a dry run sends nothing to the service, and needs no key`() async throws {
    let planned = try await home.run(
      "sources add crm --openapi \(document) --dry-run --json", ["CRM_KEY": nil])
    #expect(planned.status == 0, "\(planned)")
    let json = try JSONDecoder().decode(JSON.self, from: Data(planned.output.utf8))
    #expect(json["manifest"]?["resources"]?.members.map(\.name).sorted() == FakeCRM.lists)
    #expect(json["manifest"]?["service"]?["headers"] == ["X-API-Key": "${CRM_KEY}"])
    #expect(json["lists"]?.text.contains("\"proved\":true") == false)
    #expect(crm.server.requests.map(\.path) == ["/openapi.yaml"])
    #expect(try await home.column("name", "sources").allSatisfy { !$0.hasPrefix("crm") })
  }

  @Test func `a service on another host than its document must be allowed`() async throws {
    let other = try FakeCRM { address in
      FakeCRM.document(at: address.replacing("127.0.0.1", with: "localhost"))
    }
    let line =
      "sources add crm --openapi \(other.server.baseURL)/openapi.yaml --rate off --only tags"
    let refused = try await home.run(line)
    #expect(refused.status != 0)
    #expect(refused.errors.contains("its service is on localhost"), "\(refused)")
    #expect(refused.errors.contains("--allow-host localhost"), "\(refused)")
    #expect(other.server.requests.map(\.path) == ["/openapi.yaml"])
    let allowed = try await home.run("\(line) --allow-host localhost")
    #expect(allowed.status == 0, "\(allowed)")
    // A person who names the service says so as well.
    let named = try await home.run(
      line.replacing("crm --", with: "shop \(other.server.baseURL)/v1 --"),
      ["SHOP_KEY": FakeCRM.key])
    #expect(named.status == 0, "\(named)")
  }

  @Test func `the document of serve comes back as sources`() async throws {
    let server = try await ServingProgram("--source countries,heroes")
    let token = try #require(server.token)
    let place = "http://127.0.0.1:\(server.port)/openapi.json"
    let refused = try await self.home.run("sources add own --openapi \(place)")
    #expect(refused.errors.contains("hint: give the document's credentials"), "\(refused)")
    let home = try TestHome()
    let added = try await Binary.run(
      [
        "sources", "add", "own", "--openapi", place, "--rate", "off",
        // The changes of members are a list, too, but not of records.
        "--header", "Authorization: Bearer \(token)", "--only", "countries,heroes,sources",
      ], in: home.sandbox)
    #expect(added.status == 0, "\(added)")
    #expect(
      try await home.column("name", "sources").suffix(3)
        == ["own-countries", "own-heroes", "own-sources"])
    for source in ["countries", "heroes"] {
      let all = try await home.column("id", "own-\(source) list --all")
      let field = source == "countries" ? "code" : "id"
      #expect(try await all == home.column(field, "\(source) list --all"))
    }
    #expect(try await home.column("name", "own-countries show DE") == ["Germany"])
    // The token is a setting, and nowhere else.
    let manifest = try String(
      contentsOf: home.sandbox.root.appending(path: home.manifestPath("own.json")), encoding: .utf8)
    #expect(manifest.contains("Bearer ${OWN_AUTHORIZATION}") && !manifest.contains(token))
    try await server.stop()
  }

  @Test func `mistakes on the command line say what to do`() async throws {
    let cases = [
      ("--only nothing", "has no list \"nothing\""), ("--rows data", "--rows"),
      ("--curl", "--curl"), ("--next x", "--next"),
    ]
    for (options, words) in cases {
      let refused = try await home.run("sources add crm --openapi \(document) \(options)")
      #expect(refused.status == 64, "\(refused)")
      #expect(refused.errors.contains(words), "\(refused)")
    }
    let long = try await home.run("sources add a-very-long-name-of-a-crm --openapi \(document)")
    #expect(long.status == 64 && long.errors.contains("at most 20"), "\(long)")
    let alone = try await home.run("sources add crm \(crm.server.baseURL) --only tags")
    #expect(alone.status == 64 && alone.errors.contains("--openapi"), "\(alone)")
    let missing = try await home.run("sources add crm --openapi missing.yaml")
    #expect(missing.status != 0 && missing.errors.contains("missing.yaml"), "\(missing)")
    _ = try await home.run(
      "sources add crm-tags \(crm.server.baseURL)/v1/tags --header X-API-Key:${CRM_KEY}")
    let taken = try await home.run("sources add crm --openapi \(document)")
    #expect(taken.status == 64, "\(taken)")
    #expect(taken.errors.contains("there is a source \"crm-tags\" already"), "\(taken)")
  }
}
