import AggregatorCore
import AggregatorFoundation
import AggregatorText

extension HTTPResponse {
  /// The URL with `rel="next"` in the `Link` header fields (RFC 8288).
  public var nextLink: String? { link("next") }

  package var lastLink: String? { link("last") }

  private func link(_ relation: Substring) -> String? {
    for field in headers where field.name == "link" {
      for link in field.value.matches(of: /<([^<>]*)>([^<]*)/) {
        let parameters = link.output.2.lowercased().split(separator: ";")
        for pair in parameters.map({ $0.split(separator: "=", maxSplits: 1) })
        where pair.count == 2 && pair[0].trimmed == "rel" {
          let value = pair[1].split { " \t,\"".contains($0) }
          if value.contains(relation) { return String(link.output.1) }
        }
      }
    }
    return nil
  }

  /// The number of all records that a header field says: a number, that of a range of records, `0-49/300` as
  /// `Content-Range` has it, or `TotalCount` and the like in a JSON object, as `X-Pagination` has it.
  public func total(inField name: String) -> Int? { header(name)?.fieldTotal }

  /// True for what may be a part of a list whose length is not said: `Content-Range: 0-49/*`, or 206 without a total.
  package var isPartOfUnknown: Bool {
    let range = header("content-range") ?? ""
    let isBytes = range.lowercased().hasPrefix("bytes")
    let isRange = range.rangeEnd == "*" && !range.contains("*/")
    return isRange || status == 206 && range.fieldTotal == nil && !isBytes
  }
}

extension String {
  /// See ``HTTPResponse/total(inField:)``.
  package var fieldTotal: Int? {
    var number = rangeEnd.flatMap { Int($0) } ?? Int(self)
    if hasPrefix("{"), let text = JSONText(Data(utf8)) {
      let names = ["total", "totalcount", "totalitems", "totalrecords", "totalresults"]
      let members = JSON(text).members.filter {
        names.contains($0.name.lowercased().replacing("_", with: ""))
      }
      number = members.lazy.compactMap { Int($0.value.string ?? $0.value.text) }.first
    }
    return number.flatMap { $0 < 0 ? nil : $0 }
  }

  /// The number of all records in a range of them, `items 0-49/300`, or `*` for an unknown one; `nil` for bytes.
  fileprivate var rangeEnd: Substring? {
    let match = wholeMatch(of: /(?:([^ =]+)[ =] *)?(?:[0-9]+-[0-9]+|\*)\/([0-9]+|\*)/)
    return match?.1?.lowercased() == "bytes" ? nil : match?.2
  }
}
