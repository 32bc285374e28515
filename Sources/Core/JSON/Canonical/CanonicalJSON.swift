package import Foundation

/// The one JSON of a value: on one line, with the members of objects in the order of their names.
///
/// The store tells by these bytes whether a record has changed. They are those of Foundation's encoder with
/// sorted keys and unescaped slashes, in half its time: nothing is turned into a dictionary on the way.
package enum CanonicalJSON {
  /// Writes a value.
  ///
  /// - Parameter value: What to write.
  /// - Returns: Its JSON, in UTF-8.
  /// - Throws: `EncodingError` for a number that is not finite, or what `value` throws.
  package static func bytes(of value: some Encodable) throws -> Data {
    let node = CanonicalNode()
    try CanonicalEncoder(node: node, codingPath: []).encode(value)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    node.write(to: &bytes)
    return Data(bytes)
  }

  /// Writes a value as text.
  ///
  /// - Parameter value: What to write.
  /// - Returns: Its JSON.
  /// - Throws: `EncodingError` for a number that is not finite, or what `value` throws.
  package static func text(of value: some Encodable) throws -> String {
    String(decoding: try bytes(of: value), as: UTF8.self)
  }
}
