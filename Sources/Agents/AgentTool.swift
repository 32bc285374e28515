import AggregatorKit

/// The tools, in the order in which they are listed.
enum AgentTool: String, CaseIterable, Sendable {
  case sources
  case search
  case list
  case show
  case sql
  case changes
  case sync
  case trySource = "try_source"
  case addSource = "add_source"

  /// The arguments, which have the same names and meanings in all tools.
  enum Argument: String, CaseIterable, Sendable {
    case source, query, `where`, sort, fields, id, sql, since, url, name, limit, cursor, bytes

    fileprivate var schema: JSON {
      let texts: JSON = ["type": "array", "items": ["type": "string"]]
      let text: JSON = ["type": "string"]
      let (kind, about): (JSON, String) =
        switch self {
        case .source: (text, "A name from sources.")
        case .query: (text, "Words to find; all must match.")
        case .where:
          (
            texts,
            "Conditions that all hold, such as region=EU, name~man, price>10, id in (1, 2), not (a=1 or b=2)."
          )
        case .sort: (text, "Fields, descending after a dash: name,-price.")
        case .fields: (texts, "Only these fields.")
        case .id: (text, "The record's id.")
        case .sql: (text, "One SELECT; other statements are refused.")
        case .since:
          (
            text,
            "sync (the last one; default), today, yesterday, a date, or a span such as 2h or 3d."
          )
        case .url: (text, "The http(s) URL of a list of records.")
        case .name: (text, "Lower-case letters, digits and dashes.")
        case .limit: (["type": "integer", "minimum": 1], "The most records (default 20).")
        case .cursor: (text, "The cursor of an earlier answer, for the rest of it.")
        case .bytes:
          (
            [
              "type": "integer", "minimum": .integer(AgentAnswer.sizes.lowerBound),
              "maximum": .integer(AgentAnswer.sizes.upperBound),
            ], "The most bytes of the answer (default \(AgentAnswer.standardSize))."
          )
        }
      return .object(kind.members + [.init("description", .string(about))])
    }
  }

  var required: [Argument] {
    switch self {
    case .sources: []
    case .search: [.query]
    case .list, .changes, .sync: [.source]
    case .show: [.source, .id]
    case .sql: [.sql]
    case .trySource: [.url]
    case .addSource: [.url, .name]
    }
  }

  private var optional: [Argument] {
    switch self {
    case .sources: [.source, .bytes]
    case .search: [.source, .where, .sort, .fields, .limit, .cursor, .bytes]
    case .list: [.where, .sort, .fields, .limit, .cursor, .bytes]
    case .show: [.fields, .bytes]
    case .sql: [.limit, .cursor, .bytes]
    case .changes: [.since, .limit, .bytes]
    case .sync, .addSource: []
    case .trySource: [.name, .bytes]
    }
  }

  var arguments: [Argument] { required + optional }

  private var title: String {
    switch self {
    case .sources: "Sources and their fields"
    case .search: "Search records"
    case .list: "List records"
    case .show: "Show one record"
    case .sql: "Query cached records with SQL"
    case .changes: "Changes of cached records"
    case .sync: "Download a source"
    case .trySource: "Try a URL as a source"
    case .addSource: "Add a source"
    }
  }

  /// The help for a model: the answer of the tool, and when to use another one; at most 600 characters.
  private var about: String {
    switch self {
    case .sources:
      """
      The data sources, with what is cached of each and how old it is. With "source": all its fields with kinds and \
      meanings, and its table and columns for sql. Call it first. Not for records: use search or list.
      """
    case .search:
      """
      Records that contain words, of one source or, without "source", of all. Asks the services where needed; else \
      cached or bundled records answer, as "provenance" says. "where" and "sort" read cached records only. Not for \
      counting or joining (sql), nor for a list by a condition alone (list).
      """
    case .list:
      """
      Records of one source, by conditions and in an order if given; these read cached records only, so sync first if \
      "complete" is false. Not for words anywhere in a record (search), totals or groups (sql), or one known id (show).
      """
    case .show:
      "One record by its id, with the details that lists leave out. Not for finding a record: use search or list."
    case .sql:
      """
      A read-only query in the SQL of SQLite (or of PostgreSQL if the store is one) over cached records: counts, groups, \
      joins of sources. Tables and columns come from sources. It sees only what is cached: sync first if "complete" is \
      false. Not for what services have beyond that.
      """
    case .changes:
      """
      The cached records of a source that were added, changed or removed since its last sync or a date, with old and \
      new values. It asks no service: sync first for the newest state. Not for the records themselves: use list.
      """
    case .sync:
      """
      Downloads all records of a source, or what has changed, so that list with conditions, sql and changes are complete. \
      It may take minutes and many requests. Not needed before search or show, and not for a single answer.
      """
    case .trySource:
      """
      Requests a URL and infers a source of it: rows, fields, id and paging, with evidence and sample rows. Nothing is \
      saved. Not for a source that exists, and not for pages of HTML.
      """
    case .addSource:
      """
      Saves what try_source found at a URL as a source with a name, for this person's later use too. Only if the person \
      wants it; try it first. Not for a source that exists.
      """
    }
  }

  private var answers: JSON {
    var members: [JSON.Member] = [
      .init(
        "items",
        ["type": "array", "items": ["type": .string(self == .sql ? "array" : "object")]]),
      .init("complete", ["type": "boolean"]),
      .init("because", ["type": "string", "description": "Why it is not complete."]),
      .init("untrusted", ["type": "boolean"]),
      .init("warnings", ["type": "array", "items": ["type": "string"]]),
    ]
    if arguments.contains(.cursor) { members.append(.init("cursor", ["type": "string"])) }
    if self == .sql {
      members.append(.init("columns", ["type": "array", "items": ["type": "string"]]))
    }
    return [
      "type": "object", "properties": .object(members),
      "required": ["items", "complete", "untrusted"],
    ]
  }

  var definition: JSON {
    let changesSources = self == .addSource
    return [
      "name": .string(rawValue), "title": .string(title), "description": .string(about),
      "inputSchema": [
        "type": "object",
        "properties": .object(arguments.map { .init($0.rawValue, $0.schema) }),
        "required": .array(required.map { .string($0.rawValue) }), "additionalProperties": false,
      ],
      "outputSchema": answers,
      "annotations": [
        // Records that lists and searches fetch are only cached.
        "readOnlyHint": .bool(self != .sync && !changesSources), "destructiveHint": false,
        "idempotentHint": .bool(!changesSources),
        "openWorldHint": .bool(![.sources, .sql, .changes].contains(self)),
      ],
    ]
  }
}
