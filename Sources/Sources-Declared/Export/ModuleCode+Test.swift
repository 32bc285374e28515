import AggregatorKit

extension ModuleCode {
  /// A test with a fake service that pages, searches and replies as the manifest says.
  var testText: String {
    let needsKit = !secrets.isEmpty || usesBody || !impossibleScenarios.isEmpty
    let imports =
      (needsKit ? ["AggregatorKit"] : []) + [
        "AggregatorSourceTesting", "\(module)Source", "Testing",
      ]
    let rows = rowText
    let fence = rows.fence
    return """
      \(imports.sorted().map { "import \($0)" }.joined(separator: "\n"))

      @Suite(.timeLimit(.minutes(10))) struct \(module)Tests {
        /// Rows as the service sends them, each with its number.
        private static let rows = (1...\(rowCount)).map { number in
          \(fence)\"\"\"
      \(rows.replacing(Self.numberMark, with: "\\\(fence)(number)").indented(by: 4))
          \"\"\"\(fence)
        }

        @Test func `satisfies the laws in all fault scenarios`() async throws {
      \((impossibleScenarios.isEmpty ? plainTest : testOfSomeScenarios).indented(by: 4))
        }

        @Test func `the bundled records satisfy the laws`() async {
          await expectLaws(ofBundledDataOf: \(module)Plugin())
        }
      }

      """
  }

  /// The values of the secrets in the test.
  private var secretSettings: [String] {
    secrets.map { "\(module)Plugin.\($0.name): \(testSecret($0.key).swiftLiteral)" }
  }

  /// The IDs of all rows, as an argument; rows of objects may come in another order.
  private var knownIDs: [String] {
    guard hasPlainRows else { return [] }
    let id = Array(repeating: "\\($0)", count: manifest.idPaths.count).joined(separator: "/")
    return ["knowing: (1...\(rowCount)).map { \"\(id)\" }"]
  }

  private var plainTest: String {
    var arguments = ["of: \(module)Plugin()"]
    var settings = ""
    if !secrets.isEmpty {
      settings = swiftCall("let settings = Settings([", secretSettings, "])", at: 4) + "\n"
      arguments.append("settings: settings")
    }
    let call = swiftCall(
      "try await expectLawsUnderFaults(", arguments + knownIDs, ") { request in", at: 4)
    return "\(settings)\(call)\n\(handler.indented(by: 2))\n}"
  }

  private var testOfSomeScenarios: String {
    let urls = addresses.settings.map { address in
      "\(module)Plugin.\(address.setting): \"\\(server.baseURL)\(Addresses.pathOnly(address.standard))\""
    }
    let names = impossibleScenarios.map(\.swiftLiteral)
    let arguments = ["of: \(module)Plugin()", "in: environment", "scenarios"] + knownIDs
    return """
      let server = try LoopbackServer { request in
      \(handler.indented(by: 2))
      }
      defer { server.stop() }
      \(swiftCall("let settings = Settings([", urls + secretSettings, "])", at: 4))
      let environment = PluginEnvironment(settings: settings, transport: HTTPTransport.standard)
      // This service cannot do what these do.
      \(swiftCall("let impossible: Set = [", names, "]", at: 4))
      let scenarios = FaultScenario.all.filter { !impossible.contains($0.name) }
      \(swiftCall("try await expectLawsUnderFaults(", arguments, at: 4))
      """
  }

  /// The names of the scenarios that would not change what they say they do.
  private var impossibleScenarios: [String] {
    var names: [String] = []
    // These change the elements of an array in an object, or of the response.
    if !hasPlainRows {
      names += ["bad-row", "bad-rows", "empty-page", "row-deleted", "row-inserted"]
    }
    // Its replies have no header fields.
    switch manifest.paging.step {
    case .link(.header), .token(_, _, .header): names.append("slow")
    case .page, .offset, .token, .link, nil: break
    }
    // It repeats all secrets, and a request may lack one that is in the query of the list.
    let others = [addresses.item, addresses.search].compactMap(\.self).filter { !$0.isBelow }
    let query = Addresses.parts(manifest.url).query
    let secrets = query.split(separator: "&").filter { $0.contains(Manifest.placeholder) }
    if others.contains(where: { !Set(secrets).isSubset(of: $0.query.split(separator: "&")) }) {
      names.append("echoed-key")
    }
    return names
  }

