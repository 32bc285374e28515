import AggregatorKit
package import AggregatorQueries
package import AggregatorTerminal
import CAggregatorSQLite

/// `sql` without a query: a prompt for queries that end with a semicolon.
package struct SQLConsole {
  private enum Instruction: String, CaseIterable {
    case tables = ".tables"
    case schema = ".schema"
    case help = ".help"
    case quit = ".quit"

    var about: String {
      switch self {
      case .tables: "list the tables"
      case .schema: "list the columns of all tables, or of one: .schema TABLE"
      case .help: "show this help"
      case .quit: "leave, like Ctrl-D"
      }
    }
  }

  private static let prompt = "sql> "
  private static let continuation = "...> "

  private let session: SQLSession
  private let context: CommandContext

  package init(_ session: SQLSession, in context: CommandContext) {
    self.session = session
    self.context = context
  }

  /// True if a person can type here.
  package static func isPossible(_ invocation: Invocation) -> Bool {
    !invocation.has(.noInput) && !invocation.has(.jq)
      && [STDIN_FILENO, STDOUT_FILENO].allSatisfy { isatty($0) == 1 }
  }

  package func run() async throws -> ExitCode {
    // Never none meanwhile: Ctrl-C would end the console.
    Interruption.onInterrupt {}
    defer { Interruption.onInterrupt(nil) }
    let tables = try await session.tables(in: context)
    let input = ConsoleInput(
      on: context.terminal, context.output,
      completing: ConsoleWords(tables, commands: Instruction.allCases.map(\.rawValue)))
    var history = savedHistory()
    for line in history?.lines ?? [] { input.remember(line) }
    context.diagnostics.note("Enter .help for help, .quit to leave.")
    var text = ""
    while true {
      let line: String
      switch try input.read(text.isEmpty ? Self.prompt : Self.continuation, first: Self.prompt) {
      case .end: return .success
      case .cleared:
        text = ""
        continue
      case .text(let typed, let isFirst):
        if isFirst { text = "" }
        line = typed
      }
      guard line.nonBlank != nil || !text.isEmpty else { continue }
      input.remember(line)
      save(line, in: &history)
      if text.isEmpty, let words = line.instruction {
        guard try obey(words, tables) else { return .success }
        continue
      }
      text += text.isEmpty ? line : "\n\(line)"
      while let statement = text.firstStatement {
        text = String(text.dropFirst(statement.count))
        if text.nonBlank == nil { text = "" }
        if statement.nonBlank != ";" { await run(statement) }
      }
    }
  }

  /// Runs a statement; Ctrl-C ends it, not the console.
  private func run(_ text: String) async {
    let context = context.renewed()
    let drawing = context.progress.begin()
    let task = Task {
      try await context.listingOutput.run(ended: .success) { [session] in
        try await session.run(text, within: QueryTime(session.limit), in: context)
      }
    }
    Interruption.onInterrupt { task.cancel() }
    let result = await task.result
    Interruption.onInterrupt {}
    drawing?.cancel()
    ProgressLine.erase()
    do { _ = try result.get() } catch let error as CommandError {
      context.diagnostics.error(error)
    } catch is Output.ClosedPipe {
      // The reader has seen enough.
    } catch {
      context.diagnostics.error(CommandError(.bug, "\(error)"))
    }
  }

  /// Returns false to leave.
  private func obey(_ words: [String], _ tables: [SQLTable]) throws -> Bool {
    guard let instruction = Instruction(rawValue: words[0]) else {
      if [".exit", "exit", "quit"].contains(words[0]) { return false }
      let known = Instruction.allCases.map(\.rawValue)
      context.diagnostics.error(
        CommandError(
          .usage, "unknown command \"\(words[0])\"",
          suggestion: nearest(to: words[0], in: known), hint: "enter .help for help"))
      return true
    }
    let lines: [String]
    switch instruction {
    case .quit: return false
    case .help:
      lines =
        ["A query ends with a semicolon, and may have several lines."]
        + Instruction.allCases.map {
          "\($0.rawValue)\(String(repeating: " ", count: 9 - $0.rawValue.count))\($0.about)"
        }
    case .tables: lines = tables.map(\.text)
    case .schema:
      let chosen = tables.filter { table in
        words.count == 1 || words[1].lowercased() == table.text.lowercased()
      }
      lines = chosen.map { "\($0.text): \($0.columns.joined(separator: ", "))" }
      if lines.isEmpty {
        context.diagnostics.error(
          CommandError(
            .usage, "no such table: \(words[1])",
            suggestion: nearest(to: words[1], in: tables.map(\.text))))
      }
    }
    let output = context.renewed().listingOutput
    let wrap = Wrap(context.renewed().terminal.width)
    for line in lines {
      try output.write(wrap.lines(of: line.safeLine).map { "\($0)\n" }.joined())
    }
    try output.flush()
    return true
  }

  // MARK: - History

  /// `nil` if it cannot be read, which is reported.
  private func savedHistory() -> ConsoleHistory? {
    do {
      return try ConsoleHistory(in: context.directories(context.settings()).state)
    } catch let error as SourceError {
      context.diagnostics.warning(error.message)
    } catch {
      // The settings were read before.
    }
    return nil
  }

  /// Reports the first failure, and saves no more.
  private func save(_ line: String, in history: inout ConsoleHistory?) {
    do throws(SourceError) { try history?.add(line) } catch {
      context.diagnostics.warning(error.message)
      history = nil
    }
  }
}

extension String {
  /// The words of a command of the console; `nil` for SQL.
  fileprivate var instruction: [String]? {
    let words = split(whereSeparator: \.isWhitespace).map(String.init)
    guard let first = words.first else { return nil }
    return first.hasPrefix(".") || words.count == 1 && ["exit", "quit"].contains(first)
      ? words : nil
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
