package import AggregatorInference
package import AggregatorKit
import DeclaredSource

/// A list of a service, as a document describes it.
package struct DocumentedList: Sendable {
  /// The name after that of the service: `contacts`.
  package var name: String

  /// The path of the document: `/v1/contacts`.
  package let path: String

  /// A manifest of what the document says for certain.
  package var hints: [JSON.Member]

  /// Everything else it says of the list, which a request must prove.
  package let description: ListDescription
}

/// The lists of a document, and what else looks like a list.
package struct DocumentedLists: Sendable {
  package var lists: [DocumentedList] = []

  /// Paths that have lists which cannot be read, and why.
  package var leftOut: [(path: String, reason: String)] = []

  /// Paths whose lists belong to a record of another list.
  package var nested: [String] = []

  /// The number of all paths.
  package var pathCount = 0
}

extension OpenAPIDocument {
  /// The lists that can be read without knowing anything else.
  ///
  /// - Parameters:
  ///   - base: The URL of the service.
  ///   - common: The members of a manifest and the items of the query that all lists have.
  ///   - names: The names of those that are wanted; `nil` for all that are not deprecated.
  ///   - maxName: The most characters of a name.
  func lists(
    of base: String, with common: SignIn, only names: [String]?, maxName: Int
  ) throws(SourceError) -> DocumentedLists {
    let paths = try documents.root.member("paths")
    var found = DocumentedLists()
    var items: [String: String] = [:]
    let all = paths?.names ?? []
    found.pathCount = all.count
    for path in all {
      guard let last = path.lastParameter else { continue }
      items[String(path.trimmedPath.dropLast(last.count + 3))] = path
    }
    for path in all {
      do throws(SourceError) {
        guard let node = try paths?.member(path), let operation = try Operation(of: node),
          let description = try description(of: operation, at: path)
        else { continue }
        let name = unused(path.listName(atMost: maxName), found.lists.map(\.name), maxName)
        guard operation.filled(path).firstParameter == nil else {
          found.nested.append(path)
          continue
        }
        if names == nil, try operation.node.member("deprecated")?.isTrue == true {
          throw LeftOut("is deprecated").error
        }
        var item = items[path.trimmedPath]
        if let path = item, try paths?.member(path)?.names.contains("get") != true { item = nil }
        let hints = try hints(of: operation, at: path, item, base, common)
        found.lists.append(
          DocumentedList(name: name, path: path, hints: hints, description: description))
      } catch {
        guard error.code != .cancelled else { throw error }
        found.leftOut.append((path, error.message))
      }
    }
    return found
  }

  /// The reason a list is left out, as an error.
  private struct LeftOut {
    let error: SourceError
    init(_ reason: String) { error = SourceError(.unsupported, reason) }
  }

  private func unused(_ name: String, _ names: [String], _ maxName: Int) -> String {
    guard names.contains(name) else { return name }
    let others = (2...).lazy.map { "\(name.prefix(maxName - 1 - "\($0)".count))-\($0)" }
    return others.first { !names.contains($0) } ?? name
  }

  /// The description of a list in a document; `nil` if the path has none.
  private func description(
    of operation: Operation, at path: String
  ) throws(SourceError) -> ListDescription? {
    switch try operation.answer() {
    case .json(let schema?, let hasNextLink):
      guard let response = try SampleResponse.json(of: schema) else { return nil }
      let parameters = operation.parameters(in: "query").map { parameter in
        ListDescription.Parameter(
          name: parameter.name,
          start: (parameter.standard ?? parameter.minimum.map(String.init)).flatMap { Int($0) })
      }
      let description = ListDescription(
        response: response, hasNextLink: hasNextLink, parameters: parameters)
      return description.hasRows(at: path) ? description : nil
    case .json(nil, _), .other: return nil
    }
  }