  private var hasPlainRows: Bool {
    guard let rows = manifest.rows, !rows.isEntries, !rows.path.isMultiple else { return false }
    let isInArray = rows.path.components.contains {
      if case .member(let name) = $0 { Int(name) != nil } else { true }
    }
    return rows.path == .root || sample.page.isObject && !isInArray
  }

  /// More rows than some pages of any service.
  private static let usualRows = 230

  private var rowCount: Int { min(manifest.paging.deepest ?? .max, Self.usualRows) }

  private func testSecret(_ key: String) -> String { "\(key.lowercased())-of-this-test" }

  // MARK: - Rows

  /// Stands for the number of a row, in text that is not Swift yet.
  private static let numberMark = "◈number◈"

  /// A row as JSON on several lines.
  private var rowText: String {
    var members: [JSON.Member] = rowMembers(of: shape.properties, [])
    if manifest.rows?.isEntries == true { members.removeAll { $0.name == "id" } }
    let lines = members.map { member in
      // Numbers stand without quotes.
      let value = member.value.text.replacing("\"\(Self.integerMark)\"", with: Self.numberMark)
      return "  \(JSON.string(member.name).text): \(value)"
    }
    let row = "{\n\(lines.joined(separator: ",\n"))\n}"
    return manifest.rows?.isEntries == true ? "\"\(Self.numberMark)\": \(row)" : row
  }

  private static let integerMark = "◈integer◈"

  private func rowMembers(of properties: [RecordShape.Property], _ path: [String]) -> [JSON.Member]
  {
    properties.map { property in
      let path = path + [property.member]
      let value: JSON
      switch property.value {
      case .object(_, let inner): value = .object(rowMembers(of: inner, path))
      case .plain(let kind): value = self.value(of: kind, at: path)
      }
      return JSON.Member(property.member, value)
    }
  }

  /// The value of a member in a row of the test.
  private func value(of kind: RecordShape.Kind, at members: [String]) -> JSON {
    let path = JSONPath(members.map(JSONPathComponent.member))
    let isNumbered = manifest.idPaths.contains(path) || path == lastRowPath
    let sent = sample.rows.lazy.compactMap { path.value(in: $0) }.first { $0 != .null }
    switch kind {
    case .text where isNumbered:
      if case .integer? = sent { return .string(Self.integerMark) }
      return .string(Self.numberMark)
    case .text: return .string("\(exampleWord ?? members.last ?? "text") \(Self.numberMark)")
    case .integer, .number: return .string(Self.integerMark)
    case .bool: return true
    case .texts: return .array([.string("\(exampleWord ?? "text") \(Self.numberMark)")])
    case .any: return (isNumbered ? nil : sent?.withoutText) ?? .string(Self.integerMark)
    }
  }

  /// The value of the last row that leads to the next page.
  private var lastRowPath: JSONPath? {
    switch manifest.paging.step {
    case .token(_, _, .lastRow(let path)), .link(.lastRow(let path)): path
    default: nil
    }
  }

  // MARK: - Service

  private var handler: String {
    var lines: [String] = []
    for check in secretChecks { lines.append(check) }
    if let item { lines.append(item) }
    if usesBody {
      lines.append(
        """
        let body = (try? JSONDecoder().decode(JSON.self, from: request.body)) ?? .null
        func sent(_ value: JSON?) -> String? {
          switch value {
          case .string(let text)?: text
          case .integer(let integer)?: String(integer)
          default: nil
          }
        }
        """)
    }
    lines.append("let found = \(found)")
    lines.append(contentsOf: slice)
    lines.append(reply)
    return lines.joined(separator: "\n")
  }

