import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The manual page, derived from the command tree: as source, in the macros of `man(7)`, or formatted.
struct ManualPage {
  private enum Element {
    case section(String)
    case subsection(String)
    case paragraph([Piece])
    /// Another line of the last paragraph.
    case line([Piece])
    case item(tag: [Piece], text: String)
    /// Another paragraph of the last item.
    case more(String)
    /// True for items without a blank line between them from here on.
    case isDense(Bool)

    var isHeading: Bool {
      switch self {
      case .section, .subsection: true
      case .paragraph, .line, .item, .more, .isDense: false
      }
    }

    var isLine: Bool { if case .line = self { true } else { false } }
  }

  private struct Piece {
    enum Font { case roman, bold, italic }

    let text: String
    let font: Font
  }

  private let tree: CommandTree

  init(_ tree: CommandTree) { self.tree = tree }

  private var elements: [Element] {
    var elements = opening
    elements += sources
    elements += commands
    elements += options
    elements += filters
    elements += exitCodes
    elements += environment
    elements += files
    elements += examples
    elements += [.section("SEE ALSO"), .paragraph(seeAlso)]
    return elements
  }

  private var opening: [Element] {
    let program = tree.catalog.program
    return [
      .section("NAME"), .paragraph([roman("\(program) - \(tree.root.summary.lowercasedFirst)")]),
      .section("SYNOPSIS"),
      .paragraph(
        [bold(program), roman(" "), italic("SOURCE VERB"), roman(" ["), italic("ARGUMENT")]
          + [roman("…] ["), italic("OPTION"), roman("…]")]),
      .line([bold(program), roman(" "), italic("COMMAND"), roman(" …")]),
      .section("DESCRIPTION"),
    ] + Self.description(program).map { .paragraph([roman($0)]) }
  }

  private static func description(_ program: String) -> [String] {
    [
      "\(program) reads records from web APIs, its sources. All sources have the same verbs and options: they list, "
        + "search and show records, download all of them, and compare them with earlier ones.",
      "Fetched records are cached in a store on this machine. If a service does not answer, cached records do, or the "
        + "sample data that is built into some sources. Records that are not live, and lists that are not complete, "
        + "are always reported, on standard error.",
      "Records are written to standard output: as a table on a terminal, otherwise as tab-separated values, or as "
        + "\(Option.format.spelling) says.",
    ]
  }

  private var seeAlso: [Piece] {
    let pages = ["chafa", "duckdb", "jq", "less", "sqlite3"]
    return pages.enumerated().flatMap { index, name in
      [bold(name), roman(index < pages.count - 1 ? "(1), " : "(1)")]
    }
  }

  private var sources: [Element] {
    [.section("SOURCES")]
      + dense(tree.catalog.plugins.map { .item(tag: [bold($0.name)], text: $0.summary) })
  }

  private var commands: [Element] {
    var elements = [Element.section("VERBS OF EVERY SOURCE")]
    // A note that several commands share is there once.
    var notes: Set<String> = []
    for (verb, summary) in tree.commonVerbs {
      elements += entry(verb, path: "SOURCE \(verb.word)", "\(summary).", except: &notes)
    }
    let words = Set(tree.commonVerbs.map(\.node.word))
    elements.append(.section("COMMANDS"))
    for node in tree.root.children {
      let isSource = tree.catalog.sources.contains(node.word)
      node.visit { child in
        guard child.command != nil, !isSource || !words.contains(child.word) else { return }
        if child.repeats(node) {
          elements.append(.item(tag: [bold(child.path)], text: "The same as \(node.path)."))
        } else {
          elements += entry(child, path: child.path, "\(child.summary).", except: &notes)
        }
      }
    }
    return elements
  }

