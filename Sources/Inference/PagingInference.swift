import AggregatorKit
import DeclaredSource

/// A way in which the pages of a service may follow one another, and the evidence for it.
struct PagingCandidate: Sendable {
  var step: Manifest.Paging.Step
  var evidence: String

  /// False if the response says nothing about it, and a request must find out.
  var isSaid: Bool

  /// True if the documentation of the service says it.
  var isDescribed = false
}

/// Finds how pages follow one another, from the first response.
struct PagingInference {
  let exchange: Exchange
  let rows: JSONPath
  let rowCount: Int

  /// The path in a row of its ID, if one value is enough.
  let id: JSONPath?

  /// The scalars beside the rows: there may be thousands, so they are found once.
  private let scalars: [Scalar]

  init(exchange: Exchange, rows: JSONPath, rowCount: Int, id: JSONPath?) {
    self.exchange = exchange
    self.rows = rows
    self.rowCount = rowCount
    self.id = id
    scalars = exchange.envelopeScalars(outside: rows)
  }

  /// The ways to try, likeliest first; empty if there is nothing to try.
  ///
  /// Candidates that the response names come first, then those that its names and the request suggest.
  var candidates: [PagingCandidate] {
    var candidates = said
    for candidate in guesses where !candidates.contains(where: { $0.step == candidate.step }) {
      candidates.append(candidate)
    }
    // A bare list of a round number of rows is probably a page, which some services continue by an ID.
    if said.isEmpty, rows == .root, isUsualSize, exchange.body == nil {
      candidates.insert(contentsOf: lastIDs(["before"]), at: min(4, candidates.count))
    }
    return candidates
  }

  /// True for a number of rows that is more probably a page than a coincidence.
  var isUsualSize: Bool { Manifest.Paging.usualSizes.contains(rowCount) }

  /// True if the response has as many rows as were asked for, or says itself that there are more.
  var saysMore: Bool {
    if exchange.requestedSizes.contains(rowCount) || sizeByValue != nil { return true }
    if let more { return exchange.document.isTrue(at: more) }
    return !said.isEmpty
      || scalars.contains { scalar in
        !Self.continuationWords.isDisjoint(with: words(of: scalar.name))
          && ![.null, .bool(false), .integer(0), .integer(-1), ""].contains(scalar.value)
      }
  }

  /// Words in the names of members that say how a list goes on.
  private static let continuationWords: Set<String> = [
    "next", "continue", "continuation", "remaining",
  ]

  /// A parameter of the request whose value is the number of rows, whatever its name.
  private var sizeByValue: Manifest.Parameter? {
    guard rowCount >= 5 else { return nil }
    let names =
      exchange.query.filter { Int($0.value) == rowCount }.map(\.name)
      + exchange.sent.filter { $0.integer == rowCount }.map(\.path.description)
    return names.count == 1 ? Manifest.Parameter(name: names[0], value: rowCount) : nil
  }

  /// The member that says whether there are more pages.
  var more: Manifest.Paging.More? {
    for scalar in scalars {
      // A number may be that of a page.
      guard scalar.value.truth != nil, scalar.integer == nil else { continue }
      switch normalized(scalar.name) {
      case "hasmore", "hasnextpage", "hasnext", "more", "moreresults", "truncated", "istruncated",
        "moreavailable", "exceededtransferlimit", "hasmoreitems":
        return Manifest.Paging.More(path: scalar.path)
      case "endofrecords", "last", "islast", "islastpage", "done", "lastpage", "exhausted":
        return Manifest.Paging.More(path: scalar.path, isNegated: true)
      default: continue
      }
    }
    return nil
  }

  /// The parameter of the page size, and whether the response shows that it was honored.
  var size: Manifest.Parameter? {
    // A parameter of the request that is the page size by name.
    for (name, value) in exchange.query where Exchange.isSize(name) {
      if let value = Int(value), value > 0 { return Manifest.Parameter(name: name, value: value) }
    }
    for scalar in exchange.sent where Exchange.sizeNames.contains(normalized(scalar.name)) {
      guard let value = scalar.integer, value > 0 else { continue }
      return Manifest.Parameter(name: scalar.path.description, value: value)
    }
    if let sizeByValue { return sizeByValue }
    // A member of the response of that name: services echo their parameters.
    for scalar in scalars {
      let name = normalized(scalar.name)
      guard Exchange.sizeNames.contains(name),
        !["count", "rows", "n", "num", "size"].contains(name),
        let value = scalar.integer, value >= rowCount, value > 0, value <= 10_000
      else { continue }
      return Manifest.Parameter(name: scalar.name, value: value)
    }
    return nil
  }

