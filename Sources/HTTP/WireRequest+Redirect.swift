import AggregatorCore
import Foundation

extension WireRequest {
  /// The longest `Location` that is looked at, in bytes.
  private static let locationLimit = 8192

  /// The request that a reply asks for instead (RFC 9110, section 15.4).
  ///
  /// - Parameters:
  ///   - response: The reply to this request.
  ///   - redactor: What hides the request's secrets, which the service may have written anywhere.
  /// - Returns: `nil` if the reply is no redirect.
  /// - Throws: ``SourceError`` with code `rejected` if it leads elsewhere, `malformed` if it leads to
  ///   nothing that can be read.
  func redirected(
    by response: HTTPResponse, hiding redactor: Redactor
  ) throws(SourceError) -> WireRequest? {
    guard [301, 302, 303, 307, 308].contains(response.status),
      let location = response.header("location")
    else { return nil }
    guard !location.isEmpty, location.utf8.count <= Self.locationLimit,
      let url = URL(string: location, relativeTo: URL(string: address.text))?.absoluteURL
    else {
      throw SourceError(
        .malformed, "\(address.authority) redirects to an address that cannot be read")
    }
    guard let target = Address(url) else {
      throw SourceError(
        .rejected, "\(address.authority) redirects to what is no plain http address")
    }
    guard address.allowsRedirect(to: target) else {
      throw SourceError(.rejected, refusal(of: target, redactor))
    }
    var next = self
    next.address = target
    if response.status <= 303, method == .post {
      next.method = .get
      next.body = nil
      next.headers.removeAll { $0.name.lowercased() == "content-type" }
    }
    return next
  }

  private func refusal(of target: Address, _ redactor: Redactor) -> String {
    if target.host == address.host, target.scheme != address.scheme {
      return "\(address.authority) redirects from \(address.scheme) to \(target.scheme)"
    }
    // A host comes in lower case, whatever the case of a secret in it.
    let authority =
      redactor.mentions(inAnyCase: target.authority) ? Redactor.mark : target.authority
    return "\(address.authority) redirects to another host (\(authority))"
  }
}

extension Address {
  /// Whether the request, with its secrets, may be repeated there.
  fileprivate func allowsRedirect(to target: Address) -> Bool {
    guard host == target.host else { return false }
    let isSame = scheme == target.scheme && port == target.port
    return isSame || (target.scheme == "https" && isStandardPort && target.isStandardPort)
  }
}
