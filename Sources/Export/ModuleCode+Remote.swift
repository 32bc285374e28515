import AggregatorKit
import DeclaredSource

extension ModuleCode {
  /// The statement that makes the source.
  var source: String {
    var text: String
    if let parts {
      text = swiftCall(
        "return RESTSource<\(record)>(",
        ["name", "in: environment", "list: list", "paging: paging"] + parts,
        at: 4)
    } else {
      text = """
        return RESTSource<\(record)>(name, in: environment, list: list, paging: paging) {
          response, _ throws(SourceError) in
        \(decoding.indented(by: 2))
        }
        """
    }
    if let search { text += "\n\(search)" }
    if let item { text += "\n\(item)" }
    if let rules = errorRules, !rules.isEmpty {
      text += "\n\(swiftCall(".handlingErrors(by: [", rules, "])", at: 4))"
    }
    return text
  }

  /// The rules for errors; `nil` if one of them is nothing that code can say.
  var errorRules: [String]? {
    let rules = manifest.errors.compactMap { rule -> String? in
      var arguments = [".\(rule.action.description)"]
      if let status = rule.status { arguments.append("status: \(status)") }
      for (label, path) in [("at", rule.path), ("message", rule.message)] {
        guard let path else { continue }
        guard let names = path.plainNames else { return nil }
        arguments.append("\(label): \(names.joined(separator: ".").swiftLiteral)")
        guard label == "at", let value = rule.value else { continue }
        switch value {
        case .string(let text): arguments.append("equals: \(text.swiftLiteral)")
        case .null: arguments.append("equals: .null")
        case .number(let number): arguments.append("equals: .number(\(number))")
        case .bool, .integer: arguments.append("equals: \(value.text)")
        case .array, .object: return nil
        }
      }
      return "ErrorRule(\(arguments.joined(separator: ", ")))"
    }
    return rules.count == manifest.errors.count ? rules : nil
  }

  // MARK: - Pages

  /// The arguments that say where a response has its rows, its total and the next page; `nil` if only code can.
  private var parts: [String]? {
    guard manifest.paging.more == nil, let rows = manifest.rows, !rows.isEntries,
      let names = rows.path.components.plainNames
    else { return nil }
    var arguments = names.isEmpty ? [] : ["rows: \(names.joined(separator: ".").swiftLiteral)"]
    if let total = manifest.total {
      guard let part = part(total) else { return nil }
      arguments.append("total: \(part)")
    }
    switch manifest.paging.step {
    case .token(_, _, let next):
      guard let part = part(next) else { return nil }
      arguments.append("next: \(part)")
    case .link(.header(let name)) where name.lowercased() == "link": break
    case .link(let next):
      guard let part = part(next), nextForm != .list, nextForm != .parameters else { return nil }
      arguments.append("next: \(part)")
    case nil, .page, .offset: break
    }
    return arguments
  }

  private func part(_ path: Manifest.ResponsePath) -> String? {
    switch path {
    case .header(let name): return ".header(\(name.swiftLiteral))"
    case .body(let path):
      guard let names = path.components.plainNames, !names.isEmpty else { return nil }
      let isObject = path.value(in: sample.page)?.isObject ?? false
      let name = (names + (isObject ? ["href"] : [])).joined(separator: ".")
      return ".member(\(name.swiftLiteral))"
    case .lastRow: return nil
    }
  }

  enum NextForm { case text, list, object, parameters }

  /// The form in which the service names the next page in a body.
  var nextForm: NextForm {
    guard case .link(.body(let path))? = manifest.paging.step else { return .text }
    guard path.components.last != .each else { return .parameters }
    let value = path.value(in: sample.page)
    if value?.array != nil { return .list }
    if value?["href"] != nil { return .object }
    return value?.isObject ?? false ? .parameters : .text
  }

  /// The statements that read a response.
  private var decoding: String {
    var lines = ["let page = try response.decoded(as: JSON.self, by: \(name.swiftLiteral))"]
    let rows = manifest.rows ?? Manifest.RowsPath(.root)
    let place = value(at: rows.path, in: "page")
    if rows.path.isMultiple {
      lines.append("let rows = (\(place)?.elements ?? []).flatMap { $0.elements ?? [] }")
    } else {
      let mark = rows.path == .root ? "" : "?"
      lines.append(
        """
        guard let rows = \(place)\(mark).\(rows.isEntries ? "entries" : "elements") else {
          throw SourceError(.malformed, \("\(name) sent no list".swiftLiteral))
        }
        """)
    }
    var arguments = ["reading: rows"]
    if case .header(let name)? = manifest.total {
      arguments.append("total: response.total(inField: \(name.swiftLiteral))")
    } else if let total = manifest.total, let text = scalar(total) {
      arguments.append("total: \(text).flatMap { Int($0) }")
    }
    if let next { arguments.append("next: \(next)") }
    if let more = manifest.paging.more {
      let truth = "\(value(at: more.path, in: "page"))?.truth"
      arguments.append("hasMore: \(truth)\(more.isNegated ? ".map { !$0 }" : "")")
    }
    lines.append(swiftCall("return try RESTResponse(", arguments, at: 6))
    return lines.joined(separator: "\n")
  }

