import AggregatorKit
import DeclaredSource

extension ModuleCode {
  /// A test with a fake service that pages, searches and replies as the manifest says.
  var testText: String {
    let needsKit = !secrets.isEmpty || !impossibleScenarios.isEmpty
    let imports =
      (needsKit ? ["AggregatorKit"] : []) + [
        "AggregatorSourceTesting", "\(module)Source", "Testing",
      ]
    return """
      \(imports.sorted().map { "import \($0)" }.joined(separator: "\n"))

      @Test func `\(name) satisfy the laws in all fault scenarios`() async throws {
      \(rowsText.indented(by: 2))
      \((impossibleScenarios.isEmpty ? plainTest : testOfSomeScenarios).indented(by: 2))
      }

      @Test func `bundled \(name) satisfy the laws`() async {
        await expectLaws(ofBundledDataOf: \(module)Plugin())
      }

      """
  }

  /// The values of the secrets in the test.
  private var secretSettings: [String] {
    secrets.map { "\(module)Plugin.\($0.name): \(testSecret($0.key).swiftLiteral)" }
  }

  /// The IDs of all rows.
  private var ids: String {
    let id = Array(repeating: "\\($0)", count: manifest.idPaths.count).joined(separator: "/")
    return "(1...\(rowCount)).map { \"\(id)\" }"
  }

  /// The IDs as an argument; rows of objects may come in another order.
  private var knownIDs: [String] { hasPlainRows ? ["knowing: \(ids)"] : [] }

