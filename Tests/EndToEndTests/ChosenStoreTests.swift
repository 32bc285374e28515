import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The choice of the store: `AGGREGATOR_STORE`, `--store` and the password, without a server.
@Suite struct ChosenStoreTests {
  /// A part of every password.
  private static let mark = "M4rk3d"

  private let home: TestHome
  private let port: Int

  init() throws {
    home = try TestHome()
    port = try Binary.nowhere.get().port
  }

  /// A URL that refuses connections.
  private var url: String { "postgresql://me:\(Self.mark)@127.0.0.1:\(port)/db" }
  private var shown: String { "postgresql://me@127.0.0.1:\(port)/db" }

  // MARK: - A file

  @Test(arguments: ["--store ", "--store="])
  func `an absolute path is a file of SQLite`(option: String) async throws {
    let path = home.sandbox.root.appending(path: "elsewhere/records.sqlite").path
    let directory = home.sandbox.root.appending(path: "elsewhere").path
    let warning = "warning: there is no directory \(directory) yet, so the store is empty\n"
    let typo = try await home.run("countries list --offline --limit 1 \(option)\(path)")
    #expect(typo.status == 0 && typo.errors.contains(warning), "\(typo)")
    #expect(!FileManager.default.fileExists(atPath: directory))
    let load = try await home.run("countries delete FR --yes \(option)\(path)")
    #expect(load.status == 0, "\(load)")
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(!FileManager.default.fileExists(atPath: home.file.path))
    let deleted = try await home.run(
      "countries list --deleted --offline --fields code", ["AGGREGATOR_STORE": path])
    #expect(deleted.output == "FR\n", "\(deleted)")
    #expect(!deleted.errors.contains("directory"), "\(deleted)")
    #expect(try await home.run("store path", ["AGGREGATOR_STORE": path]).output == "\(path)\n")
    let other = try await home.run("countries list --deleted --offline --fields code")
    #expect(other.output == "")
    let completed = try await Binary.run(
      ["__complete", "zsh", "--line", "aggregator countries restore \(option)\(path) "],
      in: home.sandbox)
    #expect(completed.output.hasPrefix("FR"), "\(completed)")
  }

  @Test func `a change of the setting says where the records stay`() async throws {
    let path = home.sandbox.root.appending(path: "records.sqlite").path
    let set = "config set AGGREGATOR_STORE \(path)"
    #expect(try await home.run(set).errors.contains("stay in") == false)
    #expect(try await home.run("config unset AGGREGATOR_STORE").errors.contains("stay") == false)
    try #require(try await home.run("countries delete FR --yes").status == 0)
    let file = home.file.path
    let left = { (old: String, new: String) in
      "Records cached so far stay in \(old). Copy them to an empty store: aggregator store copy \(old) \(new)\n"
    }
    // Paths are quoted for a shell.
    let moved = try await home.run(set).errors.replacing("'", with: "")
    #expect(moved.hasSuffix("\n" + left(file, path)), "\(moved)")
    #expect(try await home.run(set).errors.contains("stay in") == false)
    let copied = try await home.run("store copy \(file) \(path)")
    try #require(copied.status == 0, "\(copied)")
    let unset = try await home.run("config unset AGGREGATOR_STORE").errors.replacing("'", with: "")
    #expect(unset.hasSuffix("\n" + left(path, file)), "\(unset)")
  }

  @Test(arguments: [
    "doctor countries", "store clear countries --yes", "store clear countries --history --yes",
    "store status",
  ])
  func `what stores nothing makes no directory`(line: String) async throws {
    let directory = home.sandbox.root.appending(path: "elsewhere").path
    let outcome = try await home.run("\(line) --store \(directory)/records.sqlite")
    #expect(outcome.errors.contains("there is no directory \(directory) yet"), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: directory))
  }

  @Test func `no directory is made above that of the file`() async throws {
    let parent = home.sandbox.root.appending(path: "elsewhere").path
    let path = "\(parent)/data/records.sqlite"
    let outcome = try await home.run("countries delete FR --yes --store \(path)")
    #expect(outcome.status == 74, "\(outcome)")
    #expect(
      outcome.errors.contains("cannot create \(path): there is no directory \(parent)\n"),
      "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: parent))
  }

