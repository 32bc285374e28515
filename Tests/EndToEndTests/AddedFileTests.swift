import AggregatorKit
import Foundation
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorSQLite

/// `aggregator sources add NAME FILE`: a source for a file of this machine.
@Suite(.timeLimit(.minutes(10))) struct AddedFileTests {
  private let home: TestHome

  init() throws { home = try TestHome() }

  /// Writes a file that was last changed some hours ago.
  private func write(_ text: String, to name: String, hours: Double = 2) throws {
    let file = try home.sandbox.write(text, to: "work/\(name)")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -3600 * hours)], ofItemAtPath: file.path)
  }

  private static let files = [
    (name: "things.csv", text: "id,name,price\n1,Lamp,9.5\n2,Sofa,120\n", more: "3,Bed,80\n"),
    (
      name: "things.ndjson",
      text: #"{"id":1,"name":"Lamp","price":9.5}"# + "\n" + #"{"id":2,"name":"Sofa","price":120}"#
        + "\n", more: #"{"id":3,"name":"Bed","price":80}"# + "\n"
    ),
    (
      name: "my things.json",
      text: #"{"things":[{"id":1,"name":"Lamp","price":9.5},{"id":2,"name":"Sofa","price":120}]}"#,
      more: ""
    ),
  ]

  @Test func `the evidence of CSV names the columns that are not text`() async throws {
    try write("id,price,on,day\n1,1.5,true,31.12.2024\n2,3,false,30.12.2024\n", to: "kinds.csv")
    let added = try await home.run("sources add kinds kinds.csv")
    let kinds = "numbers: id, price; true or false: on; dates with the day first: day"
    #expect(added.status == 0 && added.output.contains(kinds), "\(added)")
  }

  @Test func `a name in a removed directory is no file in the root`() async throws {
    let outcome = try await home.run(
      "sources add things things.csv",
      by: ["/bin/sh", "-c", "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"", "sh"])
    #expect(outcome.status == 64, "\(outcome)")
    #expect(
      outcome.errors == """
        error: the working directory does not exist any more
        hint: use an absolute path

        """)
  }

  @Test(arguments: files.indices)
  func `a file is a source, which a sync reads again if it has changed`(index: Int) async throws {
    let (name, text, more) = Self.files[index]
    try write(text, to: name)
    let link = home.sandbox.work.appending(path: "link")
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: home.sandbox.work.appending(path: name))
    // Lines are split at spaces.
    let added = try await home.run("sources add things \(name.contains(" ") ? "./link" : name)")
    #expect(added.status == 0, "\(added)")
    #expect(added.output.contains("a file has all records"), "\(added)")
    let manifest = try home.sandbox.text(of: "home/.config/aggregator/sources/things.json")
    let folder = home.sandbox.work.lastPathComponent
    #expect(manifest.contains("file:///") && manifest.contains("/\(folder)/"), "\(manifest)")

    #expect(try await home.column("name", "things list") == ["Lamp", "Sofa"])
    #expect(try await home.column("name", "things list --where price>50") == ["Sofa"])
    let sync = "things sync --ndjson --fields added,changed,unchanged,complete"
    let first = try await home.run(sync)
    #expect(first.status == 0, "\(first)")
    // By this the next sync knows, without opening it, that the file is the same.
    var connection = try Connection(home.file.path, busyTimeout: .seconds(5))
    let checkpoints = try connection.rows("SELECT value FROM checkpoints") { $0.text(0) ?? "" }
    #expect(checkpoints.contains { $0.contains(#""v":""#) }, "\(checkpoints)")
    #expect(
      try await home.run(sync).output
        == "{\"added\":0,\"changed\":0,\"unchanged\":2,\"complete\":true}\n")

    try write(text.replacing("Sofa", with: "Couch") + more, to: name, hours: 1)
    let changed = try await home.run(sync)
    #expect(changed.output.contains("\"changed\":1"), "\(changed)")
    #expect(changed.output.contains("\"added\":\(more.isEmpty ? 0 : 1)"), "\(changed)")
    #expect(try await home.column("name", "things search couch --offline") == ["Couch"])
    #expect(try await home.run("sql SELECT max(price) FROM things").lines == ["120"])
    #expect(try await home.run("things list --refresh --explain").errors.contains("plan: file /"))
    #expect(try await home.run("doctor things").output.contains("file read in"))
  }

  @Test func `searches, filters and SQL read a file first that has changed`() async throws {
    let text = "id,name,price\n1,Lamp,9.5\n2,Sofa,120\n"
    try write(text, to: "things.csv")
    #expect(try await home.run("sources add things things.csv").status == 0)
    #expect(try await home.column("name", "things search lamp") == ["Lamp"])
    try write(text + "3,Bed,80\n", to: "things.csv")
    // Before any sync, and after it.
    #expect(try await home.column("name", "things list --where name~bed") == ["Bed"])
    try write(text + "4,Rug,30\n", to: "things.csv")
    #expect(try await home.column("name", "things search rug --offline") == [])
    #expect(try await home.column("name", "things list --where name~rug --offline") == [])
    #expect(try await home.column("name", "things search rug") == ["Rug"])
    try write(text + "5,Cot,40\n6,Bin,5\n", to: "things.csv")
    #expect(
      try await home.column("name", "things list --sort price") == ["Bin", "Lamp", "Cot", "Sofa"])
    try write("id,name,price\n7,Mug,3\n", to: "things.csv")
    #expect(try await home.run("sql SELECT name FROM things").lines == ["Mug"])

    let server = try await ServingProgram(in: home.sandbox)
    for (number, path) in ["?q=Pan", "?where=name~Pan", "?sort=name"].enumerated() {
      try write("id,name,price\n\(number),Pan\(number),3\n", to: "things.csv")
      let items = try await server.get("/api/v1/things\(path)").json()["items"]?.array
      #expect(items?.map { $0["name"] } == [.string("Pan\(number)")], "\(path)")
    }
    try await server.stop()

    try FileManager.default.removeItem(at: home.sandbox.work.appending(path: "things.csv"))
    for line in ["things list --where price<5", "things search pan"] {
      let cached = try await home.run(line)
      #expect(cached.output.contains("Pan2") && cached.errors.contains("no such file"), "\(cached)")
    }
    for line in ["things list --where price<5", "sql SELECT name FROM things"] {
      let cached = try await home.run(line)
      #expect(cached.status == 3 && cached.errors.contains("no such file"), "\(cached)")
    }
  }

  @Test func `a list has a change within the same second`() async throws {
    try write("id,name\n1,Lamp\n", to: "things.csv")
    #expect(try await home.run("sources add things things.csv").status == 0)
    for name in ["Sofa", "Bed", "Rug", "Cot"] {
      try write("id,name\n1,\(name)\n", to: "things.csv")
      #expect(try await home.column("name", "things list") == [name])
    }
    let server = try await ServingProgram(in: home.sandbox)
    for name in ["Bin", "Mug", "Pan"] {
      try write("id,name\n1,\(name)\n", to: "things.csv")
      let items = try await server.get("/api/v1/things").json()["items"]?.array
      #expect(items?.map { $0["name"] } == [.string(name)])
    }
    try await server.stop()
  }

  @Test func `the API says the number of all records that the page says`() async throws {
    try write("id,name\n" + (1...1500).map { "\($0),Lamp \($0)\n" }.joined(), to: "things.csv")
    #expect(try await home.run("sources add things things.csv").status == 0)
    #expect(try await home.run("things sync").status == 0)
    let server = try await ServingProgram(in: home.sandbox)
    for query in ["limit=1", "limit=1&q=lamp"] {
      let page = try await server.get("/sources/things?\(query)", ["Accept": "text/html"])
      #expect(page.text.contains("1,500"), "\(query)")
      let answer = try await server.get("/api/v1/things?\(query)").json()
      #expect(answer["page"]?["total"] == 1500, "\(query): \(answer)")
    }
    try await server.stop()
  }

  @Test(arguments: [
    ("things.csv", "id,b\n1,x\n2,y,z\n3,w\n", "line 3 has 3 values for 2 columns"),
    ("things.csv", "id,b\n1,x\n2\n3,w\n", "line 3 has 1 value for 2 columns"),
    (
      "things.ndjson",
      #"{"id":1,"b":"x"}"# + "\n" + #"{"id":2,"b":"# + "\n" + #"{"id":3,"b":"w"}"# + "\n",
      "line 2 is not JSON"
    ),
  ])
  func `a line that cannot be read is named, and an answer without it is partial`(
    name: String, text: String, reason: String
  ) async throws {
    try write(text, to: name)
    let added = try await home.run("sources add things \(name)")
    #expect(added.status == 3, "\(added)")
    #expect(added.errors.contains("1 row is damaged: \(reason)"), "\(added)")
    let warning = "1 row could not be read (\(reason))"
    #expect(try await home.run("things list").status == 3)
    #expect(try await home.run("things show 3").status == 0)
    // Another sync would read the same.
    let unsynced = try await home.run("doctor things --offline")
    #expect(unsynced.output.contains("possibly not all: 1 row could not be read"), "\(unsynced)")
    #expect(!unsynced.output.contains("aggregator things sync"), "\(unsynced)")
    for end in [
      "list --all", "list --json", "list --count --all --refresh", "search x", "sync", "next",
    ] {
      let outcome = try await home.run("things \(end)")
      #expect(outcome.status == 3, "\(end): \(outcome)")
      #expect(outcome.errors.contains(warning), "\(end): \(outcome)")
    }
    let doctor = try await home.run("doctor things --offline")
    #expect(doctor.output.contains("possibly not all: 1 row could not be read"), "\(doctor)")
    #expect(doctor.output.contains("\tmend the file /"), "\(doctor)")
    #expect(!doctor.output.contains("aggregator things sync"), "\(doctor)")
  }

  @Test func `every answer from the store says that numbers are rounded, until a sync finds none`()
    async throws
  {
    try write(#"[{"id": 1, "n": 12345678901234567890}, {"id": 2, "n": 3}]"#, to: "odd.json")
    #expect(try await home.run("sources add odd odd.json").status == 0)
    let words =
      "warning: odd: whole numbers beyond 64 bits are rounded to about 16 digits: \"n\"\n"
    let lines = [
      "odd list --offline", "odd list --stats n", "odd list --where n>2",
      "export odd -o - --format csv",
      "export odd -o odd.csv", "sql",
    ]
    let query = "SELECT n FROM odd"
    for start in ["odd list", "odd sync"] {
      #expect(try await home.run(start).errors.contains(words))
      for line in lines {
        let outcome = try await home.run(line, input: line == "sql" ? query : "")
        #expect(outcome.status == 0 && outcome.errors.contains(words), "\(line): \(outcome)")
        let parts = outcome.errors.components(separatedBy: words)
        #expect(parts.count == 2, "\(line): \(outcome)")
      }
    }
    try write(#"[{"id": 1, "n": 12}, {"id": 2, "n": 3}]"#, to: "odd.json")
    #expect(try await home.run("odd sync").status == 0)
    for line in lines {
      let outcome = try await home.run(line, input: line == "sql" ? query : "")
      #expect(!outcome.errors.contains("rounded"), "\(line): \(outcome)")
    }
  }

  @Test func `damaged rows are counted, and the file is added nevertheless`() async throws {
    try write("id,b\n1,x\n2,y,z\n3,w\n4,v,u,t\n5,s\n", to: "things.csv")
    let added = try await home.run("sources add things things.csv")
    #expect(added.status == 3 && added.output.contains("aggregator things list"), "\(added)")
    let words = "2 rows are damaged; the first: line 3 has 3 values for 2 columns"
    #expect(added.errors.contains(words), "\(added)")
    #expect(try await home.run("things list").lines == ["1\tx", "3\tw", "5\ts"])
    try write("id,b\n1,x\n2", to: "things.csv")
    let cut = try await home.run("sources add things things.csv --replace")
    #expect(cut.status == 3 && cut.errors.contains("the file is incomplete"), "\(cut)")
  }

  @Test func `a database leads to the commands that read it`() async throws {
    let database = Data("SQLite format 3\0".utf8) + Data(count: 4080)
    for (name, hint) in [
      ("order.db", "aggregator sql --attach data=order.db \"SELECT * FROM data.TABLE\""),
      ("data.bin", "give it a name that ends in .db, and query it with sql --attach"),
    ] {
      try database.write(to: home.sandbox.work.appending(path: name))
      let refused = try await home.run("sources add things \(name)")
      #expect(refused.status == 76 && refused.output == "", "\(refused)")
      #expect(
        refused.errors.hasPrefix("error: \(name) is an SQLite database\nhint: \(hint)\n"),
        "\(refused)")
    }
    try write("id,name\n1,Lamp\n", to: "things.csv")
    #expect(try await home.run("sources add things things.csv").status == 0)
    try database.write(to: home.sandbox.work.appending(path: "things.csv"))
    let listed = try await home.run("things list")
    let words = "it is an SQLite database: export its tables as CSV instead"
    #expect(listed.status != 0 && listed.errors.contains(words), "\(listed)")
  }

  @Test func `a guessed encoding is no row that could not be used`() async throws {
    let file = home.sandbox.work.appending(path: "things.csv")
    try Data("id,name\n1,M".utf8 + [0xFC] + "ller\n".utf8).write(to: file)
    #expect(try await home.run("sources add things things.csv").status == 0)
    #expect(try await home.run("things sync").status == 0)
    #expect(try await home.run("things list").lines == ["1\tMüller"])
    let doctor = try await home.run("doctor things --offline")
    #expect(doctor.output.contains("1 thing cached"), "\(doctor)")
    #expect(!doctor.output.contains("could not be read"), "\(doctor)")
  }

  @Test(arguments: ["nofile", "none.png", "none.zip", "none.md"])
  func `a word that is no file is named as one`(word: String) async throws {
    let outcome = try await home.run("sources add things \(word)")
    #expect(outcome.status == 74, "\(outcome)")
    let message = "no such file: \"\(word)\"; a URL must begin with https:// or http://"
    #expect(outcome.errors.contains(message), "\(outcome)")
  }

  @Test func `a file that is gone is an error of a sync, and lists answer from the cache`()
    async throws
  {
    try write("id,name\n1,Lamp\n", to: "things.csv")
    #expect(try await home.run("sources add things things.csv").status == 0)
    #expect(try await home.run("things sync").status == 0)
    try FileManager.default.removeItem(at: home.sandbox.work.appending(path: "things.csv"))
    let failed = try await home.run("things sync")
    #expect(failed.status != 0 && failed.errors.contains("no such file"), "\(failed)")
    let listed = try await home.run("things list --refresh")
    #expect(listed.lines == ["1\tLamp"], "\(listed)")
    #expect(listed.errors.contains("no such file"), "\(listed)")
    // No sync can mend it.
    for line in ["sql SELECT name FROM things", "export things -o copy.csv"] {
      let partial = try await home.run(line)
      #expect(partial.status == 3 && partial.errors.contains("no such file"), "\(partial)")
      #expect(partial.errors.contains("hint: add the source again"), "\(partial)")
    }
    let doctor = try await home.run("doctor things --offline")
    #expect(doctor.output.contains("1 thing cached, fetched just now; cannot read /"), "\(doctor)")
    #expect(doctor.output.contains("\tadd the source again"), "\(doctor)")
  }

  @Test(arguments: [
    ("nothing.csv", "nothing.csv: no such file"), ("data/nothing.json", "nothing.json: no such"),
    (".", "is a directory"), ("file:relative.csv", "must be file:/// and an absolute path"),
    ("text.csv --header A:b", "a file and --header cannot be used together"),
    ("text.csv --page-param page=1", "--page-param must be absent for a file"),
  ])
  func `what cannot be read is said, and not saved`(words: String, message: String) async throws {
    try write("id,name\n1,Lamp\n", to: "text.csv")
    let refused = try await home.run("sources add things \(words)")
    #expect(refused.status != 0 && refused.errors.contains(message), "\(refused)")
    #expect(refused.status == (message.contains("no such") ? 74 : refused.status), "\(refused)")
    #expect(try await home.run("things list").status == 64)
  }

  @Test func `a table in Markdown is refused under any name`() async throws {
    for name in ["things.md", "things.csv"] {
      try write("| ID | v |\n| ---: | --- |\n| 1 | a |\n", to: name)
      let refused = try await home.run("sources add things \(name)")
      #expect(refused.status == 76 && refused.output == "", "\(refused)")
      #expect(
        refused.errors.contains("it is a Markdown table: export it as CSV or NDJSON instead"),
        "\(refused)")
    }
  }

  @Test func `values that cannot be compared are counted, wherever records are selected`()
    async throws
  {
    try write("id,amt\n1,$5\n2,300\n3,\"1,5\"\n", to: "money.csv")
    #expect(try await home.run("sources add money money.csv").status == 0)
    for end in ["", " --all", " --count", " --count --all", " --sort id --all"] {
      let selected = try await home.run("money list --where amt>10\(end)")
      #expect(selected.status == 0 && selected.lines.count == 1, "\(selected)")
      #expect(
        selected.errors.contains("2 of 3 values of \"amt\" cannot be compared as numbers"),
        "\(end): \(selected)")
    }
    // Those values may be the ones that are looked for.
    for end in ["", " --all", " --count", " --json"] {
      let none = try await home.run("money list --where amt>1000\(end)")
      #expect(none.status == 3, "\(end): \(none)")
      #expect(!none.errors.contains("No matching"), "\(end): \(none)")
      #expect(none.output.contains("\"total\":null") == (end == " --json"), "\(none)")
    }
    let none = try await home.run("money list --where amt>1000")
    #expect(
      none.errors.contains("No match among the values of money that can be compared\n"), "\(none)")
    for (line, words) in [
      ("list --where amt=77", "No matching records of money"),
      ("search zzyzxq", "No records of money match \"zzyzxq\""),
    ] {
      let outcome = try await home.run("money \(line)")
      #expect(outcome.errors.contains(words), "\(outcome)")
    }
    let all = try await home.run("search zzyzxq --source money")
    #expect(all.errors.contains("No records of money match \"zzyzxq\""), "\(all)")
    try write(
      #"[{"id": 1, "price": 5}, {"id": 2, "price": "N/A"}, {"id": 3, "price": 7}]"#,
      to: "mixed.json")
    #expect(try await home.run("sources add mixed mixed.json").status == 0)
    for end in ["", " --count", " --sort id"] {
      let selected = try await home.run("mixed list --where price<abc\(end)")
      #expect(
        selected.errors.contains("2 of 3 values of \"price\" cannot be compared as text"),
        "\(end): \(selected)")
    }
    let json = try await home.run("money list --where amt>10 --json")
    #expect(json.output.contains("\"incomparable\""), "\(json)")
  }

  @Test(arguments: [
    ("inv.csv", "inv inv.csv"), ("o.csv", "o o.csv"), ("./inv.csv", "inv './inv.csv'"),
    ("inv.csv stock", "stock inv.csv"),
  ])
  func `a file without a name is offered with one`(line: String, words: String) async throws {
    try write("id,name\n1,Lamp\n", to: "inv.csv")
    let refused = try await home.run("sources add \(line)")
    #expect(refused.status == 64)
    #expect(
      refused.errors.contains(
        "it is a file, and a name comes before it\n\nDid you mean \"sources add \(words)\"?"),
      "\(refused)")
  }

  @Test func `a file keeps the order of its columns, and the fields have kinds`() async throws {
    try write(
      "sku,In Stock,Name,Price,Made\nA1,true,Bolt,1.5,2026-01-05\nB2,false,Nut,2,2025-11-30\n",
      to: "inv.csv")
    #expect(try await home.run("sources add inv inv.csv --id sku").status == 0)
    func kinds() async throws -> [String] {
      let help = try await home.run("inv list --fields help")
      return help.lines.map { $0.split(separator: "\t").prefix(2).joined(separator: " ") }
    }
    #expect(
      try await kinds() == [
        "id any", "sku any", "In Stock bool", "Name any", "Price number", "Made any",
      ])
    let csv = try await home.run("inv list --csv --where sku=B2")
    #expect(
      csv.output == "id,sku,In Stock,Name,Price,Made\r\nB2,B2,false,Nut,2,2025-11-30\r\n")
    #expect(
      try await kinds() == [
        "id text", "sku text", "In Stock bool", "Name text", "Price number", "Made date",
      ])
    // The name of a record is its title, wherever it is.
    #expect(try await home.run("inv show nut --fields sku").lines == ["B2"])
    let cards = try await home.run("inv show B2 --format cards")
    #expect(cards.output.contains("Nut") && !cards.output.contains("sku"), "\(cards)")
  }

  @Test func `a keyword in the place of a table leads to the table`() async throws {
    try write("id,name\n1,a\n2,b\n", to: "orders.csv")
    #expect(try await home.run("sources add orders orders.csv").status == 0)
    let wrong = try await home.run("sql SELECT * FROM order")
    #expect(wrong.status == 64, "\(wrong)")
    #expect(wrong.errors.contains("near \"order\": syntax error"), "\(wrong)")
    #expect(wrong.errors.contains("Did you mean \"orders\"?"), "\(wrong)")
  }

  @Test func `a table without a row of names is a warning, and a wide one is not`() async throws {
    try write("1,Alpha,2024-01-02\n2,Beta,2024-01-03\n3,Beta,2024-01-05\n", to: "bare.csv")
    try write("country,2019,2024-01-02\nFR,5,7\nDE,6,8\n", to: "wide.csv")
    let bare = try await home.run("sources add bare bare.csv")
    #expect(bare.status == 0, "\(bare)")
    #expect(
      bare.errors.contains(
        "the first row names the columns, but looks like a record: 1, Alpha, 2024-01-02"), "\(bare)"
    )
    let wide = try await home.run("sources add wide wide.csv")
    #expect(wide.status == 0 && !wide.errors.contains("looks like a record"), "\(wide)")
  }

  @Test func `a source that hides a saved query is added with a warning`() async throws {
    try write("id,name\n1,a\n2,b\n", to: "op.csv")
    #expect(try await home.run("query save op -- countries list").status == 0)
    let added = try await home.run("sources add op op.csv")
    #expect(added.status == 0, "\(added)")
    #expect(added.errors.contains("the source hides the saved query \"op\""), "\(added)")
    #expect(added.errors.contains("query rename op NEW"), "\(added)")
  }

  @Test func `a column id whose values repeat is listed, selected and queried`() async throws {
    try write("id,name\n1,a\n1,b\n2,c\n", to: "dup.csv")
    let added = try await home.run("sources add dup dup.csv")
    #expect(added.status == 0, "\(added)")
    #expect(added.output.contains(", while id is 1 in more than one row\n"), "\(added)")
    #expect(added.output.contains("id is called id_2\n"), "\(added)")
    #expect(try await home.column("id_2", "dup list") == ["1", "1", "2"])
    #expect(try await home.column("name", "dup list --where id_2=1") == ["a", "b"])
    #expect(try await home.run("sql SELECT sum(id_2) FROM dup").lines == ["4"])
  }

  @Test func `options of edit change a manifest without an editor`() async throws {
    try write("sku,name,page\nA1,Bolt,https://a.example/1\n", to: "inv.csv")
    #expect(try await home.run("sources add inv inv.csv --id sku").status == 0)
    let manifest = "home/.config/aggregator/sources/inv.json"
    let old = try home.sandbox.text(of: manifest)
    let edited = try await home.run(
      "sources edit inv --link page --fields page,name", ["EDITOR": "false"])
    #expect(edited.status == 0 && edited.errors.hasPrefix("Changed "), "\(edited)")
    let new = try #require(JSON(reading: Data(try home.sandbox.text(of: manifest).utf8)))
    #expect(new["link"] == "page" && new["fields"] == ["page", "name"])
    #expect(new["url"] == JSON(reading: Data(old.utf8))?["url"])
    #expect(try await home.run("inv list --csv").output.hasPrefix("id,page,name\r\n"))

    let refused = try await home.run("sources edit inv --link a..b")
    #expect(refused.status == 64 && refused.errors.hasPrefix("error: --link "), "\(refused)")
    #expect(JSON(reading: Data(try home.sandbox.text(of: manifest).utf8)) == new)
  }

  @Test func `an asterisk in the fields of edit brings back fields of cached records`() async throws
  {
    try write(#"[{"id": 1, "a": "x", "b": 2, "c": true}, {"id": 2, "a": "z"}]"#, to: "inv.json")
    #expect(try await home.run("sources add inv inv.json").status == 0)
    #expect(try await home.run("sources edit inv --fields a").status == 0)
    let again = try await home.run("sources edit inv --fields a")
    #expect(again.status == 0 && again.errors == "Nothing changed\n", "\(again)")
    #expect(try await home.run("sources edit inv --fields *,-c").status == 0)
    #expect(try await home.run("inv list --csv").output.hasPrefix("id,a,b\r\n"))
    #expect(try await home.run("sources edit inv --fields *").status == 0)
    #expect(try await home.run("inv list --csv").output.hasPrefix("id,a,b,c\r\n"))
    let whole = try await home.run("sources edit inv --fields *")
    #expect(whole.status == 0 && whole.errors == "Nothing changed\n", "\(whole)")
  }

  @Test func `an asterisk in the fields of edit is for those that there are`() async throws {
    try write(
      #"[{"id": 1, "a": "x", "b": "y", "ctx": {"user": {"id": 3}}}, {"id": 2, "a": "z", "b": "w"}]"#,
      to: "inv.json")
    #expect(try await home.run("sources add inv inv.json").status == 0)
    for (fields, names) in [("*,ctx.user.id", "a,b,ctx.user.id"), ("b,*,-a", "b,ctx.user.id")] {
      let edited = try await home.run("sources edit inv --fields \(fields)")
      #expect(edited.status == 0, "\(edited)")
      let listed = try await home.run("inv list --csv")
      #expect(listed.output.hasPrefix("id,\(names)\r\n"), "\(listed)")
    }
    let refused = try await home.run("sources edit inv --fields *,-nothing")
    #expect(refused.status != 0 && refused.errors.contains("\"-nothing\""), "\(refused)")
  }

  @Test func `the error for a path that is no field names the command that makes one of it`()
    async throws
  {
    try write(
      #"[{"id": 1, "a": "x", "ctx": {"of": {"user": {"id": 3}}}}, {"id": 2, "a": "z"}]"#,
      to: "inv.json")
    #expect(try await home.run("sources add inv inv.json").status == 0)
    for option in ["--where ctx.of.user.id=3", "--sort -ctx.of.user.id"] {
      let refused = try await home.run("inv list \(option)")
      #expect(
        refused.status == 64
          && refused.errors.hasSuffix(
            "\nhint: aggregator sources edit inv --fields '*,ctx.of.user.id'\n"),
        "\(refused)")
    }
    #expect(try await home.run("sources edit inv --fields *,ctx.of.user.id").status == 0)
    #expect(try await home.column("a", "inv list --where ctx.of.user.id=3") == ["x"])
    let other = try await home.run("inv list --where user=3")
    #expect(other.status == 64 && !other.errors.contains("sources edit"), "\(other)")
  }

  @Test func `the path that the error names leads through a list`() async throws {
    try write(
      #"[{"id": 1, "a": "x", "labels": [{"of": {}}, {"of": {"name": "bug"}}]}, {"id": 2, "a": "z", "labels": []}]"#,
      to: "inv.json")
    let added = try await home.run("sources add inv inv.json")
    #expect(
      added.output.contains("takes their paths, with * for the elements of a list\n"), "\(added)")
    let refused = try await home.run("inv list --where labels.of.name=bug")
    #expect(
      refused.errors.hasSuffix("\nhint: aggregator sources edit inv --fields '*,labels.of.name'\n"),
      "\(refused)")
    let wrong = try await home.run("sources edit inv --fields *,labels.of.nope")
    #expect(wrong.status == 64 && wrong.errors.contains("has \"labels.of.nope\""), "\(wrong)")
    #expect(try await home.run("sources edit inv --fields *,labels.of.name").status == 0)
    let manifest = try home.sandbox.text(of: "home/.config/aggregator/sources/inv.json")
    #expect(
      JSON(reading: Data(manifest.utf8))?["fields"] == ["a", "labels.*.of.name"], "\(manifest)")
    #expect(try await home.column("a", "inv list --where labels.of.name=bug") == ["x"])
    // A position in the list is a path as before.
    #expect(try await home.run("sources edit inv --fields a,labels.1.of.name").status == 0)
    #expect(try await home.column("labels.1.of.name", "inv list --where a=x") == ["bug"])
  }

  @Test func `a link to values that are no web addresses is refused`() async throws {
    try write("Nr,page\n7,https://a.example/7\n8,\n", to: "inv.csv")
    #expect(try await home.run("sources add inv inv.csv --id # --link page").status == 0)
    #expect(try await home.run("inv sync").status == 0)
    let manifest = "home/.config/aggregator/sources/inv.json"
    let old = try home.sandbox.text(of: manifest)
    let refused = try await home.run("sources edit inv --link Nr")
    #expect(
      refused.status == 64
        && refused.errors.hasPrefix(
          "error: --link: none of 2 cached records has a web address at \"Nr\"\n"),
      "\(refused)")
    #expect(try home.sandbox.text(of: manifest) == old)
    #expect(try await home.run("sources edit inv --link page").status == 0)
  }

  @Test(arguments: [
    ("Nr=null", "write Nr=, which matches records without a value"), ("Nr>1,5", "write Nr>1.5"),
    ("Nr>3)", "no ( before ): write Nr>3"),
  ])
  func `a value that is no number for a column of numbers has a remedy`(
    condition: String, hint: String
  ) async throws {
    try write("Nr,page\n7,a\n8,b\n", to: "inv.csv")
    #expect(try await home.run("sources add inv inv.csv --id #").status == 0)
    let refused = try await home.run("inv list --where \(condition)")
    #expect(refused.status == 64 && refused.errors.contains("\nhint: \(hint)\n"), "\(refused)")
  }

  @Test(arguments: ["noise.csv", "noise.tsv"])
  func `a binary file is refused`(name: String) async throws {
    let bytes = (0..<2560).map { UInt8(truncatingIfNeeded: $0 * 167 + $0 / 256) }
    let file = try home.sandbox.write("", to: "work/\(name)")
    try Data(bytes).write(to: file)
    let refused = try await home.run("sources add noise \(name)")
    #expect(refused.status != 0 && refused.output == "", "\(refused)")
    #expect(refused.errors.contains("it is binary"), "\(refused)")
  }

  @Test func `the name of a member with a space is suggested in quotes`() async throws {
    try write("Order No,Name\n1,Lamp\n2,Lamp\n", to: "orders.csv")
    let refused = try await Binary.run(
      ["sources", "add", "orders", "orders.csv", "--id", "order no"],
      environment: home.environment, in: home.sandbox)
    #expect(refused.status == 64)
    #expect(refused.errors.contains("--id 'order no' does not identify records"), "\(refused)")
    #expect(refused.errors.contains("Did you mean \"--id 'Order No'\"?"), "\(refused)")
  }

  @Test func `a member that cannot be the ID is not suggested as one`() async throws {
    try write("id,note,name\n1,,Lamp\n2,x,Lamp\n", to: "notes.csv")
    for member in ["nope", "nam"] {
      let refused = try await Binary.run(
        ["sources", "add", "notes", "notes.csv", "--id", member],
        environment: home.environment, in: home.sandbox)
      #expect(refused.status == 64)
      #expect(refused.errors.contains("--id \(member) does not identify records"), "\(refused)")
      #expect(!refused.errors.contains("Did you mean"), "\(refused)")
    }
  }

  @Test func `rows that nothing identifies have their numbers as IDs`() async throws {
    try write("name,n\na,1\na,1\nb,2\n", to: "own rows.csv")
    let named = try await Binary.run(
      ["sources", "add", "things", "own rows.csv", "--id", "name,n"],
      environment: home.environment, in: home.sandbox)
    #expect(named.status == 0, "\(named)")
    let words = "1 row has the ID of an earlier one and is left out"
    #expect(named.errors.contains(words), "\(named)")
    var hints: Set<String> = []
    for (line, words) in [
      ("things list", words), ("things sync", "1 row had the ID of an earlier one"),
      ("things list --count", "1 row had the ID of an earlier one"),
      ("sql SELECT count(*) FROM things", "1 row had the ID of an earlier one"),
    ] {
      let short = try await home.run(line)
      #expect(short.status == 3 && short.errors.contains(words), "\(short)")
      #expect(!short.errors.contains("another page"), "\(short)")
      hints.formUnion(short.errorLines.filter { $0.hasPrefix("hint: aggregator sources add ") })
    }
    // All name one command, which works.
    #expect(hints.count == 1, "\(hints)")
    let command = try #require(hints.first).dropFirst("hint: aggregator ".count)
    let added = try await home.run("", by: ["/bin/sh", "-c", "exec \"$1\" \(command)", "sh"])
    #expect(added.status == 0 && added.output.contains("the number of the row"), "\(added)")

    let sync = "things sync --ndjson --fields added,changed,unchanged,complete"
    #expect(
      try await home.run(sync).output
        == "{\"added\":3,\"changed\":0,\"unchanged\":0,\"complete\":true}\n")
    #expect(try await home.column("id", "things list") == ["1", "2", "3"])
    #expect(try await home.run("things show 3").output.contains("b"))
    #expect(try await home.run("sql SELECT name FROM things WHERE id IN ('3', 3)").lines == ["b"])
    #expect(try await home.run("sources check things").status == 0)
    try write("name,n\nc,5\na,1\na,1\nb,2\n", to: "own rows.csv", hours: 1)
    #expect(
      try await home.run(sync).output
        == "{\"added\":1,\"changed\":2,\"unchanged\":1,\"complete\":true}\n")

    // It is inferred, too.
    let inferred = try await Binary.run(
      ["sources", "add", "things", "own rows.csv", "--replace"], environment: home.environment,
      in: home.sandbox)
    #expect(inferred.status == 0, "\(inferred)")
    let manifest = try home.sandbox.text(of: "home/.config/aggregator/sources/things.json")
    #expect(manifest.contains("\"id\": \"#\""), "\(manifest)")
  }

  @Test func `IDs have the kind that the file gives them`() async throws {
    try write("Nr|name|price\n1|Lamp|9\n20|Sofa|7\n3|Bed|9\n", to: "own things.csv")
    let add = ["sources", "add", "things", "own things.csv"]
    let added = try await Binary.run(add, environment: home.environment, in: home.sandbox)
    #expect(added.status == 0, "\(added)")
    let synced = try await home.run("things sync", ["AGGREGATOR_FORCE_TTY": "80"])
    #expect(synced.output.contains("things: 3 new (1 page)"), "\(synced)")
    #expect(try await home.run("things list --ndjson --jq .id").lines == ["1", "20", "3"])
    #expect(try await home.run("sql SELECT id FROM things WHERE id>3").lines == ["20"])
    let quoted = try await home.run(
      "sql SELECT name FROM things WHERE id='20'", ["AGGREGATOR_FORCE_TTY": "80"])
    #expect(quoted.errors.contains("No rows; a number has no quotes: = 20"), "\(quoted)")
    try write(#"{"id":"a","n":1}"# + "\n" + #"{"id":"7","n":2}"# + "\n", to: "texts.ndjson")
    #expect(try await home.run("sources add texts texts.ndjson").status == 0)
    #expect(
      try await home.run("texts list --ndjson --fields id").lines
        == [#"{"id":"a"}"#, #"{"id":"7"}"#])
    // Rows that nothing identifies.
    try write("name,n\nc,3\na,1\na,1\n", to: "rows.csv")
    #expect(try await home.run("sources add rows rows.csv").status == 0)
    #expect(try await home.run("rows sync").status == 0)
    #expect(try await home.run("rows list --ndjson --jq .id").lines == ["1", "2", "3"])
    #expect(try await home.run("sql SELECT id FROM rows WHERE id>2").lines == ["3"])
    #expect(try await home.run("sources check rows").status == 0)
  }

  private static let duckDB = Repository.program(named: "duckdb")

  @Test(.enabled(if: duckDB != nil, "requires duckdb"))
  func `columns of Parquet have the kinds of their values`() async throws {
    let program = try #require(Self.duckDB)
    try write(
      """
      {"id": 1, "name": "Lamp", "price": 9, "isNew": true, "tags": ["a"], "mixed": 1, "none": null}
      {"id": 2, "name": "Sofa", "price": 9.5, "isNew": null, "tags": [], "mixed": "x", "none": null}

      """, to: "things.ndjson")
    #expect(try await home.run("sources add things things.ndjson").status == 0)
    let directory = URL(filePath: program).deletingLastPathComponent().path
    let exported = try await home.run(
      "export things -o things.parquet", ["PATH": "\(directory):/usr/bin:/bin"])
    #expect(exported.status == 0, "\(exported)")
    let rows = try home.sandbox.rows(
      of: "SELECT column_name, column_type FROM (DESCRIBE FROM 'things.parquet')", by: program)
    let types = rows.split(separator: "\n").sorted()
    #expect(
      types == [
        "id,BIGINT", "isNew,BOOLEAN", "mixed,JSON", "name,VARCHAR", "price,DOUBLE",
        "tags,VARCHAR[]",
      ])
  }

  @Test func `what identifies no record does not become the ID`() async throws {
    try write("id,name,n\n1,Lamp,a\n2,Sofa,b\n", to: "things.csv")
    #expect(try await home.run("sources add things things.csv").status == 0)
    #expect(try await home.run("things sync").status == 0)
    let path = "home/.config/aggregator/sources/things.json"
    let before = try home.sandbox.text(of: path)
    let refused = try await home.run("sources edit things --id nope")
    #expect(refused.status == 64, "\(refused)")
    #expect(
      refused.errors.contains("--id: none of 2 cached records has an ID at \"nope\""), "\(refused)")
    #expect(try home.sandbox.text(of: path) == before)
    let editor = try home.sandbox.write(
      "#!/bin/sh\nsed -i 's/\"id\": \"id\"/\"id\": \"nope\"/' \"$1\"\n", to: "bin/editor")
    try home.sandbox.makeExecutable(editor)
    let edited = try await home.run("sources edit things", ["EDITOR": editor.path])
    #expect(edited.status == 0, "\(edited)")
    #expect(
      edited.errors.contains("things: none of 2 cached records has an ID at \"nope\""), "\(edited)")
    #expect(try await home.run("sources edit things --id n").status == 0)
    #expect(try await home.column("id", "things list") == ["a", "b"])
  }

  @Test func `another file in the manifest has to be allowed first, which edit says`() async throws
  {
    try write("id,name\n1,Lamp\n", to: "things.csv")
    try write("id,name\n2,Sofa\n", to: "others.csv")
    #expect(try await home.run("sources add things things.csv").status == 0)
    let editor = try home.sandbox.write(
      "#!/bin/sh\nsed -i 's/things.csv/others.csv/' \"$1\"\n", to: "bin/editor")
    try home.sandbox.makeExecutable(editor)
    let edited = try await home.run("sources edit things", ["EDITOR": editor.path])
    #expect(edited.status == 0 && edited.errors.hasPrefix("Changed "), "\(edited)")
    #expect(edited.errors.contains("others.csv, which nobody has allowed yet"), "\(edited)")
    #expect(
      edited.errors.hasSuffix("others.csv' --replace\n")
        && edited.errors.contains("\nhint: aggregator sources add things '"), "\(edited)")
    #expect(!edited.errors.contains("things sync"), "\(edited)")
  }

  @Test(arguments: [
    ("--fields id,nmae,n", "nmae", "\n\nDid you mean \"name\"?"), ("--link nope", "nope", ""),
    ("--fields name --link nme", "nme", "\n\nDid you mean \"name\"?"),
  ])
  func `a path that no record has becomes no field and no link`(
    options: String, path: String, suggestion: String
  ) async throws {
    try write("id,name,n\n1,Lamp,a\n2,Sofa,b\n", to: "things.csv")
    #expect(try await home.run("sources add things things.csv").status == 0)
    let editor = try home.sandbox.write(
      "#!/bin/sh\nsed -i 's/\"n\"/\"n\", \"other\"/' \"$1\"\n", to: "bin/editor")
    try home.sandbox.makeExecutable(editor)
    let edited = try await home.run("sources edit things", ["EDITOR": editor.path])
    #expect(edited.status == 0 && edited.errors.contains("has \"other\""), "\(edited)")
    let manifest = "home/.config/aggregator/sources/things.json"
    let before = try home.sandbox.text(of: manifest)
    let refused = try await home.run("sources edit things \(options)")
    #expect(refused.status == 64, "\(refused)")
    let option = options.contains("--link") ? "--link" : "--fields"
    #expect(
      refused.errors == """
        error: \(option): none of 2 cached records has "\(path)"\(suggestion)
        hint: name what the records have, or use an editor: aggregator sources edit things

        """, "\(refused)")
    #expect(try home.sandbox.text(of: manifest) == before)
    // One that is there already stays.
    #expect(try await home.run("sources edit things --fields other,name").status == 0)
  }

  @Test func `another URL or ID leaves the cached records behind, which is said`() async throws {
    try write("id,name\n1,Lamp\n", to: "things.csv")
    try write("id,name\n2,Sofa\n", to: "others.csv")
    #expect(try await home.run("sources add things things.csv").status == 0)
    #expect(try await home.run("things sync").status == 0)
    let note = "things: the records cached before the change are kept, but no longer shown. "
    let same = try await home.run("sources edit things --fields name")
    #expect(same.status == 0 && !same.errors.contains(note), "\(same)")
    let renamed = try await home.run("sources edit things --id name")
    #expect(renamed.status == 0 && renamed.errors.contains(note), "\(renamed)")
    #expect(try await home.run("things sync").status == 0)
    let editor = try home.sandbox.write(
      "#!/bin/sh\nsed -i s/things.csv/others.csv/ \"$1\"\n", to: "bin/editor")
    try home.sandbox.makeExecutable(editor)
    let moved = try await home.run("sources edit things", ["EDITOR": editor.path])
    // A file that the person has not named to the program is not read.
    #expect(moved.errors.contains("others.csv, which nobody has allowed yet\n"), "\(moved)")
    #expect(try await home.run("things sync").status == 78)
  }

  @Test(arguments: [
    ("things.xml", "<r><i><id>1</id>", "the file is incomplete: the document ends in line 1"),
    ("things.csv", "id,name\n\"1,Lamp\n", "the file is incomplete: line 2: a quote is not closed"),
    ("things.json", #"[{"id": 1}, {"id""#, "things sent JSON that ends early"),
  ])
  func `a file that ends before its first row is incomplete, not one without a list`(
    name: String, text: String, message: String
  ) async throws {
    try write(text, to: name)
    let outcome = try await home.run("sources add things \(name) --yes")
    #expect(outcome.status == 76, "\(outcome)")
    #expect(outcome.errors == "error: \(message)\nhint: get the whole file\n", "\(outcome)")
  }

  @Test func `what is said of a file without a list speaks of no URL`() async throws {
    try write("{\"message\": \"hello\"}", to: "things.json")
    let outcome = try await home.run("sources add things things.json")
    #expect(
      outcome.errors == """
        error: the file has no list of objects
        hint: name the list with --rows PATH, or use a file with a list

        """, "\(outcome)")
  }

  @Test(arguments: [
    (#"{"a": {"v": 1}, "b": {"w": 2}}"#, "a, b", "'{}'"),
    (#"{"x": {"a": {"v": 1}, "b": {"v": 2}}}"#, "a, b", "'x.{}'"),
  ])
  func `an object of objects is named, with the option that reads it`(
    text: String, names: String, rows: String
  ) async throws {
    try write(text, to: "things.json")
    let refused = try await home.run("sources add things things.json")
    #expect(
      refused.errors == """
        error: the file has no list of objects, but an object whose members are objects: \(names)
        hint: if each is a record, add --rows \(rows)

        """, "\(refused)")
    let added = try await home.run(
      "sources add things things.json --rows \(rows.dropFirst().dropLast())")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.column("id", "things list") == ["a", "b"])
  }

  @Test func `a dry run says that nothing was saved`() async throws {
    try write("[{\"id\": 1, \"name\": \"a\"}]", to: "things.json")
    let outcome = try await home.run("sources add things things.json --dry-run")
    #expect(outcome.output.hasSuffix("saved   nothing (--dry-run)\n"), "\(outcome)")
  }

  @Test func `digits in other fields make a record no candidate for a number`() async throws {
    try write(
      "id,title,size\n6,Lamp,123456999\n7,Sofa 1999,1\n8999,Bed,2\n", to: "things.csv")
    #expect(try await home.run("sources add things things.csv").status == 0)
    #expect(try await home.run("things sync").status == 0)
    let outcome = try await home.run("things show 999")
    #expect(outcome.status != 0 && outcome.errors.contains("7 (Sofa 1999)"), "\(outcome)")
    #expect(!outcome.errors.contains("Lamp"), "\(outcome)")
  }

  @Test func `nothing is requested of a file`() async throws {
    try write("id,name\n1,Lamp\n", to: "things.csv")
    #expect(try await home.run("sources add things things.csv").status == 0)
    let refused = try await home.run("api things x")
    #expect(refused.status == 64)
    #expect(refused.errors.hasPrefix("error: things is a file, "), "\(refused)")
  }

  @Test func `a large file is read row by row, if it has rows`() async throws {
    let row = String(repeating: "x", count: 1000)
    try write(
      "id,text\n" + (1...18_000).map { "\($0),\(row)\n" }.joined(), to: "large.csv")
    let added = try await home.run("sources add large large.csv")
    #expect(added.status == 0, "\(added)")
    #expect(try await home.column("id", "large list --limit 2") == ["1", "2"])
    #expect(try await home.run("large list --count --all").lines == ["18000"])
    #expect(try await home.run("large sync").status == 0)
    let removal = try await home.run("sources remove large --data --dry-run")
    #expect(removal.errors.contains("its 18,000 cached records"), "\(removal)")

    try write("[" + String(repeating: " ", count: 65 << 20), to: "large.json")
    let refused = try await home.run("sources add other large.json")
    #expect(refused.status == 76, "\(refused)")
    #expect(refused.errors.contains("large.json is larger than 64 MiB"), "\(refused)")
    #expect(refused.errors.contains("NDJSON") && refused.errors.contains("--max-size"))
  }

  @Test func `a manifest of somebody else reads no file`() async throws {
    try write("id,name\n1,Lamp\n", to: "things.csv")
    let path = home.sandbox.work.appending(path: "things.csv").path
    let manifest = #"{"url": "file://\#(path)", "rows": "$", "format": "csv", "id": "id"}"#
    try home.sandbox.write(manifest, to: "home/.config/aggregator/sources/spy.json")
    try home.sandbox.write(manifest, to: "work/others/spy.json")
    for arguments in ["spy list", "spy sync", "spy list --manifests others"] {
      let refused = try await home.run(arguments)
      #expect(refused.status == 78, "\(arguments): \(refused)")
      #expect(!refused.output.contains("Lamp"), "\(arguments): \(refused)")
    }
    #expect(
      try await home.run("spy list").errors.contains("sources add spy '\(path)' --replace"))
    let elsewhere = try await home.run("sources add own things.csv --manifests others")
    #expect(elsewhere.status == 64, "\(elsewhere)")
    #expect(try await home.run("sources add spy things.csv --replace").status == 0)
    #expect(try await home.column("name", "spy list") == ["Lamp"])
  }
}