  private func entry(
    _ node: CommandTree.Node, path: String, _ summary: String, except notes: inout Set<String>
  ) -> [Element] {
    guard let command = node.command else { return [] }
    var options = command.options.filter { $0.group != .general }
    let hasFormats = Set(Option.formatting).isSubset(of: options)
    if hasFormats { options.removeAll(where: Option.formatting.contains) }
    var own = options.map { option in
      // A description that differs from the one in the list of options.
      option.about == tree.option(named: option.name)?.about
        ? option.spelling : "\(option.spelling) (\(option.about))"
    }
    if hasFormats { own.append("the output options") }
    let arguments = command.arguments.isEmpty ? [] : [roman(" "), italic(command.arguments)]
    let takes = own.isEmpty ? [] : ["Options: \(own.joined(separator: ", "))."]
    let news = command.notes.filter { notes.insert($0).inserted }
    return [.item(tag: [bold(path)] + arguments, text: summary)] + (news + takes).map { .more($0) }
  }

  private var options: [Element] {
    [.section("OPTIONS")]
      + Option.Group.allCases.flatMap { group in
        [.subsection(group == .specific ? "Of single commands" : group.rawValue)]
          + dense(
            tree.options.filter { $0.group == group }
              .map { .item(tag: [bold($0.synopsis)], text: $0.about) })
      } + [.paragraph([roman("\(HelpTopic.syntax) \(HelpTopic.templates)")])]
  }

  private var filters: [Element] {
    [.section("FILTERS")]
      + FilterHelp.sections.flatMap { section in
        [.subsection(section.title)]
          + dense(section.rows.map { .item(tag: [bold($0.0)], text: $0.1) })
      } + FilterHelp.notes.map { .paragraph([roman($0)]) }
  }

  private var exitCodes: [Element] {
    [.section("EXIT STATUS")]
      + dense(ExitCode.allCases.map { .item(tag: [bold("\($0.rawValue)")], text: $0.about) })
      + [.paragraph([roman(HelpTopic.lastResort)])]
  }

  private var environment: [Element] {
    let variables =
      HelpTopic.settings(of: tree.catalog) + HelpTopic.variables(of: tree.catalog.name)
    return [.section("ENVIRONMENT")]
      + dense(variables.map { .item(tag: [bold($0.0)], text: $0.1) })
      + [.paragraph([roman(HelpTopic.order(tree.catalog.name))])]
  }

  private var files: [Element] {
    [.section("FILES")]
      + dense(
        [
          ("~/.config/\(tree.catalog.program)/config.xcconfig", "your settings"),
          ("~/.local/share/\(tree.catalog.program)/store.sqlite", "cached records and deletions"),
          ("~/.local/state/\(tree.catalog.program)/positions", "saved positions of next"),
          (
            "~/.local/state/\(tree.catalog.program)/sql_history",
            "lines typed at the console of sql, and SQL typed in browse"
          ),
          (
            "~/.local/state/\(tree.catalog.program)/browse_filters",
            "filters typed in browse; browse_conditions has its conditions, browse_columns the columns"
          ),
          ("~/.cache/\(tree.catalog.program)/images", "cached images, up to 256 MiB"),
        ].map { .item(tag: [italic($0.0)], text: $0.1) })
  }

  /// The examples of all commands; those of a verb of every source only once, for the first source.
  private var examples: [Element] {
    let words = Set(tree.commonVerbs.map(\.node.word))
    var elements: [Element] = []
    // A command that stands for its first one has the same.
    var shown: Set<String> = []
    for node in tree.root.children {
      let isFurther = tree.catalog.sources.dropFirst().contains(node.word)
      node.visit { child in
        guard !isFurther || !words.contains(child.word), !child.repeats(node) else { return }
        for example in child.command?.examples ?? []
        where shown.insert(example.arguments).inserted {
          elements.append(
            .item(tag: [bold("\(tree.catalog.program) \(example.arguments)")], text: example.about))
        }
      }
    }
    return [.section("EXAMPLES")] + dense(elements)
  }

  private func dense(_ items: [Element]) -> [Element] {
    [.isDense(true)] + items + [.isDense(false)]
  }

  private func roman(_ text: String) -> Piece { Piece(text: text, font: .roman) }

  private func bold(_ text: String) -> Piece { Piece(text: text, font: .bold) }

