import AggregatorKit
import AggregatorServer
package import AggregatorTerminal

// The formats of lists: that of the address, else the one that the client prefers (RFC 9110, section 12.5.1).

extension Format {
  /// The formats of the API; the first one is that of clients that accept anything.
  package static let served: [Format] = [.json, .csv, .ndjson, .tsv, .markdown]

  /// Throws status 400 for an unknown `format`, 406 if the client accepts none of them.
  ///
  /// - Parameter files: Further formats that the hints have.
  static func served(to request: ServerRequest, or files: [ListFile] = []) throws(Problem) -> Format
  {
    let names = (served.map(\.rawValue) + files.map(\.rawValue)).joined(separator: ", ")
    let named = try request.parameter("format", hint: "the formats are \(names)") { name in
      served.first { $0.rawValue == name }
    }
    if let named { return named }
    var (best, bestWeight) = (Format.json, 0.0)
    for format in served {
      let weight = request.weight(ofType: format.mediaType)
      if weight > bestWeight { (best, bestWeight) = (format, weight) }
    }
    guard bestWeight > 0 else {
      let types = (served.map(\.mediaType) + files.map(\.mediaType)).joined(separator: ", ")
      throw notAcceptable("the list", hint: "accept one of \(types)")
    }
    return best
  }

  /// Throws status 406 if the client does not accept JSON, which is all that there is.
  static func requireJSON(for request: ServerRequest) throws(Problem) {
    guard request.weight(ofType: json.mediaType) > 0 else {
      throw notAcceptable("the answer", hint: "accept \(json.mediaType)")
    }
  }

  private static func notAcceptable(_ what: String, hint: String) -> Problem {
    Problem(406, "notAcceptable", "\(what) is not available in a format of Accept", hint: hint)
  }

  /// The type without parameters.
  var mediaType: String {
    switch self {
    case .json: "application/json"
    case .csv: "text/csv"
    case .ndjson: "application/x-ndjson"
    case .markdown: "text/markdown"
    case .yaml: "application/yaml"
    // https://www.iana.org/assignments/media-types/text/tab-separated-values
    case .tsv: "text/tab-separated-values"
    case .table, .cards: "text/plain"
    }
  }

  var contentType: String {
    mediaType.hasPrefix("text/") ? "\(mediaType); charset=utf-8" : mediaType
  }

  /// The writer of the command line for a text that a server sends; TSV begins with the names, as its media type demands.
  func servedWriter<Item>(for listing: Listing<Item>) -> any RecordWriter<Item> {
    var listing = listing
    listing.hasHeader = true
    return writer(
      for: listing, on: TerminalLayout(width: 80, isTerminal: false, hasColor: false))
  }
}

extension ServerRequest {
  /// The file that `format` names, or else `Accept` prefers to every text.
  var acceptedFile: ListFile? {
    if let name = parameter("format") { return ListFile(rawValue: name) }
    let texts = Format.served.map { weight(ofType: $0.mediaType) }.max() ?? 0
    return ListFile.allCases.first { weight(ofType: $0.mediaType) > texts }
  }

  /// The weight of a media type in `Accept`, from 0 to 1; the most specific range that contains it counts.
  func weight(ofType type: String) -> Double {
    let ranges = headers.filter { $0.name.lowercased() == "accept" }
      .flatMap { $0.value.lowercased().filter { !$0.isWhitespace }.split(separator: ",") }
    guard !ranges.isEmpty else { return 1 }
    let group = type.prefix { $0 != "/" }
    for candidate in [type, "\(group)/*", "*/*"] {
      for range in ranges {
        let parts = range.split(separator: ";")
        guard parts.first.map(String.init) == candidate else { continue }
        let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
        return weight.map { Double($0) ?? 0 } ?? 1
      }
    }
    return 0
  }
}

extension ListingSummary {
  /// The members of a JSON document that other formats have no place for, by their names in header fields.
  package static let headerNames = ["Page", "Provenance", "Warnings"].map { "X-Aggregator-\($0)" }

  /// The header fields with those members, as JSON in ASCII.
  var headers: [ServerRequest.Parameter] {
    let warnings = warnings.map { warning in
      var warning = warning
      // The head of a response is of limited size.
      warning.warning = Warning(
        warning.warning.code, warning.warning.message.oneLine(atMost: Self.maxMessage))
      return warning.json
    }
    let members: [JSON] = [page, provenance?.json ?? .null, .array(warnings)]
    return zip(Self.headerNames, members).map { .init($0, $1.text.asciiEscaped) }
  }

  private static let maxMessage = 300
}

extension String {
  /// JSON in which all other characters than those of ASCII are escaped.
  fileprivate var asciiEscaped: String {
    unicodeScalars.map { scalar in
      guard !scalar.isASCII || scalar.value == 0x7F else { return String(scalar) }
      return String(scalar).utf16.map { "\\u\(UInt64($0).text(radix: 16, digits: 4))" }.joined()
    }.joined()
  }
}