  // MARK: - Said by the response

  private var said: [PagingCandidate] {
    var candidates: [PagingCandidate] = []
    if exchange.headers.contains(where: { $0.name == "link" && $0.value.contains("next") }) {
      candidates.append(
        .init(step: .link(next: .header("Link")), evidence: "Link header", isSaid: true))
    }
    // A URL, a list of links with relations, or parameters to merge.
    if let path = links(in: exchange.document, at: .root, depth: 0).first {
      candidates.append(
        .init(step: .link(next: .body(path)), evidence: "next link at \(path)", isSaid: true))
    }
    let tokens = tokens
    candidates += (tokens.isEmpty ? fields : tokens) + echoes + numbers
    if candidates.isEmpty, let more, exchange.document.isTrue(at: more) {
      candidates += lastIDs(["starting_after", "after", "after_id", "before"])
    }
    return candidates
  }

  /// True for the name of a member that leads to the next page: `next`, `nextRecordsUrl`, `hydra:next`,
  /// `more_topics_url`.
  private func isNext(_ name: String) -> Bool {
    let plain = normalized(name)
    return plain.hasPrefix("next") || plain.hasSuffix("next") || plain.hasSuffix("nextlink")
      || plain.hasPrefix("more") && ["url", "uri", "link", "href"].contains { plain.hasSuffix($0) }
  }

  private func links(in value: JSON, at path: JSONPath, depth: Int) -> [JSONPath] {
    guard depth <= 4, path == .root || path.components != rows.components else { return [] }
    guard case .object(let members) = value else {
      guard let elements = value.array, depth <= 1, elements.count <= 4, rows != .root else {
        return []
      }
      return elements.indices.flatMap {
        links(in: elements[$0], at: path.appending(String($0)), depth: depth + 1)
      }
    }
    var found: [JSONPath] = []
    for member in members {
      let inner = path.appending(member.name)
      let isNext = isNext(member.name)
      switch member.value {
      case .string(let text) where isNext && text.isLink: found.append(inner)
      case .object(let parts):
        // `next: {href: …}`
        let href = parts.first { ["href", "url"].contains($0.name.lowercased()) }
        if isNext, let href, href.value.string?.isLink == true {
          found.append(inner.appending(href.name))
        } else if member.name == "continue", !parts.isEmpty,
          parts.allSatisfy({ !$0.value.isObject && !$0.value.idText.isEmpty })
        {
          found.append(inner)
        } else {
          found += links(in: member.value, at: inner, depth: depth + 1)
        }
      case .array(let elements) where elements.contains { $0.nextHref != nil }:
        found.append(inner)
      default: break
      }
    }
    return found
  }

  /// Names of a token, and the parameters that take it, likeliest first.
  private static let tokenParameters: [(name: String, parameters: [String])] = [
    ("nextpagetoken", ["pageToken", "page_token", "nextPageToken"]),
    ("nextcursor", ["cursor", "start_cursor", "after", "next_cursor", "starting_after"]),
    ("cursornext", ["cursor", "after"]),
    ("endcursor", ["after", "cursor", "endCursor"]),
    ("nexttoken", ["nextToken", "next_token", "token", "pagination_token"]),
    ("continuationtoken", ["continuationToken", "continuation_token", "continuation"]),
    ("continuation", ["continuation"]),
    ("scrollid", ["scroll_id", "scrollId"]),
    ("nextpageid", ["page_id", "page"]),
    ("nextafter", ["after"]),
    ("startingafter", ["starting_after"]),
    ("aftercursor", ["after", "cursor", "page[after]"]),
    ("after", ["after"]),
    ("next", ["cursor", "next", "after", "page_token", "starting_after"]),
    ("nextpage", ["cursor", "page", "page_cursor", "page_token"]),
    ("nextoffset", ["offset"]),
    ("offset", ["offset"]),
    ("continue", ["continue"]),
    ("cursor", ["cursor", "after", "page_token", "starting_after"]),
  ]

