public import AggregatorCore
import Foundation

/// Where a page starts, for a service whose replies hold the address of their next page.
///
/// It is a link, and how many records of the page there were given already: a link often keeps the page
/// size that its walk began with, which may be more than a caller wants now.
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
/// Only the path and the query of a link are kept, and a link is followed only on the service's own host:
/// whoever writes one into a reply, or into a cursor, leads no request, and no key, elsewhere.
public struct LinkPosition: Codable, Hashable, Sendable {
  /// Path and query; `nil` for the first page.
  private var link: String?

  /// How many records of the page come before, 0 or more.
  public private(set) var skip: Int

  /// The start.
  public init() { skip = 0 }

  /// What is to be asked.
  ///
  /// - Parameter first: The request for the first page. Its head and its secrets go with every page.
  /// - Returns: `first` at the start, else the same at the address of the link.
  /// - Throws: ``SourceError`` with code `invalidCursor` if this was read from a cursor that somebody
  ///   wrote, and leads elsewhere.
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

  /// Where the page after this one starts.
  ///
  /// - Parameters:
  ///   - end: How many records of the reply came before or were given now.
  ///   - count: How many records the reply has.
  ///   - link: The address of the service's next page, absolute or not; `nil` or blank at the end.
  ///   - request: What was asked.
  /// - Returns: `nil` at the end.
  /// - Throws: ``SourceError`` with code `rejected` if the link leads to another host, or to what is
  ///   no address.
  public func next(
    after end: Int, of count: Int, link: String?, in request: HTTPRequest
  ) throws(SourceError) -> LinkPosition? {
    var next = self
    next.skip = end
    if end < count { return next }
    guard let link = link?.nonBlank else { return nil }
    guard let url = request.following(link), let address = Address(url) else {
      throw SourceError(
        .rejected, "the next page of \(request.endpoint) is said to be at another host")
    }
    next.link = address.path + (address.query.map { "?" + $0 } ?? "")
    next.skip = 0
    return next
  }
}

extension HTTPRequest.Item {
  fileprivate var isSecret: Bool { if case .secret = value { true } else { false } }
}

extension HTTPRequest {
  /// The address that a link in a reply leads to, with the scheme and the port that were asked, and
  /// without what is sent as a secret anyway; `nil` if it is none, or another host's.
  ///
  /// Services behind a proxy write `http` where they were asked by `https`, so scheme and port may
  /// differ if both are standard.
  fileprivate func following(_ link: String) -> URL? {
    guard let asked = Address(url),
      let target = URL(string: link, relativeTo: url)?.absoluteURL, let address = Address(target),
      address.host == asked.host,
      address.isStandardPort == asked.isStandardPort,
      address.isStandardPort || (address.port == asked.port && address.scheme == asked.scheme)
    else { return nil }
    let names = query.filter(\.isSecret).map(\.name)
    let items = address.query?.split(separator: "&").filter { item in
      let name = item.prefix { $0 != "=" }
      return !names.contains(name.removingPercentEncoding ?? String(name))
    }
    let rest = items.map { $0.isEmpty ? "" : "?" + $0.joined(separator: "&") } ?? ""
    return URL(string: "\(asked.scheme)://\(asked.authority)\(address.path)\(rest)")
  }
}
