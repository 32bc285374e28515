import AggregatorFormats
package import AggregatorKit

extension Manifest {
  /// The largest manifest file, in bytes.
  static let maxBytes = 256 << 10

  /// Reads a manifest: JSON in which comments and trailing commas are allowed, as in JSON5.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` and the line of the first mistake.
  package init(reading bytes: Data) throws(SourceError) {
    var reader = try ManifestReader(bytes)
    self = try reader.manifest()
  }
}

struct ManifestReader {
  let text: JSONText
  let source: Data

  /// A member of an object.
  struct Member {
    let name: String
    let value: JSON
    /// The offset of its name.
    let offset: Int
    /// The index of the part of its value.
    let index: Int
  }

  /// The offsets of the names of the members of the manifest.
  var offsets: [String: Int] = [:]
  var values: [String: JSON] = [:]
  /// The sources that the lists of the same service are, by the names of the lists.
  var lists: [String: String] = [:]

  static let keys =
    pagingKeys + [
      "url", "each", "summary", "headers", "auth", "body", "rows", "format", "kinds", "id",
      "fields", "tables", "total", "item", "search", "image", "errors", "since", "link", "title",
      "rate", "fresh", "timeout", "tap", "stream",
    ]

  init(_ bytes: Data) throws(SourceError) {
    guard bytes.count <= Manifest.maxBytes else {
      throw SourceError(.invalidSettings, "a manifest has at most \(Manifest.maxBytes >> 10) KB")
    }
    let plain = bytes.withoutComments
    guard let text = JSONText(plain) else {
      let line = plain.line(at: JSONText.errorOffset(in: plain) ?? 0)
      throw SourceError(.invalidSettings, "line \(line): not valid JSON")
    }
    self.text = text
    source = plain
  }

  mutating func manifest() throws(SourceError) -> Manifest {
    try readMembers(of: JSON(text), at: 0)
    return try declaredManifest(at: 0)
  }

  /// The manifest that the members declare, which begins at an offset.
  func declaredManifest(at start: Int) throws(SourceError) -> Manifest {
    var manifest = Manifest(url: try url("url") ?? "")
    manifest.tap = try tap()
    guard !manifest.url.isEmpty || manifest.tap != nil else {
      throw failure(at: start, "\"url\" is missing")
    }
    // A program may have much to do before its first message.
    if manifest.tap != nil { manifest.timeout = Manifest.Tap.timeout }
    manifest.summary = try string("summary")
    manifest.headers = try headers()
    manifest.body = values["body"]
    if let body = manifest.body?.text, body.contains(/\$\{[A-Z][A-Z0-9_]*\}/) {
      throw failure("body", "without ${NAME}: secrets can be in header fields and in the query")
    }
    manifest.rows = try parsed("rows", "a path such as \"data.items\"", Manifest.RowsPath.init)
    manifest.format = try parsed(
      "format", "\"csv\", \"tsv\", \"ndjson\" or \"xml\"", BodyFormat.init(rawValue:))
    manifest.kinds = try kinds()
    manifest.numbersRows = try strings("id") == [Manifest.rowNumber]
    if !manifest.numbersRows { manifest.id = try paths("id") }
    manifest.fields = try fields()
    manifest.renameFieldsNamedID()
    manifest.tables = try tables()
    manifest.paging = try paging()
    manifest.total = try parsed(
      "total", "a path such as \"meta.total\", \"header:Link\" or \"last.id\"",
      Manifest.ResponsePath.init)
    manifest.item = try template("item", "{id}")
    manifest.search = try search()
    manifest.each = try each(manifest)
    manifest.image = try path("image")
    manifest.link = try path("link")
    manifest.title = try path("title")
    manifest.errors = try errors()
    manifest.changes = try changes()
    if let rate = try string("rate") {
      manifest.rate =
        rate == "off" ? nil : try parsed("rate", "a rate such as \"5/s\", or \"off\"", Rate.init)
    }
    let duration = "a duration such as \"15s\", \"10m\" or \"2h\""
    manifest.fresh = try parsed("fresh", duration, Duration.init(manifest:)) ?? manifest.fresh
    manifest.timeout = try parsed("timeout", duration, Duration.init(manifest:)) ?? manifest.timeout
    try requireSameHost(manifest)
    if manifest.file != nil { try requireNothingToSend() }
    if manifest.numbersRows, !manifest.canNumberRows {
      throw failure("id", Manifest.unnumberedRule)
    }
    // Last, for its secrets must be in nothing else that is sent to another host.
    manifest.auth = try authorization(manifest)
    return manifest
  }

  /// Reads the members of the object of a manifest, which is a part of the text.
  mutating func readMembers(of object: JSON, at part: Int) throws(SourceError) {
    for member in try members(of: object, at: part, allowing: Self.keys) {
      values[member.name] = member.value
      offsets[member.name] = member.offset
    }
  }

