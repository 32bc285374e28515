import AggregatorArguments
import AggregatorBrowse
import AggregatorCommand
import AggregatorKit
import AggregatorQueries
import AggregatorSavedQueries
import AggregatorTerminal
import CountriesSource
import DeclaredSource
import HeroesSource
import ProductsSource
import UsersSource

@testable import AggregatorFilters

/// Command lines, complete and being typed.
extension FuzzTarget {
  static let commands = [
    arguments, savedQueries, typedLine, completion, conditions, pattern, curl, duration,
    terminalInput, screen,
  ]

  private static let tree = CommandTree(
    "aggregator", plugins: [CountriesPlugin(), HeroesPlugin(), ProductsPlugin(), UsersPlugin()])

  private static let lines = [
    "heroes search spider --limit 5 --json", "countries deal --seed 4", "users load 20 -qv",
    "search war -L5 --source=heroes,users --fields id,name", "sql 'select 1' --csv",
    "heroes image 1443 -o - --size small --timeout 10s", "store clear heroes --forget-deleted",
    "heroes list --where id>1 --sort -name,id --count --jq .", "config set COUNTRIES_URL http://h",
    "help heroes list", "products delete a b -- -c",
  ]

  private static let tokens = [
    "--", "-", "--limit", "--json", "--all", "--format", "=", "-L", "-q", "-h", "--help",
    "--version",
    "heroes", "users", "list", "next", "--fields", "--timeout", "--session", "--cursor", "\n", "\n",
    "'", "\"", "\\", "$'", ",",
  ]

  /// The keys, the mouse and pasted text of a terminal.
  private static let terminalInput = FuzzTarget(
    "terminal-input",
    texts: [
      "abc\r\t\u{7F}é日👍", "\u{1B}[A\u{1B}[1;5C\u{1B}OP\u{1B}[5~", "\u{1B}[<0;3;7M\u{1B}[<64;10;2M",
      "a\u{1B}[200~pasted\nlines\u{1B}[201~b",
    ],
    tokens: [
      "\u{1B}", "\u{1B}[", "\u{1B}O", "\u{1B}[<", "M", "m", "~", ";", "\u{1B}[200~", "\u{1B}[201~",
      "\u{9B}", "99999",
    ]
  ) { text in
    let bytes = Array(text.utf8)
    var (whole, single) = (InputDecoder(), InputDecoder())
    let inputs = whole.take(bytes) + whole.take([], isComplete: true)
    var others: [Input] = []
    for byte in bytes { others += single.take([byte]) }
    others += single.take([], isComplete: true)
    try expect(inputs == others, "pieces are read as \(others), and all at once as \(inputs)")
    for case .key(.character(let character)) in inputs {
      try expect(!character.unicodeScalars.contains { $0.value < 0x20 }, "a control is a character")
    }
  }

