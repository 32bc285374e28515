public import AggregatorFoundation

/// An item of a data source: a country, a hero, a product.
public protocol SourceRecord: Identifiable, Codable, Hashable, Sendable where ID: RecordID {
  /// Completes this record with details that only `known`, an earlier form of the record, has.
  ///
  /// Services send a short form of a record in lists and a long form on its own. Details that are
  /// absent here must not erase those in `known`. Records with a single form keep the default, `self`.
  func merged(over known: Self) -> Self
}

extension SourceRecord {
  public func merged(over known: Self) -> Self { self }
}

/// The ID of a ``SourceRecord``, which converts to text and back, so that a person can type it and a store can keep it.
///
/// `String`, `UUID` and integers conform. A type of your own that is `LosslessStringConvertible` needs nothing
/// more than to name this protocol.
public protocol RecordID: Hashable, Codable, Sendable, CustomStringConvertible {
  /// The ID that a text spells; `nil` if it is none.
  init?(_ description: String)
}

extension String: RecordID {}
extension Int: RecordID {}
extension Int32: RecordID {}
extension Int64: RecordID {}
extension UInt: RecordID {}
extension UInt32: RecordID {}
extension UInt64: RecordID {}

extension UUID: RecordID {
  public init?(_ description: String) { self.init(uuidString: description) }
}

/// An ID, or another key of a store, that is compared byte by byte, as databases and services do.
///
/// To Swift, `é` is equal to an `e` with a combining accent; to a service they are two IDs. So a set or dictionary of
/// IDs has these as its elements or keys.
public struct RecordKey: Hashable, Comparable, Sendable {
  public let text: String

  public init(_ text: String) { self.text = text }

  public init(_ id: some RecordID) { text = id.description }

  public static func == (left: RecordKey, right: RecordKey) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  public static func < (left: RecordKey, right: RecordKey) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

extension RecordKey: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text) }
}

extension SourceRecord {
  /// The ID as a key of a set or a dictionary.
  package var key: RecordKey { RecordKey(id) }
}