  private var tokens: [PagingCandidate] {
    let texts = scalars.filter { scalar in
      guard let text = scalar.text else { return false }
      return !text.isEmpty && !text.isLink && text.utf8.count <= 2048
    }
    for (name, parameters) in Self.tokenParameters {
      guard let scalar = texts.first(where: { normalized($0.name) == name }) else { continue }
      return candidates(for: scalar, parameters)
    }
    // A name that only says what it is: `NextMarker`.
    let other = texts.first { words(of: $0.name).first == "next" }
    return other.map { candidates(for: $0, []) } ?? []
  }

  /// The header fields that name the next page: `X-Next-Cursor`, `X-Next-Page`, `X-MS-ContinuationToken`.
  private var fields: [PagingCandidate] {
    exchange.headers.flatMap { name, value -> [PagingCandidate] in
      let words = name.split(separator: "-").filter { $0 != "x" && $0 != "ms" }
      let plain = words.joined()
      guard plain.contains("next") || plain.hasPrefix("continuation"), !value.isEmpty,
        value.utf8.count <= 2048
      else { return [] }
      let place = Exchange.place(ofField: name)
      if value.isLink {
        guard words.first == "next" else { return [] }
        return [.init(step: .link(next: place), evidence: "next link at \(place)", isSaid: true)]
      }
      let known = Self.tokenParameters.first { $0.name == plain }?.parameters ?? []
      let parameters = plain == "nextpage" && Int(value) != nil ? ["page"] : known
      return exchange.parameterNames(for: parameters, own: nil).map { parameter in
        PagingCandidate(
          step: .token(parameter: beside(size, parameter), start: nil, next: place),
          evidence: "token at \(place), sent as \(parameter)", isSaid: true)
      }
    }
  }

  /// A number that says where the next page begins: `next_offset`, `nextPageStart`, `search-continue`.
  private var numbers: [PagingCandidate] {
    let numbers = scalars.filter { scalar in
      guard case .integer(let value) = scalar.value, value > 1 else { return false }
      return !["next", "continue"].allSatisfy { !words(of: scalar.name).contains($0) }
    }
    return numbers.prefix(1).flatMap { scalar in
      candidates(
        for: scalar,
        normalized(scalar.name) == "next"
          ? (scalar.value == 2 ? ["page"] : scalar.integer == rowCount ? ["offset", "start"] : [])
            + ["cursor", "until"] : [])
    }
  }

  private func candidates(for token: Scalar, _ parameters: [String]) -> [PagingCandidate] {
    var parameters = parameters
    for name in token.parameterNames where !parameters.contains(name) { parameters.append(name) }
    return exchange.parameterNames(for: parameters, own: token.name).map { parameter in
      PagingCandidate(
        step: .token(parameter: beside(size, parameter), start: nil, next: .body(token.path)),
        evidence: "token at \(token.path), sent as \(parameter)", isSaid: true)
    }
  }

  /// The path of a member of the body beside the page size: `options.page` beside `options.limit`.
  private func beside(_ size: Manifest.Parameter?, _ name: String) -> String {
    guard let size, exchange.body != nil, !name.contains("."),
      let dot = size.name.lastIndex(of: ".")
    else { return name }
    return "\(size.name[...dot])\(name)"
  }

  private static let offsetNames: Set<String> = [
    "offset", "skip", "start", "startat", "startindex", "startrow", "startposition", "startfrom",
    "from", "first", "resultoffset",
  ]
  private static let pageNames: Set<String> = [
    "page", "pagenumber", "pageno", "pagenum", "currentpage", "pageindex", "number", "p", "pg",
  ]

  /// True for the name of a page or an offset; beside a token, `first` is the page size.
  private func isPosition(_ name: String) -> Bool {
    let plain = normalized(name)
    return Self.pageNames.contains(plain) || Self.offsetNames.contains(plain) && plain != "first"
  }

