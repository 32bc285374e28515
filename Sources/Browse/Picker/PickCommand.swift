package import AggregatorArguments
package import AggregatorKit
import AggregatorQueries
import AggregatorSelection
import AggregatorTerminal

extension Option {
  fileprivate static let multi = Option(
    "multi", letter: "m", about: "several records: Tab marks one, Enter picks those marked")
}

extension Plugin {
  /// Prints the IDs of the records that the person picks.
  package var pickCommand: Command {
    Command(
      "[QUERY…]",
      options: [.multi, .condition]
        + Option.reading.filter { ![.noFallback, .record, .replay].contains($0) },
      fields: fields,
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
        ("\(name) pick --multi", "print the IDs of several, one per line"),
      ]
    ) { invocation, context in
      guard let picker = RecordPicker(of: self, context) else {
        throw CommandError(
          .usage, "pick requires a terminal", hint: .command("\(name) search QUERY"))
      }
      // Before anything is drawn.
      _ = try Selection(invocation, fields, at: context.currentDate.value)
      let query = invocation.arguments.joined(separator: " ")
      let picking = BrowseState.Picking(takesSeveral: invocation.has(.multi))
      guard let ids = try await picker.pick(picking, matching: query) else { return .interrupted }
      let shown = context.terminal.isOutput ? ids.map(\.safeLine) : ids
      try context.output.write(shown.map { "\($0)\n" }.joined())
      return .success
    }
  }
}
