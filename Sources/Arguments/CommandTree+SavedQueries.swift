import AggregatorFilters
import AggregatorKit
package import AggregatorQueries
package import AggregatorSavedQueries
import AggregatorSelection
package import AggregatorTerminal

extension CommandTree {
  /// The expansion of a command line that names a saved query; `nil` for all others.
  package func expansion(
    of arguments: [String], missing: SavedQuery.Missing = .isRefused
  ) throws(CommandError) -> SavedQueries.Expansion? {
    guard !catalog.savedQueries.queries.isEmpty else { return nil }
    return try expansion(of: arguments, among: catalog.savedQueries, missing: missing)
  }

  private func expansion(
    of arguments: [String], among queries: SavedQueries, missing: SavedQuery.Missing
  ) throws(CommandError) -> SavedQueries.Expansion? {
    let sql = find(["sql"]).node.command
    return try queries.expansion(of: arguments, missing: missing, isTaken: catalog.isTaken) {
      words, isSQL in operands(of: words, for: isSQL ? sql : nil)
    }
  }

  /// The saved query of a command line that asks for help.
  func queryToExplain(in arguments: [String]) -> String? {
    guard !catalog.savedQueries.queries.isEmpty,
      arguments.prefix(while: { $0 != "--" }).contains(where: ["-h", "--help"].contains),
      let name = operands(of: arguments).first.map({ arguments[$0] })
    else { return nil }
    return shownQuery(name)?.name
  }

  /// The saved query of this name, unless something else has it.
  func shownQuery(_ name: String) -> SavedQuery? {
    catalog.savedQueries[name].flatMap { catalog.isTaken(name) ? nil : $0 }
  }

  /// The positions of the words that are neither options nor values of options; from `--` on they all are.
  private func operands(of words: [String], for command: Command? = nil) -> [Int] {
    var operands: [Int] = []
    var index = 0
    while index < words.count, words[index] != "--" {
      if isOption(words[index], of: command) {
        index += hasValueAfter(words[index], of: command) ? 2 : 1
      } else {
        operands.append(index)
        index += 1
      }
    }
    return operands + Array(words.indices.dropFirst(index))
  }

  /// True for two hyphens, also before a misspelled name, and for one before a letter of an option: `-5` is a number.
  private func isOption(_ argument: String, of command: Command?) -> Bool {
    guard argument.hasPrefix("-"), let letter = argument.dropFirst().first else { return false }
    return letter == "-" || option(lettered: letter, of: command) != nil
  }

  /// True if the value of an option is the next argument.
  private func hasValueAfter(_ argument: String, of command: Command?) -> Bool {
    if argument.hasPrefix("--") {
      return option(named: String(argument.dropFirst(2)), of: command)?.value != nil
    }
    var letters = argument.dropFirst()
    while let letter = letters.popFirst() {
      if option(lettered: letter, of: command)?.value != nil { return letters.isEmpty }
    }
    return false
  }

  /// Checks the words of a query that is to be saved as those of any command line; parameters may be anything.
  ///
  /// - Returns: The arguments and options of a query in SQL, which is not compiled; `nil` for all others.
  @discardableResult
  package func check(_ query: SavedQuery) throws(CommandError) -> Invocation? {
    guard query.script == nil else { return nil }
    if let parameter = query.unknownParameter {
      throw CommandError(
        .usage, "unknown parameter \"\(parameter)\": arguments are $1 to $9 and $@",
        hint: "write $$ for a dollar sign")
    }
    if let number = query.lackingParameter {
      throw CommandError(
        .usage, "the words have no $\(number), but a later argument",
        hint: "number the arguments from $1 on")
    }
    let expansion = try expansion(
      of: [query.name], among: catalog.savedQueries.with(query), missing: .isKept)
    guard let expansion, expansion.command == nil else { return nil }
    let line = ArgumentParser(self).parse(
      words: expansion.words, checksValues: !query.hasParameters && expansion.names.count == 1)
    _ = try line.action.get()
    try ArgumentParser(self).checkRepetition(in: query.words, of: line.command, at: line.path)
    let source = line.path.split(separator: " ").first.map(String.init)
    if let plugin = catalog.plugins.first(where: { $0.name == source }) {
      if query.hasParameters {
        try plugin.checkNamedFields(of: line.invocation)
      } else {
        try plugin.checkFields(of: line.invocation)
      }
    } else if line.path == "search", !query.hasParameters,
      let selection = SelectionText(line.invocation)
    {
      let chosen = line.invocation.list(.source)
      let plugins = catalog.plugins.filter { chosen?.contains($0.name) ?? true }
      if !plugins.isEmpty { try selection.requireFields(of: plugins) }
    }
    if line.invocation.has(.manifests) {
      throw CommandError(
        .usage, "\(Option.manifests.spelling) cannot be saved",
        hint: "give it with the command that runs the query")
    }
    return line.path == "sql" ? line.invocation : nil
  }
}

extension Plugin {
  /// Fails with code `usage` for an option that names a field which the source does not have, or a condition that it cannot
  /// be read with.
  fileprivate func checkFields(of invocation: Invocation) throws(CommandError) {
    _ = try Selection(invocation, fields, at: Date())
    // Those of a summary are its own.
    guard let names = invocation.list(.fields), names != ["help"],
      !Option.summarizing.contains(where: invocation.has)
    else { return }
    _ = try fields.fields(named: fields.names(listedAs: names))
  }

  /// Fails with code `usage` for a condition or an order of a query with arguments that names a field which the source does
  /// not have; what the arguments fill in is not checked.
  fileprivate func checkNamedFields(of invocation: Invocation) throws(CommandError) {
    let conditions = invocation.texts(.condition).filter { (try? TypedFilter($0)) != nil }
    let text = SelectionText(conditions: conditions, order: invocation.orderOfRecords)
    for name in try text.fieldNames() where !name.contains("$") {
      _ = try fields.fields(named: fields.names(shownAs: [name]))
    }
  }
}

extension CompletionSource {
  package static let savedQuery: Following = { arguments, tree in
    arguments.isEmpty ? .choice(tree.savedCandidates) : .none
  }
}

extension CommandTree {
  package var savedCandidates: [Candidate] {
    catalog.savedQueries.queries.map { Candidate($0.name, $0.text) }
  }

  /// Those that no source or command hides.
  var shownCandidates: [Candidate] { savedCandidates.filter { !catalog.isTaken($0.word) } }
}
