import AggregatorKit
import DeclaredSource

extension Prober {
  /// The most requests that ``probe(_:_:)`` sends.
  private static let maxRequests = 12

  /// Tries the usual forms of what a list does not show: the URL of a record, the parameter of a search, that of the
  /// page size, and the depth after which pages are refused.
  ///
  /// Only what is proved becomes a part of the manifest; the evidence says what was tried.
  ///
  /// - Throws: ``SourceError`` of a rate limit, or `cancelled`; what was proved before stays.
  func probe(_ proposal: inout Proposal, _ first: Sample) async throws(SourceError) {
    let end = proposal.requests + Self.maxRequests
    try await probeItem(&proposal, first, until: end)
    try await probeSearch(&proposal, first, until: end)
    try await probeSize(&proposal, first, until: end)
    try await probeDepth(&proposal, first, until: end)
  }

  // MARK: - Single records

  private func probeItem(
    _ proposal: inout Proposal, _ first: Sample, until end: Int
  ) async throws(SourceError) {
    let manifest = proposal.manifest
    guard manifest.item == nil, manifest.body == nil, manifest.id.count == 1,
      let row = first.records.last,
      let id = try? DeclaredRecord(row, id: manifest.id).id
    else { return }
    var tried: [String] = []
    for url in manifest.usualItemURLs(linkedBy: row, id).prefix(3)
    where proposal.mayRequest(until: end) {
      let count = proposal.requests
      let fetched = try await fetchesItem(at: url, &proposal, first)
      if proposal.requests > count { tried.append(url) }
      guard case .success(true) = fetched else { continue }
      proposal.manifest.item = url
      return proposal.note("item", url, "record \(id.oneLine(atMost: 40)) fetched")
    }
    proposal.note("item", "–", Self.tried(tried))
  }

  /// True if a URL with `{id}` brings the last record of the first page; the failure if the request fails.
  func fetchesItem(
    at url: String, _ proposal: inout Proposal, _ first: Sample
  ) async throws(SourceError) -> Result<Bool, SourceError> {
    var manifest = proposal.manifest
    manifest.item = url
    let (known, paths) = (DeclaredPlugin(name, manifest).settings, manifest.idPaths)
    guard let row = first.records.last, let id = try? DeclaredRecord(row, id: paths).id,
      let request = manifest.itemRequest(id, in: environment.settings, knowing: known)
    else { return .success(false) }
    switch try await send(request, of: manifest, &proposal) {
    case .failure(let error): return .failure(error)
    case .success(let sample):
      // A service that ignores the end of the path sends the list, which has the record, too. A record may have a list
      // where the response has one.
      let isList =
        sample.rows.count > 1
        && sample.rows.contains { (try? DeclaredRecord($0, id: paths).id) == id }
      let record = try? manifest.decodeItem(
        sample.response, id: id, by: manifest.authority ?? name)
      return .success(!isList && record?.id == id)
    }
  }

  // MARK: - Search

  /// A text that no record has.
  private static let nonsense = "zqxjkvwyq"

  /// Tries the parameter of a search that was given: a service that ignores it would answer every search with the whole list.
  func proveSearch(_ proposal: inout Proposal, _ first: Sample) async throws(SourceError) {
    guard case .parameter(let name)? = proposal.manifest.search, !proposal.hasNoRows else { return }
    switch try await fetch(
      proposal.manifest, at: .first, &proposal, setting: (name, Self.nonsense))
    {
    case .success(let found) where found.texts == first.texts:
      proposal.manifest.search = nil
      proposal.note("search", "–", "the service ignores \(name): it sent the list again")
      proposal.warnings.append(
        "the service ignores \(name), so searches look into the records of the list")
    case .success(let found):
      proposal.note(
        "search", name,
        found.rows.isEmpty
          ? "no rows for \"\(Self.nonsense)\""
          : "\(found.rows.count.of("row")) for \"\(Self.nonsense)\", other than the list's")
    // 404 and the like for what is not found.
    case .failure(let error) where error.code == .rejected || error.code == .notFound:
      proposal.note("search", name, "refused for \"\(Self.nonsense)\": \(error.message)")
    case .failure(let error):
      proposal.note("search", name, "as told, not tried: \(error.message)")
    }
  }

