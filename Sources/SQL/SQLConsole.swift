import AggregatorFiles
import AggregatorFoundation
import AggregatorKit
package import AggregatorQueries
import AggregatorSavedQueries
package import AggregatorTerminal
import CAggregatorSQLite

/// `sql` without a query: a prompt for queries that end with a semicolon.
package struct SQLConsole {
  private enum Instruction: String, CaseIterable {
    case tables = ".tables"
    case schema = ".schema"
    case mode = ".mode"
    case nullValue = ".nullvalue"
    case width = ".width"
    case headers = ".headers"
    case once = ".once"
    case output = ".output"
    case read = ".read"
    case edit = ".edit"
    case parameter = ".parameter"
    case save = ".save"
    case saved = ".saved"
    case load = ".load"
    case timer = ".timer"
    case help = ".help"
    case quit = ".quit"

    var about: String {
      switch self {
      case .tables: "list the tables, or those with a name such as her or her%: .tables PATTERN"
      case .schema:
        "list the columns of all tables, with their kinds, declared or of a sample, or of one: .schema TABLE"
      case .mode:
        """
        print results as \(arguments.joined(separator: ", ")): .mode FORMAT, or .mode for the present one; auto is the \
        one at the start, with cards in the place of a table that does not fit into the terminal; table cuts it instead
        """
      case .width:
        """
        print tables N cells wide, from 20 to 10000: .width N, or .width 0 for the width of the terminal; a pager shows what is \
        beyond it, with the arrow keys
        """
      case .headers: "begin CSV and TSV with the names of the columns: .headers on, .headers off"
      case .nullValue: "print another text for NULL in tables and cards: .nullvalue TEXT"
      case .once:
        "write the next result to a file, in the format of its ending, or to a command: .once FILE, .once |COMMAND"
      case .output: "write all results to a file until .output stdout: .output FILE"
      case .read: "run the statements of a file up to the first error: .read FILE"
      case .edit: "edit the last statement in $VISUAL or $EDITOR, and run it; also \\e"
      case .parameter:
        "the values of parameters such as :age: .parameter set NAME VALUE, list, unset NAME, clear"
      case .save:
        "save the last statement as a command of its own: .save NAME, .save NAME --replace"
      case .saved: "list saved queries"
      case .load: "run a statement that was saved: .load NAME"
      case .timer: "print the time that each statement takes: .timer on, .timer off"
      case .help:
        "show this help, or that of a command, also amid a statement, as .tables and .schema: .help COMMAND"
      case .quit: "leave, like Ctrl-D"
      }
    }

    /// The words that can follow it, where they are few.
    var arguments: [String] {
      switch self {
      case .mode: Format.allCases.map(\.rawValue) + [automatic]
      case .parameter: ["set", "list", "unset", "clear"]
      case .timer, .headers: ["on", "off"]
      default: []
      }
    }

    /// True for one that a person may need to write the rest of a statement.
    var isLookup: Bool { [.tables, .schema, .help].contains(self) }

    /// The most words after it.
    var maxWords: Int {
      switch self {
      case .edit, .saved, .quit: 0
      case .tables, .schema, .mode, .width, .nullValue, .headers, .once, .output, .read, .load,
        .timer, .help:
        1
      case .save: 2
      case .parameter: 3
      }
    }
  }

  /// The largest file of statements, in bytes.
  private static let maxFileBytes = 1 << 20
  /// A file of statements may read another one, which may read another one.
  private static let maxDepth = 8
  /// The argument of `.mode` for the format of the options.
  private static let automatic = "auto"
  /// The word with which `.save` replaces, as `query save` does.
  private static let replacing = "--replace"

  private var session: SQLSession
  private let context: CommandContext

  private var tables: [SQLTable] = []
  /// The text entered so far of a statement that has not ended yet.
  private var text = ""
  /// The characters of statements before it in the same lines, from which errors count.
  private var charactersBefore = 0
  private var lastStatement = ""
  /// The format of `.mode`.
  private var format: Format?
  /// The file of `.once`, or a command after `|`, until the next statement.
  private var file: String?
  /// The file of `.output`.
  private var outputFile: OutputFile?
  private var isTimed = false
  /// True after the first statement of what was entered, or of a script.
  private var hasRun = false
  /// The code of the first failure of a script, which ends it; `nil` for a console, which goes on.
  private var failure: ExitCode?
  private var isScript = false
  /// The line of a script that is being run.
  private var place: Place?
  /// True if an answer of a script was partial.
  private var isPartial = false

  package init(_ session: SQLSession, in context: CommandContext) {
    self.session = session
    self.context = context
  }

  /// True for the name of a command, or one that is misspelled.
  fileprivate static func isCommand(_ word: String, orNearly mayBeNear: Bool) -> Bool {
    Instruction(rawValue: word) != nil || word.hasPrefix("\\")
      || mayBeNear && word.hasPrefix(".")
        && nearest(to: word, in: Instruction.allCases.map(\.rawValue)) != nil
  }

  /// True if a person can type here.
  package static func isPossible(_ invocation: Invocation) -> Bool {
    !invocation.has(.noInput) && !invocation.has(.jq)
      && [STDIN_FILENO, STDOUT_FILENO].allSatisfy { isatty($0) == 1 }
  }

  package mutating func run() async throws -> ExitCode {
    // Never none meanwhile: Ctrl-C would end the console.
    Interruption.onInterrupt {}
    defer { Interruption.onInterrupt(nil) }
    defer { closeOutput() }
    tables = try await session.tables(in: context)
    let input = ConsoleInput(
      on: context.terminal, context.output,
      completing: SQLWords(
        tables, commands: Instruction.allCases.map(\.rawValue),
        arguments: Dictionary(
          uniqueKeysWithValues: Instruction.allCases.filter { !$0.arguments.isEmpty }
            .map { ($0.rawValue, $0.arguments) })))
    var history = savedHistory()
    for line in history?.lines ?? [] { input.remember(line) }
    context.diagnostics.note("Enter .help for help, .quit to leave.")
    /// The lines of the statement, which the history has as one.
    var typed: [String] = []
    while true {
      let line: String
      switch try input.read(after: text) {
      case .end:
        if !text.isComment {
          context.diagnostics.note("The statement was not run: it has no ; at its end.")
        }
        return .success
      case .cleared:
        (text, typed) = ("", [])
        continue
      case .text(let entered, let isFirst):
        if isFirst { (text, typed) = ("", []) }
        line = entered
      }
      guard let entry = enter(line) else { continue }
      // The history has it before it runs, which may take long.
      if case .instruction = entry, !text.isEmpty {
        // The statement goes on after it.
        save([line], in: &history, of: input)
      } else {
        typed.append(line)
        if text.isEmpty {
          save(typed, in: &history, of: input)
          typed = []
        }
      }
      let last = lastStatement
      hasRun = false
      guard try await run(entry) else { return .success }
      // Not only the command that opened the editor.
      if case .instruction(let words) = entry, [".edit", "\\e"].contains(words[0]),
        lastStatement != last
      {
        save(lastStatement.trimmed.lines, in: &history, of: input)
      }
    }
  }

  /// True for more than one statement, or commands of the console.
  package static func isScript(_ text: String) -> Bool {
    let lines = text.split(whereSeparator: \.isNewline)
    if lines.contains(where: { String(String($0).afterComments).instruction != nil }) {
      return true
    }
    guard let first = text.firstStatement else { return false }
    return !String(text.dropFirst(first.count)).isComment
  }

  /// Runs the statements and commands of a text up to the first one that fails, whose code it returns.
  package mutating func run(script text: String) async throws -> ExitCode {
    defer { Interruption.onInterrupt(nil) }
    tables = try await session.tables(in: context)
    isScript = true
    _ = try await run(lines: text.lines, from: Place(file: nil, line: 1), depth: 0)
    if failure != nil { outputFile?.hasFailed = true }
    closeOutput()
    return failure ?? (isPartial ? .partial : .success)
  }

  private struct Place {
    /// `nil` for standard input or an argument.
    let file: String?
    var line: Int

    var text: String { "line \(line)\(file.map { " of \($0)" } ?? "")" }
  }

  /// The instruction or the statements that end with a line.
  private enum Entry {
    case instruction([String])
    case statements([(text: String, charactersBefore: Int)])
  }

  /// Adds a line to the statement, unless it is an instruction; `nil` for a blank line before a statement, or a refused one.
  private mutating func enter(_ line: String) -> Entry? {
    guard line.nonBlank != nil || !text.isEmpty else { return nil }
    let isOpen = text.isEmpty || text.afterComments.hasPrefix("/*")
    let commented = isOpen ? "\(text)\n\(line)".afterComments : nil
    // Nothing but comments is before a command.
    if let commented, !commented.contains(where: \.isNewline),
      let words = String(commented).instruction
    {
      text = ""
      return .instruction(words)
    }
    // Who has forgotten the semicolon wants to leave, too.
    if !isScript, [".quit", ".q", ".exit", "\\q"].contains(line.trimmed) {
      return .instruction([line.trimmed])
    }
    // Within quotes it is a text.
    if !isScript, place == nil, !text.isEmpty, line.isCommand, sqlite3_complete("\(text)\n;") != 0 {
      if let words = line.instruction, let lookup = try? instruction(words), lookup.isLookup {
        return .instruction(words)
      }
      context.diagnostics.error(
        CommandError(
          .usage, "\"\(line.trimmed)\" is in the middle of a statement",
          hint: "end the statement with ; or drop it with Ctrl-C"))
      return nil
    }
    if text.isEmpty { charactersBefore = 0 }
    text += text.isEmpty ? line : "\n\(line)"
    let statements = takeStatements()
    // No statement has begun: the prompt must not look as if one had, and a command may follow.
    if text.isComment { text = "" }
    return .statements(statements)
  }

  /// Returns false to leave.
  private mutating func run(_ entry: Entry, depth: Int = 0) async throws -> Bool {
    switch entry {
    case .instruction(let words): return try await obey(words, depth: depth)
    case .statements(let statements):
      for statement in statements {
        await run(statement.text, after: statement.charactersBefore)
        if hasToEnd { return false }
      }
      return true
    }
  }

  /// The statements that have been entered to their end.
  private mutating func takeStatements() -> [(text: String, charactersBefore: Int)] {
    var statements: [(text: String, charactersBefore: Int)] = []
    while let statement = text.firstStatement {
      text = String(text.dropFirst(statement.count))
      if text.nonBlank == nil { text = "" }
      if statement.nonBlank != ";" { statements.append((statement, charactersBefore)) }
      charactersBefore += statement.count
    }
    return statements
  }

  /// Runs the lines of a script or of a saved statement; returns false to leave.
  private mutating func run(
    lines: [String], from start: Place? = nil, depth: Int
  ) async throws -> Bool {
    let outer = place
    place = start ?? outer
    defer { place = outer }
    for (index, line) in lines.enumerated() {
      // That of a statement is its first.
      if let start, text.isEmpty { place?.line = start.line + index }
      if let entry = enter(line), try await !run(entry, depth: depth) { return false }
    }
    // A file may end without a semicolon.
    if !text.isComment { await run(text, after: charactersBefore) }
    text = ""
    return !hasToEnd
  }

  /// True after a failure in a script or in a file of `.read`: what follows may need what has failed.
  private var hasToEnd: Bool { isScript ? failure != nil : place?.file != nil && hasFailed }

  /// True after a failure, which a reader who has seen enough is not.
  private var hasFailed: Bool { failure.map { $0 != .success } ?? false }

  /// Runs a statement; Ctrl-C ends it, not the console.
  private mutating func run(_ statement: String, after count: Int) async {
    lastStatement = statement
    defer { file = nil }
    let (begin, waited) = (ContinuousClock.now, Output.timeWaited)
    do {
      if hasRun, file == nil, outputFile == nil, try presentFormat().isForPeople {
        try context.output.write("\n")
      }
      hasRun = true
      if try await run(statement, after: count, in: context.renewed()) == .partial {
        isPartial = true
      }
    } catch let error as CommandError {
      report(error)
    } catch is Output.ClosedPipe {
      // The reader has seen enough.
      failure = .success
    } catch {
      report(CommandError(.bug, "\(error)"))
    }
    // Reading in a pager takes no time of the statement.
    let time = ContinuousClock.now - begin - (Output.timeWaited - waited)
    if isTimed { context.diagnostics.note("Time: \(time.text)") }
  }

  private mutating func report(_ error: CommandError) {
    var error = error
    if let place { error.message += " (\(place.text))" }
    context.diagnostics.error(error)
    failure = error.code
  }

  private mutating func run(
    _ statement: String, after count: Int, in context: CommandContext
  ) async throws -> ExitCode {
    let directory = try command.map { _ throws(CommandError) in try TemporaryDirectory() }
    defer { withExtendedLifetime(directory) {} }
    let path = directory.map { "\($0.path)/result" } ?? file
    let new = try path.map { path throws(CommandError) in
      try NewFile(replacing: path, in: context)
    }
    let isCompressed = command == nil && file?.isCompressed == true
    let target =
      try new.map { isCompressed ? try $0.output.compressed() : $0.output } ?? outputFile?.output
    let context = target.map { context.writing(to: $0) } ?? context
    let format = fileFormat
    var session = session
    if new == nil, let format, let file = outputFile {
      do throws(CommandError) { try file.check(format) } catch {
        if isScript { outputFile?.hasFailed = true }
        throw error
      }
      session.fileColumns = file.columns
    }
    let drawing = context.progress.begin()
    let task = Task { [session] in
      try await context.listingOutput.run(ended: .success) {
        try await session.run(
          statement, after: count, as: format, within: QueryTime(session.limit), in: context)
      }
    }
    Interruption.onInterrupt { task.cancel() }
    let result = await task.result
    Interruption.onInterrupt {}
    drawing?.cancel()
    ProgressLine.erase()
    if case .failure = result, new == nil { outputFile?.hasFailed = true }
    let code = try result.get()
    if new == nil { outputFile?.format = format }
    if let new, let path {
      try target?.finish()
      try new.finish()
      if let command {
        try pipe(path, into: command)
      } else {
        context.diagnostics.note("Wrote \(path)")
      }
    }
    return code
  }

  /// The command into which `.once` pipes the next result; `nil` without one.
  private var command: String? {
    file.flatMap { $0.hasPrefix("|") ? String($0.dropFirst()).trimmed : nil }
  }

  /// Runs a command of the shell that reads a file; fails with code `io` if its status is another than 0.
  private func pipe(_ path: String, into command: String) throws(CommandError) {
    let input: OpenFile
    do throws(SystemFailure) { input = try OpenFile(path, O_RDONLY) } catch {
      throw CommandError(.io, "cannot read \(path): \(error.words)")
    }
    let status = ExternalProgram.run(
      ["/bin/sh", "-c", command], context.variables, descriptors: [STDIN_FILENO: input.descriptor])
    guard status == 0 else {
      throw CommandError(
        .io, "\(command.oneLine(atMost: 80)) failed with \(ExternalProgram.ending(status))")
    }
  }

  /// The format of the next result; `nil` for that of the options.
  private var fileFormat: Format? {
    guard let file = file ?? outputFile?.path else { return format }
    let ending = command == nil ? Self.ending(of: file) : nil
    // A table is for people, and as wide as their terminal.
    return Format.allCases.first { format in ending.map(format.fileEndings.contains) ?? false }
      ?? (format.map { $0 == .table ? .tsv : $0 } ?? .tsv)
  }

  /// Returns false to leave.
  private mutating func obey(_ words: [String], depth: Int = 0) async throws -> Bool {
    do {
      switch try instruction(words) {
      case .quit: return false
      case .help:
        let width = context.renewed().terminal.width
        // A pager would take what is typed next.
        try await show(Self.help(on: words.dropFirst().first, width), isPaged: false)
      case .tables: try await show(wrapped(tables.map(\.text).like(words.dropFirst().first)))
      case .schema: try await show(wrapped(columns(of: words.dropFirst().first)))
      case .mode where words.count == 1: try await show([presentFormat().rawValue])
      case .mode: try setMode(words[1])
      case .nullValue:
        session.nullText = try Self.argument(of: words, "TEXT")
      case .width: session.width = try Self.width(in: words)
      case .headers: session.hasHeader = try isOn(words)
      case .once: file = try target(in: words)
      case .output: try redirect(words)
      case .timer: isTimed = try isOn(words)
      case .parameter: try await setParameters(Array(words.dropFirst()))
      case .save: try await save(words)
      case .saved:
        let queries = try savedQueries().queries
        try await show(wrapped(queries.map { "\($0.name) = \($0.text)" }))
      case .load:
        let lines = try await lines(ofQuery: Self.argument(of: words, "NAME"))
        return try await run(lines: lines, depth: depth)
      case .read:
        let path = try Self.argument(of: words, "FILE")
        let lines = try lines(ofFile: path, depth: depth)
        let isOuter = !isScript && place?.file == nil
        if isOuter { failure = nil }
        let goesOn = try await run(
          lines: lines, from: Place(file: path, line: 1), depth: depth + 1)
        // A failure ends the file, not the console.
        return goesOn || isOuter && hasFailed
      case .edit: return try await run(lines: await edited(), depth: depth)
      }
    } catch let error as CommandError {
      report(error)
    }
    return !hasToEnd
  }

  private static func help(on word: String?, _ width: Int) throws(CommandError) -> [String] {
    let indent = 2 + (Instruction.allCases.map(\.rawValue.count).max() ?? 0)
    let narrow = Wrap(max(20, width - indent))
    let chosen = word.map { $0.hasPrefix(".") ? $0 : ".\($0)" }
    let instructions = Instruction.allCases.filter { chosen == nil || $0.rawValue == chosen }
    if let chosen, instructions.isEmpty { throw unknown(chosen) }
    let about = "A query ends with a semicolon, and may have several lines."
    return (word == nil ? Wrap(width).lines(of: about) : [])
      + instructions.flatMap { instruction in
        narrow.lines(of: instruction.about).enumerated().map { index, line in
          let name = index == 0 ? instruction.rawValue : ""
          return "\(name)\(String(repeating: " ", count: indent - name.count))\(line)"
        }
      }
  }

  /// The instruction of this name, or of that in psql or of a program that people know as well.
  private func instruction(_ words: [String]) throws(CommandError) -> Instruction {
    switch words[0] {
    case ".q", ".exit", "\\q": return .quit
    case "\\?": return .help
    case "\\e": return .edit
    case "\\d", "\\dt", "\\d+", "\\dt+": return words.count > 1 ? .schema : .tables
    case "\\i": return .read
    case ".param": return .parameter
    case ".header": return .headers
    case "\\o" where words.count == 1: return .output
    case let word:
      guard let instruction = Instruction(rawValue: word) else {
        throw Self.unknown(word, words.dropFirst().first)
      }
      guard words.count <= instruction.maxWords + 1 else {
        throw CommandError(.usage, "unexpected argument \"\(words[instruction.maxWords + 1])\"")
      }
      return instruction
    }
  }

  private static func unknown(_ word: String, _ argument: String? = nil) -> CommandError {
    let remedy = remedy(for: word, argument)
    return CommandError(
      .usage, "unknown command \"\(word)\"",
      suggestion: equivalents[word]
        ?? (remedy == nil ? nearest(to: word, in: Instruction.allCases.map(\.rawValue)) : nil),
      hint: remedy ?? "enter .help for help")
  }

  /// The instructions that do what commands of the shells of SQLite and PostgreSQL do.
  private static let equivalents = [
    ".fullschema": ".schema", ".indexes": ".schema", ".indices": ".schema",
    ".excel": ".once FILE.csv", "\\o": ".output FILE", "\\g": ".once FILE", "\\x": ".mode cards",
    "\\gx": ".mode cards", "\\t": ".headers off", "\\timing": ".timer on", "\\h": ".help",
    "\\set": ".parameter set",
    ".show": ".mode", ".maxwidth": ".width N",
  ]

  /// The remedy for a command of those shells that has no equivalent here.
  private static func remedy(for word: String, _ argument: String?) -> Hint? {
    switch word {
    case ".attach", ".databases", ".import", ".open", "\\c", "\\copy", "\\l":
      .command("sql \(Option.attach.spelling) FILE")
    case ".backup", ".clone", ".dump", ".recover":
      .command("export \(argument.flatMap(\.argument) ?? "SOURCE")")
    case ".eqp", ".expert", ".explain": "EXPLAIN QUERY PLAN SELECT … shows how a query is run"
    case ".timeout": "start with \(Option.timeout.spelling)"
    case ".bail": "a script ends at its first error"
    case ".print", ".echo", "\\echo": "SELECT 'text';"
    case ".cd", ".shell", ".system", "\\!": "no other program can be run from here"
    case ".separator", "\\a", "\\pset": ".mode chooses a format"
    default: nil
    }
  }

  private static func width(in words: [String]) throws(CommandError) -> Int? {
    let text = try argument(of: words, "N")
    if text == "0" || text == automatic { return nil }
    guard let width = Int(text), 20...10_000 ~= width else {
      throw CommandError(
        .usage, "invalid width \"\(text)\"",
        hint: "a number from 20 to 10000, or 0 for the width of the terminal")
    }
    return width
  }

  /// Writes all results into another file from now on, or to standard output again.
  private mutating func redirect(_ words: [String]) throws(CommandError) {
    closeOutput()
    guard words.count > 1, !["stdout", "off", "-"].contains(words[1]) else { return }
    guard !words[1].hasPrefix("|") else {
      throw CommandError(
        .usage, "only the next result can go to a command", hint: "enter .once |COMMAND")
    }
    let path = try Self.fileOfFormat(in: words)
    outputFile = try OutputFile(path, in: context)
  }

  /// Gives the file of `.output` its name.
  private mutating func closeOutput() {
    guard let file = outputFile else { return }
    outputFile = nil
    // A script has ended at the mistake; a person has seen it, and gone on.
    guard !file.hasFailed || !isScript else {
      return context.diagnostics.note("\(file.path) stays as it was: a statement failed")
    }
    do throws(CommandError) {
      try file.finish()
      let shortcoming = file.hasFailed ? ", perhaps with a part of a statement that failed" : ""
      context.diagnostics.note("Wrote \(file.path)\(shortcoming)")
    } catch { report(error) }
  }

  private static func argument(
    of words: [String], _ name: String
  ) throws(CommandError) -> String {
    guard words.count > 1 else {
      throw .missingArgument(name, hint: "enter .help for help")
    }
    return words[1]
  }

  /// The file of `.once`, or its command, which only a person may run: statements may come from anywhere.
  private func target(in words: [String]) throws(CommandError) -> String {
    guard let target = words.dropFirst().first, target.hasPrefix("|") else {
      return try Self.fileOfFormat(in: words)
    }
    guard !isScript, place == nil else {
      throw CommandError(
        .usage, "no other program can be run from here", hint: "write to a file: .once FILE")
    }
    guard target.dropFirst().contains(where: { !$0.isWhitespace }) else {
      throw .missingArgument("COMMAND", hint: "such as .once |wc -l")
    }
    return target
  }

  /// Endings of other programs' files, which would not be what they say.
  private static let otherEndings: Set<String> = [
    "bz2", "db", "duckdb", "htm", "html", "ods", "parquet", "pdf", "sqlite", "sqlite3", "xls",
    "xlsx", "xml", "xz", "zip", "zst",
  ]

  /// The file of `.once`, whose name may have any ending but that of another kind of file.
  private static func fileOfFormat(in words: [String]) throws(CommandError) -> String {
    let file = try argument(of: words, "FILE")
    guard let ending = ending(of: file), otherEndings.contains(ending) else { return file }
    let endings = Format.allCases.flatMap(\.fileEndings)
    throw CommandError(
      .usage, "files that end in .\(ending) cannot be written",
      hint: .words("use one of .\(endings.joined(separator: ", .")), or the command export"))
  }

  /// The ending of a file's name, in lower case, without that of compression, as in `list.csv.gz`; `nil` for none.
  private static func ending(of file: String) -> String? {
    let name = file.lowercased().split(separator: "/").last ?? ""
    let endings = name.split(separator: ".").dropFirst()
    let last = endings.count > 1 && endings.last == "gz" ? endings.dropLast().last : endings.last
    return last.map(String.init)
  }

  private func columns(of table: String?) async throws(CommandError) -> [String] {
    var chosen = tables.filter { table == nil || table?.lowercased() == $0.text.lowercased() }
    guard !chosen.isEmpty else {
      throw CommandError(
        .usage, "no such table: \(table ?? "")",
        suggestion: nearest(to: table ?? "", in: tables.map(\.text)))
    }
    var isSampled = false
    for index in chosen.indices {
      let sampled = await session.sampledKinds(of: chosen[index], in: context)
      chosen[index].kinds.merge(sampled) { $1 }
      isSampled = isSampled || !sampled.isEmpty
    }
    if isSampled {
      context.diagnostics.note(
        "note: kinds that no source declares are those of a sample: at most \(SQLSession.sampleSize) records of a table"
      )
    }
    return chosen.map { table in
      let columns = table.columns.map { name in
        // Columns of any kind are text in PostgreSQL.
        let kind: String? = table.kinds[name].flatMap { $0 == .any ? nil : " \($0.rawValue)" }
        return name.typedSQLName + (kind ?? "")
      }
      return "\(table.text): \(columns.joined(separator: ", "))"
    }
  }

  private func presentFormat() throws(CommandError) -> Format {
    guard let format else { return try OutputOptions(session.invocation, in: context).format }
    return format
  }

  /// The formats nearest to those of the shell of SQLite.
  private static let otherFormats: [String: Format] = [
    "ascii": .table, "box": .table, "column": .table, "duckbox": .table, "html": .markdown,
    "insert": .csv, "jsonlines": .ndjson, "line": .cards, "list": .tsv, "quote": .csv, "tabs": .tsv,
  ]

  private mutating func setMode(_ name: String) throws(CommandError) {
    guard name != Self.automatic, name != "default" else {
      self.format = nil
      return
    }
    guard let format = Format(named: name) else {
      let known = Instruction.mode.arguments
      throw CommandError(
        .usage, "unknown format \"\(name)\"",
        suggestion: Self.otherFormats[name]?.rawValue ?? nearest(to: name, in: known),
        hint: .words("use one of \(known.joined(separator: ", "))"))
    }
    self.format = format
  }

  private mutating func setParameters(_ words: [String]) async throws(CommandError) {
    switch (words.first ?? "list", words.count) {
    case ("set", 3):
      try session.set(
        words[1], to: words[2].replacing(/^"(.*)"$/) { "'\($0.1.replacing("'", with: "''"))'" })
    case ("unset", 2):
      let name = try SQLSession.parameter(words[1])
      guard session.parameters.removeValue(forKey: name) != nil else {
        throw CommandError(
          .usage, "no parameter \"\(name)\" is set",
          suggestion: nearest(to: name, in: session.parameters.keys), hint: "enter .parameter list")
      }
    case ("list", ...1):
      let parameters = session.parameters.sorted { $0.key < $1.key }
      // Not wrapped, which would change spaces in a value.
      try await show(parameters.map { ":\($0.key) \($0.value.literal)".safeLine })
    case ("clear", 1): session.parameters = [:]
    default:
      throw CommandError(
        .usage, "invalid arguments of .parameter",
        hint: ".parameter set NAME VALUE, list, unset NAME, or clear")
    }
  }

  // MARK: - Saved queries

  /// Saves the last statement, with the files that are attached.
  private func save(_ words: [String]) async throws(CommandError) {
    let names = words.filter { $0 != Self.replacing }
    let name = try Self.argument(of: names, "NAME")
    guard names.count == 2 else {
      throw CommandError(.usage, "unexpected argument \"\(names[2])\"")
    }
    guard var statement = lastStatement.nonBlank.map({ String($0).trimmed }) else {
      throw CommandError(.usage, "no statement to save", hint: "run one first")
    }
    if statement.hasSuffix(";") { statement.removeLast() }
    try context.catalog.checkQueryName(name)
    try await session.check(statement, in: context)
    let files = session.invocation.texts(.attach).flatMap { [Option.attach.spelling, $0] }
    let query = try SavedQuery(name, literal: ["sql"] + files + [statement])
    let file = try context.catalog.queryFile()
    try CommandError.wrapping(
      try file.edit { text throws(SourceError) in
        try text.add(query, mayReplace: words.contains(Self.replacing))
      })
    context.diagnostics.note("Saved. Run it with: \(context.diagnostics.command(name))")
  }

  private func savedQueries() throws(CommandError) -> SavedQueryText {
    let file = try context.catalog.queryFile()
    return try CommandError.wrapping(try file.read())
  }

  /// The lines of a statement that was saved.
  private func lines(ofQuery name: String) async throws(CommandError) -> [String] {
    let text = try savedQueries()
    guard let query = text.queries.first(where: { $0.name == name }) else {
      throw CommandError(
        .notFound, "no query named \"\(name)\" was saved",
        suggestion: nearest(to: name, in: text.queries.map(\.name)), hint: "enter .saved")
    }
    let words = try query.words(with: [], missing: .isKept)
    guard words.count == 2, words[0] == "sql" else {
      throw CommandError(
        .usage, "\"\(name)\" is not a single statement", hint: .command("\(name)"))
    }
    let lines = words[1].split(whereSeparator: \.isNewline).map(String.init)
    try await show(wrapped(lines), isPaged: false)
    return lines
  }

  private func isOn(_ words: [String]) throws(CommandError) -> Bool {
    switch try Self.argument(of: words, "on or off") {
    case "on": true
    case "off": false
    default: throw CommandError(.usage, "unexpected argument \"\(words[1])\"", hint: "on or off")
    }
  }

  private func lines(ofFile path: String, depth: Int) throws(CommandError) -> [String] {
    guard depth < Self.maxDepth else {
      throw CommandError(.usage, "\(path): files of statements read each other")
    }
    let file = PrivateFile(path: path)
    let bytes = try CommandError.wrapping(
      try file.contents(atMost: Self.maxFileBytes, irregular: .storage))
    guard let bytes else { throw CommandError(.io, "no such file: \(path)") }
    return String(decoding: bytes, as: UTF8.self).lines
  }

  /// The lines of the last statement, as a person has changed it.
  private func edited() async throws(CommandError) -> [String] {
    let directory = try TemporaryDirectory()
    let file = PrivateFile(path: "\(directory.path)/statement.sql")
    try CommandError.wrapping(
      try file.write(Array((lastStatement.isEmpty ? "" : "\(lastStatement.trimmed)\n").utf8)))
    try Editor.open(file.path, context.variables)
    let lines = try lines(ofFile: file.path, depth: 0)
    // Left without saving: nobody wanted to run it.
    guard lines != lastStatement.trimmed.lines else {
      return []
    }
    if !lines.isEmpty { try await show(wrapped(lines), isPaged: false) }
    return lines
  }

  private func wrapped(_ lines: [String]) -> [String] {
    let wrap = Wrap(context.renewed().terminal.width)
    return lines.flatMap { wrap.lines(of: $0.safeLine) }
  }

  /// Prints lines, unless told otherwise through a pager, whose end it waits for: it reads the keyboard as the next prompt does.
  private func show(_ lines: [String], isPaged: Bool = true) async throws(CommandError) {
    let output = context.renewed().listingOutput
    do {
      if !isPaged { try output.release() }
      try await output.run(ended: ()) {
        for line in lines { try output.write("\(line)\n") }
      }
    } catch let error as CommandError { throw error } catch {
      // The reader has seen enough.
    }
  }

  // MARK: - History

  /// `nil` if it cannot be read, which is reported.
  private func savedHistory() -> LineHistory? {
    do {
      return try LineHistory(
        named: LineHistory.sql, in: context.directories(context.settings()).state)
    } catch let error as SourceError {
      context.diagnostics.warning(error.message)
    } catch {
      // The settings were read before.
    }
    return nil
  }

  /// Keeps the lines of a statement; reports the first failure, and saves no more.
  private func save(
    _ lines: [String], in history: inout LineHistory?, of input: ConsoleInput
  ) {
    for line in lines.joinedLines {
      input.remember(line)
      do throws(SourceError) { try history?.add(line) } catch {
        context.diagnostics.warning(error.message)
        history = nil
      }
    }
  }
}

extension String {
  /// The lines, without an empty one at the end.
  fileprivate var lines: [String] {
    let lines = split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    return (lines.last?.isEmpty == true ? lines.dropLast() : lines[...]).map(String.init)
  }

  /// The words of a command of the console; `nil` for SQL.
  fileprivate var instruction: [String]? {
    guard let line = nonBlank else { return nil }
    // A statement may go on with .5 in a line of its own.
    guard line.hasPrefix("\\") || line.hasPrefix("."), line.dropFirst().first?.isNumber != true
    else { return otherInstruction }
    // The value of a parameter may have spaces and quotes, and so may a command.
    let isPiped = line.wholeMatch(of: /\.once\s+\|.*/) != nil
    guard hasPrefix(".param") || isPiped else {
      // As in the shell of SQLite.
      return line.matches(of: /"([^"]*)"|'([^']*)'|\S+/).map { String($0.1 ?? $0.2 ?? $0.0) }
    }
    return split(maxSplits: isPiped ? 1 : 3, whereSeparator: \.isWhitespace)
      .map { String($0).trimmed }
  }

  /// True for a line that no statement has: a command of the console, or a word with which people leave one.
  fileprivate var isCommand: Bool {
    ["exit", "quit"].contains(trimmed.lowercased())
      // A statement may go on with .name and more behind it.
      || instruction.map { SQLConsole.isCommand($0[0], orNearly: $0.count < 3) } ?? false
  }

  /// The words of a command that is a statement of other programs.
  private var otherInstruction: [String]? {
    let words = lowercased().split { $0.isWhitespace || ";()'\"".contains($0) }.map(String.init)
    return switch (words.first, words.count) {
    case ("pragma", 2) where words[1] == "table_list": [".tables"]
    case ("pragma", 3) where ["table_info", "table_xinfo"].contains(words[1]):
      [".schema", words[2]]
    case ("exit", 1), ("quit", 1): [".quit"]
    case ("help", 1): [".help"]
    case ("show", 2) where words[1] == "tables": [".tables"]
    case ("show", 4) where words[1] == "columns": [".schema", words[3]]
    case ("describe", 2), ("desc", 2): [".schema", words[1]]
    default: nil
    }
  }

  /// True for SQL that is nothing but space, semicolons and comments, all of which have ended.
  fileprivate var isComment: Bool { afterComments.isEmpty }

  /// The text after the space, the semicolons and the comments at its beginning; a comment that has not ended stays.
  fileprivate var afterComments: Substring {
    var rest = self[...]
    while true {
      rest = rest.drop { $0.isWhitespace || $0 == ";" }
      if rest.hasPrefix("--") {
        rest = rest.drop { !$0.isNewline }
      } else if rest.hasPrefix("/*"), let end = rest.dropFirst(2).firstRange(of: "*/") {
        rest = rest[end.upperBound...]
      } else {
        return rest
      }
    }
  }

  /// The text up to a semicolon that ends a statement; `nil` if there is none.
  fileprivate var firstStatement: String? {
    var rest = self[...]
    while let end = rest.firstIndex(of: ";") {
      let statement = String(self[...end])
      if sqlite3_complete(statement) != 0 { return statement }
      rest = rest[index(after: end)...]
    }
    return nil
  }
}

extension [String] {
  /// The lines as one, unless that would change what they mean: a comment, or a text, goes on to the next line.
  fileprivate var joinedLines: [String] {
    let all = dropLast().joined(separator: "\n")
    let isPlain =
      !all.contains("--")
      && ["'", "\"", "`"].allSatisfy { quote in
        dropLast().indices.allSatisfy { end in
          self[...end].joined().count { "\($0)" == quote }.isMultiple(of: 2)
        }
      }
    return isPlain ? [joined(separator: " ")] : self
  }
}
