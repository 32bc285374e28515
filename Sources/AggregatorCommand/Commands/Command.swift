import AggregatorKit

/// Something that the program does, as data: parser, help and completions are made from it.
///
/// What it says of itself is made when it is asked for: the program has some sixty commands, and runs one.
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
  let words: CompletionSource.Following

  /// Its options.
  var options: [Option] { makeOptions() + Option.common }

  /// What `--fields` can name; empty for nothing.
  var fields: [FieldEntry] { makeFields() }

  /// What else there is to know, in paragraphs.
  var notes: [String] { makeNotes() }

  /// How it is used.
  var examples: [Example] { makeExamples().map { Example(arguments: $0, about: $1) } }

  private let makeOptions: @Sendable () -> [Option]
  private let makeFields: @Sendable () -> [FieldEntry]
  private let makeNotes: @Sendable () -> [String]
  private let makeExamples: @Sendable () -> [(String, String)]
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
    _ arguments: String = "", words: CompletionSource.Following? = nil,
    options: @escaping @Sendable @autoclosure () -> [Option] = [],
    fields: @escaping @Sendable @autoclosure () -> [Field<some Any>] = [Field<Never>](),
    notes: @escaping @Sendable @autoclosure () -> [String] = [],
    examples: @escaping @Sendable @autoclosure () -> [(String, String)] = [],
    run: @escaping @Sendable (Invocation, Session) async throws -> ExitCode
  ) {
    self.arguments = arguments
    self.words = words ?? { _, _ in arguments.isEmpty ? .none : .anything }
    makeOptions = options
    makeFields = { fields().map { FieldEntry($0) } }
    makeNotes = notes
    makeExamples = examples
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

/// A record of the program's own, such as a source or a setting, shown by the same means as any other.
protocol Entry: Record {
  /// What can be read of it; all of it is shown.
  static var fields: [Field<Self>] { get }
}

/// A field, for `--fields help`.
struct FieldEntry: Entry {
  let id: String
  let kind: String
  let about: String

  init(_ field: Field<some Any>) {
    id = field.name
    kind = field.kind.rawValue
    about = field.about
  }

  static let fields: [Field<FieldEntry>] = [
    Field("name", "Name", \.id, about: "The name for --fields, a JSON key."),
    Field("kind", "Kind", \.kind, about: "text, integer, number, bool or list."),
    Field("about", "About", \.about, about: "What it is."),
  ]
}
