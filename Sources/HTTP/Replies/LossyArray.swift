public import AggregatorCore

/// A JSON array whose elements are read apart, so that one that cannot be read does not lose the others.
///
/// ```swift
/// struct Envelope: Decodable { var results: LossyArray<Hero.Wire> }
/// …
/// Page(envelope.results.elements.map(Hero.init), unreadable: envelope.results.unreadable, …)
/// ```
public struct LossyArray<Element: Decodable>: Decodable {
  /// The elements that could be read, in order.
  public let elements: [Element]

  /// The others; a `null` is one of them.
  ///
  /// The reason counts rows from 1: `row 3: name is missing`.
  public let unreadable: Unreadable

  /// How many elements were sent.
  public var count: Int { elements.count + unreadable.count }

  /// Reads an array.
  ///
  /// - Parameter decoder: What to read from.
  /// - Throws: `DecodingError` if it is no array.
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    var elements: [Element] = []
    elements.reserveCapacity(container.count ?? 0)
    var unreadable = Unreadable.none
    while !container.isAtEnd {
      let row = container.currentIndex + 1
      do {
        elements.append(try container.decode(Element.self))
      } catch {
        // A container stays where it was when it failed.
        _ = try container.decode(SkippedValue.self)
        if unreadable.count == 0 {
          let reason = error.decodingReason(below: decoder.codingPath.count + 1)
          unreadable.firstReason = "row \(row): \(reason ?? "it cannot be understood")"
        }
        unreadable.count += 1
        try Self.check(unreadable)
      }
    }
    self.elements = elements
    self.unreadable = unreadable
  }

  /// More unreadable rows than any page has.
  private static var mostUnreadable: Int { 10_000 }

  /// Ends the reading of what is no list of rows at all: each failure costs so much that a million of
  /// them, which fit into two megabytes, would hold a processor for a minute.
  private static func check(_ unreadable: Unreadable) throws(SourceError) {
    guard !Task.isCancelled else { throw .cancelled }
    guard unreadable.count < mostUnreadable else {
      let reason = unreadable.firstReason.map { " (\($0))" } ?? ""
      throw SourceError(.malformed, "\(unreadable.count) rows could not be read\(reason)")
    }
  }
}

extension LossyArray: Sendable where Element: Sendable {}