  /// Records on a screen.
  private static let screen = FuzzTarget(
    "screen", texts: ["Spider-Man", "日本の英雄 ❤️", "e\u{301}\u{1B}[2Jx", "👨‍👩‍👧‍👦👍🏽 क्षत्रिय"],
    tokens: ["\u{1B}[H", "\n", "\u{200D}", "\u{FE0F}", "\u{202E}", "日", "\u{301}", "\u{0}"]
  ) { text in
    var screen = Screen(width: 12, height: 3)
    for row in 0..<3 { screen.put("............", at: 0, row, width: 12) }
    for width in 0..<6 {
      let taken = screen.put(text, at: 4, 1, width: width)
      try expect(taken <= width, "\(taken) cells of \(width)")
    }
    let lines = screen.lines
    try expect(lines[0] == "............" && lines[2] == lines[0], "another row has changed")
    try expect(lines[1].hasPrefix("....") && lines[1].hasSuffix("..."), "the row is \(lines[1])")
    var writer = ScreenWriter()
    let output = writer.frame(screen).replacing(/\u{1B}\[[0-9;?]*[a-zA-Z]/, with: "")
    let isPlain = !output.unicodeScalars.contains { $0.properties.generalCategory == .control }
    try expect(isPlain, "it is written: \(output)")
  }

  /// One word per line.
  private static let arguments = FuzzTarget(
    "arguments", texts: lines.map { $0.replacing(" ", with: "\n") }, tokens: tokens
  ) { text in
    let words = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if case .failure(let error) = ArgumentParser(tree).parse(words).action {
      try expect(!error.message.isEmpty, "a failure without a message")
    }
  }

  /// The file of saved queries, and their arguments.
  private static let savedQueries = FuzzTarget(
    "saved-queries",
    texts: [
      "# Mine.\neuro = countries list --where region=EU\n\nbig = sql 'SELECT $1\n\t\n\tx'\n",
      "a = b \"c \\\" $2 d\" $@ $$ 'e'\nb = !cat \"$@\" | head\n",
    ],
    tokens: ["=", " = ", "\n", "\n\t", "#", "'", "\"", "\\", "!", "$1", "$9", "$@", "$$", "\r\n"]
  ) { text in
    let file = SavedQueryText(text)
    for query in file.queries {
      let words =
        (try? query.words(with: ["1", "2"], missing: .isKept)) ?? []
      // Its arguments are in no statement.
      let evil = "§argument'"
      let saved = CommandTree(
        "aggregator", plugins: [], savedQueries: SavedQueries().with(query))
      let line = ArgumentParser(saved).parse([query.name, evil, evil])
      if line.path == "sql", line.invocation.arguments.contains(where: { $0.contains(evil) }) {
        try expect(
          line.invocation.arguments.allSatisfy { [evil, "--"].contains($0) },
          "an argument is in the SQL")
      }
      try expect(
        try ShellWords.words(of: ShellWords.line(of: words)) == words, "other words: \(words)")
      var changed = file
      changed.set(query)
      try expect(changed.queries == file.queries, "the same query changes others")
      try expect(changed.remove(query.name), "\(query.name) cannot be removed")
      let others = file.queries.filter { $0.name != query.name }
      // A line that was left out because of its name may be back.
      try expect(
        others.allSatisfy(changed.queries.contains), "removing \(query.name) removes others")
    }
    for problem in file.problems { try expect(!problem.message.isEmpty, "no message") }
  }

  private static let typedLine = FuzzTarget("typed-line", texts: lines, tokens: tokens) { text in
    for shell in Shell.allCases {
      let line = TypedLine("aggregator \(text)", in: shell)
      try expect(line.words.first == "aggregator" || line.words.isEmpty, "the program is lost")
      try expect(
        line.last.unicodeScalars.starts(with: line.unreplacedPrefix.unicodeScalars),
        "the unreplaced prefix is not a prefix")
    }
    // Text written for bash must read as intended.
    let word = String(text.unicodeScalars.filter { !$0.isInvisible })
    let read = TypedLine("aggregator " + BashWord.quoted(word, inside: nil), in: .bash)
    try expect(
      read.last == word && read.quote == nil && read.words == ["aggregator"],
      "'\(word)' is written so that it reads as '\(read.last)'")
  }

  private static let conditions = FuzzTarget(
    "conditions",
    texts: [
      "publisher=Marvel", "name~\"rocket and groot\" and id>=1000",
      "born<1980-02-03T04:05:06.7+01:00",
      "name='O\\'Brien' AND team=Salt and Pepper and price != 9.5", "capital=",
      "not (a=x or b in (y, 'z')) and c in 20..30", "a not in (x) or b~/^[a-z]+$/i",
      "state=open and (score is null) or not active, b has c",
    ],
    tokens: [
      " and ", " or ", "not ", "(", ")", " in ", "..", "/", ",", "=", "!=", "~", "<", ">=", "'",
      "\"",
      "\\", " ", " is ", "“",
    ]
  ) { text in
    let filter: TypedFilter
    do throws(FilterError) { filter = try TypedFilter(text) } catch {
      return try expect(!error.message.isEmpty, "a failure without a message")
    }
    let quoted = filter.quoted
    if quoted.unicodeScalars.count <= FilterParser.maxLength {
      try expect(try TypedFilter(quoted) == filter, "quoted it is another: \(quoted)")
    }
    for condition in filter.conditions {
      do throws(FilterError) {
        try condition.checkValue(isField: { _ in true }, isFlag: { _ in true })
      } catch { try expect(!error.message.isEmpty, "a failure without a message") }
    }
    for value in filter.conditions.flatMap(\.values) {
      guard let period = Period(value) else { continue }
      try expect(period.start < period.end, "\(value) ends before it starts")
    }
  }

  /// A regular expression on the first line, a text on the others.
  private static let pattern = FuzzTarget(
    "pattern",
    texts: [
      "^(a|b)*c{2,3}$\nababcc", #"\bsp[a-z]+[^\d]\w?(?:x|\/)"# + "\nspider man/",
      "(a*)*b\naaaaaaaaaa",
      "[]\\]-]+.é$\ne\u{301}", "(?i)^[[:alpha:]_]+\\p{Nd}\\P{L}[^\\p{Lu}]\nÉa7-x",
    ],
    tokens: [
      "(", ")", "(?:", "[", "^", "]", "*", "+", "?", "{2,9}", "|", "\\", "\\b", ".", "$", "-", "\n",
      "(?i)", "[:punct:]", "\\p{S}",
    ]
  ) { text in
    let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    let content = lines.count > 1 ? String(lines[1]) : ""
    for ignoresCase in [false, true] {
      let pattern: Pattern
      do throws(FilterError) {
        pattern = try Pattern(String(lines.first ?? ""), ignoringCase: ignoresCase)
      } catch {
        return try expect(!error.message.isEmpty, "a failure without a message")
      }
      var matcher = Matcher(pattern)
      let matches = matcher.matches(content)
      let limit = (content.unicodeScalars.count + 1) * pattern.program.count * 2
      try expect(matcher.steps <= limit, "\(matcher.steps) steps of \(limit)")
      // What is added at the end changes nothing, unless the end matters.
      let depends = lines[0].unicodeScalars.contains { $0 == "$" || $0 == "\\" }
      guard matches, !depends else { continue }
      try expect(pattern.matches(content + "\u{0}"), "a longer text does not match")
    }
  }

  private static let curl = FuzzTarget(
    "curl",
    texts: [
      "curl 'https://a.example/x?api_key=b' -H 'Authorization: Bearer c' --compressed",
      #"curl -sSL "https://a.example/$TOKEN" -XPOST -d $'{"a": "\\x41"}' \#n -u a:b | jq ."#,
      "curl -G https://a.example --data-urlencode 'q=a b' -b c=d",
    ],
    tokens: ["-H", "-d", "-G", "$'", "${A}", "\\\n", "'", "\"", "\\u00e9", "?key=", ": ", " ^\n"]
  ) { text in
    do {
      var request = try CurlCommand(text).request
      _ = request.extractSecrets(of: "it", avoiding: [])
      var again = request
      try expect(again.extractSecrets(of: "it", avoiding: []).isEmpty, "a secret is left")
    } catch let error as SourceError {
      try expect(!error.message.isEmpty, "a failure without a message")
    }
  }

  private static let completion = FuzzTarget(
    "completion", texts: lines, tokens: tokens, cost: .medium
  ) { text in
    for shell in Shell.allCases {
      let arguments = [shell.rawValue, "--line", "aggregator \(text)"]
      let variables = ["HOME": "/nonexistent", "AGGREGATOR_HOME": "/nonexistent/a"]
      guard let answer = CompletionAnswer(arguments, tree, variables: variables) else {
        throw BrokenInvariant("\(shell) gets no answer")
      }
      for line in answer.text.split(separator: "\n") {
        let bad = line.unicodeScalars.first { $0.isInvisible && $0 != "\t" }
        try expect(bad == nil, "an offer with U+\(String(bad?.value ?? 0, radix: 16))")
      }
    }
  }

  private static let duration = FuzzTarget(
    "duration", texts: ["500ms", "10s", "1.5m", "24h"], tokens: ["ms", "s", "m", "h", "."]
  ) { text in
    if let duration = Duration(typed: text) {
      try expect(duration > .zero && duration <= .seconds(86_400), "\(duration)")
    }
    if let span = Duration(span: text) { try expect(span > .zero, "\(span)") }
    if let limit = HistoryLimit(text) {
      try expect(limit.isOff || limit.age > .zero && limit.count > 0, "\(limit)")
    }
    if SessionPositionKey.isSession(text) {
      try expect(text.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != 0x2F }, "a session is a path")
    }
  }
}

