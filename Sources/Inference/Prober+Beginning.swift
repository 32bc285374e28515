import AggregatorKit
import DeclaredSource

extension Prober {
  /// Values of parameters with which a list begins.
  private static let beginnings: Set<String> = ["", "0", "-1", "*"]

  /// The proposal for a whole list, if the URL names one of its later pages, as by `page=2` or a cursor.
  ///
  /// - Returns: `nil` if the URL names the first page or none, or if there is no list without what names it; then with a
  ///   warning if that could not be found out.
  func fromBeginning(
    _ hints: Manifest, _ proposal: inout Proposal, _ first: Sample, isProbing: Bool
  ) async throws(SourceError) -> Proposal? {
    let changed = proposal.manifest.changedParameters(after: first, by: self.name).filter {
      !Self.beginnings.contains($0.value)
    }
    let starts = changed.filter { PagingInference.isStart($0.name, value: $0.value) }
    let shown = changed.map { "\($0.name)=\($0.value)".oneLine(atMost: 60) }
      .joined(separator: " and ")
    let doubt = "the URL names \(shown), which later pages change: records before it are not read"
    var whole = hints
    whole.url = hints.url.withoutParameters(Set(starts.map(\.name)))
    // One URL of several lists has a pattern in it.
    guard mayNumberRows, whole.url != hints.url else {
      if changed.contains(where: { Int($0.value) ?? 0 > 1 }) { proposal.warnings.append(doubt) }
      return nil
    }
    var list = proposal.manifest
    (list.url, list.paging) = (whole.url, hints.paging)
    let start: Sample
    switch try await fetch(list, at: .first, &proposal) {
    case .success(let sample):
      let id = IDInference(rows: first.records, noun: list.noun).best ?? []
      let isSame =
        sample.texts == first.texts || !id.isEmpty && sample.ids(at: id) == first.ids(at: id)
      guard !sample.rows.isEmpty, !isSame else { return nil }
      start = sample
    case .failure(let error):
      // A service that wants the parameter has it for its beginning.
      if ![.rejected, .notFound, .malformed].contains(error.code) {
        proposal.warnings.append(doubt)
      }
      return nil
    }
    // Without it in the URL its name may not be found again.
    switch proposal.manifest.paging.step {
    case .page(var parameter):
      parameter.value = 1
      list.paging.step = .page(parameter)
      let one = try? await fetch(list, at: .page(1), &proposal).get()
      parameter.value = one?.texts == start.texts ? 1 : 0
      whole.paging.step = .page(parameter)
    case .offset(let parameter):
      whole.paging.step = .offset(Manifest.Parameter(name: parameter.name, value: 0))
    case .token, .link, nil: break
    }
    if proposal.choices["rows"] != nil { whole.rows = proposal.manifest.rows }
    var prober = self
    prober.previous = proposal
    let result = await Result { [prober, whole] () async throws(SourceError) in
      try await prober.complete(whole, isProbing: isProbing)
    }
    guard var all = try? result.get(), all.isPagingProved else {
      if result.failure?.code == .cancelled { throw .cancelled }
      proposal.warnings.append(doubt)
      return nil
    }
    all.requests += proposal.requests
    let found = proposal.evidence.first { $0.key == "paging" }?.value
    for index in all.evidence.indices where all.evidence[index].key == "paging" {
      all.evidence[index].value = found ?? all.evidence[index].value
    }
    let left = starts.map { "\($0.name)=\($0.value)".oneLine(atMost: 60) }
      .joined(separator: " and ")
    all.warnings.append(
      "\(left) is left out of the URL, because the list begins before that page: all of it is read")
    return all
  }
}

extension Prober.Sample {
  /// The values of these members in the rows, in their order.
  func ids(at paths: [JSONPath]) -> [JSON] {
    rows.flatMap { row in paths.compactMap { $0.value(in: row) } }.filter { $0 != .null }
  }
}

extension Manifest {
  /// The parameters of the URL to which the request of the second page gives other values.
  fileprivate func changedParameters(
    after first: Prober.Sample, by service: String
  ) -> [(name: String, value: String)] {
    let next: [String: String?]
    switch paging.step {
    case .page(let parameter), .offset(let parameter): next = [parameter.name: nil]
    case .token(let name, _, _): next = [name: nil]
    case .link:
      switch (try? decode(first.response, by: service))?.next {
      case .link(let link)?:
        let items = URLComponents(string: link)?.queryItems ?? []
        next = Dictionary(items.map { ($0.name, $0.value) }) { old, _ in old }
      case .parameters(let parameters)?: next = parameters.mapValues { $0 }
      case .token, nil: return []
      }
    case nil: return []
    }
    return first.exchange.query.filter { name, value in
      next[name].map { $0 != value } ?? false
    }
  }
}

extension String {
  /// This URL without parameters of its query, decoded names, and otherwise as it is.
  fileprivate func withoutParameters(_ names: Set<String>) -> String {
    guard !names.isEmpty, let mark = firstIndex(of: "?") else { return self }
    let end = self[mark...].firstIndex(of: "#") ?? endIndex
    let items = self[index(after: mark)..<end].split(separator: "&").filter { item in
      let name = String(item.prefix { $0 != "=" })
      return !names.contains(name.percentDecoded ?? name)
    }
    let query = items.isEmpty ? "" : "?" + items.joined(separator: "&")
    return self[..<mark] + query + self[end...]
  }
}
