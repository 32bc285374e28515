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