  private func probeSearch(
    _ proposal: inout Proposal, _ first: Sample, until end: Int
  ) async throws(SourceError) {
    let manifest = proposal.manifest
    guard manifest.search == nil, manifest.body == nil else { return }
    guard let text = manifest.selectiveText(in: first.records) else {
      return proposal.note("search", "–", "no text is in some of the records only")
    }
    var names = ["q", "search", "query"]
    if let title = manifest.title?.components.last, case .member(let name) = title,
      !names.contains(name)
    {
      names.append(name)
    }
    var tried: [String] = []
    for name in names where proposal.mayRequest(until: end) && !manifest.hasParameter(name) {
      tried.append(name)
      let found = try await fetch(manifest, at: .first, &proposal, setting: (name, text))
      // A search may look at more than the list shows, but not for most of its results.
      guard case .success(let sample) = found, !sample.rows.isEmpty, sample.texts != first.texts,
        sample.rows.count(where: { $0.contains(text) }) * 2 > sample.rows.count,
        proposal.mayRequest(until: end)
      else { continue }
      let none = try await fetch(manifest, at: .first, &proposal, setting: (name, Self.nonsense))
      guard case .success(let empty) = none, empty.rows.isEmpty else { continue }
      proposal.manifest.search = .parameter(name)
      return proposal.note(
        "search", name,
        "\(sample.rows.count.of("row")) for \"\(text)\", none for \"\(Self.nonsense)\"")
    }
    proposal.note("search", "–", Self.tried(tried))
  }

  // MARK: - Page size

  private static let largePage = 100

  private func probeSize(
    _ proposal: inout Proposal, _ first: Sample, until end: Int
  ) async throws(SourceError) {
    let manifest = proposal.manifest
    guard manifest.body == nil, let step = manifest.paging.step,
      !proposal.evidence.contains(where: { $0.key == "size" })
    else { return }
    let count = first.rows.count
    let known = manifest.paging.size
    // One that was not requested is a member of the response, which is named as the parameter may be.
    let isRequested = known.map { manifest.hasParameter($0.name) } ?? false
    // A list that fits into one large page would not show how large pages may be.
    guard count < Self.largePage, proposal.total(first).map({ $0 > Self.largePage }) ?? true,
      !isRequested
    else {
      if let known {
        proposal.note(
          "size", known.description,
          isRequested ? "as the URL says; larger ones were not tried" : "as the response says")
      }
      return
    }
    let isByPage = if case .page = step { true } else { false }
    let usual = isByPage ? ["per_page", "limit", "page_size"] : ["limit", "per_page", "count"]
    let names = known.map { [$0.name] } ?? usual
    var tried: [String] = []
    for name in names where proposal.mayRequest(until: end) && !manifest.hasParameter(name) {
      tried.append(name)
      var sized = manifest
      sized.paging.size = Manifest.Parameter(name: name, value: Self.largePage)
      guard case .success(let large) = try await fetch(sized, at: .first, &proposal),
        large.rows.count > count, large.texts.starts(with: first.texts),
        proposal.mayRequest(until: end)
      else { continue }
      // A service may send fewer than were asked for: then every page would look like the last.
      sized.paging.size?.value = large.rows.count
      let candidate = PagingCandidate(step: step, evidence: "", isSaid: true)
      guard case .proved(let second, _) = try await verdict(on: candidate, sized, large, &proposal),
        !second.rows.isEmpty
      else { continue }
      proposal.manifest.paging.size = sized.paging.size
      return proposal.note(
        "size", sized.paging.size?.description ?? name,
        "\(large.rows.count) rows, and \(second.rows.count) others on page 2")
    }
    proposal.note(
      "size", known?.description ?? "–",
      known == nil
        ? Self.tried(tried) : "as the response says; \(Self.largePage) brought no larger pages")
  }

  // MARK: - Depth

  /// The usual depths, in records.
  private static let depths = [10_000, 1000]

  private func probeDepth(
    _ proposal: inout Proposal, _ first: Sample, until end: Int
  ) async throws(SourceError) {
    let manifest = proposal.manifest
    let size = manifest.paging.size?.value ?? first.rows.count
    guard manifest.paging.deepest == nil, size > 0, let total = proposal.total(first),
      let last = Self.depths.last, total > last + size
    else { return }
    switch manifest.paging.step {
    case .page, .offset: break
    // No page in the middle of the list can be requested.
    case .token, .link, nil: return
    }
    var tried: [String] = []
    for depth in Self.depths where total > depth + size && proposal.mayRequest(until: end) {
      // A page that begins before the depth and ends after it may be refused as well.
      let after = (depth + size - 1) / size * size
      tried.append("\(after)")
      switch try await page(after: after, manifest, size, &proposal) {
      case .sent?: return proposal.note("depth", "–", "record \(after + 1) of \(total) was sent")
      case nil: continue
      case .refused(let reason)?:
        for start in [after - size, after - 2 * size] where proposal.mayRequest(until: end) {
          guard case .sent? = try await page(after: start, manifest, size, &proposal) else {
            continue
          }
          proposal.manifest.paging.deepest = start + size
          return proposal.note("depth", "\(start + size)", "of \(total) records, then \(reason)")
        }
      }
    }
    guard !tried.isEmpty else { return }
    let depths = tried.joined(separator: " and after ")
    proposal.note(
      "depth", "–",
      "requested records after \(depths): no limit is proved, so a sync reads to the end")
  }

