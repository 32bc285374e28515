package import AggregatorKit

extension Manifest {
  /// A setting whose value `${NAME}` stands for; the name has capital letters, digits and `_`.
  package struct Placeholder {
    package let name: Substring
    package let range: Range<String.Index>
  }

  /// The settings that a text names.
  ///
  /// A start may read all manifests, so this must not compile a regular expression.
  package static func placeholders(in text: Substring) -> [Placeholder] {
    var found: [Placeholder] = []
    let bytes = text.utf8
    var index = bytes.startIndex
    while let dollar = bytes[index...].firstIndex(of: UInt8(ascii: "$")) {
      index = bytes.index(after: dollar)
      guard bytes[index...].first == UInt8(ascii: "{") else { continue }
      let name = bytes[index...].dropFirst().prefix { byte in
        byte == UInt8(ascii: "_") || byte.isASCIIAlphanumeric && byte & 0x60 != 0x60
      }
      guard let first = name.first, first >= UInt8(ascii: "A"), first != UInt8(ascii: "_"),
        bytes[name.endIndex...].first == UInt8(ascii: "}")
      else { continue }
      index = bytes.index(after: name.endIndex)
      found.append(Placeholder(name: Substring(name), range: dollar..<index))
    }
    return found
  }

  /// The names of the secret settings in the URLs, the header fields and `auth`, each once.
  package var secretNames: [String] {
    var seen: Set<Substring> = []
    let texts = urls.map(\.text) + headers.map(\.value) + [tap?.config.text].compactMap(\.self)
    let names = texts.flatMap { Self.placeholders(in: $0[...]) }.map(\.name)
    return (names + (auth?.settings ?? []).map { $0.key[...] })
      .filter { seen.insert($0).inserted }.map(String.init)
  }

  /// The host and port that a secret is sent to: that of the URL, or that at which tokens are issued.
  func authority(of secret: String) -> String? {
    if let tap { return tap.authority }
    guard let auth, let client = auth.client, auth.settings.contains(where: { $0.key == secret })
    else { return authority }
    return Address(client.token)?.authority
  }

  /// The host and port of each secret; the URL of a file has the mark of those that may be read.
  package var secretHosts: [String: String] {
    if file != nil { return [url: ManifestFolder.fileMark] }
    return Dictionary(secretNames.map { ($0, authority(of: $0) ?? "") }) { first, _ in first }
  }

  /// The environment that signs the requests.
  package func authorized(_ environment: PluginEnvironment) throws(SourceError) -> PluginEnvironment
  {
    guard let auth else { return environment }
    guard let authority, let url = URL(string: "\(url.prefix { $0 != ":" })://\(authority)") else {
      throw SourceError(.invalidSettings, "invalid URL \"\(url.oneLine(atMost: 80))\"")
    }
    return try environment.authorized(by: auth, for: url)
  }

  /// The host and port that requests, and so secrets, are sent to; `nil` if the URL is invalid.
  package var authority: String? { Self.authority(of: url) }

  /// The host and port of an http or https URL, which may hold placeholders after them; `nil` for any other text.
  package static func authority(of url: String) -> String? {
    let parts = url.split(separator: "{", omittingEmptySubsequences: false)
    // The value of a placeholder may be one of the service, which must not choose the host.
    let isAfterHost =
      parts.count < 2 || parts[0].contains("?") || parts[0].count(where: { $0 == "/" }) > 2
    guard isAfterHost else { return nil }
    let plain = parts.dropFirst().map { part in
      "x" + (part.firstIndex(of: "}").map { part[part.index(after: $0)...] } ?? part)
    }
    return URL(string: parts[0] + plain.joined()).flatMap { Address($0) }?.authority
  }

  /// True if a URL names secrets only in the values of its query: what else it consists of is shown, cached
  /// and recorded.
  static func hidesSecrets(_ url: String) -> Bool {
    let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let names = parts.dropFirst().joined().split(separator: "&").map { $0.prefix { $0 != "=" } }
    return ([parts[0]] + names).allSatisfy { placeholders(in: $0).isEmpty }
  }

