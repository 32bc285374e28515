import AggregatorKit

/// Equality ignores the description, because a command may word its own (``with(about:)``).
struct Option: Sendable {
  enum Value: Hashable, Sendable {
    case count(ClosedRange<Int>)
    /// A duration such as `500ms`, `10s` or `2m`.
    case duration
    case choice([String])
    /// Words separated by commas.
    case list
    case session
    case file
    case directory
    /// Any text that is not blank.
    case text
  }

  /// A section of the help, in its order.
  enum Group: String, CaseIterable {
    case specific = "Options"
    case paging = "Paging options"
    case output = "Output options"
    case data = "Data options"
    case network = "Network options"
    case recording = "Recording options"
    case general = "General options"
  }

  /// The name without its dashes: `max-pages`.
  let name: String
  let letter: Character?

  /// The kind of value; `nil` for a flag.
  let value: Value?
  let placeholder: String

  /// The description, without a full stop.
  private(set) var about: String

  private(set) var group = Group.specific

  init(_ name: String, letter: Character? = nil, in group: Group = .specific, about: String) {
    self.name = name
    self.letter = letter
    value = nil
    placeholder = ""
    self.about = about
    self.group = group
  }

  init(
    _ name: String, letter: Character? = nil, _ value: Value, _ placeholder: String,
    in group: Group = .specific, about: String
  ) {
    self.name = name
    self.letter = letter
    self.value = value
    self.placeholder = placeholder
    self.about = about
    self.group = group
  }

  func with(about: String, in group: Group? = nil) -> Option {
    var option = self
    option.about = about
    option.group = group ?? self.group
    return option
  }

  var spelling: String { "--\(name)" }

  /// The usage: `-L, --limit N`.
  var synopsis: String {
    let names = (letter.map { "-\($0), " } ?? "") + spelling
    return value == nil ? names : "\(names) \(placeholder)"
  }
}

extension Option: Hashable {
  static func == (first: Option, second: Option) -> Bool {
    first.name == second.name && first.letter == second.letter && first.value == second.value
      && first.placeholder == second.placeholder
  }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Every option except those of one source's own verb.
extension Option {
  // MARK: - Paging

  static let limit = Option(
    "limit", letter: "L", .count(1...1_000_000_000), "N", in: .paging,
    about: "maximum number of records (default 20)")
  static let all = Option("all", in: .paging, about: "list all records")
  static let maxPages = Option(
    "max-pages", .count(0...1_000_000_000), "N", in: .paging,
    about: "stop after N pages, 0 for no limit (default 25 with --all)")
  static let cursor = Option(
    "cursor", .text, "TOKEN", in: .paging, about: "continue after an earlier page")
  static let session = Option(
    "session", .session, "NAME", in: .paging,
    about: "name of the saved position for next (default \"default\")")
  static let reset = Option("reset", in: .paging, about: "restart the last listing")
  static let back = Option("back", in: .paging, about: "show the previous page")
  static let peek = Option("peek", in: .paging, about: "show the next page without advancing")

  // MARK: - Output

  static let format = Option(
    "format", .choice(Format.allCases.map(\.rawValue)), "F", in: .output,
    about: "table, tsv, csv, json or ndjson (default: table on a terminal, otherwise tsv)")
  static let json = Option("json", in: .output, about: "output one JSON document")
  static let ndjson = Option("ndjson", in: .output, about: "output one JSON object per line")
  static let csv = Option("csv", in: .output, about: "output CSV with a header (RFC 4180)")
  static let tsv = Option("tsv", in: .output, about: "output tab-separated values, no header")
  static let csvRaw = Option(
    "csv-raw", in: .output, about: "do not escape spreadsheet formulas in CSV")
  static let fields = Option(
    "fields", .list, "A,B", in: .output, about: "fields to show, in order; \"help\" lists them")

  // MARK: - Source of data

  static let source = Option("source", .list, "A,B", in: .data, about: "search only these sources")
  static let offline = Option("offline", in: .data, about: "use local data only")
  static let refresh = Option(
    "refresh", in: .data, about: "ignore the cache and any circuit breaker")
  static let noFallback = Option(
    "no-fallback", in: .data, about: "fail instead of using stale or bundled data")
  static let explain = Option(
    "explain", in: .data, about: "explain where the data comes from")

  // MARK: - Network

  static let timeout = Option(
    "timeout", .duration, "D", in: .network, about: "time limit per page: 500ms, 10s, 2m")
  static let jobs = Option(
    "jobs", .count(1...16), "N", in: .network, about: "pages to fetch concurrently (default 1)")
  static let wait = Option(
    "wait", in: .network, about: "wait instead of stopping when the rate limit is reached")

  // MARK: - Recording

  static let record = Option(
    "record", .directory, "DIR", in: .recording,
    about: "save requests and responses to DIR, with secrets removed")
  static let replay = Option(
    "replay", .directory, "DIR", in: .recording,
    about: "replay responses from DIR; needs no network and no key")

  // MARK: - General

  static let config = Option(
    "config", .file, "FILE", in: .general, about: "read additional settings from FILE")
  static let color = Option(
    "color", .choice(["auto", "always", "never"]), "WHEN", in: .general,
    about: "use color: auto, always or never (default auto)")
  static let quiet = Option("quiet", letter: "q", in: .general, about: "hide notes and warnings")
  static let verbose = Option(
    "verbose", letter: "v", in: .general, about: "print a line for every request")
  static let noInput = Option("no-input", in: .general, about: "never prompt")
  static let help = Option("help", letter: "h", in: .general, about: "show help")
  static let version = Option("version", in: .general, about: "print the version")

  // MARK: - Of single commands

  static let yes = Option("yes", letter: "y", about: "do not ask for confirmation")
  static let dryRun = Option("dry-run", about: "show what would happen without doing it")
  static let clearDeleted = Option("deleted", about: "also clear the list of deleted records")
  static let size = Option(
    "size", .choice(ImageSize.allCases.map(\.rawValue)), "SIZE",
    about: "small, medium or large (default medium)")
  static let file = Option(
    "output", letter: "o", .file, "FILE",
    about: "write to a file or directory; - is standard output")
  static let printURL = Option("print-url", about: "print the URL instead of opening it")

  // MARK: - Sets

  static let common: [Option] = [config, color, quiet, verbose, noInput, help]

  static let output: [Option] = [format, json, ndjson, csv, tsv, csvRaw, fields]

  static let reading: [Option] = [offline, refresh, noFallback, timeout, record, replay]

  static let lookup = reading.map { option in
    option == timeout ? timeout.with(about: "time limit per record: 500ms, 10s, 2m") : option
  }

  /// The source of data for commands that only the service can serve.
  static let fetching: [Option] = [
    refresh.with(about: "ignore the circuit breaker"), timeout, record, replay,
  ]

  static let listing: [Option] = [limit, all, maxPages, cursor, session, explain]

  static let position: [Option] = [limit, reset, back, peek, session, explain]

  static let exclusive: [[Option]] = [
    [limit, all], [offline, refresh], [offline, noFallback], [record, replay], [reset, back, peek],
  ]

  static let formats: [Option] = [json, ndjson, csv, tsv]
}
