import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The `jq` program, which filters the JSON output of a command once it is complete: a failed command writes nothing, but `api`
/// the pages before its failure.
struct JQ {
  private static let program = "jq"

  private let path: String
  private let expression: String
  private let context: CommandContext
  private let hasJSON: Bool

  /// Fails with code `unavailable` if `jq` is not installed, and `usage` for an expression that it rejects.
  ///
  /// - Parameter hasJSON: False for a command that prints the body of a response, which may be anything.
  init(
    _ expression: String, hasJSON: Bool, _ context: CommandContext
  ) throws(CommandError) {
    self.hasJSON = hasJSON
    path = try ExternalProgram.path(
      of: Self.program, requiredBy: Option.jq.spelling, context.variables)
    self.expression = expression
    self.context = context
    // Without input it only compiles the expression.
    let result = try run(on: TemporaryFile(), writingTo: TemporaryFile())
    guard result.status == 0 else {
      throw CommandError(
        .usage,
        "invalid value \"\(expression)\" for \(Option.jq.spelling): \(result.message)")
    }
  }

  /// Runs a command, and passes its output through the program; of `api` also the pages before a failure.
  func filter(
    _ command: (CommandContext) async throws -> ExitCode
  ) async throws -> ExitCode {
    let input = try TemporaryFile()
    var (code, failure) = (ExitCode.partial, CommandError?.none)
    do { code = try await command(context.writing(to: input.output)) } catch let error
      as CommandError where error.code == .partial && !hasJSON
    {
      failure = error
    }
    let text = try context.terminal.isOutput ? TemporaryFile() : nil
    let result = try run(on: input, writingTo: text)
    if let text { try context.output.write(String(decoding: text.bytes, as: UTF8.self).safeLines) }
    // What is wrong with the last page says more than what the program says of it.
    if let failure { throw failure }
    let name = nameWithDots(in: input)
    let hint = name.map { Hint.words("\"\($0)\" is one name: write .\"\($0)\"") }
    if result.status == 0 {
      if let name { context.diagnostics.warning("\(Self.program): .\(name) is null", hint: hint) }
      return code
    }
    // The reader closed the pipe.
    guard result.status != SIGPIPE else { throw Output.ClosedPipe() }
    // The document of a command is an object, whose records are in `items`; other programs print a list.
    let beginning = String(decoding: input.bytes.prefix(64), as: UTF8.self)
    let isDocument = beginning.contains("\"aggregator/1\"")
    // The expression has compiled: it is the body that cannot be read.
    let isMalformed = !hasJSON && result.message.contains("parse error:")
    throw CommandError(
      isMalformed ? .notUnderstood : .usage,
      "\(Self.program) failed with \(ExternalProgram.ending(result.status)): \(result.message)",
      suggestion: isDocument && expression.hasPrefix(".[")
        ? "\(Option.jq.spelling) \(".items\(expression.dropFirst())".shellQuoted)" : nil,
      hint: hint
        ?? .words(
          hasJSON
            ? "\(Option.json.spelling) shows the input, whose records are in .items"
            : "without \(Option.jq.spelling) you see the body"))
  }

  /// The name of a field such as `owner.login` that the expression has as a path, which leads to nothing in the input;
  /// `nil` if there is none.
  private func nameWithDots(in input: TemporaryFile) -> String? {
    let paths = expression.matches(of: #/\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)/#).map(\.1)
    guard !paths.isEmpty else { return nil }
    return input.bytes.withUnsafeBytes { json in
      func hasMember(_ name: String) -> Bool { json.offset(of: Array("\"\(name)\":".utf8)) != nil }
      for path in paths {
        let names = path.split(separator: ".").map(String.init)
        guard !hasMember(names[0]) else { continue }
        let found = (2...names.count).map { names.prefix($0).joined(separator: ".") }
          .first(where: hasMember)
        if let found { return found }
      }
      return nil
    }
  }

  private func run(
    on input: TemporaryFile, writingTo output: TemporaryFile?
  ) throws(CommandError) -> (status: Int32, message: String) {
    let errors = try TemporaryFile()
    input.rewind()
    var descriptors = [STDIN_FILENO: input.descriptor, STDERR_FILENO: errors.descriptor]
    descriptors[STDOUT_FILENO] = output?.descriptor
    let isByLine = (try? OutputOptions(context.invocation, in: context).format) == .ndjson
    // The space keeps an expression that begins with a dash from being an option.
    let status = ExternalProgram.run(
      [path, isByLine ? "-rMc" : "-rM", " " + expression], context.variables,
      descriptors: descriptors)
    return (status, Self.message(String(decoding: errors.bytes, as: UTF8.self)))
  }

  /// The first line of the program's messages, without their beginning.
  private static func message(_ text: String) -> String {
    let line = text.split(separator: "\n").first ?? "no message"
    let message = line.replacing(#/^jq: error(?: \(at [^)]*\))?: /#, with: "")
    return String(message.last == ":" ? message.dropLast() : message)
  }
}
