import Foundation
import Testing

@testable import AggregatorFiles
@testable import AggregatorKit
@testable import AggregatorProgramTesting
@testable import AggregatorSQLite

/// Completions for a shell, which change nothing.
@Suite struct CompletionAnswerTests {
  @Test func `offers cached IDs with their names`() async throws {
    let home = try await PopulatedHome(["a1": "Lamp", "a2": "\u{1B}[31mred\u{202E}", "b1": "Chair"])
    let outcome = try await home.complete("products show a")
    #expect(outcome.status == 0)
    #expect(outcome.output == "a1\tLamp\na2\t␛[31mred\n")
    #expect(outcome.errors == "")
    #expect(try await home.complete("products open a1 ").output.contains("--print-url"))
  }

  @Test func `offers bundled IDs and values while nothing is cached`() async throws {
    let home = try await PopulatedHome([:])
    #expect(try await home.complete("countries show C").lines.contains("CW\tCuraçao"))
    #expect(try await home.complete("countries list --where region=E").lines.contains("region=EU"))
    #expect(try await home.household.run("countries delete CW --yes").status == 0)
    #expect(try await !home.complete("countries show C").output.contains("CW"))
    #expect(try await home.complete("countries restore ").lines.count == 1)
  }

  @Test func `offers the values of a field with few of them`() async throws {
    let titles = ["Lamp", "Big sofa", "Lamp", "Big sofa", "it's", "it's"]
    let products = titles.enumerated().map { ("a\($0.offset)", $0.element) }
    let home = try await PopulatedHome(Dictionary(uniqueKeysWithValues: products))
    let line = "products list --where title="
    #expect(
      try await home.complete(line).lines == ["title=Big sofa", "title=it's", "title=Lamp"])
    #expect(
      try await home.complete(line, in: "bash").lines
        == [#"Big\ sofa"#, #"it\'s"#, "Lamp"])
    #expect(try await home.complete("products list --where id=").output == "")
    // An argument of a saved query may be such a value, too.
    try home.household.sandbox.write(
      "by = products list --where 'title=$1' --sort -title\n", to: "home/.config/aggregator/queries"
    )
    #expect(try await home.complete("by ").lines == ["Big sofa", "it's", "Lamp"])
    for words in ["by L", "by --limit 2 L"] {
      #expect(try await home.complete(words).lines == ["Lamp"])
    }
    for words in ["by --cou", "by Lamp --cou"] {
      #expect(try await home.complete(words).output.hasPrefix("--count\t"))
    }
    // Of a field with other values for each record, those that begin as typed.
    #expect(
      try await home.complete("countries list --where 'name=United K").lines
        == ["name=United Kingdom"])
  }

  @Test func `offers names beside IDs, in the case that is typed`() async throws {
    let home = try await PopulatedHome(
      ["a1": "Desk lamp", "a2": "Desk", "a3": "Sofa", "a4": "Sofa", "d9": "Bed"])
    #expect(
      try await home.complete("products show d").output == "d9\tBed\ndesk\ta2\ndesk lamp\ta1\n")
    #expect(try await home.complete("products show De").output == "Desk\ta2\nDesk lamp\ta1\n")
    #expect(try await home.complete("products show 'desk l", in: "bash").lines == ["desk lamp\ta1"])
    #expect(
      try await home.complete("products show desk\\ l", in: "bash").lines == ["desk\\ lamp\ta1"])
    // A name of several records names none, and deleted ones are restored by their IDs.
    #expect(try await home.complete("products show so").output == "")
    #expect(try await home.household.run("products delete a2 --yes").status == 0)
    #expect(try await home.complete("products restore d").output == "")
  }

  @Test func `names are found among all records, and none is offered as the only one by mistake`()
    async throws
  {
    var titles = Dictionary(uniqueKeysWithValues: (0..<2500).map { ("i\($0)", "Item \($0)") })
    titles.merge(["z1": "Zest A", "z2": "Zest B", "z3": "Zest C", "z4": "Zest C"]) { $1 }
    let home = try await PopulatedHome(titles)
    #expect(
      try await home.complete("products show Ze").output
        == "Zest \t4 records\nZest A\tz1\nZest B\tz2\n")
    #expect(try await home.complete("products show Zest\\ A").output == "Zest A\tz1\n")
    #expect(try await home.complete("products show zest\\ a").output == "zest a\tz1\n")
    // More than are read: what is typed keeps the shell from going on.
    for beginning in ["It", "Item"] {
      let lines = try await home.complete("products show \(beginning)").lines
      #expect(lines.count == 201 && lines.first == "\(beginning)\tand more", "\(lines.prefix(3))")
    }
    let lines = try await home.complete("products show Item\\ 24").lines
    #expect(lines.count == 111, "\(lines.prefix(3))")
    // So are the values of fields.
    let values = try await home.complete("products list --where title=Ze")
    for value in ["Zest A", "Zest B", "Zest C"] {
      #expect(values.lines.contains { $0.contains(value) }, "\(values)")
    }
    // The common beginning is itself one of the names.
    let cut = try await home.complete("products show Item\\ 2").lines
    #expect(cut.count >= 200 && cut.first?.hasPrefix("Item 2\t") == true, "\(cut.prefix(3))")
  }

  @Test func `saved queries are completed as what they run`() async throws {
    let home = try await PopulatedHome(["a1": "Lamp", "a2": "Chair"])
    try home.household.sandbox.write(
      """
      item = products show $1 $2
      goods = products list --where title~a
      sorted = products list --sort title --count --csv
      run = !cat
      """, to: "home/.config/aggregator/queries")
    #expect(try await home.complete("it").output == "item\tproducts show $1 $2\n")
    #expect(try await home.complete("item ").output == "a1\tLamp\na2\tChair\n")
    #expect(try await home.complete("item a1 ").output == "a2\tChair\n")
    #expect(try await home.complete("goods --fields ti").output.hasPrefix("\tnospace\ntitle\t"))
    #expect(try await home.complete("--offline goods --lim").output.hasPrefix("--limit\t"))
    // Those of the query may be replaced, and what excludes them, too.
    for option in ["--sort", "--limit", "--json"] {
      #expect(try await home.complete("sorted \(option)").output.hasPrefix("\(option)\t"))
    }
    #expect(try await home.complete("sorted --sort -t").output.contains("\n-title\t"))
    #expect(try await home.complete("sorted --sort id --sort").output == "")
    #expect(try await home.complete("run x").output == "\t_files\n")
    #expect(try await home.complete("help goo").output == "goods\tproducts list --where title~a\n")
    for verb in ["show", "edit", "rename", "remove"] {
      #expect(
        try await home.complete("query \(verb) g").output
          == "goods\tproducts list --where title~a\n")
    }
    #expect(try await home.complete("query save x -- products show a").lines.count == 2)
    #expect(try await home.complete("query save x -- goods --lim").output.hasPrefix("--limit\t"))
  }

  @Test func `offers deleted IDs only to restore`() async throws {
    let home = try await PopulatedHome(["a1": "Lamp", "a2": "Chair"])
    #expect(try await home.household.run("products delete a1 --yes").status == 0)
    #expect(try await home.complete("products show ").output == "a2\tChair\n")
    #expect(try await home.complete("products delete ").output == "a2\tChair\n")
    #expect(try await home.complete("products restore ").output == "a1\tLamp\n")
    // Deleted, and never stored.
    #expect(try await home.household.run("heroes delete 1443 --yes").status == 0)
    #expect(try await home.complete("heroes restore 1").output == "1443\n")
  }

  @Test func `records removed upstream are not offered`() async throws {
    let home = try await PopulatedHome(["a1": "Lamp", "a2": "Chair"])
    try Connection(home.household.file.path, busyTimeout: .zero).execute(
      "UPDATE records SET removed_upstream = 1 WHERE id = 'a1'")
    #expect(try await home.complete("products show ").output == "a2\tChair\n")
  }

  @Test func `offers at most 200, all of them reachable`() async throws {
    let ids = (1000..<1500).map(String.init)
    let home = try await PopulatedHome(Dictionary(uniqueKeysWithValues: ids.map { ($0, "x") }))
    #expect(try await home.complete("products show ").lines.count == 200)
    #expect(try await home.complete("products show ").lines.last == "1499\tx")
    #expect(try await home.complete("products show 149").lines.count == 10)
    #expect(try await home.complete("products show 1499").lines == ["1499\tx"])
  }

  @Test func `does not offer an ID with control or invisible characters`() async throws {
    let home = try await PopulatedHome([
      "a\tb": "", "a\nb": "", "a\u{1B}]0;x\u{7}b": "", "a\u{202E}b": "", "a\u{200B}b": "",
      "-rf": "", "a\u{0}b": "", "$(x)": "", "a": "",
    ])
    #expect(try await home.complete("products show ").lines == ["$(x)", "a"])
    #expect(try await home.complete("products show -- ").lines == ["$(x)", "-rf", "a"])
  }

  @Test func `fish is not offered an ID that it would read as a home directory`() async throws {
    let home = try await PopulatedHome(["~root": "", "a~b": ""])
    #expect(try await home.complete("products show ", in: "fish").lines == ["a~b"])
    #expect(try await home.complete("products show ", in: "zsh").lines == ["a~b", "~root"])
  }

  @Test func `bash receives literal words, and only their rest`() async throws {
    let home = try await PopulatedHome(["x@$(id)": "", "x@y": "", "k=;rm": "", "q'\"!": ""])
    #expect(try await home.complete("products show x@", in: "bash").lines == [#"@\$\(id\)"#, "@y"])
    #expect(try await home.complete("products show 'x@$", in: "bash").lines == ["x@$(id)"])
    #expect(try await home.complete("products show k=", in: "bash").lines == [#"\;rm"#])
    #expect(
      try await home.complete("products show k=", in: "bash", ["COMP_WORDBREAKS": " "]).lines
        == [#"k=\;rm"#])
    #expect(try await home.complete(#"products show "q"#, in: "bash").lines == [#"q'\""'!'"""#])
    #expect(
      try await home.complete("countries list --format=j", in: "bash").lines == ["json"])
  }

  @Test func `offers the sessions with a saved position`() async throws {
    let home = try await PopulatedHome([:])
    for session in ["mine", "yours"] {
      let line = "countries list --offline --session \(session)"
      #expect(try await home.household.run(line).status == 0)
    }
    #expect(try await home.complete("heroes next --session ").lines == ["mine", "yours"])
    #expect(try await home.complete("heroes next --session=y").lines == ["--session=yours"])
  }

  @Test func `uses the store of the settings, also of --config`() async throws {
    let home = try await PopulatedHome(["a1": "Lamp"])
    let directory = URL(filePath: home.household.file.path).deletingLastPathComponent().path
    let file = try home.household.sandbox.write(
      "AGGREGATOR_HOME = \(directory)\n", to: "elsewhere.xcconfig")
    let elsewhere: [String: String?] = ["HOME": "/nowhere"]
    #expect(try await !home.complete("products show ", elsewhere).output.contains("a1\tLamp"))
    #expect(
      try await home.complete("--config \(file.path) products show ", elsewhere).output
        == "a1\tLamp\n")
  }

  @Test func `creates nothing if nothing is cached`() async throws {
    for line in ["users show ", "users restore ", "users next --session ", "heroes open 1"] {
      let outcome = try await Binary.run(["__complete", "fish", "--line", "aggregator \(line)"])
      #expect(outcome.status == 0 && outcome.errors == "")
      #expect(outcome.output.isEmpty == (line.contains("restore") || line.contains("session")))
      #expect(try outcome.sandbox.files(under: "home").isEmpty)
    }
  }

  @Test(arguments: ["half", "other", "newer", "directory"])
  func `leaves an invalid file unchanged, without a message`(kind: String) async throws {
    let home = try await PopulatedHome(["a1": "Lamp"])
    let path = home.household.file.path
    let whole = try Data(contentsOf: URL(filePath: path))
    switch kind {
    case "half": try whole.prefix(5000).write(to: URL(filePath: path))
    case "newer": try home.household.file.makeNewer()
    case "directory":
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    default: try Data("nothing of ours".utf8).write(to: URL(filePath: path))
    }
    let before = try home.household.sandbox.files(under: "home")
    let bytes = try? Data(contentsOf: URL(filePath: path))
    let outcome = try await home.complete("products show ")
    #expect(outcome.status == 0)
    #expect(outcome.output + outcome.errors == "")
    #expect(try home.household.sandbox.files(under: "home") == before)
    let after = try? Data(contentsOf: URL(filePath: path))
    #expect(after == bytes)
  }

  @Test func `reading changes nothing`() async throws {
    let home = try await PopulatedHome(["a1": "Lamp"])
    let before = try home.household.sandbox.files(under: "home")
    let bytes = try Data(contentsOf: URL(filePath: home.household.file.path))
    #expect(try await home.complete("products show ").output == "a1\tLamp\n")
    #expect(try home.household.sandbox.files(under: "home") == before)
    #expect(try Data(contentsOf: URL(filePath: home.household.file.path)) == bytes)
  }

  @Test func `does not wait for a writer, and offers what was saved before`() async throws {
    let home = try await PopulatedHome(["a1": "Lamp"])
    var writer = try Connection(home.household.file.path, busyTimeout: .zero)
    try writer.execute("BEGIN IMMEDIATE; DELETE FROM records")
    #expect(try await home.complete("products show ").output == "a1\tLamp\n")
    try writer.execute("COMMIT")
    #expect(try await !home.complete("products show ").output.contains("a1\tLamp"))
    // Exclusively, as while the log is recreated.
    try writer.execute("PRAGMA locking_mode = EXCLUSIVE; DELETE FROM checkpoints")
    let outcome = try await home.complete("products show ")
    #expect(outcome.status == 0)
    #expect(outcome.output + outcome.errors == "")
    try writer.run("DELETE FROM shared")
  }

  @Test func `does not wait for a store that is being moved`() async throws {
    let home = try await PopulatedHome(["a1": "Lamp"])
    let path = PrivateFile.directory(of: home.household.file.path)
    let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(directory) }
    #expect(flock(directory, LOCK_EX) == 0)
    #expect(try await home.complete("products show ").output == "")
    #expect(flock(directory, LOCK_UN) == 0)
    #expect(try await home.complete("products show ").output == "a1\tLamp\n")
  }

  @Test func `does not report unreadable settings`() async throws {
    let home = try await PopulatedHome(["a1": "Lamp"])
    try home.household.sandbox.write("nonsense\n", to: "home/.config/aggregator/config.xcconfig")
    let outcome = try await home.complete("products show ")
    #expect(outcome.status == 0)
    #expect(outcome.output + outcome.errors == "")
    #expect(try await home.complete("prod").output.hasPrefix("products\t"))
  }

  @Test(arguments: [
    [], ["bash"], ["bash", "--line"], ["tcsh", "--line", "aggregator "], ["bash", "aggregator "],
    ["bash", "--line", ""], ["bash", "--line", "aggregator x'\"\\"],
    ["zsh", "--line", "aggregator nonsense --"], ["--help"],
  ])
  func `every request succeeds`(arguments: [String]) async throws {
    let outcome = try await Binary.run(["__complete"] + arguments)
    #expect(outcome.status == 0)
    #expect(outcome.output + outcome.errors == "")
  }

  @Test func `accepts a long line`() async throws {
    let line = "aggregator \(String(repeating: "'", count: 100_001))"
    let outcome = try await Binary.run(["__complete", "fish", "--line", line])
    #expect(outcome.lines.count > 8)
    #expect(outcome.errors == "")
  }

  @Test func `a closed pipe is not a failure`() async throws {
    let outcome = try await Binary.run(
      ["__complete", "bash", "--line", "aggregator "], output: .file("/dev/full"))
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
  }
}
