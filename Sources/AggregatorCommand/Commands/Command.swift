import AggregatorKit

/// Parser, help and completions derive from it; texts and options are closures, because a run needs
/// those of one command out of sixty.
package struct Command: Sendable {
  struct Example: Sendable {
    /// The command line without the program's name.
    let arguments: String
    /// The description, without a full stop.
    let about: String
  }

  /// The arguments: `QUERY…`; empty for none.
  let arguments: String
  let words: CompletionSource.Following

  var options: [Option] { makeOptions() + Option.common }

  /// The fields for `--fields`; empty if the command outputs no records.
  var fields: [FieldEntry] { makeFields() }

  var notes: [String] { makeNotes() }

  var examples: [Example] { makeExamples().map { Example(arguments: $0, about: $1) } }

  private let makeOptions: @Sendable () -> [Option]
  private let makeFields: @Sendable () -> [FieldEntry]
  private let makeNotes: @Sendable () -> [String]
  private let makeExamples: @Sendable () -> [(String, String)]
  private let body: @Sendable (Invocation, CommandContext) async throws -> ExitCode

  var takesArguments: Bool { !arguments.isEmpty }

  init(
    _ arguments: String = "", words: CompletionSource.Following? = nil,
    options: @escaping @Sendable @autoclosure () -> [Option] = [],
    fields: @escaping @Sendable @autoclosure () -> [Field<some Any>] = [Field<Never>](),
    notes: @escaping @Sendable @autoclosure () -> [String] = [],
    examples: @escaping @Sendable @autoclosure () -> [(String, String)] = [],
    run: @escaping @Sendable (Invocation, CommandContext) async throws -> ExitCode
  ) {
    self.arguments = arguments
    self.words = words ?? { _, _ in arguments.isEmpty ? .none : .anything }
    makeOptions = options
    makeFields = { fields().map { FieldEntry($0) } }
    makeNotes = notes
    makeExamples = examples
    body = run
  }

  func run(_ invocation: Invocation, _ context: CommandContext) async throws -> ExitCode {
    guard invocation.list(.fields) == ["help"] else { return try await body(invocation, context) }
    let output = try OutputOptions(invocation, in: context)
    try RecordPrinter.print(
      fields, as: output.plainListing("fields", FieldEntry.self, namesFields: false), output,
      in: context)
    return .success
  }
}

/// A record of the program itself, such as a source or a setting.
protocol Entry: Record {
  /// The fields; all of them are shown.
  static var fields: [Field<Self>] { get }
}

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
    Field("name", "Name", \.id, about: "The name for --fields, and the JSON key."),
    Field("kind", "Kind", \.kind, about: "text, integer, number, bool, list or any."),
    Field("about", "Description", \.about, about: "The description."),
  ]
}
