import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The manual page, derived from the command tree, in the macros of `man(7)`.
struct ManualPage {
  private let tree: CommandTree

  init(_ tree: CommandTree) { self.tree = tree }

  var text: String {
    let lines =
      [
        // Neither justified nor hyphenated, so that options can be searched for.
        ".TH \(tree.catalog.program.uppercased()) 1", ".ad l", ".nh", ".SH NAME",
        "\(Self.plain(tree.catalog.program)) \\- \(Self.plain(tree.root.summary.lowercasedFirst))",
      ] + synopsis + sources + commands + options + filters + exitCodes + environment + files
      + examples
    return lines.map { "\($0)\n" }.joined()
  }

  private var synopsis: [String] {
    [
      ".SH SYNOPSIS", ".B \(Self.plain(tree.catalog.program))",
      italic("SOURCE VERB") + " [\\fIARGUMENT\\fR\\|.\\|.\\|.] "
        + "[\\fIOPTION\\fR\\|.\\|.\\|.]", ".br", ".B \(Self.plain(tree.catalog.program))",
      "\\fICOMMAND\\fR .\\|.\\|.",
    ]
  }

  private var sources: [String] {
    [".SH SOURCES"]
      + tree.catalog.plugins.flatMap { item(bold($0.name), $0.summary) }
  }

  private var commands: [String] {
    var lines = [".SH VERBS OF EVERY SOURCE"]
    for (verb, summary) in tree.commonVerbs {
      lines += entry(verb, path: "SOURCE \(verb.word)", summary: summary)
    }
    let words = Set(tree.commonVerbs.map(\.node.word))
    lines.append(".SH COMMANDS")
    for node in tree.root.children {
      let isSource = tree.catalog.sources.contains(node.word)
      node.visit { node in
        guard node.command != nil, !isSource || !words.contains(node.word) else { return }
        lines += entry(node, path: node.path, summary: node.summary)
      }
    }
    return lines
  }

  private func entry(_ node: CommandTree.Node, path: String, summary: String) -> [String] {
    guard let command = node.command else { return [] }
    let own = command.options.filter { $0.group != .general }.map { option in
      // A description that differs from the one in the list of options.
      option.about == tree.option(named: option.name)?.about
        ? option.spelling : "\(option.spelling) (\(option.about))"
    }
    let arguments = command.arguments.isEmpty ? "" : " \(italic(command.arguments))"
    let takes = own.isEmpty ? [] : ["Options: \(own.joined(separator: ", "))."]
    return item(bold(path) + arguments, "\(summary).")
      + (command.notes + takes).flatMap { [".IP"] + paragraph($0) }
  }

  private var options: [String] {
    [".SH OPTIONS"]
      + Option.Group.allCases.flatMap { group in
        [".SS \(group == .specific ? "Of single commands" : group.rawValue)"]
          + tree.options.filter { $0.group == group }
          .flatMap { item(bold($0.synopsis), $0.about) }
      } + [".PP"] + paragraph(HelpTopic.syntax)
  }

  private var filters: [String] {
    var lines = [".SH FILTERS"]
    for section in FilterHelp.sections {
      lines.append(".SS \(section.title)")
      for row in section.rows { lines += item(bold(row.0), row.1) }
    }
    for note in FilterHelp.notes { lines += [".PP"] + paragraph(note) }
    return lines
  }

  private var exitCodes: [String] {
    [".SH EXIT STATUS"] + ExitCode.allCases.flatMap { item(bold("\($0.rawValue)"), $0.about) }
      + [".PP"] + paragraph(HelpTopic.lastResort)
  }

  private var environment: [String] {
    let variables =
      HelpTopic.settings(of: tree.catalog) + HelpTopic.variables(of: tree.catalog.name)
    return [".SH ENVIRONMENT"] + variables.flatMap { item(bold($0.0), $0.1) } + [".PP"]
      + paragraph(HelpTopic.order(tree.catalog.name))
  }

  private var files: [String] {
    [".SH FILES"]
      + [
        ("~/.config/\(tree.catalog.program)/config.xcconfig", "your settings"),
        ("~/.local/share/\(tree.catalog.program)/store.sqlite", "cached records and deletions"),
        ("~/.local/state/\(tree.catalog.program)/positions", "saved positions of next"),
        (
          "~/.local/state/\(tree.catalog.program)/sql_history", "lines typed at the console of sql"
        ),
        ("~/.cache/\(tree.catalog.program)/images", "cached images, up to 256 MiB"),
      ].flatMap { item(italic($0.0), $0.1) }
  }

  /// The examples of all commands; those of a verb of every source only once, for the first source.
  private var examples: [String] {
    let words = Set(tree.commonVerbs.map(\.node.word))
    var lines = [".SH EXAMPLES"]
    for node in tree.root.children {
      let isFurther = tree.catalog.sources.dropFirst().contains(node.word)
      node.visit { node in
        guard !isFurther || !words.contains(node.word) else { return }
        for example in node.command?.examples ?? [] {
          lines += item(bold("\(tree.catalog.program) \(example.arguments)"), example.about)
        }
      }
    }
    return lines
  }

  // MARK: - Macros

  private func item(_ tag: String, _ text: String) -> [String] { [".TP", tag] + paragraph(text) }

  private func paragraph(_ text: String) -> [String] { [Self.plain(text)] }

  private func bold(_ text: String) -> String { "\\fB\(Self.plain(text))\\fR" }

  private func italic(_ text: String) -> String { "\\fI\(Self.plain(text))\\fR" }

  /// Text in which nothing is a macro, and a dash is an ASCII dash.
  static func plain(_ text: String) -> String {
    var result = text.first.map { ".'".contains($0) } == true ? "\\&" : ""
    for scalar in text.safeLine.unicodeScalars {
      switch scalar {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "\"": result += "\\(dq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case "…": result += ".\\|.\\|."
      // A URL may be longer than a line.
      case "/": result += "/\\:"
      case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
      default:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
      }
    }
    return result
  }
}
