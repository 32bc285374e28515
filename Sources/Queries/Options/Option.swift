import AggregatorKit
import AggregatorTerminal

/// Equality ignores the description and the choices, which a command may override (``with(about:in:choices:)``).
package final class Option: Sendable {
  package enum Value: Hashable, Sendable {
    case count(ClosedRange<Int>)
    /// A duration such as `500ms`, `10s` or `2m`.
    case duration
    /// A span of time in whole units, such as `90m`, `2h` or `3d`.
    case span
    /// A number of bytes such as `500m` or `4g`.
    case size
    case choice([String])
    /// Words separated by commas.
    case list
    case session
    case file
    case directory
    /// An absolute path, or the URL of a database.
    case store
    /// Any text that is not blank.
    case text
  }

  /// A section of the help, in its order.
  package enum Group: String, CaseIterable {
    case specific = "Options"
    case selection = "Filter options"
    case paging = "Paging options"
    case output = "Output options"
    case data = "Data options"
    case network = "Network options"
    case recording = "Recording options"
    case general = "General options"
  }

  /// The name without its dashes: `max-pages`.
  package let name: String
  package let letter: Character?

  /// The kind of value; `nil` for a flag.
  package let value: Value?
  package let placeholder: String

  /// The description, without a full stop.
  package let about: String

  package let group: Group

  package init(
    _ name: String, letter: Character? = nil, _ value: Value? = nil, _ placeholder: String = "",
    in group: Group = .specific, about: String
  ) {
    self.name = name
    self.letter = letter
    self.value = value
    self.placeholder = placeholder
    self.about = about
    self.group = group
  }

  package func with(
    about: String, in group: Group? = nil, choices: [String]? = nil
  ) -> Option {
    Option(
      name, letter: letter, choices.map { .choice($0) } ?? value, placeholder,
      in: group ?? self.group, about: about)
  }

  package var spelling: String { "--\(name)" }

  /// The names of those whose values are all used.
  private static let repeatable: Set = [
    "allow-host", "allow-origin", "attach", "field", "group-by", "header", "host", "param",
    "raw-field", "table", "where",
  ]

  /// True if a second value can only be a mistake; a later number, choice or general option takes the place of an earlier one,
  /// such as that of an alias.
  package var isSingle: Bool {
    guard group != .general, !Self.repeatable.contains(name) else { return false }
    return switch value {
    case .text, .list, .file, .directory: true
    case .count, .duration, .span, .size, .choice, .session, .store, nil: false
    }
  }

  /// The usage: `-L, --limit N`.
  package var synopsis: String {
    let names = (letter.map { "-\($0), " } ?? "") + spelling
    return value == nil ? names : "\(names) \(placeholder)"
  }
}