  /// True for the name of a parameter that says where a page begins, as a number or a token, also in brackets:
  /// `page[number]`.
  static func isStart(_ name: String, value: String) -> Bool {
    let names = [normalized(name), normalized(name.split(separator: "[").last ?? "")]
    return names.contains { plain in
      // A date is a filter: `from=2024-01-01`.
      Int(value) != nil && (pageNames.contains(plain) || offsetNames.contains(plain))
        || tokenParameters.contains { $0.parameters.contains { normalized($0) == plain } }
          && !offsetNames.contains(plain)
    }
  }

  /// A member that is 0 or 1 and named like a position is the echo of a parameter of its own name.
  private var echoes: [PagingCandidate] {
    let size = size
    let hasEnd = scalars.contains { normalized($0.name) == "to" }
    return scalars.flatMap { scalar -> [PagingCandidate] in
      let name = normalized(scalar.name)
      guard let start = scalar.integer, start == 0 || start == 1, isPosition(scalar.name) else {
        return []
      }
      let parameters =
        name == "currentpage"
        ? ["page"]
        // Where the response says from which to which row it goes, `from` is not the parameter.
        : name == "from" && hasEnd
          ? ["start", scalar.name, "offset"] : [scalar.name]
      let names =
        exchange.bodyPath(ofEcho: scalar.path).map { [$0.description] }
        ?? exchange.parameterNames(for: parameters, own: nil).map { beside(size, $0) }
      return names.map { parameter in
        PagingCandidate(
          step: step(parameter, isPage: Self.pageNames.contains(name), from: start),
          evidence: "\(scalar.path) is \(start)", isSaid: true)
      }
    }
  }

  private func step(
    _ parameter: String, isPage: Bool, from start: Int
  ) -> Manifest.Paging.Step {
    let parameter = Manifest.Parameter(name: parameter, value: start)
    return isPage ? .page(parameter) : .offset(parameter)
  }

  /// Where there are more pages and no token, the ID of the last row continues.
  private func lastIDs(_ parameters: [String]) -> [PagingCandidate] {
    guard exchange.body == nil, let id else { return [] }
    return parameters.map { parameter in
      PagingCandidate(
        step: .token(parameter: parameter, start: nil, next: .lastRow(id)),
        evidence: "the last ID, sent as \(parameter)", isSaid: false)
    }
  }

  // MARK: - Guesses

  /// Parameters of positions that go with a parameter of the page size.
  private static let partners: [String: [String]] = [
    "perpage": ["page"], "pagesize": ["page"], "itemsperpage": ["page"], "recordsperpage": ["page"],
    "maxresults": ["startIndex", "startAt", "startPosition"], "take": ["skip"], "rows": ["start"],
    "n": ["start"],
    "limit": ["offset", "page", "skip"], "size": ["page", "from", "offset"], "num": ["start"],
    "first": ["skip"], "count": ["offset", "start"], "top": ["$skip"], "ps": ["p"],
    "pagelen": ["page"], "resultsperpage": ["page"], "maxrows": ["startRow"],
    "resultrecordcount": ["resultOffset"], "pagelimit": ["page"], "hitsperpage": ["page"],
  ]

  /// Parameters of positions beside a page size in brackets: `page[size]`, `pagination[pageSize]`.
  private func bracketed(beside size: String) -> [String] {
    guard size.hasSuffix("]"), let open = size.firstIndex(of: "[") else { return [] }
    let names: [String] =
      switch normalized(size[open...]) {
      case "limit", "top", "count": ["offset", "number", "page"]
      case "size" where normalized(size[..<open]) == "page": ["number", "offset", "after"]
      default: ["page", "number", "currentPage"]
      }
    return names.map { "\(size[..<open])[\($0)]" }
  }