  private var plainTest: String {
    var arguments = ["of: \(module)Plugin()"]
    var settings = ""
    if !secrets.isEmpty {
      settings = swiftCall("let settings = SourceSettings([", secretSettings, "])", at: 2) + "\n"
      arguments.append("settings: settings")
    }
    let call = swiftCall(
      "try await expectLawsUnderFaults(", arguments + knownIDs, ") { request in", at: 2)
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
      \(swiftCall("let settings = SourceSettings([", urls + secretSettings, "])", at: 2))
      let environment = PluginEnvironment(settings: settings, transport: HTTPTransport.standard)
      // This service cannot do what these do.
      \(swiftCall("let impossible: Set = [", names, "]", at: 2))
      let scenarios = FaultScenario.all.filter { !impossible.contains($0.name) }
      \(swiftCall("try await expectLawsUnderFaults(", arguments, at: 2))
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
    let secrets = query.split(separator: "&").filter { !Manifest.placeholders(in: $0).isEmpty }
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

  /// Some pages: of 5 rows if the service takes a size, else of ``usualSize``.
  private var rowCount: Int {
    let count = manifest.paging.size == nil ? 8 * Self.usualSize - 10 : 30
    return min(manifest.paging.deepest ?? .max, count)
  }

  private func testSecret(_ key: String) -> String { "\(key.lowercased())-of-this-test" }

  // MARK: - Rows

  /// Stands for the number of a row, in text that is not Swift yet.
  private static let numberMark = "◈number◈"

  /// The declaration of the rows; those that are members of an object have no ID in them.
  private var rowsText: String {
    var members: [JSON.Member] = rowMembers(of: shape.properties, [])
    if manifest.rows?.isEntries == true { members.removeAll { $0.name == "id" } }
    let object = JSON.object(members).text
    let row = manifest.rows?.isEntries == true ? "\"\(Self.numberMark)\": \(object)" : object
    let fence = row.fence
    // Numbers stand without quotes.
    let text = row.replacing("\"\(Self.integerMark)\"", with: Self.numberMark)
      .replacing(Self.numberMark, with: "\\\(fence)($0)")
    let literal = "\(fence)\"\(text)\"\(fence)"
    let line =
      literal.count + 6 <= maxSwiftColumns
      ? literal : "\(fence)\"\"\"\n\(Self.lines(text))\n\"\"\"\(fence)"
    let path = manifest.idPaths[0].components.plainNames
    let isMember = manifest.idPaths.count == 1 && manifest.rows?.isEntries != true
    let id: String
    switch path {
    case ["id"]? where isMember: id = ""
    case let names? where isMember: id = ", id: \(names.joined(separator: ".").swiftLiteral)"
    default: id = ", ids: \(ids)"
    }
    return """
      let rows = FakeRows(
        (1...\(rowCount)).map {
      \(line.indented(by: 4))
        }\(id))
      """
  }

  /// A JSON object in lines as wide as code.
  private static func lines(_ object: String) -> String {
    var lines: [String] = []
    // No text of a row has a comma before a quotation mark: its words are those of this file.
    for part in object.replacing(",\"", with: ",\n\"").split(separator: "\n") {
      if let last = lines.last, last.count + part.count + 5 <= maxSwiftColumns {
        lines[lines.count - 1] = "\(last) \(part)"
      } else {
        lines.append(String(part))
      }
    }
    return lines.joined(separator: "\n")
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
    lines.append(contentsOf: slice)
    lines.append(reply)
    return lines.joined(separator: "\n")
  }

  private var secretChecks: [String] {
    func text(_ value: String) -> String? {
      let names = Manifest.placeholders(in: value[...]).map(\.name)
      return names.isEmpty
        ? nil
        : names.reduce(value) { $0.replacing("${\($1)}", with: testSecret(String($1))) }
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

  private func sent(_ name: String) -> String { "request.parameter(\(path(name).swiftLiteral))" }

  private func number(_ name: String) -> String { "request.number(\(path(name).swiftLiteral))" }

  /// The name of a parameter, or the names that lead to it in a body.
  private func path(_ name: String) -> String {
    switch manifest.parameter(name) {
    case .query(let name): name
    case .body(let path): path.joined(separator: ".")
    }
  }

  private var item: String? {
    guard let template = addresses.item, itemObstacle == nil else { return nil }
    let path = sample.item?.path ?? .root
    let reply: (String) -> String = { id in
      guard path != .root else { return "rows.reply(\(id))" }
      let text = JSON.null.merging(.string(Self.rowMark), at: path.components[...], as: nil).text
      let fence = text.fence
      let whole = text.replacing("\"\(Self.rowMark)\"", with: "\\\(fence)($0)")
      return "rows[\(id)].map { .json(\(fence)\"\(whole)\"\(fence)) } ?? .json(\"{}\", status: 404)"
    }
    guard let segment = template.segment else {
      let name = template.query.split(separator: "&").first { $0.contains("{id}") }?
        .prefix { $0 != "=" }
      let sent = "request.parameter(\(String(name ?? "id").swiftLiteral))"
      return "if let id = \(sent) { return \(reply("id")) }"
    }
    let marks = segment.split(separator: "{id}", omittingEmptySubsequences: false)
    let parent = Addresses.path(of: template.address)
    let head = marks[0]
    let tail =
      (marks.last.map(String.init) ?? "") + (template.rest.isEmpty ? "" : "/\(template.rest)")
    var conditions = [
      "let id = request.path(below: \((parent.isEmpty ? "/" : parent).swiftLiteral))"
    ]
    var id = "id"
    if !tail.isEmpty {
      conditions.append("id.hasSuffix(\(tail.swiftLiteral))")
      id += ".dropLast(\(tail.count))"
    }
    if !head.isEmpty {
      conditions.append("id.hasPrefix(\(String(head).swiftLiteral))")
      id += ".dropFirst(\(head.count))"
    }
    return "if \(conditions.joined(separator: ", ")) {\n  return \(reply(id))\n}"
  }

  /// Stands for a row, in text that is not Swift yet.
  private static let rowMark = "◈row◈"

  /// The expression of the words that are searched for.
  private var words: String? {
    switch manifest.search {
    case nil: return nil
    case .parameter(let name): return sent(name)
    case .url:
      guard let template = addresses.search else { return nil }
      if let segment = template.segment {
        let head = segment.split(separator: "{query}", omittingEmptySubsequences: false)[0]
        let path = "request.path(below: \(Addresses.path(of: template.address).swiftLiteral))"
        return head.isEmpty ? path : "\(path)?.dropFirst(\(head.count)).description"
      }
      let item = template.query.split(separator: "&").first { $0.contains("{query}") } ?? ""
      let pair = item.split(separator: "=", maxSplits: 1)
      let head = pair.count > 1 ? String(pair[1].prefix { $0 != "{" }).percentDecoded ?? "" : ""
      let sent = "request.parameter(\(String(pair.first ?? "").swiftLiteral))"
      return head.isEmpty ? sent : "\(sent)?.dropFirst(\(head.count)).description"
    }
  }

  /// Page size of a service that has no parameter for it: searches and lookups read a few pages.
  private static let usualSize = 30

  private var slice: [String] {
    var lines: [String] = []
    var position = "0"
    var size = "\(rowCount)"
    if let step = manifest.paging.step {
      size = "\(Self.usualSize)"
      var isNamed = false
      if case .page = step { isNamed = true }
      if let parameter = manifest.paging.size {
        size = "\(number(parameter.name)) ?? \(min(parameter.value, Self.usualSize))"
        isNamed = true
      }
      if case .link = step { isNamed = manifest.paging.size != nil }
      if isNamed {
        lines.append("let size = \(size)")
        size = "size"
      }
      switch step {
      case .page(let value):
        let number = "(\(number(value.name)) ?? \(value.value))"
        position = "\(value.value == 0 ? number : "(\(number) - \(value.value))") * size"
      case .offset(let value):
        position = "\(number(value.name)) ?? \(value.value)"
        if value.value != 0 { position = "(\(position)) - \(value.value)" }
      case .token(let name, _, _): position = "\(number(name)) ?? 0"
      case .link: position = "request.number(\"cursor\") ?? 0"
      }
    }
    let found = words.map { ["with: \($0)"] } ?? []
    lines.append(
      swiftCall("let page = rows.page(", ["from: \(position)", "size: \(size)"] + found, at: 4))
    return lines
  }

  /// The reply with a page, as code.
  private var reply: String {
    var lines: [String] = []
    var headers: [String] = []
    var places: [(path: JSONPath, code: String)] = []
    let rows = manifest.rows ?? .init(.root)
    places.append(
      (rows.path, rows.isEntries ? #"{◈(page.rows.joined(separator: ","))}"# : "◈(page.json)"))
    switch manifest.total {
    case .body(let path)?: places.append((path, "◈(page.total)"))
    case .header(let name)?: headers.append("(\(name.swiftLiteral), \"\\(page.total)\")")
    case .lastRow?, nil: break
    }
    lines += next(&places, &headers)
    if let more = manifest.paging.more {
      places.append((more.path, "◈(page.next \(more.isNegated ? "==" : "!=") nil)"))
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
    let literal = "\(fence)\"\(text)\"\(fence)"
    let fields = headers.isEmpty ? [] : [swiftCall("headers: [", headers, "]", at: 6)]
    lines.append(swiftCall("return .json(", [literal] + fields, at: 4))
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
        headers.append("(\(name.swiftLiteral), page.next.map(String.init) ?? \"\")")
        return []
      case .body(let path):
        places.append((path, #"◈(next ?? "null")"#))
        return [#"let next = page.next.map { "\"\($0)\"" }"#]
      }
    case .link(let next):
      var query = ["cursor=\\($0)"]
      if let size = manifest.paging.size, case .query(let name) = manifest.parameter(size.name) {
        query.append("\(name.percentEncoded)=\\(size)")
      }
      var lines: [String] = []
      if case .parameter(let name)? = manifest.search {
        lines.append("let words = \(sent(name)) ?? \"\"")
        query.append("\(name.percentEncoded)=\\(words)")
      }
      let link = "\\(request.path)?\(query.joined(separator: "&"))"
      var value = link
      var path: JSONPath?
      switch next {
      case .header(let name) where name.lowercased() == "link":
        value = "<\(link)>; rel=\\\"next\\\""
        headers.append("(\"Link\", next ?? \"\")")
      case .header(let name): headers.append("(\(name.swiftLiteral), next ?? \"\")")
      case .body(let body):
        path = body.components.last == .each ? JSONPath(body.components.dropLast()) : body
        switch nextForm {
        case .text: value = "\\\"\(link)\\\""
        case .object: value = "{\\\"href\\\": \\\"\(link)\\\"}"
        case .list: value = "[{\\\"rel\\\": \\\"next\\\", \\\"href\\\": \\\"\(link)\\\"}]"
        case .parameters: value = "{\\\"cursor\\\": \\\"\\($0)\\\"}"
        }
      case .lastRow: return []
      }
      lines.append("let next = page.next.map { \"\(value)\" }")
      if let path { places.append((path, #"◈(next ?? "null")"#)) }
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