  private var secretChecks: [String] {
    func text(_ value: String) -> String? {
      guard value.contains(Manifest.placeholder) else { return nil }
      return value.replacing(Manifest.placeholder) { testSecret(String($0.output.1)) }
    }
    let headers = manifest.headers.compactMap { header in
      text(header.value).map { "request.header(\(header.name.swiftLiteral)) == \($0.swiftLiteral)" }
    }
    let query = Addresses.parts(manifest.url).query.split(separator: "&").compactMap { item in
      let pair = item.split(separator: "=", maxSplits: 1)
      return text(pair.dropFirst().joined()).map {
        "request.query[\((pair[0].percentDecoded ?? String(pair[0])).swiftLiteral)] == \($0.swiftLiteral)"
      }
    }
    // A search at another URL, or a single record, need not send the secrets of the list's query.
    let isShared = addresses.search == nil && addresses.item == nil
    let conditions = headers + (isShared ? query : [])
    return conditions.map { "guard \($0) else { return .json(\"{}\", status: 401) }" }
  }

  private func sent(_ parameter: RESTParameter) -> String {
    switch parameter {
    case .query(let name): "request.query[\(name.swiftLiteral)]"
    case .body(let path):
      "sent(body[\(path[0].swiftLiteral)]\(path.dropFirst().map { "?[\($0.swiftLiteral)]" }.joined()))"
    }
  }

  private func sent(_ name: String) -> String { sent(manifest.parameter(name)) }

  private var usesBody: Bool {
    guard manifest.body != nil else { return false }
    var names = [manifest.paging.size?.name].compactMap(\.self)
    switch manifest.paging.step {
    case .page(let value), .offset(let value): names.append(value.name)
    case .token(let name, _, _): names.append(name)
    case .link, nil: break
    }
    if case .parameter(let name)? = manifest.search { names.append(name) }
    return names.contains { if case .body = manifest.parameter($0) { true } else { false } }
  }

  private var item: String? {
    guard let template = addresses.item, itemObstacle == nil else { return nil }
    let path = sample.item?.path ?? .root
    let text = JSON.null.merging(.string(Self.rowMark), at: path.components[...], as: nil).text
    let fence = text.fence
    let whole = text.replacing("\"\(Self.rowMark)\"", with: "\\\(fence)(Self.rows[number - 1])")
    let reply =
      path == .root ? ".json(Self.rows[number - 1])" : ".json(\(fence)\"\(whole)\"\(fence))"
    let id: String
    if let segment = template.segment {
      let marks = segment.split(separator: "{id}", omittingEmptySubsequences: false)
      let parent = Addresses.path(of: template.address) + "/" + marks[0]
      let ending =
        (marks.last.map(String.init) ?? "") + (template.rest.isEmpty ? "" : "/\(template.rest)")
      let isEnding = ending.isEmpty ? "" : ", request.path.hasSuffix(\(ending.swiftLiteral))"
      let rest = ending.isEmpty ? "" : ".dropLast(\(ending.utf8.count))"
      id = """
        if request.path.hasPrefix(\(parent.swiftLiteral))\(isEnding) {
          let id = request.path.dropFirst(\(parent.utf8.count))\(rest)
        """
    } else {
      let name = template.query.split(separator: "&").first { $0.contains("{id}") }?
        .prefix { $0 != "=" }
      id = "if let id = request.query[\(String(name ?? "id").swiftLiteral)] {"
    }
    let number = manifest.id.count > 1 ? "id.split(separator: \"/\").first ?? \"\"" : "id"
    return """
      \(id)
        guard let number = Int(\(number)), Self.rows.indices.contains(number - 1) else {
          return .json("{}", status: 404)
        }
        return \(reply)
      }
      """
  }

  /// Stands for a row, in text that is not Swift yet.
  private static let rowMark = "◈row◈"