  /// The members of an object, which is a part of the text; `keys` are the names that they can have, `nil` for any.
  func members(
    of object: JSON, at part: Int, allowing keys: [String]?
  ) throws(SourceError) -> [Member] {
    guard case .object(let values) = object else {
      throw failure(at: 0, "a manifest is a JSON object")
    }
    var members: [Member] = []
    var names: Set<String> = []
    var index = part + 1
    for value in values {
      let offset = Int(text.parts[index].start)
      if let keys { try requireKnown(value.name, among: keys, at: offset) }
      guard names.insert(value.name).inserted else {
        throw failure(at: offset, "\"\(value.name.oneLine(atMost: 40))\" is there twice")
      }
      members.append(
        Member(name: value.name, value: value.value, offset: offset, index: index + 1))
      index = Int(text.parts[index + 1].next)
    }
    return members
  }

  func requireKnown(
    _ name: String, among keys: [String], at offset: Int
  ) throws(SourceError) {
    guard !keys.contains(name) else { return }
    let near = nearest(to: name, in: keys).map { "; did you mean \"\($0)\"?" } ?? ""
    throw failure(at: offset, "unknown key \"\(name.oneLine(atMost: 40))\"\(near)")
  }

  func failure(at offset: Int, _ message: String) -> SourceError {
    SourceError(.invalidSettings, "line \(source.line(at: offset)): \(message)")
  }

  /// The offset of the name of a nested member; that of the innermost one that is there.
  func offset(of path: [String]) -> Int {
    guard var offset = path.first.flatMap({ offsets[$0] }),
      let first = text.parts.firstIndex(where: { Int($0.start) == offset })
    else { return 0 }
    var parent = first + 1
    for name in path.dropFirst() {
      guard text.parts[parent].kind == .object else { return offset }
      var index = parent + 1
      let member = (0..<Int(text.parts[parent].end)).first { _ in
        let part = text.parts[index]
        let isFound = source[Int(part.start)...].starts(with: Array("\(name)\"".utf8))
        if !isFound { index = Int(text.parts[index + 1].next) }
        return isFound
      }
      guard member != nil else { return offset }
      (offset, parent) = (Int(text.parts[index].start), index + 1)
    }
    return offset
  }

  func failure(_ key: String, _ rule: String) -> SourceError {
    failure(at: offsets[key] ?? 0, "\"\(key)\" must be \(rule)")
  }

  // MARK: - Kinds of values

  /// The value of a key; `nil` if there is none.
  func value<Value>(
    _ key: String, _ rule: String, _ read: (JSON) -> Value?
  ) throws(SourceError) -> Value? {
    guard let json = values[key], json != .null else { return nil }
    guard let value = read(json) else { throw failure(key, rule) }
    return value
  }

  func string(_ key: String) throws(SourceError) -> String? {
    try value(key, "a text of 1 to 4096 characters") { json in
      json.string.flatMap { $0.nonBlank != nil && $0.utf8.count <= 4096 ? $0 : nil }
    }
  }

  func parsed<Value>(
    _ key: String, _ rule: String, _ parse: (String) -> Value?
  ) throws(SourceError) -> Value? {
    guard let text = try string(key) else { return nil }
    guard let value = parse(text) else { throw failure(key, rule) }
    return value
  }

  private func path(_ key: String) throws(SourceError) -> JSONPath? {
    try parsed(key, "a path such as \"data.name\"", JSONPath.init)
  }

  func strings(_ key: String) throws(SourceError) -> [String] {
    let elements = try value(key, "a text, or a list of 1 to 32 texts") { json in
      json.string.map { [.string($0)] } ?? json.array.flatMap { 1...32 ~= $0.count ? $0 : nil }
    }
    let strings = elements?.compactMap(\.string) ?? []
    guard strings.count == elements?.count ?? 0 else {
      throw failure(key, "a text, or a list of texts")
    }
    return strings
  }

  private func paths(_ key: String) throws(SourceError) -> [JSONPath] {
    try strings(key).map { text throws(SourceError) in
      guard let path = JSONPath(text), !path.isMultiple, text != Manifest.rowNumber else {
        throw failure(key, "a path such as \"id\", or a list of paths")
      }
      return path
    }
  }

  private func url(_ key: String) throws(SourceError) -> String? {
    guard let text = try string(key) else { return nil }
    if key == "url", Manifest.file(at: text) != nil { return text }
    try requireAuthority(key, text)
    try requireHiddenSecrets(key, text)
    return text
  }

  private func requireAuthority(_ key: String, _ url: String) throws(SourceError) {
    guard Manifest.authority(of: url) == nil else { return }
    let ending = url.contains("{") ? " without a placeholder in its host" : ""
    throw failure(key, "an http or https URL\(ending)")
  }