  private enum Depth {
    case sent
    case refused(String)
  }

  /// Requests the page that begins after so many records; `nil` if that says nothing, or cannot be requested.
  private func page(
    after rows: Int, _ manifest: Manifest, _ size: Int, _ proposal: inout Proposal
  ) async throws(SourceError) -> Depth? {
    let start: RESTPosition.Start
    switch manifest.paging.step {
    case .page(let parameter): start = .page(parameter.value + rows / size)
    case .offset(let parameter): start = .offset(parameter.value + rows)
    case .token, .link, nil: return nil
    }
    switch try await fetch(manifest, at: start, &proposal) {
    case .success(let sample): return sample.rows.isEmpty ? .refused("no rows") : .sent
    // Any other failure may pass.
    case .failure(let error): return error.code == .rejected ? .refused(error.message) : nil
    }
  }

  private static func tried(_ names: [String]) -> String {
    names.isEmpty ? "not tried" : "tried \(names.joined(separator: ", "))"
  }
}

extension Proposal {
  /// The number of all records, as the first response says it.
  fileprivate func total(_ first: Prober.Sample) -> Int? {
    manifest.total.flatMap { first.number(at: $0) }
  }
}

extension Manifest {
  /// The usual URLs of a single record, likeliest first: `things/{id}` for the list `things`, `things.json` or
  /// `things/search`, with and without the query of the list.
  fileprivate func usualItemURLs(linkedBy row: JSON, _ id: String) -> [String] {
    let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var path = String(parts[0])
    while path.hasSuffix("/") { path.removeLast() }
    let ending = path.hasSuffix(".json") ? ".json" : ""
    path.removeLast(ending.count)
    var names = path.split(separator: "/", omittingEmptySubsequences: false)
    // The host is the third part.
    guard names.count >= 3 else { return [] }
    if names.count > 4, let last = names.last,
      ["search", "list", "all", "index", "query"].contains(last.lowercased())
    {
      names.removeLast()
    }
    let origin = names.prefix(3).joined(separator: "/")
    let linked = row.links(from: origin, to: id)
    let plain = "\(names.joined(separator: "/"))/{id}\(ending)"
    let query = parts.dropFirst().joined()
    // A key has to be sent with every request.
    let secrets = query.split(separator: "&").filter { $0.contains("${") }.joined(separator: "&")
    return (linked + [plain]).map { secrets.isEmpty ? $0 : "\($0)?\(secrets)" }
      + (query == secrets ? [] : ["\(plain)?\(query)"])
  }

  /// A word of a title, or else a whole title, that is in some of the rows, but not in most; other texts if no title is.
  fileprivate func selectiveText(in rows: [JSON]) -> String? {
    let rows = rows.suffix(100)
    for path in [title].compactMap(\.self) + fields.map(\.path) {
      let texts = rows.reversed().prefix(20).compactMap { path.value(in: $0)?.string }.filter {
        // Quoted, it would look different inside of a row.
        4...40 ~= $0.count && !$0.contains("://") && JSON.string($0).text == "\"\($0)\""
      }
      let words = texts.flatMap { $0.split { !$0.isLetter }.map(String.init) }
      let found = (words.filter { 4...20 ~= $0.count } + texts).first { text in
        rows.count(where: { $0.contains(text) }) * 2 <= rows.count
      }
      if let found { return found }
    }
    return nil
  }
}

extension JSON {
  /// True if a text is inside, in capitals or not.
  fileprivate func contains(_ part: String) -> Bool {
    text.lowercased().contains(part.lowercased())
  }

  /// The URLs inside that lead to a resource of this name, as templates.
  fileprivate func links(from origin: String, to id: String) -> [String] {
    if case .string(let link) = self {
      let name = id.percentEncoded
      guard link.hasPrefix("\(origin)/"), !link.contains("?"), !link.contains("{") else {
        return []
      }
      return ["", "/"].filter { link.hasSuffix("/\(name)\($0)") }.map { ending in
        "\(link.dropLast(name.count + ending.count)){id}\(ending)"
      }
    }
    return children.flatMap { $0.links(from: origin, to: id) }
  }
}