  private var found: String {
    let words: String
    switch manifest.search {
    case nil: return "Self.rows"
    case .parameter(let name): words = sent(name)
    case .url:
      guard let template = addresses.search else { return "Self.rows" }
      if let segment = template.segment {
        let marks = segment.split(separator: "{query}", omittingEmptySubsequences: false)
        let parent = Addresses.path(of: template.address) + "/" + marks[0]
        words =
          "request.path.hasPrefix(\(parent.swiftLiteral)) ? String(request.path.dropFirst(\(parent.utf8.count))) : nil"
      } else {
        let item = template.query.split(separator: "&").first { $0.contains("{query}") } ?? ""
        let pair = item.split(separator: "=", maxSplits: 1)
        let before = pair.count > 1 ? pair[1].prefix { $0 != "{" } : ""
        words =
          "request.query[\(String(pair.first ?? "").swiftLiteral)]?.dropFirst(\((before.percentDecoded ?? "").count)).description"
      }
    }
    return """
      Self.rows.filter { row in
        row.lowercased().contains((\(words))?.lowercased() ?? "")
      }
      """
  }

  /// Page size of a service that has no parameter for it: searches and lookups read a few pages.
  private static let usualSize = 30

  private var slice: [String] {
    var lines: [String] = []
    guard let step = manifest.paging.step else { return ["let page = found[...]"] }
    if let size = manifest.paging.size {
      lines.append(
        "let size = \(sent(size.name)).flatMap { Int($0) } ?? \(min(size.value, Self.usualSize))")
    } else {
      lines.append("let size = \(Self.usualSize)")
    }
    switch step {
    case .page(let value):
      lines.append("let number = \(sent(value.name)).flatMap { Int($0) } ?? \(value.value)")
      lines.append(
        "let start = max(number\(value.value == 0 ? "" : " - \(value.value)"), 0) * size")
    case .offset(let value):
      lines.append("let number = \(sent(value.name)).flatMap { Int($0) } ?? \(value.value)")
      lines.append("let start = max(number\(value.value == 0 ? "" : " - \(value.value)"), 0)")
    case .token(let name, _, _): lines.append("let start = \(sent(name)).flatMap { Int($0) } ?? 0")
    case .link: lines.append("let start = request.query[\"cursor\"].flatMap { Int($0) } ?? 0")
    }
    lines.append("let page = found.dropFirst(start).prefix(size)")
    return lines
  }

  /// The reply with a page, as code.
  private var reply: String {
    var lines: [String] = []
    var headers = ["(\"Content-Type\", \"application/json\")"]
    var places: [(path: JSONPath, code: String)] = []
    let rows = manifest.rows ?? .init(.root)
    lines.append("let rows = page.joined(separator: \",\")")
    places.append((rows.path, rows.isEntries ? "{◈(rows)}" : "[◈(rows)]"))
    switch manifest.total {
    case .body(let path)?: places.append((path, "◈(found.count)"))
    case .header(let name)?: headers.append("(\(name.swiftLiteral), \"\\(found.count)\")")
    case .lastRow?, nil: break
    }
    lines += next(&places, &headers)
    if let more = manifest.paging.more {
      let comparison = more.isNegated ? ">=" : "<"
      places.append((more.path, "◈(page.endIndex \(comparison) found.count)"))
    }
    var document = JSON.null
    for (index, place) in places.enumerated() {
      document = document.merging(
        .string("◈\(index)◈"), at: place.path.components[...], as: sample.page)
    }
    var text = document.text
    let fence = text.fence
    for (index, place) in places.enumerated() {
      // A diamond before a parenthesis begins an interpolation.
      let code = place.code.replacing("◈(", with: "\\\(fence)(")
      text = text.replacing("\"◈\(index)◈\"", with: code)
    }
    lines.append("let text = \(fence)\"\"\"\n  \(text)\n  \"\"\"\(fence)")
    lines.append(swiftCall("return .status(200, text, headers: [", headers, "])", at: 6))
    return lines.joined(separator: "\n")
  }