  private func value(at path: JSONPath, in document: String) -> String {
    path == .root ? document : "\(document).value(at: \(Self.steps(path.components)))"
  }

  /// The expression of an optional text in a response.
  private func scalar(_ path: Manifest.ResponsePath) -> String? {
    switch path {
    case .header(let name): "response.header(\(name.swiftLiteral))"
    case .body(let path): "\(value(at: path, in: "page"))?.scalar"
    case .lastRow(let path): "rows.last?\(value(at: path, in: ""))?.scalar"
    }
  }

  private var next: String? {
    switch manifest.paging.step {
    case .token(_, _, let path): return scalar(path).map { "\($0).map { .token($0) }" }
    case .link(.header(let name)) where name.lowercased() == "link":
      return "response.nextLink.map { .link($0) }"
    case .link(.body(let path)):
      var object = path
      if path.components.last == .each { object = JSONPath(path.components.dropLast()) }
      let value = value(at: object, in: "page")
      switch nextForm {
      case .text: return "\(value)?.scalar.map { .link($0) }"
      case .object: return "\(value)?[\"href\"]?.scalar.map { .link($0) }"
      case .list: return "\(value)?.nextHref.map { .link($0) }"
      case .parameters: return "\(value)?.parameters.map { .parameters($0) }"
      }
    case .link(let path): return scalar(path).map { "\($0).map { .link($0) }" }
    case nil, .page, .offset: return nil
    }
  }

  // MARK: - Searches and single records

  private var search: String? {
    switch manifest.search {
    case nil: return nil
    case .parameter(let name):
      return ".searching(by: \(code(of: manifest.parameter(name))))"
    case .url:
      guard let template = addresses.search else { return nil }
      let query = items(template.query, replacing: ("{query}", "query.text"))
      return """
        .searching { query in
          var request = list
          request.url = \(url(template, "{query}", "query.text"))
        \(swiftCall("request.query = [", query, "]", at: 6).indented(by: 2))
          return request
        }
        """
    }
  }

