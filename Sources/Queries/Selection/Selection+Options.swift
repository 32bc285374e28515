package import AggregatorKit
package import AggregatorSelection
package import AggregatorTerminal
import DeclaredSource

extension SelectionText {
  /// `nil` without an option that selects, sorts or counts records.
  package init?(_ invocation: Invocation) {
    guard Option.selecting.contains(where: invocation.has) else { return nil }
    self.init(conditions: invocation.texts(.condition), order: invocation.orderOfRecords)
  }

  /// The options of a command line that say the same.
  package var arguments: String {
    let order = order.map { " \(Option.order.spelling) \($0.shellQuoted)" } ?? ""
    return conditions.map { " \(Option.condition.spelling) \($0.shellQuoted)" }.joined() + order
  }
}

extension Plugin {
  /// The selection of a command line; for a path that is no field of an added source, the error names the command that
  /// makes one of it.
  package func selection(
    _ invocation: Invocation, at now: Date
  ) throws(CommandError) -> Selection<Item>? {
    do throws(CommandError) { return try Selection(invocation, fields, at: now) } catch {
      var error = error
      let known = fields.map(\.name)
      if let plugin = self as? DeclaredPlugin, plugin.service == nil, error.suggestion == nil,
        let names = try? SelectionText(invocation)?.fieldNames(), let hint = error.hint,
        let path = names.first(where: { !known.contains($0) }), path.contains("."),
        Double(path) == nil
      {
        let fields = "*,\(path)".shellQuoted
        error.hint = .steps(hint, .command("sources edit \(name) --fields \(fields)"))
      }
      throw error
    }
  }

  /// The names of its fields, and those of `typed` that mean one of them.
  package func fieldNames(orTyped typed: [String]) -> [String] {
    let names = fields.map(\.name)
    return names + typed.filter { names.contains(fields.names(shownAs: [$0])[0]) }
  }
}

extension SelectionText {
  /// Fails with code `usage` if none of several sources has all fields that it reads.
  package func requireFields(of plugins: [any Plugin]) throws(CommandError) {
    let names = try fieldNames()
    try requireFields(in: plugins.map { $0.fieldNames(orTyped: names) })
  }
}

extension Invocation {
  /// The order of records; that of groups is of their own fields.
  package var orderOfRecords: String? { has(.groupBy) || has(.distinct) ? nil : text(.order) }
}

extension Selection {
  /// `nil` without an option that selects, sorts or counts records.
  package init?(
    _ invocation: Invocation, _ fields: [Field<Item>], at now: Date
  ) throws(CommandError) {
    guard let text = SelectionText(invocation) else { return nil }
    try self.init(text, fields, at: now, inAnyCase: true)
  }

  package static var note: String {
    "--where compares a field with a value: = != ~ < <= > >=, where ~ means contains. Numbers and dates are "
      + "compared as such, and FIELD= matches records without a value. \"and\", \"or\", \"not\" and "
      + "parentheses join conditions, and another --where must hold as well; \"help filters\" tells more. "
      + "--where, --sort and --count read cached records, with --all all records of the service. --group-by, "
      + "--stats and --distinct read cached records. All exit with 3 if these may not be all, or are bundled."
  }
}