  private func requireHiddenSecrets(_ key: String, _ url: String) throws(SourceError) {
    guard !Manifest.hidesSecrets(url) else { return }
    throw SourceError(
      .invalidSettings,
      failure(key, "a URL without secrets in its path: paths are shown and cached").message,
      remedy: "name the secret as the value of a query parameter or in a header field")
  }

  /// Secrets belong to the host of the URL, so no other URL may lead elsewhere.
  private func requireSameHost(_ manifest: Manifest) throws(SourceError) {
    for (key, url) in manifest.urls {
      guard Manifest.authority(of: url) != manifest.authority, !manifest.secretNames.isEmpty else {
        continue
      }
      throw failure(key, "a URL on the host of \"url\", to which the secrets belong")
    }
  }

  private func template(_ key: String, _ placeholder: String) throws(SourceError) -> String? {
    guard let text = try url(key) else { return nil }
    guard text.contains(placeholder) else { throw failure(key, "a URL with \(placeholder)") }
    return text
  }

  // MARK: - Keys

  private func headers() throws(SourceError) -> [SourceRequest.Header] {
    try value("headers", "an object of header fields and their values") { json in
      guard json.isObject, json.members.count <= 64 else { return nil }
      let headers = json.members.compactMap { member -> SourceRequest.Header? in
        guard let value = member.value.string, value.utf8.count <= 4096, !member.name.isEmpty,
          member.name.utf8.allSatisfy(\.isTokenCharacter),
          value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        return SourceRequest.Header(name: member.name, value: value)
      }
      return headers.count == json.members.count ? headers : nil
    } ?? []
  }

  private func authorization(_ manifest: Manifest) throws(SourceError) -> Authorization? {
    guard let json = values["auth"] else { return nil }
    let authorization: Authorization
    do { authorization = try Authorization(reading: json) } catch {
      let path = ["auth"] + error.path
      throw failure(
        at: offset(of: path),
        "\"\(path.joined(separator: ".").oneLine(atMost: 80))\" \(error.message)")
    }
    guard !manifest.headers.contains(where: { $0.name.lowercased() == "authorization" }) else {
      throw failure("auth", "absent if there is a header field \"Authorization\"")
    }
    let host = authorization.client.flatMap { Address($0.token)?.authority }
    let shared = authorization.settings.first { manifest.secretNames.contains($0.key) }
    if let shared, let host, host != manifest.authority {
      throw failure("auth", "without ${\(shared.key)}, which is sent to another host")
    }
    return authorization
  }

  private func kinds() throws(SourceError) -> ValueKinds {
    let known = ValueKinds.Kind.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    return try value("kinds", "an object of paths, each with one of \(known)") { json in
      // As many as a line of CSV has columns.
      guard json.isObject, json.members.count <= 4096 else { return nil }
      var kinds = ValueKinds.none
      for member in json.members {
        guard let path = JSONPath(member.name), !path.components.isEmpty,
          let kind = member.value.string.flatMap(ValueKinds.Kind.init(rawValue:)),
          kinds.set(kind, at: path.components[...])
        else { return nil }
      }
      return kinds
    } ?? .none
  }

  private func fields() throws(SourceError) -> [Manifest.DeclaredField] {
    guard let value = values["fields"] else { return [] }
    guard let elements = value.array, elements.count <= Manifest.maxFields,
      case let fields = elements.compactMap(field), fields.count == elements.count,
      Set(fields.map(\.name)).count == fields.count
    else {
      throw failure(
        "fields", "a list of paths, or of objects with \"name\" and \"path\", none named \"*\"")
    }
    return fields
  }

  func field(_ value: JSON) -> Manifest.DeclaredField? {
    // An asterisk in a list of fields is for all of them.
    if let text = value.string {
      return text == "*"
        ? nil : JSONPath(text).map { Manifest.DeclaredField(name: $0.fieldName, path: $0) }
    }
    guard let name = value["name"]?.string, name.nonBlank != nil, name != "*",
      name.utf8.count <= 64,
      Set(value.members.map(\.name)).isSubset(of: ["name", "path", "search", "shown"]),
      let path = (value["path"] ?? .string(name)).string.flatMap({ JSONPath($0) }),
      case .bool(let isSearchable) = value["search"] ?? true,
      case .bool(let isShown) = value["shown"] ?? true
    else { return nil }
    return Manifest.DeclaredField(
      name: name, path: path, isSearchable: isSearchable, isShown: isShown)
  }

  private func search() throws(SourceError) -> Manifest.Search? {
    guard let text = try string("search") else { return nil }
    guard text.hasPrefix("url:") else { return .parameter(text) }
    let url = String(text.dropFirst("url:".count))
    guard url.contains("{query}") else {
      throw failure("search", "a parameter, or \"url:\" and a URL with {query}")
    }
    try requireAuthority("search", url)
    try requireHiddenSecrets("search", url)
    return .url(url)
  }
}

