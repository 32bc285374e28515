import AggregatorArguments
import AggregatorKit
import AggregatorQueries
import AggregatorSQL
import AggregatorSavedQueries
import AggregatorSourceCommands
import AggregatorTerminal

extension CommandTree.Node {
  static let query = CommandTree.Node(
    "query", "Save command lines under names of your own", .queries,
    children: [
      .init("query list", "List saved queries", .queries),
      .init("query show", "Show a saved query, and what it runs", .showQuery),
      .init("query save", "Save a command line under a name", .saveQuery),
      .init("query edit", "Change a saved query", .editQuery),
      .init("query rename", "Give a saved query another name", .renameQuery),
      .init("query remove", "Remove saved queries", .removeQuery),
    ])
}

extension Command {
  private static let replaceQuery = Option("replace", about: "replace the query of this name")

  fileprivate static let queries = Command(
    options: Option.formatting, fields: QueryEntry.fields,
    notes: [
      "A saved query is a command: with \"query save euro -- countries list --where region=EU\", \"euro\" lists the countries of "
        + "Europe, and \"euro --json\" lists them as JSON.",
      "Words can have places for arguments: with \"query save by -- heroes list --where 'publisher~$1'\", \"by marvel --limit 5\" "
        + "lists five heroes of Marvel. \"help query save\" tells more.",
      "They are lines of the file queries in the directory of your settings file: NAME = WORDS.",
    ],
    examples: [("query", "list saved queries")]
  ) { invocation, context in
    let output = try OutputOptions(invocation, in: context)
    let tree = CommandTree(context.catalog)
    let entries = context.catalog.savedQueries.queries.map { QueryEntry($0, in: tree) }
    var listing = try output.plainListing("queries", QueryEntry.self)
    if output.isForPeople, listing.template == nil, entries.allSatisfy({ $0.problem == nil }) {
      listing.fields.removeAll { $0.name == "problem" }
    }
    // A command line is not cut.
    (listing.prefersCards, listing.minLastWidth) = (true, .max)
    try RecordPrinter.print(entries, as: listing, output, in: context)
    if entries.isEmpty {
      context.diagnostics.note(
        "No queries are saved · \(context.diagnostics.command("help query save"))")
    }
    return .success
  }

  fileprivate static let showQuery = Command(
    "NAME", words: CompletionSource.savedQuery, options: Option.formatting,
    fields: QueryDetail.fields,
    examples: [("query show euro", "show a saved query")]
  ) { invocation, context in
    let query = try context.catalog.savedQuery(invocation.argument("NAME"))
    let output = try OutputOptions(invocation, in: context)
    let entry = QueryDetail(
      entry: QueryEntry(query, in: CommandTree(context.catalog)),
      file: context.catalog.savedQueries.file?.path)
    try RecordPrinter.print(
      [entry], as: output.plainListing("show", QueryDetail.self, shape: .cards), output,
      in: context)
    return .success
  }

  fileprivate static let saveQuery = Command(
    "NAME -- WORDS…",
    words: { arguments, _ in
      arguments.isEmpty ? .anything : .commandLine(Array(arguments.dropFirst()))
    },
    options: [replaceQuery],
    notes: [
      "The words are those of a command line without the program, after --, or as one argument. They are checked first. A "
        + "saved query may begin with the name of another one.",
      "Arguments of the query are appended, and so are its options wherever they stand; an option replaces the saved ones of its name, and those that it excludes. $1 to $9 in the words stand for single arguments, which are not appended then, "
        + "and $@ for the others; $$ is a dollar sign. Within a condition of --where an argument is a value. Within SQL $1 is one, too, outside of quotes: name LIKE '%' || $1 || '%'; others are refused there, and so is $@. Put the words into single quotes, or the shell expands them.",
      "What begins with ! runs in sh, with the arguments as $1, $2 and $@; if it names none of them, \"$@\" is appended.",
      "A name is 1 to 32 letters, digits, hyphens and underscores, beginning with a letter. Sources and commands come first.",
    ],
    examples: [
      ("query save euro -- countries list --where region=EU", "then \"euro\" lists them"),
      ("query save by -- heroes list --where 'publisher~$1'", "then \"by marvel\" lists them"),
      ("query save weather -- '!curl -s wttr.in/$1'", "a script for sh"),
    ],
    run: saveQuery)

