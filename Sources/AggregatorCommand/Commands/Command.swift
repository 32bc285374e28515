import Core

/// Something that the program does, as data: parser, help and completions are made from it.
package struct Command: Sendable {
  /// An example, and what it does.
  struct Example: Sendable {
    /// What to type after `aggregator`.
    let arguments: String
    /// What it does, in a few words.
    let about: String
  }

  /// What comes after the words of the command: `QUERY…`; empty for nothing.
  let arguments: String

  /// What each of these can be, for completions.
  let words: Words.Following

  /// Its options.
  let options: [Option]

  /// What `--fields` can name; empty for nothing.
  let fields: [FieldEntry]

  /// What else there is to know, in paragraphs.
  let notes: [String]

  /// How it is used.
  let examples: [Example]

  private let body: @Sendable (Invocation, Session) async throws -> ExitCode

  /// Whether words may follow those of the command.
  var takesArguments: Bool { !arguments.isEmpty }

  /// A command.
  ///
  /// - Parameters:
  ///   - arguments: What comes after the words of the command.
  ///   - words: What each of these can be; by default nothing is said of it.
  ///   - options: Its options, beside ``Option/common``.
  ///   - fields: What `--fields` can name.
  ///   - notes: What else there is to know.
  ///   - examples: What to type after `aggregator`, and what it does.
  ///   - run: Does it.
  init(
    _ arguments: String = "", words: Words.Following? = nil, options: [Option] = [],
    fields: [Field<some Any>] = [Field<Never>](), notes: [String] = [],
    examples: [(String, String)] = [],
    run: @escaping @Sendable (Invocation, Session) async throws -> ExitCode
  ) {
    self.arguments = arguments
    self.words = words ?? { _, _ in arguments.isEmpty ? .none : .anything }
    self.options = options + Option.common
    self.fields = fields.map { FieldEntry($0) }
    self.notes = notes
    self.examples = examples.map { Example(arguments: $0, about: $1) }
    body = run
  }

  /// Does it, or lists the fields where `--fields help` asks for them.
  func run(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
    guard invocation.list(.fields) == ["help"] else { return try await body(invocation, session) }
    let output = try OutputOptions(invocation, in: session)
    try RecordPrinter.print(
      fields, as: output.plainListing("fields", FieldEntry.self, namesFields: false), output,
      in: session)
    return .success
  }
}
