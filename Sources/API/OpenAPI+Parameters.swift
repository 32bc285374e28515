import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

// The parameters that differ from source to source. Their schemas allow nothing that the server refuses.

extension OpenAPI {
  /// A text with a word: a character that local search does not ignore.
  static let words: JSON = {
    let other = #"[^\s\u0000'´`‘’‛ʹʻʼ′‐‑‒–—―−·.,\u00AD-]"#
    return [
      "type": "string", "minLength": 1, "maxLength": .integer(ServedQuery.maxLength),
      "pattern": .string(#"^[^\u0000]*\#(other)[^\u0000]*$"#),
    ]
  }()

  /// A list in one parameter, separated by commas.
  private static func list(
    _ name: String, of values: [String], _ description: String
  ) -> JSON {
    [
      "name": .string(name), "in": "query", "description": .string(description),
      "style": "form", "explode": false,
      "schema": [
        "type": "array", "minItems": 1,
        "items": ["type": "string", "enum": .array(values.map { .string($0) })],
      ],
    ]
  }

  /// The formats of the lists of a source, among them files.
  static func formats(ofLists source: any ServedSource) -> JSON {
    let names = Format.served.map(\.rawValue) + source.files.map(\.rawValue)
    return parameter(
      "format", ["type": "string", "enum": .array(names.map(JSON.string))],
      "The format of the list, which overrides `Accept`.")
  }

  static func fields(of source: any ServedSource) -> JSON {
    list(
      "fields", of: source.fields.map(\.id),
      "The names of the fields of a record, separated by commas.")
  }

  static func field(of source: any ServedSource) -> JSON {
    parameter(
      "field", requiredIn: "query",
      ["type": "string", "enum": .array(source.fields.map { .string($0.id) })],
      "The name of a field.")
  }

  static func order(of source: any ServedSource) -> JSON {
    list(
      "sort", of: source.fields.flatMap { [$0.id, "-\($0.id)"] },
      "Fields separated by commas; with a dash before for descending order.")
  }

  /// The filter and the order of a search of all sources, of which each has other fields.
  ///
  /// - Parameter source: The one whose fields the patterns have: several at once may be those of no source.
  static func selection(likeThatOf source: any ServedSource) -> [JSON] {
    let rest =
      "Sources without its fields are left out, each with a warning. The pattern has some of the "
      + "fields of \(source.name)."
    let names = source.fields.map { $0.id.escapedForPattern }.joined(separator: "|")
    return [
      parameter(
        "where", conditionsSchema(of: source),
        "A filter of cached records, as in the list of a source. \(rest)"),
      parameter(
        "sort", ["type": "string", "pattern": .string("^-?(\(names))$")],
        "Fields of cached records, separated by commas; with a dash before for descending order. \(rest)"
      ),
    ]
  }

  static func conditions(of source: any ServedSource) -> JSON {
    parameter(
      "where", conditionsSchema(of: source),
      """
      A filter, such as `name~new` or `id<100`; with several, all must hold. The pattern has the simple \
      ones. `and`, `or`, `not` and parentheses join conditions; `id in (1, 2)`, `id in 1..9`, `name~/^new/i` and quotes \
      mean what they do on the command line.
      """)
  }

  /// Of simple conditions.
  private static func conditionsSchema(of source: any ServedSource) -> JSON {
    let kinds = Dictionary(grouping: source.fields) { FieldKind(rawValue: $0.kind) ?? .any }
    func names(_ chosen: FieldKind...) -> String? {
      // Others end at the blank, or at what looks like an operator.
      let names = chosen.flatMap { kinds[$0] ?? [] }.map(\.id)
        .filter { !$0.contains(/[\s=!~<>]/) && !$0.hasPrefix("(") }
        .map(\.escapedForPattern)
      return names.isEmpty ? nil : "(\(names.joined(separator: "|")))"
    }
    // Neither a list nor a range, which may begin another condition.
    let rest = #"([^=!~<>"'\\\u0000().]|\.[^=!~<>"'\\\u0000().])*"#
    let date = "[12][0-9]{3}(-(0[1-9]|1[0-2])(-(0[1-9]|1[0-9]|2[0-8]))?)?"
    let patterns = [
      names(.text, .any, .list, .bool, .integer, .number).map { "\($0)~[A-Za-z0-9]\(rest)" },
      names(.list).map { "\($0)!?=\(rest)" },
      // Of a field of dates, which only its records tell, nothing else is a value.
      names(.text).map { "\($0)!?=\(date)" },
      names(.text, .any).map { "\($0)[<>]=?\(date)" },
      names(.integer, .number).map { "\($0)(!?=|[<>]=?)-?[0-9]{1,15}" },
      names(.bool).map { "\($0)!?=(true|false)" },
    ].compactMap(\.self)
    let condition: JSON = [
      "type": "string", "pattern": .string("^(\(patterns.joined(separator: "|")))$"),
    ]
    return [
      "type": "array", "items": condition, "maxItems": .integer(ServedQuery.maxConditions),
    ]
  }
}

extension String {
  fileprivate var escapedForPattern: String {
    replacing(/[\\^$.|?*+(){}\[\]\/]/) { "\\\($0.output)" }
  }
}
