import AggregatorKit
import Foundation
import Synchronization
import Testing

/// A new user with a tap, whose program runs in a clean environment.
final class TapUser: Sendable {
  let root: URL

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "taps-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: root.appending(path: "home"), withIntermediateDirectories: true)
    try write("1", to: "version")
    try write(Self.tap, to: "tap")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: path("tap"))
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  func path(_ name: String) -> String { root.appending(path: name).path }

  func write(_ text: String, to name: String) throws {
    try ChildProcess.spawning.withLock { _ in
      try Data(text.utf8).write(to: root.appending(path: name))
    }
  }

  func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: root.appending(path: name)), as: UTF8.self)
  }

  /// The names of files below a directory of the user.
  func files(under name: String) -> [String] {
    FileManager.default.enumerator(atPath: path(name))?.allObjects.compactMap { $0 as? String }
      ?? []
  }

  /// The result of a run: its exit status, or 128 and the number of the signal that ended it.
  struct Outcome: CustomStringConvertible {
    let status: Int32
    let output: String
    let errors: String

    var description: String { "\(status)\n\(output.prefix(2000))\n--\n\(errors.prefix(2000))" }
  }

  private struct NoProgram: Error {}

  /// Runs the program with a command line, split at spaces.
  @discardableResult
  func run(_ line: String, variables: [String: String] = [:]) async throws -> Outcome {
    let program = ProcessInfo.processInfo.environment["AGGREGATOR_PROGRAM"] ?? ""
    guard FileManager.default.isExecutableFile(atPath: program) else { throw NoProgram() }
    let files = root.appending(path: UUID().uuidString).path
    var variables = variables.merging([
      "HOME": path("home"), "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
    ]) { own, _ in own }
    variables["AGGREGATOR_PROGRAM"] = nil
    // By a shell, which has no part of this process but what it is given.
    let words =
      [
        "/bin/sh", "-c",
        #"cd "$0"; out=$1; err=$2; shift 2; exec "$@" >"$out" 2>"$err" </dev/null"#,
        root.path, "\(files).out", "\(files).err", program,
      ]
      + line.split(separator: " ").map(String.init)
    let status = try await ChildProcess(words, variables).ending()
    return Outcome(
      status: status, output: try String(contentsOfFile: "\(files).out", encoding: .utf8),
      errors: try String(contentsOfFile: "\(files).err", encoding: .utf8))
  }

  // MARK: - Taps

  static let hasPython = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

  /// A tap of the rows in a file, in the ways of its configuration.
  private static let tap = #"""
    #!/usr/bin/env python3
    import json, os, signal, sqlite3, sys, time

    options = {}
    words = sys.argv[1:]
    while words:
        word = words.pop(0)
        options[word] = True if word == "--discover" else words.pop(0)
    config = json.load(open(options["--config"]))
    mode = config.get("mode", "full")
    keys = config.get("keys", ["id"])
    method = "INCREMENTAL" if mode == "incremental" else "FULL_TABLE"

    def stream(name):
        return {
            "tap_stream_id": name, "stream": name, "key_properties": keys,
            "schema": {"type": "object", "properties": {
                "id": {"type": "integer"}, "name": {"type": "string"}, "at": {"type": "integer"}}},
            "metadata": [{"breadcrumb": [], "metadata": {
                "inclusion": "available", "replication-method": method,
                **({"replication-key": "at"} if mode == "incremental" else {})}}]}

    if "--discover" in options:
        names = config.get("streams", ["orders"])
        print(json.dumps({"streams": [stream(name) for name in names]}))
        sys.exit()

    catalog = json.load(open(options["--catalog"]))
    selected = [entry["stream"] for entry in catalog["streams"] if any(
        part["breadcrumb"] == [] and part["metadata"].get("selected") for part in entry["metadata"])]
    state = json.load(open(options["--state"])) if "--state" in options else {}
    plan = json.load(open(config["plan"])) if os.path.exists(config.get("plan", "")) else {}
    log = open(config["log"], "a") if "log" in config else None
    line = 0

    def note(text):
        if log:
            log.write(text + "\n")
            log.flush()

    def stored():
        try:
            store = sqlite3.connect("file:" + config["store"] + "?mode=ro", uri=True)
            return store.execute("SELECT count(*) FROM records").fetchone()[0]
        except sqlite3.Error:
            return -1

    def say(message):
        global line
        text = message if isinstance(message, str) else json.dumps(message)
        sys.stdout.write(text + "\n")
        line += 1
        if line == plan.get("line"):
            sys.stdout.flush()
            while stored() < plan.get("stored", -1):
                time.sleep(0.001)
            # After the parent alone, the tap goes on.
            if plan["who"] != "tap":
                os.kill(os.getppid(), signal.SIGKILL)
            if plan["who"] != "parent":
                os.kill(os.getpid(), signal.SIGKILL)

    note("start " + json.dumps(state))
    if plan.get("silent"):
        sys.exit()
    rows = [json.loads(text) for text in open(config["rows"])]
    every = config.get("every", 3)
    for name in selected:
        if mode == "incremental":
            rows = sorted((row for row in rows if row["at"] > state.get("at", -1)), key=lambda row: row["at"])
        version = int(open(config["version"]).read()) if mode == "versioned" else None
        tail = {} if version is None else {"version": version}
        say({"type": "SCHEMA", "stream": name, "schema": stream(name)["schema"], "key_properties": keys})
        if config.get("early"):
            say({"type": "ACTIVATE_VERSION", "stream": name, **tail})
        for number, row in enumerate(rows):
            say({"type": "RECORD", "stream": name, "record": row, **tail})
            if (number + 1) % every == 0:
                say({"type": "STATE", "value": {"at": row.get("at"), "n": number + 1}})
                note("state " + str(row["id"]))
        if mode == "versioned":
            say({"type": "ACTIVATE_VERSION", "stream": name, **tail})
        if rows:
            say({"type": "STATE", "value": {"at": rows[-1].get("at"), "n": len(rows)}})
    for text in config.get("then", []):
        say(text)
    sys.stdout.flush()
    note("end")
    sys.exit(config.get("exit", 0))
    """#

  /// Rows with these numbers, each with its own time.
  func setRows(_ ids: some Sequence<Int>, named name: String = "row") throws {
    try write(
      ids.map { "{\"id\": \($0), \"name\": \"\(name) \($0)\", \"at\": \($0)}\n" }.joined(),
      to: "rows")
  }

  /// Writes the configuration of the tap, with members besides the usual ones.
  func configure(_ members: String = "") throws {
    let store = path("home/.local/share/aggregator/store.sqlite")
    try write(
      """
      {"rows": "\(path("rows"))", "version": "\(path("version"))", "log": "\(path("log"))", "plan": "\(path("plan"))",
       "store": "\(store)"\(members.isEmpty ? "" : ", ")\(members)}
      """, to: "config.json")
  }

  /// Adds the tap as the source `shop`, with its configuration.
  func add(_ members: String = "", options: String = "") async throws -> Outcome {
    try configure(members)
    return try await run("sources add shop --tap ./tap --tap-config config.json \(options)")
  }

  /// The records of the source `shop`: `1=row 1`, in the order of their numbers.
  func records(
    of source: String = "shop", variables: [String: String] = [:]
  ) async throws -> [String] {
    let outcome = try await run(
      "\(source) list --all --format ndjson --quiet", variables: variables)
    return try outcome.output.split(separator: "\n").map { line in
      let row = try #require(JSON(reading: Data(line.utf8)))
      let id = row["id"].map { $0.string ?? $0.text } ?? ""
      return (Int(id) ?? 0, "\(id)=\(row["name"]?.string ?? "")")
    }.sorted { $0.0 < $1.0 }.map(\.1)
  }
}

/// The records with these numbers, as ``TapUser/records(of:)`` returns them.
func rows(_ ids: some Sequence<Int>, named name: String = "row") -> [String] {
  ids.map { "\($0)=\(name) \($0)" }
}
