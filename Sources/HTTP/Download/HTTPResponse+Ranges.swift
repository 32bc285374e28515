import AggregatorCore
import AggregatorFoundation
import AggregatorText

/// The bytes that a response to a range request has (RFC 9110, section 14.4): `bytes 100-199/1000`.
package struct ContentRange: Hashable {
  /// The first byte; `nil` if the range was beyond the end.
  package let first: Int?
  /// The number of bytes of the whole file; `nil` if the service does not know it.
  package let total: Int?
}

extension HTTPResponse {
  /// `nil` if the field is missing or invalid.
  package var contentRange: ContentRange? {
    guard let text = header("content-range"),
      let match = text.wholeMatch(of: /(?i)bytes +(?:([0-9]+)-[0-9]+|\*)\/([0-9]+|\*)/)
    else { return nil }
    return ContentRange(first: match.1.flatMap { Int($0) }, total: Int(match.2))
  }

  /// The number of bytes of the whole file; `nil` if the service does not say it.
  var fileLength: Int? {
    if status == 206 { return contentRange?.total }
    return header("content-length").flatMap { Int($0) }
  }

  private var strongTag: String? {
    header("etag").flatMap { tag in
      // Other characters cannot be sent.
      let isText = tag.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
      return isText && tag.count > 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") ? tag : nil
    }
  }

  /// The validator to send as `If-Range` (RFC 9110, section 13.1.5); `nil` if there is no strong one.
  ///
  /// A date counts only where there is no entity tag.
  package var rangeValidator: String? {
    header("etag") != nil ? strongTag : strongModificationDate
  }

  /// The time of the last change as it was sent; `nil` unless the response is so much younger that two clocks cannot
  /// explain it (section 8.8.2.2).
  var strongModificationDate: String? {
    guard let text = header("last-modified"), let modified = Date(httpDate: text),
      let date = header("date").flatMap({ Date(httpDate: $0) }),
      date.timeIntervalSince(modified) >= 60
    else { return nil }
    return text
  }

  /// The strong entity tag, else the time of the last change with the length, else `nil`.
  func validator(length: Int?) -> String? {
    if let strongTag { return strongTag }
    guard let modified = header("last-modified"), let length else { return nil }
    return "\(modified), \(length) bytes"
  }
}
