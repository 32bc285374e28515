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

extension Record {
  /// The ID as a key of a set or a dictionary.
  package var key: RecordKey { RecordKey(id) }
}
