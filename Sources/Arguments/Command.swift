package import AggregatorKit
package import AggregatorQueries
package import AggregatorTerminal

/// Parser, help and completions derive from it; texts and options are closures, because a run needs
/// those of one command out of sixty.
package struct Command: Sendable {
  package struct Example: Sendable {
    /// The command line without the program's name.
    package let arguments: String
    /// The description, without a full stop.
    package let about: String
  }

  /// What a command needs of its process, more than others do.
  package struct Needs: Hashable, Sendable {
    /// The fewest file descriptors; 0 if those of every command are enough.
    package var descriptors = 0

    /// True if its threads allocate side by side for long, which is faster with arenas of their own.
    package var ownArenas = false

    package init(descriptors: Int = 0, ownArenas: Bool = false) {
      self.descriptors = descriptors
      self.ownArenas = ownArenas
    }
  }

  /// The arguments: `QUERY…`; empty for none.
  package let arguments: String
  package let words: CompletionSource.Following
  package let needs: Needs

  package var options: [Option] { makeOptions() + Option.common }

  /// The fields for `--fields`; empty if the command outputs no records.
  package var fields: [FieldEntry] { makeFields() }

  package var notes: [String] { makeNotes() }

  package var examples: [Example] { makeExamples().map { Example(arguments: $0, about: $1) } }

  private let makeOptions: @Sendable () -> [Option]
  private let makeFields: @Sendable () -> [FieldEntry]
  private let makeNotes: @Sendable () -> [String]
  private let makeExamples: @Sendable () -> [(String, String)]
  private let body: @Sendable (Invocation, CommandContext) async throws -> ExitCode

  var takesArguments: Bool { !arguments.isEmpty }

  package init(
    _ arguments: String = "", words: CompletionSource.Following? = nil, needs: Needs = Needs(),
    options: @escaping @Sendable @autoclosure () -> [Option] = [],
    fields: @escaping @Sendable @autoclosure () -> [Field<some Any>] = [Field<Never>](),
    notes: @escaping @Sendable @autoclosure () -> [String] = [],
    examples: @escaping @Sendable @autoclosure () -> [(String, String)] = [],
    run: @escaping @Sendable (Invocation, CommandContext) async throws -> ExitCode
  ) {
    self.arguments = arguments
    self.words = words ?? { _, _ in arguments.isEmpty ? .none : .anything }
    self.needs = needs
    makeOptions = options
    makeFields = { fields().map { FieldEntry($0) } }
    makeNotes = notes
    makeExamples = examples
    body = run
  }

  package func run(_ invocation: Invocation, _ context: CommandContext) async throws -> ExitCode {
    guard invocation.list(.fields) == ["help"] else { return try await body(invocation, context) }
    let output = try OutputOptions(invocation, in: context)
    try RecordPrinter.print(
      fields, as: output.plainListing("fields", FieldEntry.self, namesFields: false), output,
      in: context)
    return .success
  }
}
