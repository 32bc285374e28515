import AggregatorHTTP
import AggregatorKit
package import AggregatorServer

extension ServedQuery {
  /// The query of a request; an unknown parameter is a ``Problem``, as it would be ignored otherwise.
  package init(
    _ request: ServerRequest, knowing known: Set<String>, isForPeople: Bool = false
  ) throws(Problem) {
    self.isForPeople = isForPeople
    for parameter in request.query where !known.contains(parameter.name) {
      let name = parameter.name.oneLine(atMost: 80)
      throw Problem(
        400, "invalidRequest", "unknown parameter \"\(name)\"",
        hint: "the parameters are \(known.sorted().joined(separator: ", "))")
    }
    query = request.parameter("query").flatMap { text in
      text.allSatisfy(\.isWhitespace) ? nil : text
    }
    cursor = request.parameter("cursor")
    if let text = request.parameter("limit") {
      guard let number = Int(text), number > 0 else {
        throw Problem(400, "invalidRequest", "invalid value for limit", hint: "from 1 on")
      }
      limit = number
    }
    if let text = request.parameter("cache") {
      guard let policy = Cache(rawValue: text) else {
        throw Problem(
          400, "invalidRequest", "invalid value for cache",
          hint: Cache.allCases.map(\.rawValue).joined(separator: ", "))
      }
      cache = policy
    }
    fields = request.parameter("fields")?.split(separator: ",").map(String.init)
    conditions = request.query.filter { $0.name == "where" }.map(\.value)
    order = request.parameter("sort")
  }
}

extension ServerRequest {
  package func require(_ method: String, or other: String? = nil) throws(Problem) {
    guard self.method == method || self.method == other || self.method == "HEAD" && method == "GET"
    else {
      throw Problem(
        405, "methodNotAllowed", "\(self.method.oneLine(atMost: 20)) is not allowed here",
        hint: "use \([method, other].compactMap(\.self).joined(separator: " or "))")
    }
  }

  /// The address of this request, without the host, with another value of a parameter, or without it.
  package func address(replacing name: String, by value: String?) -> String {
    let parameters = query.filter { $0.name != name } + (value.map { [.init(name, $0)] } ?? [])
    let pairs = parameters.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }
    // Two slashes would name another host.
    let path = "/" + rawPath.drop { $0 == "/" }
    return pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))"
  }
}
