public import Foundation

/// A complete HTTP reply.
///
/// Secrets of the request that the service repeated in it are removed.
public struct HTTPResponse: Sendable {
  /// The status, such as 200.
  public var status: Int

  /// The header fields in the order of arrival, with lower-case names.
  public var headers: [(name: String, value: String)]

  /// The body, decompressed.
  public var body: Data

  /// A reply.
  ///
  /// - Parameters:
  ///   - status: The status, such as 200.
  ///   - headers: The header fields in the order of arrival.
  ///   - body: The body, decompressed.
  public init(status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
    self.status = status
    self.headers = headers.map { ($0.name.lowercased(), $0.value) }
    self.body = body
  }

  /// The value of a header field; the first if it came several times.
  ///
  /// - Parameter name: The field's name, in any case.
  /// - Returns: `nil` if it did not come.
  public func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name == name }?.value
  }
}