  private var guesses: [PagingCandidate] {
    var names: [(name: String, start: Int?)] = []
    // A parameter of the request that is a position by name.
    for (name, value) in exchange.query where isPosition(name) || normalized(name) == "first" {
      if let start = Int(value) { names.append((name, start)) }
    }
    for scalar in exchange.sent where isPosition(scalar.name) {
      if let start = scalar.integer { names.append((scalar.path.description, start)) }
    }
    let bound = exchange.body?["variables"]
    names += exchange.declaredVariables.filter { bound?[$0] ?? .null == .null && isPosition($0) }
      .map { ("variables.\($0)", nil) }
    if let size {
      let prefix = size.name.prefix { !$0.isLetter }
      let last = size.name.split(separator: ".").last.map(String.init) ?? size.name
      names += bracketed(beside: size.name).map { ($0, nil) }
      for partner in Self.partners[normalized(last)] ?? [] {
        // `Page` beside `PageSize`.
        let partner = last.first?.isUppercase == true ? partner.capitalizedFirst : partner
        names.append(("\(partner.hasPrefix("$") ? "" : prefix)\(partner)", nil))
      }
    }
    if exchange.document["kind"]?.string?.contains("#") == true {
      names.append(("startIndex", nil))
    }
    names += ["page", "offset", "skip", "start", "from", "$skip", "_page"].map { ($0, nil) }
    var seen: Set<String> = []
    return names.filter { seen.insert($0.name).inserted }.map { name, start in
      let plain = normalized(name.split { $0 == "." || $0 == "[" }.last ?? "")
      let isPage = Self.pageNames.contains(plain)
      return PagingCandidate(
        step: step(name, isPage: isPage, from: start ?? (isPage ? 1 : 0)),
        evidence: "by the parameter \(name)", isSaid: false)
    }
  }
}

extension Exchange {
  /// The path in the body of a request of a member that the response echoes: services that repeat the
  /// request in an object repeat its other members too.
  fileprivate func bodyPath(ofEcho path: JSONPath) -> JSONPath? {
    guard let sent = body?.members else { return nil }
    for length in 1..<max(path.components.count, 1) {
      let parent = JSONPath(Array(path.components.prefix(length)))
      let echoed = parent.value(in: document)?.members ?? []
      let isEcho = sent.contains { member in
        echoed.contains { $0.name == member.name && $0.value.idText == member.value.idText }
      }
      if isEcho { return JSONPath(Array(path.components.dropFirst(length))) }
    }
    return nil
  }

  /// The variables that a GraphQL query declares: `query Q($after: String)`.
  fileprivate var declaredVariables: [String] {
    guard let query = body?["query"]?.string,
      body?["variables"] != nil || query.contains("$")
    else { return [] }
    return query.matches(of: /\$([A-Za-z_][A-Za-z0-9_]*)\s*:/).map { String($0.output.1) }
  }

  /// The names under which parameters are sent: in a body that is a GraphQL query, its variables.
  fileprivate func parameterNames(for parameters: [String], own: String?) -> [String] {
    let variables = declaredVariables
    guard !variables.isEmpty else {
      return parameters + (own.map { parameters.contains($0) ? [] : [$0] } ?? [])
    }
    return parameters.filter { variables.contains($0) }.map { "variables.\($0)" }
  }
}

extension JSON {
  /// True if the member at a path says that there are more pages.
  func isTrue(at more: Manifest.Paging.More) -> Bool {
    more.path.value(in: self)?.truth == !more.isNegated
  }
}

extension Scalar {
  /// The parameters that probably take this token: `NextMarker` is sent as `Marker`, `nextPageStart` as
  /// `pageStart` or `start`.
  fileprivate var parameterNames: [String] {
    let parts = words(of: name)
    guard parts.count > 1 else { return [] }
    var names: [String] = []
    if parts[0] == "next" {
      let rest = String(name.dropFirst(4).drop { !$0.isLetter && !$0.isNumber })
      names.append(name.first?.isUppercase == true ? rest : rest.lowercasedFirst)
    }
    names.append(
      name.first?.isUppercase == true
        ? parts[parts.count - 1].capitalizedFirst : parts[parts.count - 1])
    if parts.count > 2, parts[0] == "next" {
      names.append(parts.dropFirst().joined(separator: "-"))
    }
    return names
  }
}

extension String {
  /// True for a text that can be the URL of a page: absolute, or a path, or a query.
  fileprivate var isLink: Bool {
    hasPrefix("https://") || hasPrefix("http://") || hasPrefix("/") || hasPrefix("?")
  }
}
