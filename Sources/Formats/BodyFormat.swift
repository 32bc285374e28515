import AggregatorCore
import AggregatorFoundation
import AggregatorText

/// A format of records other than JSON.
public enum BodyFormat: String, CaseIterable, Sendable {
  /// Comma-separated values with a line of names (RFC 4180); a semicolon separates if the names are separated by it.
  case csv
  /// Tab-separated values with a line of names.
  case tsv
  /// A JSON value on each line.
  case ndjson
  /// XML, such as RSS and Atom.
  case xml

  /// True if the records follow one another, so that a file of any size can be read in parts.
  package var isLines: Bool { self != .xml }

  /// True if the values of records are in columns, whose order a person has chosen.
  package var isTable: Bool { self == .csv || self == .tsv }

  /// The first bytes of a body that are needed to recognise its format.
  package static let headSize = 4096

  /// The format of a body that is not compressed: by its content type, then by its first bytes; `nil` for JSON, HTML,
  /// and anything that has no records.
  ///
  /// - Parameters:
  ///   - contentType: The value of `Content-Type`; `nil` for none.
  ///   - path: The path of the URL, whose ending counts if the content type says as much as "a file" or "a text".
  ///   - head: The first bytes, in UTF-8.
  package init?(contentType: String?, path: String, head: some Collection<UInt8>) {
    let type = contentType?.prefix { $0 != ";" }.trimmed.lowercased() ?? ""
    let head = Array(head.prefix(Self.headSize))
    switch head.first(where: { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }) {
    case UInt8(ascii: "{")?, UInt8(ascii: "[")?:
      guard
        Self.ndjsonTypes.contains(type) || head.hasTwoLinesOfJSON
          || Self(path: path, type: type) == .ndjson
      else { return nil }
      self = .ndjson
    case UInt8(ascii: "<")?:
      guard !head.isHTML, type != "text/html" || head.isXML else { return nil }
      self = .xml
    default:
      guard let format = Self(type: type) ?? Self(path: path, type: type) ?? Self(lines: head, type)
      else { return nil }
      self = format
    }
  }

  /// The format of a body from which another one may be expected; `nil` as in ``init(contentType:path:head:)``.
  ///
  /// Instead of the expected format some services send an error in JSON or HTML.
  package init?(
    expecting expected: BodyFormat?, contentType: String?, path: String,
    head: some Collection<UInt8>
  ) {
    let isMarkup = head.first { $0 > 0x20 }.map { "{[<".utf8.contains($0) } ?? false
    let recognised = Self(contentType: contentType, path: path, head: head)
    guard let format = isMarkup ? recognised : expected ?? recognised else { return nil }
    self = format
  }

  private static let ndjsonTypes = [
    "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines",
    "application/jsonlines",
  ]

  private init?(type: String) {
    switch type {
    case "text/csv", "application/csv", "text/comma-separated-values", "text/x-csv": self = .csv
    case "text/tab-separated-values": self = .tsv
    default:
      guard Self.ndjsonTypes.contains(type) else { return nil }
      self = .ndjson
    }
  }

  /// True for types that services send of files and texts of any format.
  private static func isVague(_ type: String) -> Bool {
    [
      "", "text/plain", "application/octet-stream", "binary/octet-stream", "application/gzip",
      "application/x-gzip", "application/vnd.ms-excel",
    ].contains(type)
  }

  private init?(path: String, type: String) {
    guard Self.isVague(type) else { return nil }
    let name = path.lowercased()
    switch (name.hasSuffix(".gz") ? name.dropLast(3) : name[...]).split(separator: ".").last {
    case "csv": self = .csv
    case "tsv", "tab": self = .tsv
    case "ndjson", "jsonl": self = .ndjson
    default: return nil
    }
  }

  /// Two lines with the same number of values are a table.
  private init?(lines head: [UInt8], _ type: String) {
    guard Self.isVague(type) else { return nil }
    let lines = head.split(separator: UInt8(ascii: "\n"), maxSplits: 2).prefix(2)
    guard lines.count == 2, String(validating: lines[0], as: UTF8.self) != nil else { return nil }
    let formats: [(Unicode.Scalar, Self)] = [("\t", .tsv), (",", .csv), (";", .csv), ("|", .csv)]
    for (separator, format) in formats {
      let counts = lines.map { line in line.count { $0 == UInt8(ascii: separator) } }
      guard counts[0] > 0, counts[0] == counts[1] else { continue }
      self = format
      return
    }
    return nil
  }
}

extension Collection<UInt8> {
  /// True for XML that says so, or begins as RSS and Atom do; XHTML is HTML.
  package var isXML: Bool {
    let head = String(decoding: prefix(1024), as: UTF8.self).lowercased()
    return !head.contains("<html") && !head.contains("<!doctype html")
      && head.contains(/<(\?xml|rss|feed|rdf:rdf)[\s>]/)
  }
}

extension [UInt8] {
  /// True for HTML, and for XHTML.
  fileprivate var isHTML: Bool {
    let head = String(decoding: prefix(1024), as: UTF8.self).lowercased()
    return head.contains("<html") || head.contains("<!doctype html")
  }

  /// True if the first line ends a value, and the next one begins another.
  fileprivate var hasTwoLinesOfJSON: Bool {
    let lines = split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)
      .filter { !$0.allSatisfy { [0x20, 0x09, 0x0D].contains($0) } }
    guard lines.count > 1, let last = lines[0].last(where: { ![0x20, 0x0D].contains($0) }),
      let first = lines[1].first
    else { return false }
    // The first lines of most JSON on several lines end in neither.
    return [UInt8(ascii: "}"), UInt8(ascii: "]")].contains(last)
      && [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(first) && JSONText(Data(lines[0])) != nil
  }
}