  private static func saveQuery(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    guard let name = invocation.arguments.first else { throw CommandError.missingArgument("NAME") }
    var words = Array(invocation.arguments.dropFirst())
    // A line that was copied begins with the name of the program.
    if words.count > 1, words[0] == context.catalog.program { words.removeFirst() }
    guard !words.isEmpty else {
      throw CommandError.missingArgument(
        "WORDS", hint: .command("query save \(name.typed) -- SOURCE list"))
    }
    try context.catalog.checkQueryName(name)
    let query = try SavedQuery(name, typed: words)
    let statement: Invocation?
    do throws(CommandError) { statement = try CommandTree(context.catalog).check(query) } catch {
      let own = replaceQuery.spelling
      if words.contains(own), error.message.contains(own) {
        var moved = error
        moved.suggestion = "query save \(commandLine([name] + words.filter { $0 != own }, own))"
        throw moved
      }
      guard let script = query.scriptText(running: context.catalog.program) else { throw error }
      throw CommandError(
        .usage, "\(error.message): a query is one command, or a script after !",
        suggestion: "query save \(name) -- \(script.shellQuoted)",
        hint: .command("help query save"))
    }
    if let statement { try await SQLSession.check(statement, in: context) }
    try context.catalog.queryFile().edit { text throws(SourceError) in
      try text.add(query, mayReplace: invocation.has(replaceQuery))
    }
    context.diagnostics.note("Saved. Run it with: \(context.diagnostics.command(query.usage))")
    return .success
  }

  /// A name and the words of its query as they are typed, with an option between them.
  private static func commandLine(_ words: [String], _ option: String) -> String {
    // To a shell, $1 is one of its own.
    let typed = words.map { $0.contains("$") ? $0.shellQuoted : ShellWords.line(of: [$0]) }
    return "\(typed[0]) \(option) -- \(typed.dropFirst().joined(separator: " "))"
  }

  fileprivate static let editQuery = Command(
    "NAME", words: CompletionSource.savedQuery,
    notes: [
      "Opens the words of the query in $VISUAL, $EDITOR or vi, and checks them before they replace the old ones."
    ],
    examples: [("query edit euro", "change a saved query")],
    run: editQuery)

