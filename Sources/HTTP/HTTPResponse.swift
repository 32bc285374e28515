public import AggregatorFoundation

/// A complete HTTP response.
///
/// Secrets of the request that the service repeats in it are removed.
public struct HTTPResponse: Sendable {
  public var status: Int

  /// The header fields in the order of arrival, with lower-case names.
  public var headers: [(name: String, value: String)]

  /// The body, decompressed.
  public var body: Data

  public init(status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
    self.status = status
    self.headers = headers.map { ($0.name.lowercased(), $0.value) }
    self.body = body
  }

  /// The value of a header field, whose name may be in any case; the first of several.
  public func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name == name }?.value
  }
}