  /// The URL of a template for a value of its placeholder.
  private func url(_ template: Addresses.Template, _ mark: String, _ code: String) -> String {
    var text = template.address.code
    if let segment = template.segment {
      let parts = segment.split(separator: mark, omittingEmptySubsequences: false)
      let literal = parts.map {
        ($0.percentDecoded ?? String($0)).swiftLiteral.dropFirst().dropLast()
      }
      .joined(separator: "\\(\(code))")
      text += ".appending(component: \(segment == mark ? code : "\"\(literal)\""))"
      if !template.rest.isEmpty {
        text += ".appending(path: \((template.rest.percentDecoded ?? template.rest).swiftLiteral))"
      }
    }
    return text
  }

  /// The reason single records cannot be requested as the manifest says; `nil` if they can.
  var itemObstacle: String? {
    guard let template = addresses.item else { return nil }
    if manifest.rows?.isEntries == true { return "its response has no ID" }
    if manifest.id.count > 1, template.segment != nil, !template.isBelow {
      return "the parts of an ID are not the end of the path"
    }
    guard itemMember != nil else { return "the record is inside a list" }
    return nil
  }

  /// The member with a record in a response of its own; empty for the response itself, `nil` if a name cannot say it.
  private var itemMember: String? {
    let path = sample.item?.path ?? .root
    return path.components.plainNames?.joined(separator: ".")
  }

  private var item: String? {
    guard let template = addresses.item, itemObstacle == nil, let member = itemMember else {
      return nil
    }
    let place = member.isEmpty ? [] : ["at: \(member.swiftLiteral)"]
    let secrets = Set(Addresses.parts(manifest.url).query.split(separator: "&"))
      .filter { !Manifest.placeholders(in: $0).isEmpty }
    if template.isBelow, manifest.id.count < 2,
      Set(template.query.split(separator: "&")).isSubset(of: secrets)
    {
      return swiftCall(".item(", ["below: \(template.address.code)"] + place, at: 4)
    }
    let isComposite = manifest.id.count > 1
    var lines: [String] = []
    if isComposite {
      lines.append(
        """
        // A part of an ID may contain the slash between them.
        let parts = id.split(separator: "/", omittingEmptySubsequences: false).map {
          $0.replacing("%2F", with: "/").replacing("%25", with: "%")
        }
        guard !parts.contains(where: { ["", ".", ".."].contains($0) }) else { return nil }
        """)
    } else {
      lines.append(
        """
        // They would request another URL.
        guard !["", ".", ".."].contains(id) else { return nil }
        """)
    }
    let code = isComposite ? "parts.joined(separator: \"/\")" : "id"
    let url =
      isComposite && template.isBelow
      ? "parts.reduce(\(template.address.code)) { $0.appending(component: $1) }"
      : self.url(template, "{id}", code)
    var arguments = [".get", url]
    let query = items(template.query, replacing: ("{id}", code))
    if !query.isEmpty { arguments.append(swiftCall("query: [", query, "]", at: 8)) }
    if !manifest.headers.isEmpty { arguments.append("headers: list.headers") }
    lines.append(swiftCall("return HTTPRequest(", arguments, at: 6))
    return """
      .item\(place.isEmpty ? "" : "(\(place[0]))") { id in
      \(lines.joined(separator: "\n").indented(by: 2))
      }
      """
  }

  // MARK: - JSON

  /// The functions on JSON that the code of a plugin calls.
  func helpers(of code: String) -> String {
    let used = Self.jsonHelpers.filter { helper in helper.calls.contains { code.contains($0) } }
      .map(\.declaration)
    guard !used.isEmpty else { return "" }
    return "\nextension JSON {\n\(used.joined(separator: "\n\n").indented(by: 2))\n}\n"
  }

  private static let jsonHelpers: [(calls: [String], declaration: String)] = [
    (
      ["?.value(at:", "page.value(at:"],
      """
      /// The value at a path, or the array of several; `nil` if there is none.
      fileprivate func value(at path: [JSONPathComponent]) -> JSON? {
        let values = path.reduce([self]) { values, step in values.flatMap { $0.values(at: step) } }
        guard path.contains(.each) else { return values.first }
        let known = values.filter { $0 != .null }
        return known.isEmpty ? nil : .array(known)
      }

      private func values(at step: JSONPathComponent) -> [JSON] {
        switch (step, self) {
        case (.each, .array(let elements)): elements
        case (.each, .object(let members)): members.map(\\.value)
        case (.each, _): []
        case (.member(let name), .array(let elements)):
          Int(name).flatMap { elements.indices.contains($0) ? [elements[$0]] : nil } ?? []
        case (.member(let name), _): self[name].map { [$0] } ?? []
        }
      }
      """
    ),
    (
      [".elements"],
      """
      /// The elements of an array; `nil` for any other value.
      fileprivate var elements: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
      """
    ),
    (
      [".entries"],
      """
      /// The members of an object as rows, with their names as `id`; `nil` for any other value.
      fileprivate var entries: [JSON]? {
        guard case .object(let members) = self else { return nil }
        return members.map { member in
          let id = JSON.Member("id", .string(member.name))
          guard case .object(let inner) = member.value else {
            return .object([id, JSON.Member("value", member.value)])
          }
          return .object([id] + inner.filter { $0.name != "id" })
        }
      }
      """
    ),
    (
      [".string"],
      """
      /// The text; `nil` for any other value.
      fileprivate var string: String? { if case .string(let text) = self { text } else { nil } }
      """
    ),
    (
      [".scalar"],
      """
      /// A text or a whole number as text; `nil` for what services send instead of a next page.
      fileprivate var scalar: String? {
        switch self {
        case .string(let text): text.isEmpty ? nil : text
        case .integer(let integer): integer < 0 ? nil : String(integer)
        default: nil
        }
      }
      """
    ),
    (
      [".nextHref"],
      """
      /// The link to the next page in a list of links.
      fileprivate var nextHref: String? {
        guard case .array(let links) = self,
          let link = links.first(where: { $0["rel"] == "next" || $0["relation"] == "next" }),
          case .string(let address)? = link["href"] ?? link["url"]
        else { return nil }
        return address
      }
      """
    ),
    (
      [".parameters"],
      """
      /// The parameters of the next page; `nil` if there are none.
      fileprivate var parameters: [String: String]? {
        guard case .object(let members) = self, !members.isEmpty else { return nil }
        let texts = members.map { member in
          if case .string(let text) = member.value { (member.name, text) } else {
            (member.name, member.value.text)
          }
        }
        return Dictionary(texts) { first, _ in first }
      }
      """
    ),
    (
      [".truth"],
      """
      /// A truth value, also as a number or as text; `nil` for any other value.
      fileprivate var truth: Bool? {
        switch self {
        case .bool(let bool): bool
        case .integer(1), "true": true
        case .integer(0), "false": false
        default: nil
        }
      }
      """
    ),
  ]
}