  private static func editQuery(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    do throws(CommandError) { try invocation.refuseArguments(after: 1) } catch {
      var refused = error
      refused.suggestion = "query save \(commandLine(invocation.arguments, replaceQuery.spelling))"
      throw refused
    }
    let name = try invocation.names("NAME", of: context.catalog.savedQueries.queries.map(\.name))[0]
    let old = try context.catalog.savedQuery(name)
    let file = try context.catalog.queryFile()
    return try context.edit(Array("\(old.text)\n".utf8), as: "\(old.name).txt") {
      bytes throws(CommandError) in
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw CommandError(.usage, "invalid query \"\(old.name)\": it is not UTF-8 text")
      }
      let query = try SavedQuery(old.name, text: text)
      try CommandTree(context.catalog).check(query)
      try CommandError.wrapping(try file.edit { text in text.set(query) })
      return "the query \"\(old.name)\""
    }
  }

  fileprivate static let renameQuery = Command(
    "NAME NEW", words: CompletionSource.savedQuery, options: [replaceQuery],
    examples: [("query rename euro europe", "give a saved query another name")],
    run: renameQuery)

  private static func renameQuery(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    guard let name = invocation.arguments.first else { throw CommandError.missingArgument("NAME") }
    guard let new = invocation.arguments.dropFirst().first else {
      throw CommandError.missingArgument("NEW")
    }
    try invocation.refuseArguments(after: 2)
    let query = try context.catalog.savedQuery(name).renamed(new)
    try context.catalog.checkQueryName(new)
    let followers = try context.catalog.queries(beginningWith: name)
      .map { query throws(CommandError) in try query.beginning(with: new) }
    try context.catalog.queryFile().edit { text throws(SourceError) in
      try text.add(query, mayReplace: invocation.has(replaceQuery) || new == name)
      guard new != name else { return }
      _ = text.remove(name)
      for follower in followers where follower.name != new { text.set(follower) }
    }
    let names = followers.map { "\"\($0.name)\"" }.joined(separator: ", ")
    context.diagnostics.note(
      "Renamed \"\(name)\" to \"\(new)\"\(names.isEmpty ? "" : ", also in \(names)")")
    return .success
  }

  fileprivate static let removeQuery = Command(
    "NAME…",
    words: { arguments, tree in
      .choice(tree.savedCandidates.filter { !arguments.contains($0.word) })
    },
    options: [.yes, .dryRun],
    examples: [("query remove euro --yes", "remove a saved query")],
    run: removeQuery)

  private static func removeQuery(
    _ invocation: Invocation, _ context: CommandContext
  ) async throws -> ExitCode {
    let all = context.catalog.savedQueries.queries.map(\.name)
    let queries = try invocation.names("NAME", of: all).map { name throws(CommandError) in
      try context.catalog.savedQuery(name)
    }
    let names = queries.map(\.name)
    let file = try context.catalog.queryFile()
    for name in names {
      for follower in context.catalog.queries(beginningWith: name)
      where !names.contains(follower.name) {
        context.diagnostics.warning("the query \"\(follower.name)\" begins with \"\(name)\"")
      }
    }
    let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
    let subject = names.count > 1 ? "the queries \(list)" : "the query \(list): \(queries[0].text)"
    try await context.remove(subject) {
      try file.edit { text in
        for name in names { _ = text.remove(name) }
      }
    }
    return .success
  }
}

extension SourceCatalog {
  /// The queries that begin with the name of another one; none if it means a source or command.
  fileprivate func queries(beginningWith name: String) -> [SavedQuery] {
    guard !hiddenQueries.contains(name) else { return [] }
    return savedQueries.queries.filter { $0.beginning == name }
  }
}

/// A saved query, and whether it runs.
struct QueryEntry: Entry {
  let query: SavedQuery
  /// The reason it does not run; `nil` if nothing is known against it.
  let problem: String?
  /// The command line that runs, with the program.
  let runs: String

  var id: String { query.name }

  init(_ query: SavedQuery, in tree: CommandTree) {
    self.query = query
    let expansion = Result { () throws(CommandError) in
      try tree.check(query)
      return try tree.expansion(of: [query.name], missing: .isKept)
    }
    let isHidden = tree.catalog.isTaken(query.name)
    problem =
      isHidden
      ? "hidden by the source or command of the same name" : expansion.failure?.message
    let words = (try? expansion.get()).flatMap { $0.command == nil ? $0.words : nil }
    runs =
      query.script.map { "sh: \($0)" }
      ?? words.map { "\(tree.catalog.program) \(ShellWords.line(of: $0))" } ?? query.text
  }

  static let fields: [Field<QueryEntry>] = [
    Field("name", "Name", \.id, about: "The name on the command line."),
    Field("query", "Query", \.query.text, about: "The words, or ! and a script."),
    Field("problem", "Problem", \.problem, about: "Why it does not run."),
  ]
}

private struct QueryDetail: Entry {
  let entry: QueryEntry
  let file: String?

  var id: String { entry.id }

  static let fields: [Field<QueryDetail>] = [
    Field("name", "Name", \.id, about: "The name on the command line."),
    Field("query", "Query", \.entry.query.text, about: "The words, or ! and a script."),
    Field("runs", "Runs", \.entry.runs, about: "What runs, with all that it calls."),
    Field("problem", "Problem", \.entry.problem, about: "Why it does not run."),
    Field("file", "File", \.file, about: "The path of the file of saved queries."),
  ]
}