/// CSV and TSV output, parsed strictly.
extension FuzzTarget {
  static let output = [csv, tsv, picture]

  /// The output of the program that draws pictures.
  private static let picture = FuzzTarget(
    "picture",
    texts: [
      "\u{1B}[0m\u{1B}[38;5;1;48;5;2m▀▄ \u{1B}[0m\n\u{1B}[7m▟█▘\u{1B}[0m\n",
      "\u{1B}_Ga=T,f=32,s=3,v=2,c=15,r=10,m=1\u{1B}\\\u{1B}_Gm=1;AAA+/w==\u{1B}\\\u{1B}_Gm=0\u{1B}\\",
      "\u{1B}]1337;File=inline=1;width=5;height=4;preserveAspectRatio=0:AAA=\u{7}",
      "\u{1B}P0;1;0q\"1;1;17;33#0;2;4;3;24#0!8?AB$-\u{1B}\\",
    ],
    tokens: ["\u{1B}", "\u{1B}[", "\u{1B}\\", "\u{7}", "m", "▀", "\n", "=", ",", ";", "t=f", "9"]
  ) { text in
    let limit = Picture.Size(columns: 20, rows: 10)
    for format in Picture.Format.allCases {
      let picture = Picture(Array(text.utf8), as: format, within: limit, cell: (8, 16))
      guard let picture else { continue }
      try expect(
        1...20 ~= picture.size.columns && 1...10 ~= picture.size.rows, "it is \(picture.size)")
      let again = Picture(
        Array(picture.lines.joined(separator: "\n").utf8), as: format, within: limit, cell: (8, 16))
      try expect(again?.size == picture.size, "its lines are another picture")
      for scalar in picture.lines.joined().unicodeScalars
      where scalar.value < 0x20 && scalar != "\u{1B}" && scalar != "\u{7}" {
        throw BrokenInvariant("it has U+\(String(scalar.value, radix: 16))")
      }
    }
  }