  private func italic(_ text: String) -> Piece { Piece(text: text, font: .italic) }

  // MARK: - Formatted

  /// Shows the page as `man` does, with `man` where it can: it knows the pager and the colors of its user.
  func show(in context: CommandContext) throws {
    var variables = context.variables
    if let pager = variables[tree.catalog.name.variable("PAGER")] {
      variables["MANPAGER"] = pager.isEmpty ? "cat" : pager
    }
    if let man = ExternalProgram.path(of: "man", context.variables), let page = try? TemporaryFile()
    {
      try page.output.write(source)
      page.rewind()
      let errors = try TemporaryFile()
      let status = ExternalProgram.run(
        [man, "-l", "-"], variables,
        descriptors: [STDIN_FILENO: page.descriptor, STDERR_FILENO: errors.descriptor])
      if status == 0 { return }
    }
    try context.listingOutput.write(
      text(width: min(context.terminal.width, 80), context.terminalLayout.style))
    try context.listingOutput.flush()
  }

  private func text(width: Int, _ style: Style) -> String {
    let margin = width < 60 ? 4 : 7
    var text = ""
    func add(_ pieces: [Piece], indentedBy indentation: Int) {
      // Only a line of one font is styled: the others are broken as a whole.
      let role: Style.Role? = pieces.allSatisfy { $0.font == .bold } ? .heading : nil
      let pad = String(repeating: " ", count: indentation)
      for line in Wrap(width - indentation).lines(of: pieces.map(\.text.safeLine).joined()) {
        text += "\(pad)\(role.map { style($0, line) } ?? line)\n"
      }
    }
    var isFirst = true
    var isDense = false
    for element in elements {
      if case .isDense(let value) = element {
        isDense = value
        continue
      }
      if !isFirst, !isDense, !element.isLine { text += "\n" }
      isFirst = false
      switch element {
      case .section(let title):
        text += "\(style(.heading, title))\n"
        isFirst = true
      case .subsection(let title):
        text += "   \(style(.heading, title))\n"
        isFirst = true
      case .paragraph(let pieces), .line(let pieces): add(pieces, indentedBy: margin)
      case .item(let tag, let about):
        add(tag, indentedBy: margin)
        add([roman(about)], indentedBy: 2 * margin)
      case .more(let about): add([roman(about)], indentedBy: 2 * margin)
      case .isDense: break
      }
    }
    return text
  }

  // MARK: - Source

  var source: String {
    let name = tree.catalog.name
    let lines = [
      // Neither justified nor hyphenated, so that options can be searched for.
      ".TH \(name.text.uppercased()) 1 \"\" \"\(name.text) \(name.version)\"", ".ad l", ".nh",
    ]
    // No paragraph begins after a heading, where there is one already.
    let breaks = [true] + elements.map { !$0.isHeading }
    return (lines + zip(elements, breaks).flatMap(Self.macros)).map { "\($0)\n" }.joined()
  }

  private static func macros(of element: Element, breaks: Bool) -> [String] {
    switch element {
    case .section(let title): [".SH \(title)"]
    case .subsection(let title): [".SS \(title)"]
    case .paragraph(let pieces): (breaks ? [".PP"] : []) + [line(pieces)]
    case .line(let pieces): [".br", line(pieces)]
    case .item(let tag, let text): [".TP", line(tag), plain(text)]
    case .more(let text): [".IP", plain(text)]
    case .isDense(let value): [value ? ".PD 0" : ".PD"]
    }
  }

  private static func line(_ pieces: [Piece]) -> String {
    pieces.map { piece in
      switch piece.font {
      case .roman: plain(piece.text)
      case .bold: "\\fB\(plain(piece.text))\\fR"
      case .italic: "\\fI\(plain(piece.text))\\fR"
      }
    }.joined()
  }

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

extension CommandTree.Node {
  /// True for the first word of a command that runs the same as the command alone: `sources list`.
  fileprivate func repeats(_ parent: CommandTree.Node) -> Bool {
    path != parent.path && parent.command != nil && summary == parent.summary
  }
}
