package import AggregatorKit

extension HTTPRequest {
  /// A command line of curl that sends this request, in which `$NAME` stands for each secret.
  ///
  /// - Parameters:
  ///   - secrets: The names of secrets; another one is `$SECRET`.
  ///   - file: The file that has the body; `nil` if the body is to be in the command line.
  package func curlCommand(
    naming secrets: [(key: String, secret: Secret)], bodyIn file: String?
  ) -> String {
    /// The text for a shell; the secret is a variable.
    func quoted(_ prefix: String, _ value: HTTPRequest.Value, encodes: Bool) -> String {
      switch value {
      case .plain(let text):
        return (prefix + (encodes ? text.percentEncoded : text)).shellQuoted
      case .secret(let secret):
        return secret.revealToken { scheme, token in
          let key = secrets.first { $0.secret.revealToken { $1 == token } }?.key ?? "SECRET"
          return (prefix + scheme).shellQuoted + "\"$\(key)\""
        }
      }
    }
    var words = ["curl"]
    // With -X HEAD curl waits for a body.
    if method != .get { words += method == .head ? ["-I"] : ["-X", method.rawValue] }
    for header in headers {
      words += ["-H", quoted("\(header.name): ", header.value, encodes: false)]
    }
    if let file {
      words += ["--data-binary", "@\(file)".shellQuoted]
    } else if let body = body {
      words += ["--data-binary", String(decoding: body, as: UTF8.self).shellQuoted]
    }
    var address = url.absoluteString.shellQuoted
    for (index, item) in query.enumerated() {
      let separator = index == 0 && url.query() == nil ? "?" : "&"
      address = address.joinedQuoted(
        quoted("\(separator)\(item.name.percentEncoded)=", item.value, encodes: true))
    }
    words.append(address)
    return words.joined(separator: " ")
  }
}

extension String {
  /// This text of a shell, which ends in a quote, and another one, as one pair of quotes where both have them.
  fileprivate func joinedQuoted(_ other: String) -> String {
    hasSuffix("'") && other.hasPrefix("'") ? String(dropLast() + other.dropFirst()) : self + other
  }
}