extension Option: Hashable {
  package static func == (first: Option, second: Option) -> Bool {
    func isChoice(_ value: Value?) -> Bool { if case .choice = value { true } else { false } }
    return first.name == second.name && first.letter == second.letter
      && (first.value == second.value || isChoice(first.value) && isChoice(second.value))
      && first.placeholder == second.placeholder
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Every option except those of one source's own verb.
extension Option {
  // MARK: - Filter

  package static let condition = Option(
    "where", .text, "CONDITION", in: .selection,
    about: "only records that meet it, such as 'name~man'; also several")
  package static let order = Option(
    "sort", .list, "A,-B", in: .selection,
    about: "sort by fields, descending after a dash")
  package static let count = Option(
    "count", in: .selection, about: "print only the number of records")

  package static let groupBy = Option(
    "group-by", .list, "A,B", in: .selection,
    about:
      "count the cached records of each value of a field, or of up to three together; FIELD:year, :quarter, :month, :week and :day group dates; --sort count sorts the groups"
  )
  package static let stats = Option(
    "stats", .text, "FIELD", in: .selection,
    about:
      "print numbers on the values of a field: count, minimum, mean and others, or those of --fields mean,max; also of each group"
  )
  package static let distinct = Option(
    "distinct", .text, "FIELD", in: .selection,
    about:
      "print the different values of a field; with --count, their number; --sort -count sorts them")

  // MARK: - Paging

  package static let limit = Option(
    "limit", letter: "L", .count(1...1_000_000_000), "N", in: .paging,
    about: "maximum number of records (default 20)")
  package static let all = Option("all", in: .paging, about: "list all records (up to --max-pages)")
  package static let maxPages = Option(
    "max-pages", .count(0...1_000_000_000), "N", in: .paging,
    about: "stop after N pages, 0 for no limit (default 25 with --all)")
  package static let cursor = Option(
    "cursor", .text, "TOKEN", in: .paging,
    about: "continue from the cursor that an earlier listing printed")
  package static let session = Option(
    "session", .session, "NAME", in: .paging,
    about: "session whose position next continues (default \"default\")")
  package static let reset = Option("reset", in: .paging, about: "restart the last listing")
  package static let back = Option("back", in: .paging, about: "show the previous page")
  package static let peek = Option(
    "peek", in: .paging, about: "show the next page without advancing")

  // MARK: - Output

  package static let format = Option(
    "format", .choice(Format.allCases.map(\.rawValue)), "F", in: .output,
    about:
      "table, cards, markdown, tsv, csv, json, ndjson or yaml (default: table on a terminal, otherwise tsv)"
  )
  package static let json = Option("json", in: .output, about: "output one JSON document")
  package static let ndjson = Option(
    "ndjson", in: .output, about: "output one JSON object per line")
  package static let csv = Option("csv", in: .output, about: "output CSV with a header (RFC 4180)")
  package static let tsv = Option(
    "tsv", in: .output, about: "output tab-separated values, no header")
  package static let csvRaw = Option(
    "csv-raw", in: .output,
    about: "no ' before values of CSV that spreadsheets would run as formulas")
  package static let headers = Option(
    "headers", in: .output, about: "begin CSV or TSV with the names of the fields (default for CSV)"
  )
  package static let noHeaders = Option(
    "no-headers", in: .output, about: "output CSV or TSV without the names of the fields")
  package static let noPager = Option(
    "no-pager", in: .output, about: "do not page output that is longer than the screen")
  package static let full = Option(
    "full", in: .output, about: "show long texts in full on a terminal")
  package static let fields = Option(
    "fields", .list, "A,B", in: .output,
    about: "fields to show, in order, '*' for all, '*,-name' without one; --fields help lists them"
  )

  package static let jq = Option(
    "jq", .text, "EXPR", in: .output,
    about:
      "filter the JSON output with jq, which must be installed; with --ndjson record by record; strings are unquoted"
  )

  package static let template = Option(
    "template", .text, "TEXT", in: .output,
    about: "a line for each record, such as '{name}\\t{id}' or '{name:<20}{price:>8.2f}'")

  // MARK: - Source of data

  package static let source = Option(
    "source", .list, "A,B", in: .data, about: "search only these sources")
  package static let offline = Option("offline", in: .data, about: "use local data only")
  package static let refresh = Option(
    "refresh", in: .data,
    about:
      "fetch again, even if the cache is fresh, or requests are paused after failures or a rate limit"
  )
  package static let noFallback = Option(
    "no-fallback", in: .data, about: "fail instead of using stale or bundled data")
  package static let details = Option(
    "details", in: .data, about: "fetch each record in full (lists may omit fields)")
  package static let deleted = Option("deleted", in: .data, about: "list deleted records")
  package static let explain = Option(
    "explain", in: .data, about: "explain where the data comes from")

  // MARK: - Network

  package static let timeout = Option(
    "timeout", .duration, "D", in: .network, about: "time limit per page: 10 (seconds), 500ms, 2m")
  package static let maxSize = Option(
    "max-size", .size, "SIZE", in: .network,
    about: "largest response: 500m, 8g (default 16m, or 4g of a file)")
  package static let jobs = Option(
    "jobs", .count(1...16), "N", in: .network, about: "pages to fetch concurrently (default 1)")
  package static let fullSync = Option(
    "full", in: .network,
    about: "read everything, also if the service can list only what has changed")
  package static let wait = Option(
    "wait", in: .network, about: "wait instead of stopping when the rate limit is reached")

  // MARK: - Recording

  package static let record = Option(
    "record", .directory, "DIR", in: .recording,
    about: "save requests and responses to DIR, with secrets removed")
  package static let replay = Option(
    "replay", .directory, "DIR", in: .recording,
    about: "replay responses from DIR; needs no network and no key")

  // MARK: - General

  package static let config = Option(
    "config", .file, "FILE", in: .general, about: "read additional settings from FILE")
  package static let manifests = Option(
    "manifests", .directory, "DIR", in: .general, about: "read added sources from DIR")
  package static let store = Option(
    "store", .store, "URL", in: .general,
    about: "use this store: an absolute path or a postgresql:// URL")
  package static let color = Option(
    "color", .choice(["auto", "always", "never"]), "WHEN", in: .general,
    about: "use color: auto, always or never (default auto)")
  package static let quiet = Option(
    "quiet", letter: "q", in: .general, about: "hide notes and warnings")
  package static let verbose = Option(
    "verbose", letter: "v", in: .general, about: "print a line for every request")
  package static let logFormat = Option(
    "log-format", .choice(["text", "json"]), "FORMAT", in: .general,
    about: "messages on standard error: text or json (default text)")
  package static let noInput = Option("no-input", in: .general, about: "never prompt")
  package static let help = Option("help", letter: "h", in: .general, about: "show help")
  package static let version = Option(
    "version", letter: "V", in: .general, about: "print the version")

  // MARK: - Of single commands

  package static let yes = Option("yes", letter: "y", about: "do not ask for confirmation")
  package static let noVerify = Option("no-verify", about: "save a key without trying it")
  package static let dryRun = Option("dry-run", about: "show what would happen without doing it")
  package static let forgetDeleted = Option(
    "forget-deleted", about: "also clear the list of deleted records")
  package static let data = Option("data", about: "also remove its cached records and images")
  package static let laws = Option("laws", about: "check the laws of the source and print each")
  package static let size = Option(
    "size", .choice(ImageSize.allCases.map(\.rawValue)), "SIZE",
    about: "small, medium or large (default medium)")
  package static let outputFile = Option(
    "output", letter: "o", .file, "FILE",
    about: "write to a file or directory; - is standard output")
  package static let noClobber = Option("no-clobber", about: "refuse to replace an existing file")
  package static let image = Option(
    "image", about: "show the image beside the record on a terminal; requires chafa")
  package static let sync = Option(
    "sync", about: "first sync the sources that the query reads, if incomplete")
  package static let since = Option(
    "since", .text, "WHEN",
    about: "compare with sync (default), yesterday, a date such as 2026-01-31, or a span such as 2h"
  )
  package static let schema = Option(
    "schema", about: "list members of the rows that appeared, vanished or changed their kind")
  package static let exitCode = Option("exit-code", about: "exit with 1 if there are differences")
  package static let every = Option(
    "every", .duration, "D", about: "pause between syncs: 30s, 10m, 2h (default 10m)")
  package static let olderThan = Option(
    "older-than", .span, "AGE",
    about: "only sources without a complete sync since then: 30m, 1h, 7d")
  package static let timeBudget = Option(
    "for", .duration, "D", about: "stop after this time: 90s, 10m; the next sync resumes")
  package static let exec = Option(
    "exec", .text, "CMD", about: "run a command after each sync that found changes")
  package static let scope = Option(
    "scope", .text, "SCOPE", about: "remove what is kept of this scope")
  package static let history = Option(
    "history", about: "remove only the history of changes, and keep the records")
  package static let parameter = Option(
    "param", .text, "NAME=VALUE", about: "value of the parameter :NAME in the query; also several")
  package static let attach = Option(
    "attach", .file, "[NAME=]FILE",
    about: "also query a .csv or .tsv file as a table, or a .sqlite or .db file as a database")
  package static let printURL = Option("print-url", about: "print the URL instead of opening it")

  package static let widget = Option(
    "widget", about: "print a key binding: Alt-I picks a record and inserts its ID")

  package static let newToken = Option("new-token", about: "replace the access token")
  package static let tokenFile = Option(
    "token-file", .file, "FILE", about: "use the access token in FILE")
  package static let noToken = Option("no-token", about: "allow access without a token")
  package static let replayWire = Option(
    "replay-wire", .directory, "DIR", in: .recording,
    about: "serve what the service sent, as recorded in DIR, under its own paths")

  // MARK: - Sets

  package static let common: [Option] = [
    config, manifests, store, color, quiet, verbose, logFormat, noInput, help,
  ]

  package static let formatting: [Option] = [
    format, json, ndjson, csv, tsv, csvRaw, headers, noHeaders, fields, jq, template, noPager,
  ]

  package static let reading: [Option] = [
    offline, refresh, noFallback, timeout, maxSize, record, replay,
  ]

  package static let lookup = reading(timeout: "time limit per record: 10 (seconds), 500ms, 2m")

  /// The options of reading, with another description of the time limit.
  package static func reading(timeout about: String) -> [Option] {
    reading.map { $0 == timeout ? timeout.with(about: about) : $0 }
  }

  /// Options of commands that always contact the service.
  package static let fetching: [Option] = [
    refresh.with(about: "try even if requests are paused after failures or a rate limit"), timeout,
    maxSize,
    record, replay,
  ]

  /// Options that tell of a field instead of listing records.
  package static let summarizing: [Option] = [groupBy, stats, distinct]

  package static let selecting: [Option] = [condition, order, count] + summarizing

  package static let listing: [Option] =
    selecting + [limit, all, maxPages, cursor, session, explain]

  package static let position: [Option] = [limit, reset, back, peek, session, explain]

  /// The options of lists of records that have no meaning beside one of ``summarizing``.
  private static func excluded(by option: Option) -> [Option] {
    // The order, the limit and the fields of groups and values, and their statistics, are those of their own rows.
    [all, maxPages, cursor, session, details, deleted] + (option == distinct ? [] : [count])
  }

  package static let exclusive: [[Option]] =
    [
      [limit, all], [offline, refresh], [offline, noFallback], [record, replay],
      [reset, back, peek],
      [deleted, details], [history, forgetDeleted], [history, scope], [forgetDeleted, scope],
      [replay, replayWire],
      [newToken, tokenFile, noToken], [headers, noHeaders],
    ] + [limit, cursor, session, order, fields, details].map { [count, $0] }
    + [refresh, record, replay, session, explain].map { [deleted, $0] }
    + summarizing.flatMap { option in
      excluded(by: option).map { [option, $0] }
    } + [[groupBy, distinct], [stats, distinct]]
    + ([format, jq, fields, count, headers, noHeaders] + formats).map { [template, $0] }

  package static let formats: [Option] = [json, ndjson, csv, tsv]
}