  private static let cells = [
    "a,b", "say \"x\"\r\n", "=1+1", "-3.5", "日本\te\u{301}", "\\t\\x41", "'",
  ]

  /// One cell per line.
  private static let csv = FuzzTarget("csv", texts: cells, tokens: [",", "\"", "\r", "\n", "="]) {
    text in
    let cells = text.split(separator: "\u{1}", omittingEmptySubsequences: false).map(String.init)
    let row = cells.map { $0.csvCell(isRaw: true) }.joined(separator: ",")
    let read = try StrictReader.csv(row)
    try expect(read.count == 1, "\(read.count) rows instead of one")
    try expect(
      (read.first ?? []).elementsEqual(cells) { Array($0.utf8) == Array($1.utf8) },
      "it reads as \(read)")
    for cell in cells {
      let shown = try StrictReader.csv(cell.csvCell(isRaw: false)).first?.first ?? ""
      let isFormula = shown.utf8.first.map { "=+-@\t\r".utf8.contains($0) } ?? false
      try expect(!isFormula || Double(shown) != nil, "a formula is left: \(shown)")
    }
  }

  private static let tsv = FuzzTarget("tsv", texts: cells, tokens: ["\\", "\t", "\n", "\\x"]) {
    text in
    let shown = text.tsvCell(isShown: true)
    let bad = shown.unicodeScalars.first(where: \.isInvisible)
    try expect(bad == nil, "it has U+\(String(bad?.value ?? 0, radix: 16))")
    for escaped in [
      shown, text.tsvCell(isShown: false), text.tsvCell(isShown: false, isInTable: true),
    ] {
      let read = try StrictReader.unescaped(escaped)
      try expect(read == Array(text.utf8), "it reads as another text")
    }
  }
}

/// Parsers without any tolerance.
enum StrictReader {
  /// The rows of CSV (RFC 4180) without a header.
  static func csv(_ text: String) throws -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var rest = Array(text.unicodeScalars)[...]
    while true {
      row.append(try cell(&rest))
      switch rest.popFirst() {
      case ",": continue
      case nil: return rows + [row]
      case "\r":
        guard rest.popFirst() == "\n" else { throw BrokenInvariant("a CR without its LF") }
        rows.append(row)
        row = []
        if rest.isEmpty { return rows }
      default: throw BrokenInvariant("something stands behind a quoted cell")
      }
    }
  }

  private static func cell(_ rest: inout ArraySlice<Unicode.Scalar>) throws -> String {
    var cell = String.UnicodeScalarView()
    guard rest.first == "\"" else {
      while let scalar = rest.first, scalar != ",", scalar != "\r" {
        guard scalar != "\"", scalar != "\n" else { throw BrokenInvariant("a bare quote or LF") }
        cell.append(rest.removeFirst())
      }
      return String(cell)
    }
    rest.removeFirst()
    while let scalar = rest.popFirst() {
      if scalar == "\"" {
        guard rest.first == "\"" else { return String(cell) }
        rest.removeFirst()
      }
      cell.append(scalar)
    }
    throw BrokenInvariant("a quote is never closed")
  }

  /// The bytes of an escaped TSV cell.
  static func unescaped(_ text: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        guard byte >= 0x20 else { throw BrokenInvariant("a control character") }
        bytes.append(byte)
        continue
      }
      switch rest.popFirst().map({ Unicode.Scalar($0) }) {
      case "t": bytes.append(0x09)
      case "n": bytes.append(0x0A)
      case "r": bytes.append(0x0D)
      case "\\": bytes.append(0x5C)
      case "x":
        guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
          throw BrokenInvariant("an escape without its digits")
        }
        rest = rest.dropFirst(2)
        bytes.append(value)
      default: throw BrokenInvariant("an invalid escape")
      }
    }
    return bytes
  }
}
