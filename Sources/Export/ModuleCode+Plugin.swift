import AggregatorInference
import AggregatorKit
import DeclaredSource

extension ModuleCode {
  var pluginText: String {
    let names =
      secrets.map(\.name) + addresses.settings.map(\.setting)
      + (manifest.rate == nil ? [] : ["rate"])
    let fields = fieldTexts.map { "  \($0.indented(by: 2).dropFirst(2)),\n" }.joined()
    let properties = [
      "public let name = \(name.swiftLiteral)",
      constant("public let summary", summary.swiftLiteral),
      swiftCall(
        "public let example = PluginExample(",
        ["query: \(example.query.swiftLiteral)", "id: \(example.id.swiftLiteral)"], at: 2),
      "public let settings = [\(names.map(\.declaredName).joined(separator: ", "))]",
      "public let fields: [Field<\(record)>] = [\n\(fields)]", layout, policy,
      "public let bundled: any DataSource<\(record)>",
    ]
    var blocks = [properties.compactMap(\.self).joined(separator: "\n")]
    blocks.append(constants.joined(separator: "\n"))
    if let body = manifest.body?.text {
      let fence = body.fence
      blocks.append("private static let body = \(fence)\"\"\"\n  \(body)\n  \"\"\"\(fence)")
    }
    let constant = "bundled" + resource.split(separator: "-").map(\.capitalizedFirst).joined()
    let bundled = "bundled = BundledSource(\(name.swiftLiteral), json: \(constant), fields: fields)"
    let isShort = bundled.count + 20 <= maxSwiftColumns
    blocks.append("public init() {\(isShort ? " \(bundled) " : "\n  \(bundled)\n")}")
    blocks.append(remote)
    return """
      public import AggregatorKit

      /// The \(name) as a source.
      public struct \(module)Plugin: Plugin {
      \(blocks.joined(separator: "\n\n").indented(by: 2))
      }

      """ + helpers(of: blocks.joined())
  }

  /// The settings.
  private var constants: [String] {
    var constants = secrets.map { secret in
      let about = "secret of \(name), sent to \(manifest.authority ?? "its service") only"
      return setting(secret.name, secret.key, ".secret", about: about)
    }
    for address in addresses.settings {
      let about =
        address.setting == "url" ? "URL of the service" : "URL of single records or searches"
      constants.append(
        setting(
          address.setting, addressKey(address.setting), ".url", default: address.standard,
          about: about))
    }
    if let rate = manifest.rate {
      constants.append(
        setting(
          "rate", key("RATE"), ".rate", default: "\(rate)", about: "rate limit, or \"off\""))
    }
    return constants
  }

  private func constant(_ head: String, _ value: String) -> String {
    "\(head) =" + (head.count + value.count + 5 > maxSwiftColumns ? "\n  " : " ") + value
  }

  private func setting(
    _ property: String, _ key: String, _ form: String, default standard: String? = nil,
    about: String
  ) -> String {
    var arguments = [key.swiftLiteral, form]
    if let standard { arguments.append("default: \(standard.swiftLiteral)") }
    arguments.append("about: \(about.swiftLiteral)")
    return swiftCall("public static let \(property.declaredName) = Setting(", arguments, at: 2)
  }

  /// The key of a setting of the module, which no secret of the manifest has.
  private func key(_ ending: String) -> String {
    let prefix = name.uppercased().replacing("-", with: "_")
    let key = "\(prefix)_\(ending)"
    return secrets.contains { $0.key == key } ? "\(prefix)_SERVICE_\(ending)" : key
  }

  private func addressKey(_ setting: String) -> String {
    switch setting {
    case "itemURL": key("ITEM_URL")
    case "searchURL": key("SEARCH_URL")
    default: key("URL")
    }
  }