extension Duration {
  /// The units of durations in a manifest.
  static let manifestUnits: [DurationUnit] = [.seconds, .minutes, .hours, .days]

  /// Reads `15s`, `10m`, `2h` or `7d`.
  init?(manifest text: String) {
    self.init(text, numbers: 1...1_000_000, units: Self.manifestUnits)
  }
}

extension Data {
  /// The line, from 1, of a byte.
  fileprivate func line(at offset: Int) -> Int {
    prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1
  }

  /// The same text with spaces for comments and trailing commas, so that every byte keeps its place.
  fileprivate var withoutComments: Data {
    var bytes = Array(self)
    var index = 0
    var comma: Int?
    while index < bytes.count {
      let pair = bytes[index...].prefix(2)
      if bytes[index] == UInt8(ascii: "\"") {
        comma = nil
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
          index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
      } else if pair.elementsEqual("//".utf8) {
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
          bytes[index] = UInt8(ascii: " ")
          index += 1
        }
        continue
      } else if pair.elementsEqual("/*".utf8) {
        while index < bytes.count, !bytes[index...].prefix(2).elementsEqual("*/".utf8) {
          if bytes[index] != UInt8(ascii: "\n") { bytes[index] = UInt8(ascii: " ") }
          index += 1
        }
        for end in index..<Swift.min(index + 2, bytes.count) { bytes[end] = UInt8(ascii: " ") }
      } else if bytes[index] == UInt8(ascii: ",") {
        comma = index
      } else if bytes[index] == UInt8(ascii: "}") || bytes[index] == UInt8(ascii: "]") {
        if let comma { bytes[comma] = UInt8(ascii: " ") }
        comma = nil
      } else if bytes[index] > 0x20 {
        comma = nil
      }
      index += 1
    }
    return Data(bytes)
  }
}

// MARK: - Writing

extension Manifest {
  /// The manifest as JSON, without what is the default, in the order in which one reads it.
  package var json: JSON {
    var members: [JSON.Member] = []
    func add(_ name: String, _ value: JSON?) {
      if let value { members.append(JSON.Member(name, value)) }
    }
    func add(_ name: String, text value: (any CustomStringConvertible)?) {
      add(name, value.map { .string($0.description) })
    }
    if let tap {
      add("tap", tap.json)
      add("stream", text: tap.stream)
    } else {
      add("url", text: url)
    }
    add("each", each?.json)
    add("summary", text: summary)
    if !headers.isEmpty {
      add("headers", .object(headers.map { JSON.Member($0.name, .string($0.value)) }))
    }
    add("auth", auth?.json)
    add("body", body)
    add("rows", text: rows)
    add("format", text: format?.rawValue)
    if !kinds.isEmpty {
      add(
        "kinds",
        .object(kinds.paths.map { JSON.Member($0.path.description, .string($0.kind.rawValue)) }))
    }
    let ids = idTexts.map(JSON.string)
    add("id", ids.count > 1 ? .array(ids) : ids.first)
    if !fields.isEmpty { add("fields", .array(fields.map(\.json))) }
    add("tables", tables.json)
    for member in paging.step?.members ?? [] { add(member.name, text: member.value) }
    if paging.tokenOnce { add("tokenOnce", true) }
    if !paging.hosts.isEmpty { add("hosts", .array(paging.hosts.map(JSON.string))) }
    add("size", text: paging.size)
    add("more", text: paging.more?.description)
    add("deepest", paging.deepest.map(JSON.integer))
    add("total", text: total)
    add("paging", text: paging.proof?.rawValue)
    add("item", text: item)
    switch search {
    case nil: break
    case .parameter(let name): add("search", text: name)
    case .url(let url): add("search", text: "url:\(url)")
    }
    add("image", text: image)
    add("link", text: link)
    add("title", text: title)
    if !errors.isEmpty { add("errors", .array(errors.map(\.json))) }
    add("since", changes?.json)
    if rate != Self.defaultRate { add("rate", text: rate?.description ?? "off") }
    let (standard, units) = (Manifest(url: url), Duration.manifestUnits)
    if fresh != standard.fresh { add("fresh", text: fresh.text(in: units)) }
    if timeout != (tap == nil ? standard.timeout : Tap.timeout) {
      add("timeout", text: timeout.text(in: units))
    }
    return .object(members)
  }
}

extension Manifest.DeclaredField {
  var json: JSON {
    if name == path.fieldName, isSearchable, isShown { return .string(path.description) }
    var members = [
      JSON.Member("name", .string(name)), JSON.Member("path", .string(path.description)),
    ]
    if !isSearchable { members.append(JSON.Member("search", false)) }
    if !isShown { members.append(JSON.Member("shown", false)) }
    return .object(members)
  }
}
