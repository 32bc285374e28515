import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `show` with names and beginnings, and the verbs that accept no names.
@Suite struct ShowByNameTests {
  @Test(arguments: [
    ("countries show france", "FR", "country FR (France)"),
    ("countries show CURACAO", "CW", "country CW (Curaçao)"),
    ("countries show afgh", "AF", "country AF (Afghanistan)"),
    ("heroes show spider-man", "1443", "hero 1443 (Spider-Man)"),
    ("heroes show SPIDERMAN", "1443", "hero 1443 (Spider-Man)"),
    (
      "users show aino.torm", "aino.tormanen@example.com",
      "user aino.tormanen@example.com (Miss Aino Törmänen)"
    ),
  ])
  func `a name or a unique beginning is found in bundled data, and a note says which record`(
    line: String, id: String, record: String
  ) async throws {
    let field = ["countries": "code", "users": "email"][line.prefix { $0 != " " }] ?? "id"
    let outcome = try await Binary.run("\(line) --offline --fields \(field) --tsv")
    #expect(outcome.status == 0)
    #expect(outcome.output == "\(id)\n")
    let typed = line.split(separator: " ").last ?? ""
    #expect(
      outcome.errors.hasPrefix("note: showing \(record) for \"\(typed)\"\n"), "\(outcome.errors)")
    let exact = try await Binary.run(
      "\(line.split(separator: " ")[0]) show \(id) --offline --fields \(field) --tsv")
    #expect(exact.output == outcome.output)
    #expect(!exact.errors.contains("note: showing"), "\(exact.errors)")
  }

  @Test func `quiet guesses nothing, and hides no failure`() async throws {
    let guess = try await Binary.run("countries show afgh -q --offline")
    #expect(guess.status == 64)
    #expect(guess.output == "")
    #expect(
      guess.errors.hasPrefix(
        "error: countries: country \"afgh\" is neither an ID nor the whole name\n"
          + "hint: candidates: AF (Afghanistan)"), "\(guess.errors)")
    let name = try await Binary.run("countries show CURACAO -q --offline --fields code --tsv")
    #expect(name.status == 0)
    #expect(name.output == "CW\n" && name.errors == "")
    let part = try await Binary.run("countries show FR XX DE -q --offline --fields code --tsv")
    #expect(part.status == 3)
    #expect(part.output == "FR\nDE\n")
    #expect(part.errors.contains("XX"), "\(part)")
  }

  @Test func `an ambiguous name lists candidates, and others are shown`() async throws {
    let outcome = try await Binary.run("heroes show spider --offline")
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(
      outcome.errors.hasPrefix(
        """
        error: heroes: ambiguous hero "spider"
        hint: candidates: 1443 (Spider-Man), 1453 (Spider-Woman), 3365 (Spider-Girl (Parker))
        """), "\(outcome.errors)")
    let part = try await Binary.run("heroes show spider 1443 --offline --fields name")
    #expect(part.status == 3)
    #expect(part.output == "Spider-Man\n")
    #expect(part.errors.contains("ambiguous hero \"spider\""))
    let opened = try await Binary.run("heroes open spider --print-url --offline")
    #expect(opened.status == 64)
    #expect(opened.errors.contains("ambiguous hero \"spider\""), "\(opened)")
  }

  @Test func `an unknown name suggests a search`() async throws {
    let outcome = try await Binary.run("heroes show zzyzx --offline")
    #expect(outcome.status == 69)
    #expect(
      outcome.errors == """
        error: heroes: hero "zzyzx" is neither cached nor bundled (offline mode)
        hint: aggregator heroes search zzyzx

        """)
    // A search for a misspelt name finds nothing.
    let typo = try await Binary.run("heroes show spider-mn --offline")
    #expect(typo.errors.hasSuffix("\n\nDid you mean \"spiderman\"?\n"), "\(typo.errors)")
    // Words that occur elsewhere in a few records make them candidates.
    let near = try await Binary.run("heroes show drew --offline")
    #expect(near.errors.contains("candidates: 1453 (Spider-Woman)"), "\(near.errors)")
  }

  @Test func `an exact ID takes no request beside its own, and wins over names`() async throws {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    #expect(try await home.run("heroes show 1253").status == 0)
    #expect(service.requests.count == 1)
    // A number is an ID, even if it begins others.
    let number = try await home.run("heroes show 125")
    #expect(number.status == 1)
    #expect(number.errors.contains("hero 125 not found"))
    #expect(service.requests.count == 2)
  }

  @Test func `a cached name takes the request of its ID, an unknown one a search before`()
    async throws
  {
    let service = try FakeComicVine()
    let home = try TestHome(service.settings)
    let name = try await home.column("name", "heroes show 1253").first ?? ""
    #expect(service.requests.count == 1)
    // Fetched just now.
    let cached = try await Binary.run(
      ["heroes", "show", name, "--fields", "id", "--tsv"], environment: home.environment,
      in: home.sandbox)
    #expect(cached.output == "1253\n")
    #expect(service.requests.count == 1)

    let fresh = try TestHome(service.settings)
    let found = try await Binary.run(
      ["heroes", "show", name, "--fields", "id", "--tsv"], environment: fresh.environment,
      in: fresh.sandbox)
    #expect(found.output == "1253\n", "\(found)")
    #expect(found.errors.contains("showing hero 1253"))
    #expect(service.requests.count == 3)
    #expect(service.requests.dropFirst().first?.path.contains("search") == true)

    let unknown = try await fresh.run("heroes show zzyzx")
    #expect(unknown.status == 1)
    #expect(
      unknown.errors == """
        error: heroes: hero "zzyzx" not found
        hint: aggregator heroes search zzyzx

        """)
    #expect(service.requests.count == 4)
  }

  @Test func `a name is not denied where only samples were looked at`() async throws {
    for (line, name, reason) in [
      ("countries show Frence --offline", "country \"Frence\"", " (offline mode)"),
      ("countries show Frence", "country \"Frence\"", " ("),
      ("countries show Frence --refresh", "country \"Frence\"", " ("),
      ("users show Nobody", "user \"Nobody\"", "\n"),
      ("users show Nobody --offline", "user \"Nobody\"", "\n"),
      ("users show Nobody --no-fallback", "user \"Nobody\"", "\n"),
    ] {
      let outcome = try await Binary.run(line)
      #expect(outcome.status == 69 && outcome.output.isEmpty, "\(outcome)")
      let words = "\(name) is neither cached nor bundled\(reason)"
      #expect(outcome.errors.contains(words), "\(outcome)")
    }
    let strict = try await Binary.run("countries show Frence --no-fallback")
    #expect(strict.status == 69 && !strict.errors.contains("not found"), "\(strict)")
    // What may not answer is no candidate either.
    let near = ["users", "show", "Aino Törmänen"]
    #expect(try await Binary.run(near).errors.contains("candidates: aino.tormanen@example.com"))
    let refused = try await Binary.run(near + ["--no-fallback"])
    #expect(refused.status == 69 && !refused.errors.contains("candidates"), "\(refused)")
  }

  @Test func `a name that the service does not have is not found`() async throws {
    let service = try FakeCountries()
    let home = try TestHome(service.settings)
    let unknown = try await home.run("countries show zzyzx")
    #expect(unknown.status == 1, "\(unknown)")
    #expect(
      unknown.errors == """
        error: countries: country "zzyzx" not found
        hint: aggregator countries search zzyzx

        """)
    let again = try await home.run("countries show zzyzx")
    #expect(again.status == 1, "\(again)")
    #expect(
      again.errors == """
        error: countries: country "zzyzx" not found among the cached countries
        hint: aggregator countries show zzyzx --refresh

        """)
    #expect(service.requests.count == 1)
  }

  @Test func `no record is denied in a list that lacks some`() async throws {
    let rows = (1...20).map { #"{"id": \#($0), "name": "n \#($0)"}"# }.joined(separator: ",")
    let service = try LoopbackServer { _ in .json(#"{"total": 500, "items": [\#(rows)]}"#) }
    let home = try TestHome()
    let added = try await home.run("sources add cut \(service.baseURL)/cut --rate off --single")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.column("id", "cut show 7") == ["7"])
    for name in ["30", "n30"] {
      let outcome = try await home.run("cut show \(name)")
      #expect(outcome.status == 3, "\(outcome)")
      let words =
        "record \"\(name)\" not found among the first 20: the service reports 500 records but sent 20"
      #expect(outcome.errors == "error: cut: \(words)\n", "\(outcome)")
    }
    let deleted = try await home.run("cut delete 30 --yes")
    #expect(deleted.status == 3 && deleted.errors.contains("among the first 20"), "\(deleted)")
    let doctor = try await home.run("doctor cut --json")
    #expect(doctor.status == 3, "\(doctor)")
    let document = try JSONDecoder().decode(JSON.self, from: Data(doctor.output.utf8))
    let found = (document["items"]?.array ?? []).filter { $0["name"] == "cut" }
    #expect(found.map { $0["state"] } == ["incomplete", "warning"], "\(found)")
    // One fault has one remedy.
    let remedy = JSON.string("only its service can mend that")
    #expect(found.map { $0["remedy"] } == [remedy, remedy], "\(found)")
    #expect(try await home.run("cut sync").status == 3)
    let synced = try await home.run("cut show 30")
    #expect(synced.status == 3, "\(synced)")
    #expect(synced.errors.contains("not found; it may be missing, as the last sync"), "\(synced)")
  }

  @Test func `the only match of a store that lacks records may have others`() async throws {
    let (home, service) = try await homeWithLies()
    defer { service.stop() }
    #expect(try await home.run("lies sync --max-pages 1").status == 3)
    let part = "among local records: 10 of 25 lies are cached"
    let warning = "warning: lies: the only match \(part)\nhint: aggregator lies sync\n"
    let id = Self.id(7)
    for line in ["show gamma --fields id --tsv", "show 10000007 --fields id --tsv"] {
      let shown = try await home.run("lies \(line)")
      #expect(shown.status == 3 && shown.output == "\(id)\n", "\(shown)")
      #expect(shown.errors.hasSuffix(warning), "\(shown)")
    }
    let json = try await home.run("lies show gamma --json -q")
    #expect(json.status == 64, "\(json)")
    let document = try await home.run("lies show gamma --json").output
    #expect(document.contains("the only match \(part)"), "\(document)")
    let opened = try await home.run("lies open 10000007 --print-url")
    #expect(opened.status == 3 && opened.output == "http://lies.example/7\n", "\(opened)")
    #expect(opened.errors.hasSuffix(warning), "\(opened)")
    let several = try await home.run("lies show lie")
    #expect(several.status == 64, "\(several)")
    #expect(several.errors.contains("ambiguous lie \"lie\" \(part)\n"), "\(several)")
    let none = try await home.run("lies show zeta")
    #expect(none.status == 3, "\(none)")
    #expect(none.errors.contains("lie \"zeta\" not found by ID, nor by name \(part)\n"), "\(none)")
    // Its own ID leaves no doubt.
    let exact = try await home.run("lies show \(id)")
    #expect(exact.status == 0 && !exact.errors.contains("warning"), "\(exact)")
    let deleted = try await home.run("lies delete 10000007 --yes")
    #expect(deleted.status == 3 && deleted.errors.hasPrefix(warning), "\(deleted)")
    #expect(try await home.run("lies restore --all").status == 0)
    #expect(try await home.run("lies sync").status == 0)
    let whole = try await home.run("lies show 10000007")
    #expect(whole.status == 0 && !whole.errors.contains("warning"), "\(whole)")
    let both = try await home.run("lies show gamma")
    #expect(both.errors.contains("ambiguous lie \"gamma\"\n"), "\(both)")
  }

  @Test func `the pages that are read for an ID may have the name`() async throws {
    let (home, service) = try await homeWithLies(hasItems: false)
    defer { service.stop() }
    let shown = try await home.run("lies show burst --fields id --tsv")
    #expect(shown.output == "\(Self.id(21))\n", "\(shown)")
    #expect(shown.errors.contains(#"for "burst""#), "\(shown)")
  }

  private static func id(_ number: Int) -> String {
    "\(10_000_000 + number)-5d9d-49f8-9818-e811892f902b"
  }

  private static func row(_ number: Int) -> String {
    let name = [7: "gamma ray", 20: "gamma burst", 21: "burst"][number] ?? "lie \(number)"
    let url = "http://lies.example/\(number)"
    return #"{"id": "\#(id(number))", "name": "\#(name)", "html_url": "\#(url)"}"#
  }

  /// A home with a source of 25 records in pages of 10, two of which have a name that begins with the same word.
  private func homeWithLies(hasItems: Bool = true) async throws -> (TestHome, LoopbackServer) {
    let service = try LoopbackServer { request in
      let last = request.path.split(separator: "/").last.map(String.init) ?? ""
      guard last == "lies" else {
        return (1...25).first { Self.id($0) == last }.map { .json(Self.row($0)) } ?? .status(404)
      }
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = (1...25).dropFirst((page - 1) * 10).prefix(10).map(Self.row).joined(separator: ",")
      return .json(#"{"page": \#(page), "total": 25, "lies": [\#(rows)]}"#)
    }
    let (home, url) = (try TestHome(), "\(service.baseURL)/lies")
    let item = hasItems ? "--item \(url)/{id}" : ""
    let added = try await home.run("sources add lies \(url) --rate off \(item)")
    #expect(added.status == 0, "\(added)")
    return (home, service)
  }

  @Test func `a deleted record has no name`() async throws {
    let home = try TestHome()
    #expect(try await home.run("heroes delete 1443 --yes").status == 0)
    let outcome = try await home.run("heroes show spider-man --offline")
    #expect(outcome.status == 69, "\(outcome)")
    let restored = try await home.run("heroes restore 1443")
    #expect(restored.status == 0)
    #expect(try await home.run("heroes show spider-man --offline").status == 0)
  }

  @Test(arguments: ["open", "delete"])
  func `other verbs name the ID and do nothing`(verb: String) async throws {
    let home = try TestHome()
    let outcome = try await home.run("heroes \(verb) spider-man", ["BROWSER": nil])
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors.hasSuffix("\nhint: the ID of Spider-Man is 1443\n"), "\(outcome.errors)")
  }

  @Test func `a name may be typed with a space for a hyphen`() async throws {
    let outcome = try await Binary.run(
      ["heroes", "show", "spider man", "--offline", "--fields", "id", "--tsv"])
    #expect(outcome.output == "1443\n", "\(outcome)")
  }

  @Test func `an ID that is a text is found in another case, unless several are`() async throws {
    let rows = ["Alpha", "Beta", "beta", "GAMMA"].map { #"{"id": "\#($0)", "size": 1}"# }
    let service = try LoopbackServer { _ in .json("[\(rows.joined(separator: ","))]") }
    let home = try TestHome()
    let url = "\(service.baseURL)/orders"
    let added = try await home.run("sources add orders \(url) --rate off --single")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.run("orders sync").status == 0)
    for (typed, id) in [("alpha", "Alpha"), ("ALPHA", "Alpha"), ("gamma", "GAMMA")] {
      for option in ["", " -q"] {
        let shown = try await home.run("orders show \(typed) --offline --fields id --tsv\(option)")
        #expect(shown.output == "\(id)\n", "\(shown)")
      }
    }
    let exact = try await home.run("orders show beta --offline --fields id --tsv")
    #expect(exact.output == "beta\n", "\(exact)")
    let several = try await home.run("orders show BETA --offline --fields id --tsv")
    #expect(several.status == 64 && several.output.isEmpty, "\(several)")
    #expect(several.errors.contains("ambiguous"), "\(several)")
    // Nothing is deleted by another ID than its own.
    let deleted = try await home.run("orders delete alpha --yes --offline")
    #expect(deleted.status != 0, "\(deleted)")
  }

  @Test func `JSON is that of the ID`() async throws {
    let named = try await Binary.run("heroes show spider-man --offline --json")
    let exact = try await Binary.run("heroes show 1443 --offline --json")
    #expect(named.output == exact.output)
  }

  @Test func `a record of a source whose name is no plural is called a record`() async throws {
    let lamps = try FakeLamps()
    let home = try TestHome()
    #expect(try await home.run("sources add t9 \(lamps.url) --rate off").status == 0)
    let outcome = try await home.run("t9 show 99 --offline")
    #expect(outcome.errors.hasPrefix("error: t9: record 99 "), "\(outcome)")
  }
}