  /// Adds the next page to a reply.
  private func next(
    _ places: inout [(path: JSONPath, code: String)], _ headers: inout [String]
  ) -> [String] {
    switch manifest.paging.step {
    case .token(_, _, let next):
      switch next {
      case .lastRow: return []
      case .header(let name):
        headers.append(
          "(\(name.swiftLiteral), page.endIndex < found.count ? \"\\(page.endIndex)\" : \"\")")
        return []
      case .body(let path):
        let end = "page.endIndex < found.count ? \"\\\"\\(page.endIndex)\\\"\" : \"null\""
        places.append((path, "◈(next)"))
        return ["let next = \(end)"]
      }
    case .link(let next):
      var lines = ["let isLast = page.endIndex >= found.count"]
      var query = ["cursor=\\(page.endIndex)"]
      if let size = manifest.paging.size, case .query(let name) = manifest.parameter(size.name) {
        query.append("\(name.percentEncoded)=\\(size)")
      }
      if case .parameter(let name)? = manifest.search {
        query.append("\(name.percentEncoded)=\\(\(sent(name)) ?? \"\")")
      }
      let link = "\\(request.path)?\(query.joined(separator: "&"))"
      switch next {
      case .header(let name) where name.lowercased() == "link":
        headers.append("(\"Link\", isLast ? \"\" : \"<\(link)>; rel=\\\"next\\\"\")")
      case .header(let name): headers.append("(\(name.swiftLiteral), isLast ? \"\" : \"\(link)\")")
      case .body(var path):
        if path.components.last == .each { path = JSONPath(path.components.dropLast()) }
        let value =
          switch nextForm {
          case .text: "\\\"\(link)\\\""
          case .object: "{\\\"href\\\": \\\"\(link)\\\"}"
          case .list: "[{\\\"rel\\\": \\\"next\\\", \\\"href\\\": \\\"\(link)\\\"}]"
          case .parameters: "{\\\"cursor\\\": \\\"\\(page.endIndex)\\\"}"
          }
        lines.append("let next = isLast ? \"null\" : \"\(value)\"")
        places.append((path, "◈(next)"))
      case .lastRow: break
      }
      return lines
    case .page, .offset, nil: return []
    }
  }
}

extension Addresses {
  /// The path of an address as requests have it.
  fileprivate static func path(of address: Address) -> String {
    address.path.isEmpty
      ? pathOnly(address.standard)
      : pathOnly(URL(string: address.standard)?.appending(path: address.path).absoluteString ?? "")
  }

  /// The path of a URL, without a slash at its end.
  fileprivate static func pathOnly(_ url: String) -> String {
    let path = URL(string: url)?.path(percentEncoded: true) ?? ""
    return path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}

extension JSON {
  /// This value with texts that say nothing about a person or a thing.
  fileprivate var withoutText: JSON {
    switch self {
    case .null, .bool: self
    case .integer, .number, .string: 1
    case .array(let elements): .array(elements.prefix(2).map(\.withoutText))
    case .object(let members):
      .object(members.prefix(8).map { Member($0.name, $0.value.withoutText) })
    }
  }

  /// This document with a value at a path: arrays where a sample has them.
  fileprivate func merging(
    _ value: JSON, at path: ArraySlice<JSONPathComponent>, as sample: JSON?
  ) -> JSON {
    guard let step = path.first else { return value }
    let rest = path.dropFirst()
    switch step {
    case .member(let name):
      if let elements = sample?.array, let index = Int(name), elements.indices.contains(index) {
        var own = array ?? []
        while own.count <= index { own.append([:]) }
        own[index] = own[index].merging(value, at: rest, as: elements[index])
        return .array(own)
      }
      var own = members
      let merged = (self[name] ?? .null).merging(value, at: rest, as: sample?[name])
      if let index = own.firstIndex(where: { $0.name == name }) {
        own[index] = Member(name, merged)
      } else {
        own.append(Member(name, merged))
      }
      return .object(own)
    case .each:
      let inner = sample?.children.first
      if sample?.isObject ?? false {
        return JSON.object(members).merging(
          value, at: [.member("all")] + rest, as: ["all": inner ?? .null])
      }
      return .array([(array?.first ?? .null).merging(value, at: rest, as: inner)])
    }
  }
}