  @Test(arguments: ["songs of another program", ""])
  func `a file of another program is refused and stays`(text: String) async throws {
    let file = try home.sandbox.write(text, to: "songs.db")
    let outcome = try await home.run("countries delete FR --yes", ["AGGREGATOR_STORE": file.path])
    guard !text.isEmpty else {
      #expect(outcome.status == 0, "\(outcome)")
      return
    }
    #expect(outcome.status == 74, "\(outcome)")
    #expect(
      outcome.errors == """
        error: countries: \(file.path) is not a database
        hint: move it away, or choose another store, or set AGGREGATOR_HOME

        """)
    let list = try await home.run(
      "countries list --offline --limit 1", ["AGGREGATOR_STORE": file.path])
    // Records that were deleted may be shown.
    #expect(list.status == 3 && list.output.hasPrefix("AF\t"), "\(list)")
    #expect(list.errors.contains("warning: countries: \(file.path) is not a database"), "\(list)")
    for line in ["list --where code=FR", "search france", "show FR"] {
      let read = try await home.run(
        "countries \(line) --offline", ["AGGREGATOR_STORE": file.path])
      #expect(read.status == 3 && read.output.contains("FR\tFrance"), "\(line): \(read)")
      #expect(read.errors.contains("\(file.path) is not a database"), "\(line): \(read)")
    }
    // A number is that of all records, too.
    for (line, count) in [
      ("list", 250), ("list --where region=EU", 53), ("search an", 114),
    ] {
      let number = try await home.run(
        "countries \(line) --count --offline", ["AGGREGATOR_STORE": file.path])
      #expect(number.status == 3 && number.output == "\(count)\n", "\(line): \(number)")
    }
    let search = try await home.run("search france --offline", ["AGGREGATOR_STORE": file.path])
    #expect(search.status == 3 && search.output.contains("FR\tFrance"), "\(search)")
    let sync = try await home.run("countries sync", ["AGGREGATOR_STORE": file.path])
    #expect(sync.status == 74, "\(sync)")
    #expect(try home.sandbox.text(of: "songs.db") == text)
  }

  // MARK: - Bad texts

  @Test(arguments: [
    "store.sqlite", "./store.sqlite", "~/store.sqlite", "mysql://me:\(mark)@host/db",
    "host=h password=\(mark)", "postgresql:/host/db", "postgresql://me:\(mark) x@host/db",
    "postgresql://me:\(mark)/x@host/db", "postgresql://me:\(mark)?x@host/db",
    "postgresql://me:x@\(mark)@host/db",
  ])
  func `other texts are refused without repeating a password`(text: String) async throws {
    func run(_ arguments: [String], _ variables: [String: String?] = [:]) async throws -> Outcome {
      let outcome = try await Binary.run(arguments, environment: variables, in: home.sandbox)
      #expect(!(outcome.output + outcome.errors).contains(Self.mark), "\(outcome)")
      return outcome
    }
    for command in [["countries", "list"], ["store"], ["countries", "show", "FR"]] {
      let option = try await run(command + ["--store", text])
      #expect(option.status == 64)
      #expect(option.errors.contains("invalid value "), "\(option)")
      #expect(option.errors.contains(" for --store: "), "\(option)")
      #expect(option.errors.contains("\nhint: write "), "\(option)")
      let variable = try await run(command, ["AGGREGATOR_STORE": text])
      #expect(variable.status == 78)
      #expect(variable.errors.hasPrefix("error: environment: invalid value "), "\(variable)")
      #expect(variable.errors.contains(" for AGGREGATOR_STORE: "), "\(variable)")
      #expect(variable.errors.contains("\nhint: write "), "\(variable)")
    }
    let list = try await run(["config", "list"], ["AGGREGATOR_STORE": text])
    #expect(list.status == 0)
    #expect(list.errors.hasPrefix("warning: environment: invalid value "), "\(list)")
    #expect(list.lines.contains { $0.hasPrefix("AGGREGATOR_STORE\tset (…") }, "\(list)")
    let set = try await run(["config", "set", "AGGREGATOR_STORE", text])
    #expect(set.status == 64)
    // An invalid value does not prevent that it is mended.
    let mended = try await run(
      ["config", "set", "AGGREGATOR_STORE", "/tmp/store"], ["AGGREGATOR_STORE": text])
    #expect(mended.status == 0, "\(mended)")
  }

  // MARK: - The password

  /// Every command that may print the store.
  static let commands = [
    "countries list --limit 2", "countries list --offline --explain", "countries list --json",
    "countries list --verbose", "countries search new", "countries next", "countries show FR",
    "countries show france", "countries sync", "countries sync --verbose", "countries diff",
    "countries delete FR --yes", "countries restore FR", "countries deal", "users list",
    "users load 3", "users next", "heroes image 1443 -o .", "search new", "sources",
    "sources show countries", "sources check countries", "sql SELECT", "sql --sync SELECT",
    "export countries -o c.csv", "store", "store status --json",
    "store path", "store clear countries --yes", "config", "config list --json",
    "config get AGGREGATOR_STORE", "config get AGGREGATOR_STORE_PASSWORD", "config path",
    "config unset AGGREGATOR_STORE", "help", "help environment", "help man", "--version",
    "countries list --record tape", "countries list --stor=URL",
  ]

  @Test(arguments: ["user", "parameter", "setting"])
  func `the password is in no output and in no file`(place: String) async throws {
    var variables: [String: String?] = [:]
    switch place {
    case "user": variables["AGGREGATOR_STORE"] = url
    case "parameter": variables["AGGREGATOR_STORE"] = "\(shown)?password=\(Self.mark)"
    default:
      variables["AGGREGATOR_STORE"] = shown
      variables["AGGREGATOR_STORE_PASSWORD"] = Self.mark
    }
    for command in Self.commands {
      let outcome = try await home.run(command.replacing("URL", with: url), variables)
      #expect(outcome.status != nil && outcome.status != 70, "\(command): \(outcome)")
      #expect(!(outcome.output + outcome.errors).contains(Self.mark), "\(command): \(outcome)")
    }
    for directory in ["home", "work"] {
      for file in try home.sandbox.files(under: directory) {
        let bytes = try? Data(
          contentsOf: home.sandbox.root.appending(path: "\(directory)/\(file)"))
        #expect(!String(decoding: bytes ?? Data(), as: UTF8.self).contains(Self.mark), "\(file)")
      }
    }
  }

  @Test func `a password in --store is warned about`() async throws {
    let outcome = try await home.run("store path --store \(url)")
    #expect(outcome.status == 0)
    #expect(outcome.output == "\(shown)\n")
    #expect(
      outcome.errors == """
        warning: --store has a password, which other users can see in the process list
        hint: leave it out of the URL, and run this command, which prompts for it
        hint: aggregator config set AGGREGATOR_STORE_PASSWORD

        """)
    #expect(try await home.run("store path --store \(shown)").errors == "")
    #expect(try await home.run("store path", ["AGGREGATOR_STORE": url]).errors == "")
  }

  @Test func `a URL and a password are set, got and listed`() async throws {
    let set = try await home.run("config set AGGREGATOR_STORE \(url)")
    #expect(set.status == 0)
    #expect(
      set.errors.hasPrefix("warning: the password may be in the history of your shell now\nhint: "))
    #expect(set.errors.contains("\nhint: aggregator config set AGGREGATOR_STORE_PASSWORD\n"))
    #expect(try home.sandbox.permissions(of: ConfigTests.userFile) == 0o600)
    #expect(try await home.run("store path").output == "\(shown)\n")
    #expect(try await home.run("config get AGGREGATOR_STORE").output == "\(shown)\n")
    let list = try await home.run("config list --fields key,value")
    #expect(list.lines.contains("AGGREGATOR_STORE\t\(shown)"), "\(list)")
    #expect(!(set.errors + list.output + list.errors).contains(Self.mark))

    let refused = try await home.run("config set AGGREGATOR_STORE_PASSWORD \(Self.mark)")
    #expect(refused.status == 64)
    let password = try await home.run(
      "config set AGGREGATOR_STORE_PASSWORD", input: "\(Self.mark)\n")
    #expect(password.status == 0)
    #expect(!(password.errors + refused.errors).contains(Self.mark))
    #expect(
      try await home.run("config get AGGREGATOR_STORE_PASSWORD").output == "set (…)\n")
    #expect(try await home.run("config unset AGGREGATOR_STORE").status == 0)
    #expect(try await home.run("store path").output == "\(home.file.path)\n")
  }

  // MARK: - The working directory

  @Test func `the working directory cannot choose the store`() async throws {
    try home.sandbox.write(
      """
      AGGREGATOR_STORE = postgresql:/$()/evil@127.0.0.1:\(port)/db
      COUNTRIES_URL = http:/$()/127.0.0.1:1/$(AGGREGATOR_STORE_PASSWORD)
      """, to: "work/\(Binary.settingsFile)")
    let file = try await home.run("store path", ["AGGREGATOR_STORE_PASSWORD": Self.mark])
    #expect(file.output == "\(home.file.path)\n")
    #expect(
      file.errors.contains(
        "warning: \(Binary.settingsFile):1: AGGREGATOR_STORE is ignored: the working directory "
          + "must not choose where AGGREGATOR_STORE_PASSWORD is sent (set it in the environment, or in "
      ),
      "\(file)")
    #expect(!file.errors.contains(Self.mark))
    let own = try await home.run("store path", ["AGGREGATOR_STORE": shown])
    #expect(own.output == "\(shown)\n")
    try home.sandbox.write(
      "AGGREGATOR_STORE = postgresql:/$()/evil@127.0.0.1:\(port)/db",
      to: "work/\(Binary.settingsFile)")
    let relative = try await home.run(
      "store path", ["AGGREGATOR_CONFIG": Binary.settingsFile])
    #expect(relative.output == "\(home.file.path)\n", "\(relative)")
    // A file that the user names is the user's own.
    let named = try await home.run("store path --config \(Binary.settingsFile)")
    #expect(named.output == "postgresql://evil@127.0.0.1:\(port)/db\n", "\(named)")
  }

  @Test func `a manifest cannot have the password of the store`() async throws {
    let service = try LoopbackServer { _ in .json(#"[{"id":1}]"#) }
    try home.sandbox.write(
      """
      {"url": "\(service.baseURL)/", "rows": "$", "id": "id", "fields": ["id"], \
      "headers": {"X-Key": "${AGGREGATOR_STORE_PASSWORD}", "X-Store": "${AGGREGATOR_STORE}"}}
      """, to: "home/.config/aggregator/sources/evil.json")
    let set = try await home.run(
      "config set AGGREGATOR_STORE_PASSWORD", input: "\(Self.mark)\n")
    #expect(set.status == 0, "\(set)")
    #expect(!set.errors.contains("It is sent to "), "\(set)")
    #expect(try await home.run("config set AGGREGATOR_STORE \(url)").status == 0)
    let list = try await home.run("evil list --no-fallback")
    #expect(list.status == 77, "\(list)")
    #expect(service.requests.isEmpty)
  }

  // MARK: - An unreachable server

  @Test func `reads fall back, and what needs the store fails`() async throws {
    let services = try FourServices()
    let variables = services.settings.mapValues(Optional.some)
      .merging(["AGGREGATOR_STORE": shown]) { $1 }
    let live = try await home.run("countries list --limit 3 --json", variables)
    // Records that were deleted may be shown.
    #expect(live.status == 3, "\(live)")
    #expect(try live.envelope().provenance?.origin == "live")
    #expect(live.errors.contains("warning: countries: "), "\(live)")
    #expect(live.errors.contains(shown), "\(live)")
    let offline = try await home.run("countries show FR --offline", variables)
    #expect(offline.status == 3)
    #expect(offline.output.contains("France"))
    #expect(offline.errors.contains(shown), "\(offline)")
    for line in [
      "countries delete FR --yes", "countries restore --all", "countries diff", "countries sync",
      "store", "store clear countries --yes", "export countries -o c.csv", "users load 3",
    ] {
      let outcome = try await home.run(line, variables)
      #expect([74, 75].contains(outcome.status), "\(line): \(outcome)")
      #expect(outcome.output == "", "\(line)")
      #expect(outcome.errors.contains(shown), "\(line): \(outcome)")
      #expect(outcome.errors.contains("\nhint: "), "\(line): \(outcome)")
    }
    #expect(try home.sandbox.files(under: "home").allSatisfy { !$0.hasSuffix(".sqlite") })
  }

  #if os(Linux)
    @Test func `without libpq, reads fall back and the error says how to install it`() async throws
    {
      // The first library that is found cannot be loaded.
      try home.sandbox.write("not a library", to: "libraries/libpq.so.5")
      var variables: [String: String?] = [
        "AGGREGATOR_STORE": shown,
        "LD_LIBRARY_PATH": home.sandbox.root.appending(path: "libraries").path,
      ]
      let store = try await home.run("store", variables)
      #expect(store.status == 74)
      #expect(
        store.errors.hasPrefix("error: libpq 14 or later is not installed\nhint: "), "\(store)")
      #expect(store.errors.contains("apt-get install libpq5"), "\(store)")
      let list = try await home.run("countries list --offline --limit 1", variables)
      #expect(list.status == 3)
      #expect(list.errors.contains("libpq 14 or later is not installed"), "\(list)")
      // It is loaded only for a store in PostgreSQL.
      variables["AGGREGATOR_STORE"] = .some(nil)
      #expect(try await home.run("store", variables).status == 0)
    }
  #endif

  @Test func `completions do not wait for a server`() async throws {
    // It accepts connections and never answers.
    let silent = try UnansweringPort()
    for line in ["countries show ", "countries restore "] {
      let outcome = try await Binary.run(
        ["__complete", "zsh", "--line", "aggregator \(line)"],
        environment: ["AGGREGATOR_STORE": "postgresql://127.0.0.1:\(silent.port)/db"],
        in: home.sandbox)
      #expect(outcome.status == 0)
      #expect(outcome.output == "", "\(outcome)")
    }
  }
}
