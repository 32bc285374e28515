import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorProgramTesting

/// `doctor`: what is there, what is missing, and what does not work.
@Suite(.timeLimit(.minutes(10))) struct DoctorTests {
  private func findings(_ outcome: Outcome) throws -> [String: JSON] {
    let document = try JSONDecoder().decode(JSON.self, from: Data(outcome.output.utf8))
    let items = document["items"]?.array ?? []
    return Dictionary(
      items.compactMap { item in item["name"]?.string.map { ($0, item) } },
      uniquingKeysWith: { first, _ in first })
  }

  @Test func `a new user lacks a key and nothing else`() async throws {
    let service = try FakeCountries()
    let home = try TestHome(service.settings)
    let outcome = try await home.run("doctor --offline --json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let findings = try findings(outcome)
    #expect(findings["COMIC_VINE_API_KEY"]?["state"] == "missing")
    #expect(
      findings["COMIC_VINE_API_KEY"]?["remedy"] == "aggregator config set COMIC_VINE_API_KEY")
    #expect(findings["COUNTRIES_URL"]?["found"]?.string?.hasSuffix("environment") == true)
    #expect(findings["data"]?["found"]?.string?.hasSuffix("not there yet") == true)
    #expect(findings["store"]?["found"]?.string?.contains("does not exist yet") == true)
    let version = try await home.run("--version").output
    #expect(version == "aggregator \(findings["aggregator"]?["found"]?.string ?? "")\n")
    let page = try await home.run("doctor --offline", ["AGGREGATOR_FORCE_TTY": "100"])
    #expect(page.lines.last?.contains("No problems, ") == true, "\(page)")
    #expect(service.requests.isEmpty, "--offline sends no request")
  }

  @Test func `services are asked once, and failures are named with exit code 3`() async throws {
    let (countries, products) = (try FakeCountries(), try FakeProducts([FakeProduct(1, "Kettle")]))
    products.fail(with: .status(500))
    let home = try TestHome(
      countries.settings.merging(products.settings) { $1 }.merging([
        "USERS_URL": "http://127.0.0.1:1"
      ]) {
        $1
      })
    let outcome = try await home.run("doctor --json")
    #expect(outcome.status == 3)
    let document = try JSONDecoder().decode(JSON.self, from: Data(outcome.output.utf8))
    let services = (document["items"]?.array ?? []).filter { $0["area"] == "services" }
    let states = services.compactMap { $0["state"]?.string }
    #expect(states == ["ok", "missing", "failed", "failed"], "\(services)")
    #expect(services[2]["remedy"] == "try again later", "\(services)")
    #expect(
      services[3]["remedy"]
        == "check that the service runs at this address, or change its URL: RANDOM_USER_URL",
      "\(services)")
    #expect(countries.requests.count == 1)
  }

  @Test func `problems end the screen, and no service whose records are missing is ok`()
    async throws
  {
    let countries = try FakeCountries()
    let lamps = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = (1...24).dropFirst((page - 1) * 10).prefix(10).map {
        #"{"id": \#($0), "name": "lamp \#($0)"}"#
      }
      return .json(#"{"total": 25, "lamps": [\#(rows.joined(separator: ","))]}"#)
    }
    let home = try TestHome(countries.settings)
    let added = try await home.run("sources add lamps \(lamps.baseURL)/lamps --rate off")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.run("lamps sync").status == 3)

    let page = try await home.run("doctor", ["AGGREGATOR_FORCE_TTY": "80", "NO_COLOR": "1"])
    #expect(page.status == 3, "\(page)")
    // Products, users, and the records of lamps.
    #expect(page.lines.last?.hasPrefix("3 problems, ") == true, "\(page)")
    let paragraphs = page.output.split(separator: "\n\n").suffix(3).map {
      $0.split(separator: "\n")
    }
    #expect(paragraphs.map(\.first).dropLast() == ["Notes", "Problems"], "\(page)")
    #expect(paragraphs[1].count < 22, "\(page)")
    for setting in ["PRODUCTS_URL", "RANDOM_USER_URL"] {
      #expect(paragraphs[1].contains { $0.contains(setting) }, "\(page)")
    }
    // The line of the service says which key is missing.
    #expect(paragraphs[0].count { $0.contains("COMIC_VINE_API_KEY is not set") } == 1, "\(page)")
    #expect(!page.output.contains("COMIC_VINE_API_KEY  not set"), "\(page)")

    let outcome = try await home.run("doctor lamps --json")
    #expect(outcome.status == 3 && outcome.errors.contains("lamps"), "\(outcome)")
    let document = try JSONDecoder().decode(JSON.self, from: Data(outcome.output.utf8))
    let found = (document["items"]?.array ?? []).filter { $0["name"] == "lamps" }
    #expect(found.map { $0["area"] } == ["store", "services"], "\(found)")
    #expect(found.map { $0["state"] } == ["incomplete", "warning"], "\(found)")
    #expect(
      found.map { $0["remedy"] } == [
        "only its service can mend that", "aggregator sources check lamps",
      ], "\(found)")
    let words = found.last?["found"]?.string
    #expect(words?.hasSuffix(" ms; the last sync may lack records") == true, "\(found)")

    // It is not the service that begins after the first page.
    let path = home.manifestPath("lamps.json")
    let manifest = try home.sandbox.text(of: path)
    #expect(manifest.contains(#""page=1""#), "\(manifest)")
    try home.sandbox.write(manifest.replacing("page=1", with: "page=2"), to: path)
    #expect(try await home.run("lamps sync").status == 3)
    let later = try await home.run("doctor lamps --json --offline")
    #expect(
      later.output.contains(
        "its list begins at page=2, after other records: aggregator sources edit lamps"),
      "\(later)")
  }

  @Test func `a list with fewer records than are cached contradicts every answer until a sync`()
    async throws
  {
    let total = Mutex(25)
    let lamps = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = (1...total.withLock(\.self)).dropFirst((page - 1) * 10).prefix(10).map {
        #"{"id": \#($0), "name": "lamp \#($0)"}"#
      }
      return .json(
        #"{"total": \#(total.withLock(\.self)), "lamps": [\#(rows.joined(separator: ","))]}"#)
    }
    let home = try TestHome()
    let added = try await home.run("sources add lamps \(lamps.baseURL)/lamps --rate off")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.run("lamps sync").status == 0)
    #expect(try await home.run("doctor lamps").status == 0)
    total.withLock { $0 = 24 }
    #expect(try await home.run("lamps list --refresh --limit 1").status == 0)
    let words = "25 lamps are cached, but the service reports 24"
    let lines = ["lamps list --count --offline", "sql SELECT count(*) FROM lamps", "lamps diff"]
    for line in lines {
      let outcome = try await home.run(line)
      #expect(outcome.status == 3 && outcome.errors.contains(words), "\(line): \(outcome)")
      #expect(outcome.errors.contains("hint: aggregator lamps sync"), "\(line): \(outcome)")
    }
    let doctor = try await home.run("doctor lamps")
    #expect(doctor.status == 3 && doctor.output.contains(words), "\(doctor)")
    #expect(try await home.run("lamps sync").status == 0)
    let count = try await home.run("lamps list --count --offline")
    #expect(count.status == 0 && count.output == "24\n", "\(count)")
    #expect(try await home.run("doctor lamps").status == 0)
  }

  @Test func `a service that refuses all requests has a remedy`() async throws {
    let status = Mutex(200)
    let lamps = try LoopbackServer { _ in
      let status = status.withLock(\.self)
      return status == 200 ? .json(#"[{"id": 1, "name": "a"}]"#) : .status(status, "no")
    }
    let home = try TestHome()
    let added = try await home.run("sources add lamps \(lamps.baseURL)/lamps --single --rate off")
    #expect(added.status == 0, "\(added)")
    for (code, remedy) in [
      (404, "correct its URL, or sign in: aggregator sources edit lamps"), (429, "try again later"),
    ] {
      status.withLock { $0 = code }
      let outcome = try await home.run("doctor lamps --json")
      #expect(outcome.status == 3, "\(outcome)")
      #expect(try findings(outcome)["lamps"]?["remedy"]?.string == remedy, "\(outcome)")
    }
  }

  @Test func `an invalid setting is exit code 78, and all else is still examined`() async throws {
    let home = try TestHome(["COUNTRIES_URL": "nonsense", "AGGREGATOR_STORE": "ftp://x"])
    let outcome = try await home.run("doctor --offline --json")
    #expect(outcome.status == 78, "\(outcome)")
    let findings = try findings(outcome)
    #expect(findings["COUNTRIES_URL"]?["state"] == "failed")
    #expect(findings["libmicrohttpd"] != nil)
  }

  @Test func `of settings that cannot be read the end says that there is a problem`() async throws {
    let home = try TestHome()
    try home.sandbox.write("no setting\n", to: TestHome.settingsFile)
    let outcome = try await home.run(
      "doctor --offline", ["AGGREGATOR_FORCE_TTY": "100", "NO_COLOR": "1"])
    #expect(outcome.status == 78, "\(outcome)")
    #expect(outcome.lines.last?.hasPrefix("1 problem, ") == true, "\(outcome)")
    // In a pipe it is said before the rows.
    let piped = try await home.run("doctor --offline")
    #expect(piped.errors.hasPrefix("warning: 1 problem, "), "\(piped)")
    #expect(piped.errors.hasSuffix(": settings\n"), "\(piped)")
    let store = try await findings(home.run("doctor --offline --json"))["store"]
    #expect(store?["state"] == "warning")
    #expect(store?["found"]?.string?.hasPrefix("not examined: the settings") == true)
  }

  @Test func `programs that are not there are named with the way to install them`() async throws {
    let home = try TestHome(["PATH": "/nowhere"])
    let outcome = try await home.run(
      "doctor --offline", ["AGGREGATOR_FORCE_TTY": "100", "NO_COLOR": "1"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output.contains("apt install chafa"))
    #expect(outcome.output.contains("not installed: Parquet"))
    #expect(outcome.output.contains("pip install duckdb-cli"))
    // No line is wider than the terminal.
    for line in outcome.output.split(separator: "\n") { #expect(line.count <= 100, "\(line)") }
  }

  @Test func `sources narrow settings, caches and services`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    #expect(try await home.run("countries sync").status == 0)
    #expect(try await home.run("products sync").status == 0)
    let outcome = try await home.run("doctor countries --json")
    #expect(outcome.status == 0, "\(outcome)")
    let document = try JSONDecoder().decode(JSON.self, from: Data(outcome.output.utf8))
    let items = document["items"]?.array ?? []
    #expect(items.filter { $0["area"] == "services" }.map { $0["name"] } == ["countries"])
    let names = items.compactMap { $0["name"]?.string }
    #expect(names.contains("COUNTRIES_URL") && !names.contains("PRODUCTS_URL"), "\(names)")
    #expect(!names.contains("COMIC_VINE_API_KEY") && !names.contains("products"), "\(names)")
    // Nor what is in order besides.
    let areas = Set(items.compactMap { $0["area"]?.string })
    #expect(areas == ["store", "settings", "services"], "\(items)")
    let unknown = try await home.run("doctor countris --offline")
    #expect(unknown.status == 64 && unknown.errors.contains("\"countries\""), "\(unknown)")
  }

  @Test func `the store, the editor and the completions are examined`() async throws {
    let services = try FourServices()
    let home = try TestHome(
      services.settings.merging([
        "EDITOR": "no-such-editor --wait", "VISUAL": "", "SHELL": "/bin/fish",
      ]) { $1 })
    #expect(try await home.run("countries sync").status == 0)
    let outcome = try await home.run("doctor --offline --json")
    #expect(outcome.status == 0, "\(outcome)")
    let findings = try findings(outcome)
    #expect(findings["integrity"]?["state"] == "ok", "\(outcome)")
    #expect(findings["free space"] != nil, "\(outcome)")
    #expect(findings["editor"]?["state"] == "missing", "\(outcome)")
    #expect(findings["editor"]?["remedy"]?.string?.hasPrefix("set VISUAL or EDITOR") == true)
    // Unless the program is installed on this machine.
    if findings["completions"]?["state"] == "missing" {
      #expect(findings["completions"]?["remedy"] == "aggregator help completions fish")
      try home.sandbox.write("", to: "home/.config/fish/completions/aggregator.fish")
      let again = try await self.findings(home.run("doctor --offline --json"))
      #expect(again["completions"]?["state"] == "ok", "\(again)")
    }
  }

  @Test(arguments: [40, 80])
  func `paths break at slashes only`(width: Int) async throws {
    let directory =
      "/proc/" + Array(repeating: "a-name-of-a-directory", count: 6).joined(separator: "/")
    let home = try TestHome(["AGGREGATOR_HOME": directory])
    let page = try await home.run(
      "doctor --offline", ["AGGREGATOR_FORCE_TTY": "\(width)", "NO_COLOR": "1"])
    let pieces = page.lines.filter { $0.contains("a-name") }
    #expect(!pieces.isEmpty, "\(page)")
    for line in pieces {
      let names = line.split(separator: "/").filter {
        $0.contains("a-name") || $0.contains("directory")
      }
      #expect(names.allSatisfy { $0.contains("a-name-of-a-directory") }, "\(line)")
      #expect(line.count <= width, "\(line)")
    }
    // Only paragraphs are apart.
    #expect(!page.output.contains("\n\n "), "\(page)")
  }

  @Test func `a key is never shown`() async throws {
    let home = try TestHome(["COMIC_VINE_API_KEY": "s3cretKeyOfComicVine"])
    for options in ["--offline", "--offline --json"] {
      let outcome = try await home.run("doctor \(options)")
      #expect(!(outcome.output + outcome.errors).contains("s3cret"))
      #expect(outcome.output.contains("COMIC_VINE_API_KEY"))
    }
  }

  @Test func `a directory that cannot be made is a failure`() async throws {
    let home = try TestHome()
    try home.sandbox.write("no directory", to: "home/.local/share")
    let outcome = try await home.run("doctor --offline --json")
    #expect(outcome.status == 3, "\(outcome)")
    let data = try findings(outcome)["data"]
    #expect(data?["state"] == "failed")
    #expect(data?["found"]?.string?.contains("Not a directory") == true, "\(outcome.output)")
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self")))
  func `a directory in which nobody can create anything is a failure`() async throws {
    let home = try TestHome(["AGGREGATOR_HOME": "/proc/x"])
    let outcome = try await home.run("doctor --offline --json")
    #expect(outcome.status == 3, "\(outcome)")
    for name in ["settings file", "added sources", "saved queries", "data", "state", "cache"] {
      #expect(try findings(outcome)[name]?["state"] == "failed", "\(name): \(outcome.output)")
    }
  }

  @Test func `a damaged store stays where it is, and those moved aside are named`() async throws {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    let (path, bytes) = (home.file.path, Data(repeating: 0xE5, count: 5000))
    try home.sandbox.write("", to: TestHome.store)
    try bytes.write(to: URL(filePath: path))
    for _ in 0..<2 {
      let outcome = try await home.run("doctor --offline --json")
      #expect(outcome.status == 3, "\(outcome)")
      let store = try findings(outcome)["store"]
      #expect(store?["state"] == "failed")
      #expect(store?["found"]?.string == "\(path) is not a database")
      #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    }
    #expect(!FileManager.default.fileExists(atPath: "\(path).aside-1"))
    // A service that answers is sound, whatever the store is.
    #expect(try await findings(home.run("doctor --json"))["countries"]?["state"] == "ok")
    #expect(try await home.run("countries list").status == 0)
    let outcome = try await home.run("doctor --offline --json")
    #expect(outcome.status == 0, "\(outcome)")
    let moved = try findings(outcome)["moved aside"]
    #expect(moved?["state"] == "warning")
    let words = "4.9 kB, a store that was damaged; no command reads it"
    #expect(moved?["found"]?.string == "\(path).aside-1, \(words)")
    let remedy = "read what is left with sqlite3 '\(path).aside-1' .recover, then delete it"
    #expect(moved?["remedy"]?.string == remedy)
  }

  @Test func `a broken manifest is one finding, and an incomplete cache names its sync`()
    async throws
  {
    let services = try FourServices()
    let home = try TestHome(services.settings)
    try home.sandbox.write("{\n\"url\": 7}", to: home.manifestPath("broken.json"))
    #expect(try await home.run("countries sync").status == 0)
    #expect(try await home.run("heroes list -L 2").status == 0)
    let outcome = try await home.run("doctor --json")
    #expect(outcome.status == 78, "\(outcome)")
    let document = try JSONDecoder().decode(JSON.self, from: Data(outcome.output.utf8))
    let items = document["items"]?.array ?? []
    #expect(items.count { $0["name"] == "broken" } == 1, "\(items)")
    let store = items.filter { $0["area"] == "store" && $0["name"] != "store" }
    #expect(
      store.compactMap { $0["state"]?.string } == ["ok", "ok", "ok", "incomplete"], "\(store)")
    let remedies = store.map { $0["remedy"] ?? .null }
    #expect(remedies == [.null, .null, .null, "aggregator heroes sync"], "\(store)")
  }
}