  private var summary: String {
    (manifest.summary ?? Addresses.parts(manifest.url).path.replacing(/^https?:\/\//, with: ""))
      .oneLine(atMost: 200)
  }

  // MARK: - Fields

  private static let shownFields = 5

  var fields: [Manifest.DeclaredField] {
    Self.fields(of: manifest).filter { shape.expression($0.path) != nil }
  }

  /// A word of a bundled record, and the ID of one.
  var example: (query: String, id: String) {
    let id = sample.rows.lazy.compactMap { try? DeclaredRecord($0, id: manifest.idPaths).id }.first
    return (exampleWord ?? id ?? "", id ?? "")
  }

  /// A word of a searchable text in the first bundled record that has one.
  var exampleWord: String? {
    for row in bundled {
      for field in fields where field.isSearchable && isText(field) {
        guard case .string(let text)? = field.path.value(in: row) else { continue }
        let words = text.split(whereSeparator: { !$0.isASCII || !$0.isLetter })
        let word = words.first { $0.count > 2 }
        if let word { return word.lowercased() }
      }
    }
    return nil
  }

  func isText(_ field: Manifest.DeclaredField) -> Bool {
    shape.expression(field.path)?.kind == .text
  }

  private var fieldTexts: [String] {
    // Without a text, a search finds IDs.
    let isIDSearchable = exampleWord == nil ? ["isSearchable: true"] : []
    let ids = manifest.idPaths
    let isStored = ids == [.root.appending("id")]
    let id = shape.expression(ids[0])
    var first = swiftCall(
      "Field(", ["\"id\"", "\"ID\"", "\\.id", "about: \"ID.\""] + isIDSearchable, at: 4)
    if isStored {
      first = swiftCall("Field(", ["\\.id", "\"ID\""] + isIDSearchable, at: 4)
    } else if ids.count == 1, id?.kind == .text, let path = storedPath(ids[0]) {
      first += ".stored(at: \(path.swiftLiteral))"
    } else {
      first += ".stored(at: nil)"
    }
    let shown = Set(fields.filter { [$0.path] != ids }.prefix(Self.shownFields).map(\.name))
    return [first]
      + fields.compactMap { field in
        shape.expression(field.path).map {
          text(of: field, $0, isShown: shown.contains(field.name))
        }
      }
  }

  /// A path as a field names it; `nil` if a name in it would read as something else.
  private func storedPath(_ path: JSONPath) -> String? {
    path.components.plainNames?.joined(separator: ".")
  }

  private func text(
    of field: Manifest.DeclaredField, _ value: RecordShape.Expression, isShown: Bool
  ) -> String {
    let label = Self.label(field.name)
    var tail: [String] = []
    if !isShown { tail.append("isShown: false") }
    if field.isSearchable, value.kind != .integer, value.kind != .number, value.kind != .bool {
      tail.append("isSearchable: true")
    }
    let path = storedPath(field.path)
    var text: String
    if value.kind == .any {
      let head = [
        field.name.swiftLiteral, label.swiftLiteral, ".any", "about: \("\(label).".swiftLiteral)",
      ]
      let read = value.rest.isEmpty ? "$0.\(value.path) ?? .null" : walk("$0.\(value.path)", value)
      text = swiftCall("Field(", head + tail, ") {", at: 4) + "\n  \(read)\n}"
    } else if field.name == value.path, field.path.components == [.member(field.name)] {
      // Its name is that of the property.
      text = swiftCall("Field(", ["\\.\(value.path)"] + tail, at: 4)
    } else {
      let head = [
        field.name.swiftLiteral, label.swiftLiteral, "\\.\(value.path)",
        "about: \("\(label).".swiftLiteral)",
      ]
      text = swiftCall("Field(", head + tail, at: 4)
    }
    if let path {
      let isImplied = value.kind != .any && path == field.name
      if !isImplied { text += "\n.stored(at: \(path.swiftLiteral))" }
    } else {
      if value.kind != .any { text += "\n.stored(at: nil)" }
      text += "\n.computed(as: .value(at: \(Self.steps(field.path.components))))"
    }
    if value.isDetail { text += "\n.onlyInDetails()" }
    return text
  }

  /// A field's name in words: `user.login` is `User login`.
  private static func label(_ name: String) -> String {
    let label = words(of: name).map { ["id", "uri", "url"].contains($0) ? $0.uppercased() : $0 }
      .joined(separator: " ").capitalizedFirst
    return label.isEmpty ? name.oneLine(atMost: 40) : label
  }

  static func steps(_ components: [JSONPathComponent]) -> String {
    let steps = components.map { component in
      if case .member(let name) = component { ".member(\(name.swiftLiteral))" } else { ".each" }
    }
    return "[\(steps.joined(separator: ", "))]"
  }

  /// The expression of a value inside a JSON value.
  private func walk(_ json: String, _ value: RecordShape.Expression) -> String {
    "\(json)\(value.isOptional ? "?" : "").value(at: \(Self.steps(value.rest))) ?? .null"
  }

  // MARK: - Layout and policy

  private var layout: String? {
    var arguments: [String] = []
    if let link = manifest.link.flatMap(shape.expression) {
      arguments.append("link: { \(address("$0", link)) }")
    }
    if let image = manifest.image.flatMap(shape.expression) {
      arguments.append(
        image.kind == .text ? "image: \\.\(image.path)" : "image: { \(address("$0", image)) }")
    }
    guard !arguments.isEmpty else { return nil }
    return swiftCall("public let layout = RecordLayout<\(record)>(", arguments, at: 2)
  }

  /// The expression of an optional text.
  private func address(_ record: String, _ value: RecordShape.Expression) -> String {
    let path = "\(record).\(value.path)"
    let mark = value.isOptional ? "?" : ""
    if value.kind == .text { return path }
    guard value.kind == .any else { return "\"\\(\(path))\"" }
    if value.rest.isEmpty { return "\(path)\(mark).string" }
    return "\(path)\(mark).value(at: \(Self.steps(value.rest)))?.text"
  }

  private var policy: String {
    var arguments: [String] = []
    let standard = Manifest(url: manifest.url)
    if manifest.timeout != standard.timeout {
      arguments.append("deadline: .seconds(\(manifest.timeout.components.seconds))")
    }
    if manifest.rate != nil { arguments.append("rate: rate") }
    let size = manifest.paging.size?.value ?? (manifest.paging.step == nil ? 10_000 : 100)
    if size != 100 { arguments.append("largestPage: \(size)") }
    if manifest.paging.size == nil { arguments.append("upstreamPageSize: .fixed(\(size))") }
    if manifest.search == nil { arguments.append("localSearchBound: 1000") }
    arguments.append(
      "readOrder: .liveFirst(freshFor: .seconds(\(manifest.fresh.components.seconds)))")
    return swiftCall("public let policy = Policy(", arguments, at: 2)
  }

  // MARK: - Remote

  /// A parameter of a request.
  func code(of parameter: RESTParameter) -> String {
    switch parameter {
    case .query(let name): ".query(\(name.swiftLiteral))"
    case .body(let path): ".body([\(path.map(\.swiftLiteral).joined(separator: ", "))])"
    }
  }

  private var paging: String {
    let paging = manifest.paging
    var arguments: [String]
    switch paging.step {
    case nil: arguments = [".single"]
    case .page(let value):
      arguments = [".page(\(code(of: manifest.parameter(value.name))), start: \(value.value))"]
    case .offset(let value):
      arguments = [".offset(\(code(of: manifest.parameter(value.name))), start: \(value.value))"]
    case .token(let name, let start, _):
      arguments = [
        ".token(\(code(of: manifest.parameter(name))), start: \(start?.swiftLiteral ?? "nil"))"
      ]
    case .link: arguments = [".link"]
    }
    if let size = paging.size {
      arguments.append("size: (\(code(of: manifest.parameter(size.name))), \(size.value))")
      // A short page is the end only where the size was proved, and a total can contradict.
      if paging.proof == .proved, manifest.total != nil { arguments.append("honorsSize: true") }
    }
    if let deepest = paging.deepest { arguments.append("deepest: \(deepest)") }
    if !paging.hosts.isEmpty {
      arguments.append("otherHosts: [\(paging.hosts.map(\.swiftLiteral).joined(separator: ", "))]")
    }
    if paging.tokenOnce { arguments.append("tokenOnce: true") }
    return swiftCall("let paging = RESTPaging(", arguments, at: 4)
  }

  private var remote: String {
    var lines: [String] = []
    for secret in secrets {
      lines.append(
        "let \(secret.name.declaredName) = try environment.settings.required(Self.\(secret.name))")
    }
    for address in addresses.settings {
      lines.append("let \(address.setting) = try environment.settings.url(Self.\(address.setting))")
    }
    lines += [list, paging]
    lines.append(source)
    return """
      public func remote(
        in environment: PluginEnvironment
      ) throws(SourceError) -> any DataSource<\(record)> {
      \(lines.joined(separator: "\n").indented(by: 2))
      }
      """
  }

  /// The items of a query, or the header fields.
  func items(_ query: Substring, replacing placeholder: (String, String)? = nil) -> [String] {
    query.split(separator: "&").map { item in
      let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(pair[0]).percentDecoded ?? String(pair[0])
      let text = pair.dropFirst().joined().replacing("+", with: "%20")
      return
        ".init(\(name.swiftLiteral), \(value(text, replacing: placeholder) { $0.percentDecoded ?? $0 }))"
    }
  }

  /// The value of a query item or header field.
  private func value(
    _ text: String, replacing placeholder: (String, String)? = nil,
    decoding: (String) -> String = { $0 }
  ) -> String {
    var literal = ""
    var used: [String] = []
    var rest = text.startIndex
    func add(_ plain: Substring) {
      var text = decoding(String(plain)).swiftLiteral.dropFirst().dropLast().description
      if let (mark, code) = placeholder { text = text.replacing(mark, with: "\\(\(code))") }
      literal += text
    }
    for match in Manifest.placeholders(in: text[...]) {
      add(text[rest..<match.range.lowerBound])
      let key = String(match.name)
      let name = secrets.first { $0.key == key }?.name ?? key
      rest = match.range.upperBound
      if rest == text.endIndex, used.isEmpty {
        return literal.isEmpty
          ? ".secret(\(name.declaredName))"
          : ".secret(Secret(prefix: \"\(literal)\", \(name.declaredName)))"
      }
      used.append(name.declaredName)
      literal += "\\(\(name.declaredName).reveal(\\.self))"
    }
    add(text[rest...])
    guard used.isEmpty else {
      return ".secret(Secret(\"\(literal)\", containing: [\(used.joined(separator: ", "))]))"
    }
    if let (_, code) = placeholder, literal == "\\(\(code))" { return ".plain(\(code))" }
    return "\"\(literal)\""
  }

  private var list: String {
    let hasBody = manifest.body != nil
    var arguments = [hasBody ? ".post" : ".get", addresses.list.code]
    let query = items(Addresses.parts(manifest.url).query)
    if !query.isEmpty { arguments.append(swiftCall("query: [", query, "]", at: 6)) }
    var headers = manifest.headers.map { header in
      let value = value(header.value)
      if header.name == "Authorization",
        let name = value.wholeMatch(
          of: /\.secret\(Secret\(prefix: "Bearer ", (.+)\)\)/)?.output.1
      {
        return ".bearer(\(name))"
      }
      return ".init(\(header.name.swiftLiteral), \(value))"
    }
    if hasBody, !manifest.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
      headers.append(".init(\"Content-Type\", \"application/json\")")
    }
    if !headers.isEmpty { arguments.append(swiftCall("headers: [", headers, "]", at: 6)) }
    if hasBody { arguments.append("body: Data(Self.body.utf8)") }
    return swiftCall("let list = HTTPRequest(", arguments, at: 4)
  }
}
