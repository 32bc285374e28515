import AggregatorKit

/// A parameter of an operation.
struct OperationParameter {
  let name: String
  /// `query`, `path`, `header` or `cookie`.
  let place: String
  let isRequired: Bool
  /// The value that the service uses if none is sent, or the only one that there is.
  let standard: String?
  /// The largest and the smallest number.
  let maximum: Int?
  let minimum: Int?

  init?(_ node: DocumentNode) throws(SourceError) {
    guard let name = try node.text("name"), let place = try node.text("in") else { return nil }
    self.name = name
    self.place = place
    isRequired = try node.member("required")?.isTrue ?? (place == "path")
    let schema = try node.member("schema")
    let values = try schema?.member("enum")?.elements() ?? []
    let constant = try schema?.member("const") ?? (values.count == 1 ? values[0] : nil)
    standard = try schema?.member("default")?.parameterText ?? constant?.parameterText
    maximum = try schema?.member("maximum")?.integer
    minimum = try schema?.member("minimum")?.integer
  }
}

/// The `GET` of a path.
struct Operation {
  let node: DocumentNode
  let parameters: [OperationParameter]

  /// The address of its server, if it is not that of the document.
  let server: DocumentNode?

  /// - Returns: `nil` if the path has no `GET`.
  init?(of path: DocumentNode) throws(SourceError) {
    guard let node = try path.member("get") else { return nil }
    self.node = node
    let (own, common) = (try node.member("servers"), try path.member("servers"))
    server = try (own ?? common)?.elements().first
    // Those of the operation replace those of the path.
    var parameters: [OperationParameter] = []
    for owner in [node, path] {
      for element in try owner.member("parameters")?.elements() ?? [] {
        guard let parameter = try OperationParameter(element),
          !parameters.contains(where: { $0.name == parameter.name && $0.place == parameter.place })
        else { continue }
        parameters.append(parameter)
      }
    }
    self.parameters = parameters
  }

  func parameters(in place: String) -> [OperationParameter] {
    parameters.filter { $0.place == place }
  }

  /// A path with the values of those parameters that need not be chosen.
  func filled(_ path: String) -> String {
    parameters(in: "path").reduce(path) { path, parameter in
      let value = parameter.standard?.percentEncoded
      return value.map { path.replacing("{\(parameter.name)}", with: $0) } ?? path
    }
  }

  /// The response of the operation if it succeeds.
  enum Answer {
    /// JSON by a schema; `nil` if the document has none.
    case json(DocumentNode?, hasNextLink: Bool)
    /// Another media type; `nil` for nothing at all.
    case other(String?)
  }

  func answer() throws(SourceError) -> Answer {
    let responses = try node.member("responses")
    let statuses = responses?.names ?? []
    let status = statuses.first { $0.hasPrefix("2") } ?? statuses.first { $0 == "default" }
    guard let status, let response = try responses?.member(status),
      let content = try response.member("content")
    else { return .other(nil) }
    let types = content.names
    guard
      let type = types.first(where: { $0.lowercased().hasPrefix("application/json") })
        ?? types.first(where: { $0.lowercased().contains("json") || $0 == "*/*" })
    else { return .other(types.first) }
    let headers = try response.member("headers")?.names ?? []
    return .json(
      try content.member(type)?.member("schema"),
      hasNextLink: headers.contains { $0.lowercased() == "link" })
  }
}
