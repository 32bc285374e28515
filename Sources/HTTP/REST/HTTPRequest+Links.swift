import AggregatorCore
import AggregatorFoundation
import AggregatorText

/// The links by which replies name their next page.
///
/// A link is followed on the service's own host, or on others that a source allows, where no secret is sent:
/// a link in a reply or a cursor cannot send a request, or a key, elsewhere.
extension HTTPRequest {
  /// The link as a cursor keeps it: without the service's own host, so that a forged one cannot lead
  /// elsewhere; `nil` if it leads to a host that is not allowed.
  package func storedLink(_ link: String, otherHosts: Set<String>) -> String? {
    if let own = url(following: link), let address = Address(own) {
      return address.path + (address.query.map { "?" + $0 } ?? "")
    }
    guard let other = URL(string: link, relativeTo: url)?.absoluteURL,
      var address = Address(other), otherHosts.contains(address.host),
      address.scheme == "https" || Address(url)?.scheme == "http"
    else { return nil }
    address.query = withoutSecrets(address.query)
    return address.text
  }

  /// The request for a stored link: on the service's own host with its secrets, elsewhere without; `nil` if
  /// the link is forged.
  package func following(storedLink link: String, otherHosts: Set<String>) -> HTTPRequest? {
    var request = self
    if link.hasPrefix("/") {
      guard let own = Address(url),
        let url = url(following: "\(own.scheme)://\(own.authority)\(link)")
      else { return nil }
      request.url = url
      request.query = query.filter(\.isSecret)
      return request
    }
    guard let other = URL(string: link), let address = Address(other),
      otherHosts.contains(address.host)
    else { return nil }
    request.url = other
    request.query = []
    request.headers = headers.filter { !$0.isSecret }
    return request
  }

  /// The URL of a link in a reply, with this request's scheme and port, and without the query items that
  /// this request sends as secrets; `nil` if it is invalid or on another host.
  ///
  /// Services behind a proxy write `http` in reply to `https`, so scheme and port may differ if both
  /// ports are standard.
  private func url(following link: String) -> URL? {
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
  private func withoutSecrets(_ query: String?) -> String? {
    let names = self.query.filter(\.isSecret).map(\.name)
    let items = query?.split(separator: "&").filter { item in
      let name = item.prefix { $0 != "=" }
      return !names.contains(name.percentDecoded ?? String(name))
    }
    return items.flatMap { $0.isEmpty ? nil : $0.joined(separator: "&") }
  }
}
