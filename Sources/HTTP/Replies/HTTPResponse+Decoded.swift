public import AggregatorCore
public import AggregatorFoundation

extension HTTPResponse {
  /// Decodes the body as JSON.
  ///
  /// Bytes that are not UTF-8 are read as U+FFFD, so that a broken character does not lose a row.
  ///
  /// A `decoder` other than Foundation's default takes about three times as long.
  ///
  /// - Throws: ``SourceError``: `malformed` with the path and the reason, such as
  ///   `results[3].name is missing` and the `DecodingError` as cause, or the error that `type` itself throws.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, by service: String, with decoder: JSONDecoder? = nil
  ) throws(SourceError) -> Value {
    switch body.firstSignificantByte {
    case nil: throw SourceError(.malformed, "\(service) sent an empty response instead of JSON")
    case UInt8(ascii: "<"):
      let what = isXML ? "XML" : "an HTML page"
      throw SourceError(.malformed, "\(service) sent \(what) instead of JSON\(excerpt)")
    default: break
    }
    guard let text = JSONText(body) else {
      throw SourceError(.malformed, "\(service) sent something that is not JSON\(excerpt)")
    }
    do {
      guard let decoder else { return try text.read(type) }
      return try decoder.decode(type, from: Data(String(decoding: body, as: UTF8.self).utf8))
    } catch let error as SourceError {
      throw error
    } catch {
      let reason = error.decodingReason(below: 0) ?? "invalid value"
      throw SourceError(.malformed, "invalid response from \(service): \(reason)", cause: error)
    }
  }

  /// True if the body says that it is XML, or begins as RSS and Atom do; XHTML is HTML.
  private var isXML: Bool {
    let head = String(decoding: body.prefix(1024), as: UTF8.self).lowercased()
    return !head.contains("<html") && !head.contains("<!doctype html")
      && head.contains(/<(\?xml|rss|feed|rdf:rdf)[\s>]/)
  }
}

/// A JSON array that skips and counts the elements that cannot be decoded.
///
/// ```swift
/// struct Envelope: Decodable { var results: LossyArray<Hero.Wire> }
/// …
/// Page(envelope.results.elements.map(Hero.init), unreadable: envelope.results.unreadable, …)
/// ```
public struct LossyArray<Element: Decodable>: Decodable {
  public let elements: [Element]

  /// The elements that could not be decoded, each `null` too; the reason counts rows from 1: `row 3: name is missing`.
  public let unreadable: UnreadableRows

  public var count: Int { elements.count + unreadable.count }

  /// - Throws: `DecodingError` if it is not an array; ``SourceError`` if far too many elements fail.
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    var elements: [Element] = []
    elements.reserveCapacity(container.count ?? 0)
    var unreadable = UnreadableRows.none
    while !container.isAtEnd {
      let row = container.currentIndex + 1
      do {
        elements.append(try container.decode(Element.self))
      } catch {
        // After a failure the container is still before the element.
        _ = try container.decode(SkippedValue.self)
        if unreadable.count == 0 {
          let reason = error.decodingReason(below: decoder.codingPath.count + 1)
          unreadable.firstReason = "row \(row): \(reason ?? "invalid value")"
        }
        unreadable.count += 1
        guard !Task.isCancelled else { throw SourceError.cancelled }
        // An array of something else: a million failures, which fit into two megabytes, would occupy a
        // processor for a minute.
        guard unreadable.count < Self.maxUnreadable else {
          let reason = unreadable.firstReason.map { " (\($0))" } ?? ""
          throw SourceError(.malformed, "\(unreadable.count) rows could not be read\(reason)")
        }
      }
    }
    self.elements = elements
    self.unreadable = unreadable
  }

  /// More than the rows of any page.
  private static var maxUnreadable: Int { 10_000 }
}

extension LossyArray: Sendable where Element: Sendable {}

struct SkippedValue: Decodable {
  init(from decoder: any Decoder) {}
}
