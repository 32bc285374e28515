package import AggregatorKit

extension Manifest {
  /// The paging of a service.
  package struct Paging: Hashable, Sendable {
    /// The result of verifying the paging by reading a second page.
    package enum Proof: String, Hashable, Sendable {
      case proved, unproved, single
      /// A single response in which as many rows came as a page often has: there may be more.
      case presumed
    }

    package var isSingle: Bool { proof == .single || proof == .presumed }

    /// Numbers of rows that are more probably a page than a coincidence.
    package static let usualSizes: Set = [10, 15, 20, 25, 30, 50, 100, 200, 250, 500, 1000]

    /// The difference between the request of a page and that of the first; `nil` if it must still be inferred,
    /// and for a single response.
    package var step: Step?

    /// The parameter of the page size and its value.
    package var size: Parameter?

    /// True while there are more pages; a leading `!` in the manifest means the opposite.
    package var more: More?

    /// The depth after which the service refuses pages, in records; `nil` if there is none.
    package var deepest: Int?

    /// Other hosts that next links may lead to, without secrets.
    package var hosts: [String] = []

    /// True if a token, or next link, is spent by its use.
    package var tokenOnce = false

    /// `nil` for a manifest written by hand.
    package var proof: Proof?

    package struct More: Hashable, Sendable, CustomStringConvertible {
      package var path: JSONPath
      package var isNegated = false

      package var description: String { "\(isNegated ? "!" : "")\(path)" }

      package init(path: JSONPath, isNegated: Bool = false) {
        (self.path, self.isNegated) = (path, isNegated)
      }
    }

    package enum Step: Hashable, Sendable {
      /// A parameter that counts pages; its value is the start.
      case page(Parameter)
      /// A parameter that counts rows; its value is the start.
      case offset(Parameter)
      /// A parameter that takes the token at `next`; `start` is the token of the first page, if it wants one.
      case token(parameter: String, start: String?, next: ResponsePath)
      /// The URL at `next`.
      case link(next: ResponsePath)
    }
  }

  package var restPaging: RESTPaging {
    let step: RESTPaging.Step =
      switch paging.step {
      case nil: .single
      case .page(let value): .page(parameter(value.name), start: value.value)
      case .offset(let value): .offset(parameter(value.name), start: value.value)
      case .token(let name, let start, _): .token(parameter(name), start: start)
      case .link: .link
      }
    var paging = RESTPaging(
      step, size: self.paging.size.map { (parameter($0.name), $0.value) },
      honorsSize: self.paging.size != nil && self.paging.proof == .proved,
      deepest: self.paging.deepest,
      otherHosts: Set(self.paging.hosts), tokenOnce: self.paging.tokenOnce)
    paging.confirmsEnd = true
    paging.isUnproved = self.paging.proof == .unproved
    return paging
  }

  /// The parameter with which the list begins after its first page, `page=3`; `nil` if none is known.
  package var laterStart: Parameter? {
    switch paging.step {
    case .page(let start), .offset(let start): start.value > 1 ? start : nil
    case .token, .link, nil: nil
    }
  }

  /// The value of a response at the place where the next page is named.
  package struct UnusableNext: Error {
    package let text: String
  }

  /// The next page; `nil` at the end.
  package func continuation(
    _ document: JSON, _ response: HTTPResponse, _ rows: [JSON]
  ) throws(UnusableNext) -> RESTResponse<DeclaredRecord>.Continuation? {
    let next: ResponsePath
    switch paging.step {
    case .link(.header(let name)) where name.lowercased() == "link":
      return response.nextLink.map { .link($0) }
    case .token(_, _, let path), .link(let path): next = path
    case .page, .offset, nil: return nil
    }
    let found = value(at: next, document, response, rows) ?? .null
    if found.meansNone { return nil }
    if case .token = paging.step {
      guard found.isIdentifying else { throw UnusableNext(text: found.text) }
      return .token(found.idText)
    }
    if let link = found.string { return .link(link) }
    if let links = found.array { return links.lazy.compactMap(\.nextHref).first.map { .link($0) } }
    if let link = found["href"]?.string, !link.isEmpty { return .link(link) }
    let members = found.members
    guard !members.isEmpty, members.allSatisfy({ !$0.value.idText.isEmpty }) else {
      throw UnusableNext(text: found.text)
    }
    return .parameters(
      Dictionary(members.map { ($0.name, $0.value.idText) }) { first, _ in first })
  }
}

extension ManifestReader {
  package static let pagingKeys = [
    "page", "offset", "next", "token", "tokenOnce", "hosts", "size", "more", "deepest", "paging",
  ]

  package func paging() throws(SourceError) -> Manifest.Paging {
    var paging = Manifest.Paging()
    let parameter = "a parameter and its start, such as \"page=1\""
    let page = try parsed("page", parameter, Manifest.Parameter.init)
    let offset = try parsed("offset", parameter, Manifest.Parameter.init)
    let next = try parsed(
      "next",
      "a path to one link or token, or to an object of parameters, such as \"links.next\", \"continue\", "
        + "\"header:Link\" or \"last.id\""
    ) { Manifest.ResponsePath($0)?.ofOneValue }
    let token = try string("token")
    let kinds = [page != nil, offset != nil, next != nil].count { $0 }
    guard kinds <= 1 else {
      throw failure(
        page == nil ? "next" : "page", "the only one of \"page\", \"offset\" and \"next\"")
    }
    if let page { paging.step = .page(page) }
    if let offset { paging.step = .offset(offset) }
    if let next {
      if let token {
        let parts = token.split(separator: "=", maxSplits: 1)
        guard let name = parts.first else { throw failure("token", "a parameter") }
        paging.step = .token(
          parameter: String(name), start: parts.count > 1 ? String(parts[1]) : nil, next: next)
      } else {
        paging.step = .link(next: next)
      }
    } else if token != nil {
      throw failure("token", "beside \"next\", which says where the token is")
    }
    paging.size = try parsed("size", "a parameter and its value, such as \"per_page=100\"") {
      Manifest.Parameter($0).flatMap { $0.value > 0 ? $0 : nil }
    }
    paging.more = try parsed("more", "a path such as \"has_more\" or \"!done\"") { text in
      let isNegated = text.hasPrefix("!")
      return JSONPath(isNegated ? String(text.dropFirst()) : text).map {
        Manifest.Paging.More(path: $0, isNegated: isNegated)
      }
    }
    let tokenOnce = try value("tokenOnce", "true or false") {
      if case .bool(let isOnce) = $0 { isOnce } else { nil }
    }
    paging.tokenOnce = tokenOnce ?? false
    if paging.tokenOnce, next == nil {
      throw failure("tokenOnce", "beside \"next\", which says where the token is")
    }
    paging.hosts = try strings("hosts")
    paging.proof = try parsed(
      "paging", "\"proved\", \"unproved\", \"single\" or \"presumed\"", Manifest.Paging.Proof.init)
    paging.deepest = try value("deepest", "a number of records") {
      if case .integer(let deepest) = $0, 1...1_000_000_000 ~= deepest { deepest } else { nil }
    }
    return paging
  }
}

extension Manifest.Paging.Step {
  /// The members of a manifest that say it.
  package var members: [(name: String, value: String)] {
    switch self {
    case .page(let parameter): [("page", parameter.description)]
    case .offset(let parameter): [("offset", parameter.description)]
    case .token(let parameter, let start, let next):
      [("next", next.description), ("token", parameter + (start.map { "=\($0)" } ?? ""))]
    case .link(let next): [("next", next.description)]
    }
  }
}
