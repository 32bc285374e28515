import AggregatorKit

/// One option of the command line.
///
/// A name means the same everywhere.
struct Option: Hashable, Sendable {
  /// What kind of value an option takes.
  enum Value: Hashable, Sendable {
    /// A whole number in this range.
    case count(ClosedRange<Int>)
    /// A time such as `500ms`, `10s` or `2m`.
    case duration
    /// One of these words.
    case choice([String])
    /// Words separated by commas.
    case list
    /// The name of a session.
    case session
    /// The path of a file.
    case file
    /// The path of a directory.
    case directory
    /// Any text that is not empty.
    case text
  }

  /// The name without its dashes: `max-pages`.
  let name: String

  /// One letter for it.
  let letter: Character?

  /// What kind of value it takes; `nil` for none.
  let value: Value?

  /// What the value stands for in help: `N`.
  let placeholder: String

  /// What it does, in a few words.
  let about: String

  /// An option without a value.
  init(_ name: String, letter: Character? = nil, about: String) {
    self.name = name
    self.letter = letter
    self.value = nil
    self.placeholder = ""
    self.about = about
  }

  /// An option with a value.
  init(
    _ name: String, letter: Character? = nil, _ value: Value, _ placeholder: String, about: String
  ) {
    self.name = name
    self.letter = letter
    self.value = value
    self.placeholder = placeholder
    self.about = about
  }

  /// With its dashes: `--max-pages`.
  var spelling: String { "--\(name)" }

  /// As it is typed: `-L, --limit N`.
  var synopsis: String {
    let names = (letter.map { "-\($0), " } ?? "") + spelling
    return value == nil ? names : "\(names) \(placeholder)"
  }
}

/// Every option that does not belong to one source's own verb.
extension Option {
  static let format = Option(
    "format", .choice(Format.allCases.map(\.rawValue)), "F",
    about: "table, tsv, csv, json or ndjson; table on a terminal, tsv in a pipe")
  static let json = Option("json", about: "one JSON document")
  static let ndjson = Option("ndjson", about: "one JSON object a line")
  static let csv = Option("csv", about: "RFC 4180, with a header")
  static let tsv = Option("tsv", about: "cells separated by tabs, no header")
  static let csvRaw = Option("csv-raw", about: "CSV without the ' before what looks like a formula")
  static let fields = Option(
    "fields", .list, "A,B", about: "which fields, in which order; 'help' lists them")
  static let source = Option(
    "source", .list, "A,B", about: "only these sources")
  static let limit = Option(
    "limit", letter: "L", .count(1...1_000_000_000), "N",
    about: "how many records; 20 by default, 5 of each source in a search of all")
  static let explain = Option(
    "explain", about: "say how an answer will be found, and what it took")
  static let all = Option("all", about: "every record there is")
  static let maxPages = Option(
    "max-pages", .count(0...1_000_000_000), "N",
    about: "stop after so many pages, 0 for no stop; a list of all stops after 25")
  static let jobs = Option(
    "jobs", .count(1...16), "N", about: "how many pages to ask for at a time; 1 by default")
  static let wait = Option(
    "wait", about: "when no more may be asked for, wait until it may")
  static let cursor = Option("cursor", .text, "TOKEN", about: "go on where an earlier answer ended")
  static let session = Option(
    "session", .session, "NAME", about: "whose place next goes on from; 'default' by default")
  static let reset = Option("reset", about: "start the same listing over")
  static let back = Option("back", about: "show the page before the one shown last")
  static let peek = Option("peek", about: "show what comes next, and stay")
  static let offline = Option("offline", about: "open no connection; answer from what is at hand")
  static let refresh = Option(
    "refresh", about: "ask the service even if what is stored is fresh, or if it failed of late")
  static let noFallback = Option(
    "no-fallback", about: "fail rather than answer from old or bundled data")
  static let timeout = Option(
    "timeout", .duration, "D", about: "how long one page may take: 500ms, 10s, 2m")
  static let record = Option(
    "record", .directory, "DIR",
    about: "write each request and reply into files there, without keys")
  static let replay = Option(
    "replay", .directory, "DIR", about: "answer from such files; open no connection, need no key")
  static let config = Option("config", .file, "FILE", about: "one more settings file")
  static let color = Option(
    "color", .choice(["auto", "always", "never"]), "WHEN", about: "auto, always or never")
  static let quiet = Option("quiet", letter: "q", about: "no notes and no warnings")
  static let verbose = Option("verbose", letter: "v", about: "one line for every request")
  static let noInput = Option("no-input", about: "never ask")
  static let yes = Option("yes", letter: "y", about: "do it without asking")
  static let dryRun = Option("dry-run", about: "say what would be done, and do nothing")
  static let forgetDeleted = Option("deleted", about: "also forget what was deleted")
  static let size = Option(
    "size", .choice(ImageSize.allCases.map(\.rawValue)), "SIZE",
    about: "small, medium or large; medium by default")
  static let file = Option(
    "output", letter: "o", .file, "FILE", about: "where to save it; '-' is standard output")
  static let printURL = Option("print-url", about: "print the address instead of opening it")
  static let help = Option("help", letter: "h", about: "show this help")
  static let version = Option("version", about: "show the version")

  /// What every command takes.
  static let common: [Option] = [config, color, quiet, verbose, noInput, help]

  /// What chooses the form of records.
  static let output: [Option] = [format, json, ndjson, csv, tsv, csvRaw, fields]

  /// What chooses who answers.
  static let reading: [Option] = [offline, refresh, noFallback, timeout, record, replay]

  /// What chooses who answers, for what only a service can answer.
  static let asking: [Option] = [refresh, timeout, record, replay]

  /// What bounds a listing.
  static let listing: [Option] = [limit, all, maxPages, cursor, session, explain]

  /// What says how to go on.
  static let position: [Option] = [limit, reset, back, peek, session, explain]

  /// Options of which a command line can have one at most.
  static let exclusive: [[Option]] = [
    [limit, all], [offline, refresh], [offline, noFallback], [record, replay], [reset, back, peek],
  ]

  /// What chooses the same as ``format`` does.
  static let formats: [Option] = [json, ndjson, csv, tsv]
}
