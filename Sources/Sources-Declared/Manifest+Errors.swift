import AggregatorKit

extension ManifestReader {
  private static let maxRules = 32

  /// The members of a rule.
  private static let ruleKeys = ["status", "path", "equals", "exists", "message", "then"]

  /// The rules of `errors`.
  func errors() throws(SourceError) -> [ErrorRule] {
    guard let value = values["errors"], value != .null else { return [] }
    guard let rules = value.array, rules.count <= Self.maxRules else {
      throw failure("errors", "a list of at most \(Self.maxRules) rules")
    }
    var part = (text.parts.firstIndex { Int($0.start) == offsets["errors"] } ?? 0) + 2
    return try rules.map { rule throws(SourceError) in
      defer { part = Int(text.parts[part].next) }
      return try RuleReader(rule, at: part, in: self).errorRule()
    }
  }

  /// One rule, and the offsets of the names of its members.
  private struct RuleReader {
    let rule: JSON
    let manifest: ManifestReader
    let start: Int
    private var offsets: [String: Int] = [:]

    /// - Parameter part: The index of the rule among the parts of the manifest's text.
    init(_ rule: JSON, at part: Int, in manifest: ManifestReader) throws(SourceError) {
      (self.rule, self.manifest) = (rule, manifest)
      start = Int(manifest.text.parts[part].start)
      guard rule.isObject else {
        throw manifest.failure(at: start, "a rule of \"errors\" must be an object")
      }
      var index = part + 1
      for member in rule.members {
        let offset = Int(manifest.text.parts[index].start)
        index = Int(manifest.text.parts[index + 1].next)
        try manifest.requireKnown(member.name, among: ManifestReader.ruleKeys, at: offset)
        guard offsets.updateValue(offset, forKey: member.name) == nil else {
          throw manifest.failure(at: offset, "\"\(member.name)\" is there twice")
        }
      }
    }

    private func failure(_ key: String, _ expected: String) -> SourceError {
      manifest.failure(
        at: offsets[key] ?? start, "\"\(key)\" of a rule in \"errors\" must be \(expected)")
    }

    func errorRule() throws(SourceError) -> ErrorRule {
      let path = try path("path")
      let status = try status()
      guard path != nil || status != nil else {
        throw manifest.failure(
          at: start, "a rule of \"errors\" must have a \"status\" or a \"path\"")
      }
      return ErrorRule(
        try action(), status: status, path: path?.components, equals: try value(at: path),
        message: try self.path("message")?.components)
    }

    private func action() throws(SourceError) -> ErrorRule.Action {
      let names = ErrorRule.Action.names.map { "\"\($0)\"" }.joined(separator: ", ")
      guard let action = rule["then"]?.string.flatMap({ ErrorRule.Action($0) }) else {
        throw failure("then", "one of \(names)")
      }
      if action == .skip, manifest.values["each"] ?? .null == .null {
        throw manifest.failure(
          at: offsets["then"] ?? start,
          "\"skip\" leaves out one of the lists of \"each\", which is missing")
      }
      return action
    }

    private func status() throws(SourceError) -> Int? {
      guard let value = rule["status"] else { return nil }
      guard case .integer(let status) = value, 100...599 ~= status else {
        throw failure("status", "a number from 100 to 599")
      }
      return status
    }

    private func path(_ key: String) throws(SourceError) -> JSONPath? {
      guard let value = rule[key] else { return nil }
      guard let path = value.string.flatMap({ JSONPath($0) }) else {
        throw failure(key, "a path such as \"error.code\"")
      }
      return path
    }

    /// The value at the path; null if there must be none, and `nil` if it may be any but null.
    private func value(at path: JSONPath?) throws(SourceError) -> JSON? {
      let keys = ["equals", "exists"].filter { offsets[$0] != nil }
      guard let key = keys.first, let value = rule[key] else { return nil }
      guard path != nil, keys.count == 1 else {
        throw failure(key, "beside a \"path\", and only one of \"equals\" and \"exists\"")
      }
      switch (key, value) {
      case ("exists", .bool(let exists)): return exists ? nil : .null
      case ("exists", _): throw failure(key, "true or false")
      case (_, .object), (_, .array): throw failure(key, "a text, a number, true, false or null")
      default: return value
      }
    }
  }
}

extension ErrorRule {
  /// The rule as a manifest has it.
  var json: JSON {
    var members: [JSON.Member] = []
    if let status { members.append(JSON.Member("status", .integer(status))) }
    if let path {
      members.append(JSON.Member("path", .string(JSONPath(path).description)))
      switch value {
      case nil: members.append(JSON.Member("exists", true))
      case .null?: members.append(JSON.Member("exists", false))
      case let value?: members.append(JSON.Member("equals", value))
      }
    }
    if let message {
      members.append(JSON.Member("message", .string(JSONPath(message).description)))
    }
    members.append(JSON.Member("then", .string(action.description)))
    return .object(members)
  }
}
