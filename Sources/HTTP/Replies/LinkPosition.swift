public import AggregatorCore
import Foundation

/// The start of a page, for a service whose replies contain the URL of their next page.
///
/// It is a link and the number of records of that page to skip: a link often keeps the page size of the
/// first request, which may be more than a caller now wants.
///
/// ```swift
/// let position = try seal.open(request.cursor, as: LinkPosition.self) ?? LinkPosition()
/// let asked = try position.request(from: first)
/// …
/// let records = reply.rows.elements.dropFirst(position.skip).prefix(request.limit)
/// let next = try position.next(
///   after: records.endIndex, of: reply.rows.elements.count, link: reply.next, in: asked)
/// ```
///
/// Only the path and the query of a link are stored, and a link is followed only on the service's own host:
/// a link in a reply or a cursor cannot send a request, or a key, elsewhere.
public struct LinkPosition: Codable, Hashable, Sendable {
  /// Path and query; `nil` for the first page.
  private var link: String?

  /// The number of records of the page to skip, 0 or more.
  public private(set) var skip: Int

  public init() { skip = 0 }

  /// The request for this page.
  ///
  /// - Parameter first: The request for the first page. Its header and its secrets go with every page.
  /// - Returns: `first` at the start, else `first` with the URL of the link.
  /// - Throws: ``SourceError`` with code `invalidCursor` if this was decoded from a forged cursor.
  public func request(from first: HTTPRequest) throws(SourceError) -> HTTPRequest {
    guard 0...1_000_000_000 ~= skip else { throw .damaged("\(skip)") }
    guard let link else { return first }
    guard link.hasPrefix("/"), let asked = Address(first.url),
      let url = first.following("\(asked.scheme)://\(asked.authority)\(link)")
    else { throw .damaged(link) }
    var request = first
    request.url = url
    request.query = first.query.filter(\.isSecret)
    return request
  }

  /// The start of the next page; `nil` at the end.
  ///
  /// - Parameters:
  ///   - end: The number of records of the reply that were skipped or returned.
  ///   - count: The number of records in the reply.
  ///   - link: The absolute or relative URL of the service's next page; `nil` or blank at the end.
  ///   - request: The request for this page.
  /// - Throws: ``SourceError`` with code `rejected` if the link leads to another host or is invalid.
  public func next(
    after end: Int, of count: Int, link: String?, in request: HTTPRequest
  ) throws(SourceError) -> LinkPosition? {
    var next = self
    next.skip = end
    if end < count { return next }
    guard let link = link?.nonBlank else { return nil }
    guard let url = request.following(link), let address = Address(url) else {
      throw SourceError(
        .rejected, "the next page of \(request.endpoint) is on another host")
    }
    next.link = address.path + (address.query.map { "?" + $0 } ?? "")
    next.skip = 0
    return next
  }
}

extension HTTPRequest {
  /// The URL of a link in a reply, with this request's scheme and port, and without the query items that
  /// this request sends as secrets; `nil` if it is invalid or on another host.
  ///
  /// Services behind a proxy write `http` in reply to `https`, so scheme and port may differ if both
  /// ports are standard.
  func following(_ link: String) -> URL? {
    guard let asked = Address(url),
      let target = URL(string: link, relativeTo: url)?.absoluteURL, let address = Address(target),
      address.host == asked.host,
      address.isStandardPort == asked.isStandardPort,
      address.isStandardPort || (address.port == asked.port && address.scheme == asked.scheme)
    else { return nil }
    let rest = withoutSecrets(address.query).map { "?" + $0 } ?? ""
    return URL(string: "\(asked.scheme)://\(asked.authority)\(address.path)\(rest)")
  }

  /// A query without the items that this request sends as secrets; `nil` for none.
  func withoutSecrets(_ query: String?) -> String? {
    let names = self.query.filter(\.isSecret).map(\.name)
    let items = query?.split(separator: "&").filter { item in
      let name = item.prefix { $0 != "=" }
      return !names.contains(name.removingPercentEncoding ?? String(name))
    }
    return items.flatMap { $0.isEmpty ? nil : $0.joined(separator: "&") }
  }
}
