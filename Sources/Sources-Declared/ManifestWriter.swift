import AggregatorKit

extension Manifest {
  /// The manifest as JSON, without what is the default, in the order in which one reads it.
  var json: JSON {
    var members: [JSON.Member] = []
    func add(_ name: String, _ value: JSON?) {
      if let value { members.append(JSON.Member(name, value)) }
    }
    add("url", .string(url))
    add("summary", summary.map(JSON.string))
    if !headers.isEmpty {
      add("headers", .object(headers.map { JSON.Member($0.name, .string($0.value)) }))
    }
    add("body", body)
    add("rows", rows.map { .string($0.description) })
    switch id.count {
    case 0: break
    case 1: add("id", .string(id[0].description))
    default: add("id", .array(id.map { .string($0.description) }))
    }
    if !fields.isEmpty { add("fields", .array(fields.map(\.json))) }
    switch paging.step {
    case nil: break
    case .page(let parameter): add("page", .string(parameter.description))
    case .offset(let parameter): add("offset", .string(parameter.description))
    case .token(let parameter, let start, let next):
      add("next", .string(next.description))
      add("token", .string(parameter + (start.map { "=\($0)" } ?? "")))
    case .link(let next): add("next", .string(next.description))
    }
    if paging.tokenOnce { add("tokenOnce", true) }
    if !paging.hosts.isEmpty { add("hosts", .array(paging.hosts.map(JSON.string))) }
    add("size", paging.size.map { .string($0.description) })
    add("more", paging.more.map { .string(($0.isNegated ? "!" : "") + $0.path.description) })
    add("deepest", paging.deepest.map(JSON.integer))
    add("total", total.map { .string($0.description) })
    add("paging", paging.proof.map { .string($0.rawValue) })
    add("item", item.map(JSON.string))
    switch search {
    case nil: break
    case .parameter(let name): add("search", .string(name))
    case .url(let url): add("search", .string("url:\(url)"))
    }
    add("image", image.map { .string($0.description) })
    add("link", link.map { .string($0.description) })
    add("title", title.map { .string($0.description) })
    if rate != Self.defaultRate { add("rate", .string(rate?.description ?? "off")) }
    let standard = Manifest(url: url)
    if fresh != standard.fresh { add("fresh", .string(fresh.text(in: Duration.manifestUnits))) }
    if timeout != standard.timeout {
      add("timeout", .string(timeout.text(in: Duration.manifestUnits)))
    }
    return .object(members)
  }
}

extension Manifest.DeclaredField {
  fileprivate var json: JSON {
    if name == path.fieldName, isSearchable { return .string(path.description) }
    var members = [
      JSON.Member("name", .string(name)), JSON.Member("path", .string(path.description)),
    ]
    if !isSearchable { members.append(JSON.Member("search", false)) }
    return .object(members)
  }
}