  /// The request of the first page, or of a search.
  package func request(
    _ address: String, in settings: SourceSettings, knowing known: [Setting]
  ) throws(SourceError) -> HTTPRequest {
    var request = try plainRequest(address, in: settings, knowing: known)
    if let body {
      request.method = .post
      request.body = Data(body.text.utf8)
      if !headers.contains(where: { $0.name.lowercased() == "content-type" }) {
        request.headers.append(.init("Content-Type", "application/json"))
      }
    }
    return request
  }

  /// The request of one record; `nil` if it has no URL.
  package func itemRequest(
    _ id: String, in settings: SourceSettings, knowing known: [Setting]
  ) -> HTTPRequest? {
    // The ID of several values has its parts escaped already. The URL has that of `each`.
    let parts =
      idPaths.count > 1
      ? id.split(separator: "/", omittingEmptySubsequences: false).dropFirst(each == nil ? 0 : 1)
        .map { $0.percentDecoded ?? String($0) } : [id]
    // Dots would lead to another resource of the service.
    guard let item, !parts.contains(where: { ["", ".", ".."].contains($0) }) else { return nil }
    let text = parts.map(\.percentEncoded).joined(separator: "/")
    return try? plainRequest(
      item.replacing("{id}", with: text), in: settings, knowing: known)
  }

  private func plainRequest(
    _ address: String, in settings: SourceSettings, knowing known: [Setting]
  ) throws(SourceError) -> HTTPRequest {
    let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let url = URL(string: String(parts[0])), Self.hidesSecrets(address) else {
      throw SourceError(.invalidSettings, "invalid URL \"\(address.oneLine(atMost: 80))\"")
    }
    var request = HTTPRequest(.get, url)
    for item in parts.dropFirst().joined().split(separator: "&") {
      let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(pair[0]).percentDecoded ?? String(pair[0])
      let text = pair.dropFirst().joined().replacing("+", with: "%20")
      let value = try value(of: text, settings, known) { $0.percentDecoded ?? $0 }
      request.query.append(.init(name, value))
    }
    for header in headers {
      request.headers.append(.init(header.name, try value(of: header.value, settings, known)))
    }
    return request
  }

  /// The value of a header field or query item; a secret if it names one.
  ///
  /// A secret at the end, as in `Bearer ${NAME}`, is kept apart from the text before it, and several secrets
  /// from one another, so that a response that repeats a bare one is redacted, too.
  private func value(
    of text: String, _ settings: SourceSettings, _ known: [Setting],
    decoding: (String) -> String = { $0 }
  ) throws(SourceError) -> HTTPRequest.Value {
    var (plain, secrets) = ("", [Secret]())
    var rest = text.startIndex
    for match in Self.placeholders(in: text[...]) {
      let name = String(match.name)
      guard let setting = known.first(where: { $0.key == name }),
        let secret = settings.secret(setting)
      else { throw SourceError(.missingKey, "\(name) is not set") }
      // Only what the manifest itself says is decoded, never a secret.
      plain += decoding(String(text[rest..<match.range.lowerBound]))
      rest = match.range.upperBound
      secrets.append(secret)
      if rest == text.endIndex, secrets.count == 1 {
        return .secret(Secret(prefix: plain, secret))
      }
      plain += secret.reveal(\.self)
    }
    plain += decoding(String(text[rest...]))
    return secrets.isEmpty ? .plain(plain) : .secret(Secret(plain, containing: secrets))
  }

  /// True if the URL of the list has a parameter of this name.
  package func hasParameter(_ name: String) -> Bool {
    url.contains("?\(name)=") || url.contains("&\(name)=")
  }

  /// The parameter of this name: of the query, or a member of the body.
  package func parameter(_ name: String) -> RESTParameter {
    guard body != nil, !hasParameter(name), let path = JSONPath(name), !path.isMultiple else {
      return .query(name)
    }
    return .body(
      path.components.compactMap { if case .member(let name) = $0 { name } else { nil } })
  }

