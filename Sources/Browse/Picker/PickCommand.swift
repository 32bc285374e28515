package import AggregatorArguments
package import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

extension Plugin {
  /// Prints the ID of a record that the person picks.
  package var pickCommand: Command {
    Command(
      "[QUERY…]",
      options: Option.reading.filter { ![.noFallback, .record, .replay].contains($0) },
      notes: [
        "Shows the cached records, of which those stay that match what is typed: its letters in their order, with others "
          + "between them. The best match comes first. A capital makes a word match capitals only.",
        "Enter picks, Esc leaves with exit code 130, and Ctrl-R asks the service. The screen is that of the terminal, also if "
          + "the output goes to a pipe.",
        "A key of the shell inserts such an ID: see completions SHELL --widget.",
      ],
      examples: [
        ("\(name) pick", "print the ID of the record that is picked"),
        ("\(name) pick \(example.query.typed)", "the same among those that match"),
      ]
    ) { invocation, context in
      guard let picker = RecordPicker(of: self, context) else {
        throw CommandError(
          .usage, "pick requires a terminal", hint: .command("\(name) search QUERY"))
      }
      let query = invocation.arguments.joined(separator: " ")
      let picked = try await picker.pick(BrowseState.Picking(takesSeveral: false), matching: query)
      guard let id = picked?.first else { return .interrupted }
      try context.output.write("\(context.terminal.isOutput ? id.safeLine : id)\n")
      return .success
    }
  }
}