  private func hints(
    of operation: Operation, at path: String, _ item: String?, _ base: String, _ common: SignIn
  ) throws(SourceError) -> [JSON.Member] {
    var origin = base
    if let server = operation.server {
      origin = try self.base(of: server)
      guard URL(string: origin)?.host() == URL(string: base)?.host() else {
        throw LeftOut("is on another host, \(URL(string: origin)?.host() ?? "")").error
      }
    }
    let parameters = operation.parameters
    var query = common.query
    var headers = common.headers
    for parameter in parameters where parameter.isRequired {
      // Header fields of these names are said elsewhere in a document.
      if parameter.place == "header",
        ["content-type", "authorization"].contains(parameter.name.lowercased())
          || headers.contains(where: { $0.name.lowercased() == parameter.name.lowercased() })
      {
        continue
      }
      switch (parameter.place, parameter.standard) {
      case ("path", _): continue
      case ("query", let value?):
        query.append("\(parameter.name.percentEncoded)=\(value.percentEncoded)")
      case ("header", let value?):
        // It would be the value of a setting, which the document must not ask for.
        guard !value.contains("${") else {
          throw LeftOut("has an invalid value for the header field \(parameter.name)").error
        }
        headers.append(JSON.Member(parameter.name, .string(value)))
      case ("query", nil): throw LeftOut("needs the parameter \(parameter.name)").error
      case ("header", nil): throw LeftOut("needs the header field \(parameter.name)").error
      default: throw LeftOut("needs a cookie").error
      }
    }
    func address(_ path: String, _ query: [String]) -> JSON {
      .string("\(origin)\(path)\(query.isEmpty ? "" : "?")\(query.joined(separator: "&"))")
    }
    var hints = [JSON.Member("url", address(operation.filled(path), query))]
    if !headers.isEmpty { hints.append(JSON.Member("headers", .object(headers))) }
    if let size = size(operation) { hints.append(JSON.Member("size", .string(size))) }
    if let item, let name = item.lastParameter, case let path = operation.filled(item).trimmedPath,
      path.firstParameter == name
    {
      let url = path.replacing("{\(name)}", with: "{id}") + (item.hasSuffix("/") ? "/" : "")
      hints.append(JSON.Member("item", address(url, common.query)))
    }
    return hints
  }

  /// The parameter of the page size, and the largest usual value: `limit=100`; `nil` if the document does not bound it.
  private func size(_ operation: Operation) -> String? {
    for parameter in operation.parameters(in: "query") where ListDescription.isSize(parameter.name)
    {
      let standard = parameter.standard.flatMap { Int($0) }
      guard let rows = parameter.maximum.map({ min($0, 100) }) ?? standard, rows > 0 else {
        continue
      }
      return "\(parameter.name)=\(max(rows, min(standard ?? 0, 1000)))"
    }
    return nil
  }
}

extension String {
  /// The path without a slash, or a fragment, at its end.
  fileprivate var trimmedPath: String {
    var path = String(prefix { $0 != "#" })
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }

  /// The name in braces that is the whole last part of a path.
  fileprivate var lastParameter: String? {
    trimmedPath.split(separator: "/").last.flatMap { part in
      part.hasPrefix("{") && part.hasSuffix("}") ? String(part.dropFirst().dropLast()) : nil
    }
  }

  /// The first name in braces.
  fileprivate var firstParameter: String? {
    guard let open = firstIndex(of: "{") else { return nil }
    return String(self[index(after: open)...].prefix { $0 != "}" })
  }

  /// The name of the list of a path: `/api/v2/crm/dealStages` is `crm-deal-stages`.
  fileprivate func listName(atMost count: Int) -> String {
    let general: Set<String> = ["api", "rest", "public", "services", "web"]
    let parts = trimmedPath.split(separator: "/").filter { !$0.contains("{") }
    var specific = parts.drop { part in
      let plain = part.lowercased()
      return general.contains(plain) || plain.wholeMatch(of: /v?[0-9][0-9.]*/) != nil
    }
    if specific.isEmpty { specific = parts.suffix(1) }
    func name(_ parts: some Sequence<Substring>) -> String {
      parts.map { words(of: $0.prefix { $0 != "." }).joined(separator: "-") }
        .joined(separator: "-")
        .filter { $0.isASCII }
    }
    let all = name(specific)
    var short = all.count <= count ? all[...] : name(specific.suffix(1)).prefix(count)
    while short.last == "-" { short.removeLast() }
    return short.isEmpty ? String("list".prefix(count)) : String(short)
  }
}