  /// Reads the rows and the paging of a response.
  package func decode(
    _ response: HTTPResponse, by service: String
  ) throws(SourceError) -> RESTResponse<DeclaredRecord> {
    // The order of entries is that of the records.
    let isCanonical = rows?.isEntries == false
    let text = try response.jsonText(by: service)
    let document = isCanonical ? JSON(canonical: text) : JSON(text)
    guard let rows = records(in: document) else {
      throw SourceError(
        .malformed,
        "\(service) sent no list at \((self.rows?.description ?? "$").oneLine(atMost: 80))")
    }
    // Without rows, a line of any text could be that of the columns.
    if rows.isEmpty, let columns = response.conversion?.columns,
      let missing = id.first(where: { !columns.contains($0.lastName) })
    {
      throw SourceError(
        .malformed, "\(service) sent no column \"\(missing.description.oneLine(atMost: 80))\"")
    }
    var reply = RESTResponse<DeclaredRecord>([])
    var schema = RowSchema.Reader()
    let rowsBefore = response.conversion?.rowsBefore ?? 0
    for (index, row) in rows.enumerated() {
      schema.add(row)
      do {
        reply.records.append(
          try DeclaredRecord(
            row.row(of: each), id: idPaths, isCanonical: isCanonical,
            number: numbersRows ? rowsBefore + index + 1 : nil))
        if let changes { reply.changeMarks.append(changes.mark(of: row)) }
      } catch {
        reply.unreadable.count += 1
        if reply.unreadable.firstReason == nil {
          reply.unreadable.firstReason = "row \(index + 1): \(error.message)"
        }
      }
    }
    if let warning = Warning.rounded(in: rows, of: text) { reply.warnings.append(warning) }
    reply.schema = schema.schema
    reply.total = total.flatMap { number(at: $0, document, response, rows) }
    // Nothing but the status and the range says that the only response is a part.
    if paging.step == nil, response.status == 206, reply.total == nil {
      reply.total = response.total(inField: "Content-Range")
      if paging.proof != .unproved, response.isPartOfUnknown { reply.warnings.append(.partOfList) }
    }
    if paging.step == nil, paging.proof == .presumed, reply.total == nil,
      Manifest.Paging.usualSizes.contains(rows.count)
    {
      reply.warnings.append(.unproved)
    }
    reply.hasMore = paging.more.flatMap { more in
      more.path.value(in: document)?.truth.map { $0 != more.isNegated }
    }
    do { reply.next = try continuation(document, response, rows) } catch {
      reply.unusableNext = error.text
    }
    reply.lastLink = response.lastLink
    return reply
  }

  /// The rows of a response, whose texts have their kinds; `nil` if there is no list.
  package func records(in document: JSON) -> [JSON]? {
    guard let rows = rows?.rows(in: document) else { return nil }
    return kinds.isEmpty ? rows : rows.map(kinds.applied)
  }

  /// The names that lead to the rows; `nil` if they are not known, or in several places.
  package var rowNames: [String]? {
    guard let path = rows?.path, !path.isMultiple else { return nil }
    return path.components.compactMap { if case .member(let name) = $0 { name } else { nil } }
  }

  package var idPaths: [JSONPath] {
    let own = rows?.isEntries == true ? [.root.appending("id")] : id
    return each.map { [$0.path] + own } ?? own
  }

  /// Reads a response with one record, which may be wrapped: `{"data": {…}}`; `nil` if it is empty.
  package func decodeItem(
    _ response: HTTPResponse, id: String, by service: String
  ) throws(SourceError) -> DeclaredRecord? {
    let document = try response.document(by: service)
    if document.isVacant { return nil }
    var level = rows.flatMap { $0.isEntries ? $0.rows(in: document) : nil } ?? [document]
    if !kinds.isEmpty { level = level.map(kinds.applied) }
    var found = false
    func record(_ row: JSON) -> DeclaredRecord? {
      try? DeclaredRecord(row.row(of: each), id: idPaths)
    }
    for _ in 0...Self.maxWrappers {
      let records = level.compactMap(record)
      if let record = records.first(where: { $0.id == id }) { return record.detailed }
      found = found || !records.isEmpty
      // A record inside another one is a part of it.
      level = level.filter { record($0) == nil }.flatMap(\.children)
    }
    throw SourceError(
      .malformed,
      found
        ? "\(service) returned a different record than requested"
        : "\(service) sent no record with \(idPaths.map(\.description).joined(separator: ", "))")
  }

  package static let maxWrappers = 4

  /// The number of all records at a path; `nil` if there is none.
  package func number(
    at path: ResponsePath, _ document: JSON, _ response: HTTPResponse, _ rows: [JSON]
  ) -> Int? {
    if case .header(let name) = path { return response.total(inField: name) }
    return value(at: path, document, response, rows)?.wholeNumber
  }

  package func value(
    at path: ResponsePath, _ document: JSON, _ response: HTTPResponse, _ rows: [JSON]
  ) -> JSON? {
    switch path {
    case .body(let path): path.value(in: document)
    case .header(let name): response.header(name).map(JSON.string)
    case .lastRow(let path): rows.last.flatMap { path.value(in: $0) }
    }
  }
}

extension Warning {
  fileprivate static let partOfList = Warning(
    .incomplete, "the service sent a part of the list without its total: there may be more records")
}

extension JSON {
  /// True for what services send instead of a next page: null, false, nothing, or a number such as -1.
  package var meansNone: Bool {
    switch self {
    case .null, .bool(false), .string(""), .integer(..<0): true
    default: false
    }
  }

  /// A truth value, also as text or as 1 or 0; `nil` for anything else.
  package var truth: Bool? {
    switch self {
    case .bool(let bool): bool
    case .integer(1): true
    case .integer(0): false
    case .string(let text):
      switch text.lowercased() {
      case "true", "yes", "1": true
      case "false", "no", "0": false
      default: nil
      }
    default: nil
    }
  }

  /// True for null, and for an array or object of nothing else.
  fileprivate var isVacant: Bool {
    switch self {
    case .null: true
    case .array, .object: children.allSatisfy(\.isVacant)
    default: false
    }
  }

  /// A whole number, also if it is sent as text.
  package var integerValue: Int? {
    switch self {
    case .integer(let integer): integer
    case .string(let text): text.utf8.count <= 18 ? Int(text) : nil
    default: nil
    }
  }

  /// A number of records, also if it is sent as text.
  package var wholeNumber: Int? { integerValue.flatMap { $0 >= 0 ? $0 : nil } }
}

extension HTTPResponse {
  /// The body as JSON, with members in the order of the text.
  package func document(by service: String) throws(SourceError) -> JSON {
    JSON(try jsonText(by: service))
  }

  package func jsonText(by service: String) throws(SourceError) -> JSONText {
    guard let text = JSONText(body) else {
      // For its messages about HTML and empty bodies.
      _ = try decoded(as: JSON.self, by: service)
      throw SourceError(.malformed, "\(service) sent something that is not JSON")
    }
    return text
  }
}

extension Warning {
  /// A warning that names a member of rows that lacks digits of its whole number; `nil` if there is none.
  ///
  /// Without the number, so that it is the same on each page.
  package static func rounded(in rows: [JSON], of text: JSONText) -> Warning? {
    let rounded = text.roundedIntegers
    // Numbers beside the rows are not shown.
    let shown = rounded.isEmpty ? [] : JSON.array(rows).largeNumbers
    guard let first = rounded.first(where: { !$0.number.isFinite || shown.contains($0.number) })
    else { return nil }
    let name = text.nameOfMember(around: first.index) ?? ""
    return Warning(
      .rounded,
      "whole numbers beyond 64 bits are rounded to about 16 digits: \"\(name.oneLine(atMost: 80))\""
    )
  }
}

extension JSON {
  /// The numbers that no integer holds.
  fileprivate var largeNumbers: Set<Double> {
    switch self {
    case .number(let number): number.magnitude >= 0x1p63 ? [number] : []
    case .array, .object: children.reduce(into: []) { $0.formUnion($1.largeNumbers) }
    default: []
    }
  }
}
