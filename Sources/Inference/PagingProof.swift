import AggregatorKit
import DeclaredSource

extension Prober {
  /// Tries the ways in which the list may continue, until one is proved by its second page.
  ///
  /// - Returns: The second page; `nil` if there is none, or none was found.
  func choosePaging(
    _ proposal: inout Proposal, _ first: Sample
  ) async throws(SourceError) -> Sample? {
    guard let rows = proposal.manifest.rows else { return nil }
    let inference = PagingInference(
      exchange: first.exchange, rows: rows.path, rowCount: first.rows.count,
      id: IDInference(rows: first.records, noun: proposal.manifest.noun).best.flatMap {
        $0.count == 1 ? $0[0] : nil
      })
    var manifest = proposal.manifest
    if manifest.paging.size == nil { manifest.paging.size = inference.size }
    if manifest.paging.more == nil { manifest.paging.more = inference.more }
    let isGiven = manifest.paging.step != nil
    let candidates =
      manifest.paging.step.map { [PagingCandidate(step: $0, evidence: "as told", isSaid: true)] }
      ?? inference.candidates(after: described(manifest, first))
    var ignored = 0
    var tried = 0
    var refutation: String?
    for candidate in candidates.prefix(Self.maxProbes) {
      // A control is a probe, too.
      guard proposal.mayRequest(until: Self.maxProbes + 1) else { break }
      manifest.paging.step = candidate.step
      tried += 1
      switch try await verdict(on: candidate, manifest, first, &proposal) {
      case .proved(let second, let step):
        manifest.paging.step = step
        manifest.paging.proof = .proved
        var reason: String
        if second.rows.isEmpty {
          if manifest.paging.size.map({ $0.value != first.rows.count }) ?? false {
            // The only page may be short for lack of records, or because the service sends fewer.
            manifest.paging.size = nil
            if proposal.manifest.paging.size != nil {
              proposal.warnings.append(
                "the page size is left out, because a single page does not prove it: "
                  + "write it into the URL")
            }
          }
          reason = "page 2 is empty, and \(step.description(ofLast: first.rows.count))"
        } else {
          if let size = manifest.paging.size, size.value > first.rows.count {
            // Otherwise every page would look like the last.
            manifest.paging.size?.value = first.rows.count
            proposal.warnings.append(
              "the service sends \(first.rows.count.of("row")) a page instead of \(size.value)")
          }
          let overlap = first.overlap(with: second)
          let new = (second.rows.count - overlap).of("new row")
          reason = "page 2 fetched: \(new), \(overlap == 0 ? "none" : "\(overlap)") repeated"
          if overlap > 0 {
            proposal.warnings.append(
              "page 2 begins with the last \(overlap == 1 ? "row" : "\(overlap) rows") of page 1: the list has changed "
                + "meanwhile, or its pages overlap; lists and syncs say if records come again")
          }
          if manifest.repeatsToken(first.response, second.response) {
            manifest.paging.tokenOnce = true
            reason += "; the same token for every page"
          }
        }
        proposal.manifest.paging = manifest.paging
        proposal.note("paging", candidate.evidence, reason)
        return second.rows.isEmpty ? nil : second
      case .ignored:
        ignored += 1
        if isGiven { refutation = refutation ?? candidate.step.reasonOfSamePage }
      case .ended
      where candidate.isSaid && (!candidate.isDescribed || isLast(first, manifest, inference)):
        // The response names its paging, and that this is the last page.
        manifest.paging.proof = isGiven ? .unproved : .single
        proposal.manifest.paging = manifest.paging
        guard isGiven else {
          proposal.note("paging", candidate.evidence, "the first page is the last")
          return nil
        }
        let reason = manifest.missingNext(in: first) ?? "page 2 is empty"
        proposal.note("paging", candidate.evidence, reason)
        let others = inference.namedPaths.filter { $0 != candidate.step.next?.description }
        proposal.warnings.append(
          "paging is not proved: \(reason)"
            + (others.isEmpty
              ? "" : "; this looks like it: \(others.prefix(3).joined(separator: ", "))"))
        return nil
      case .ended: break
      case .refuted(let reason): refutation = refutation ?? reason
      }
    }
    proposal.manifest.paging.more = nil
    let total = first.total(rows: rows.path)
    // A number that is called `count` may also be that of this page.
    let isWhole =
      ignored == tried && !proposal.isOutOfTime && total ?? 0 <= first.rows.count
      && first.wordsOfPart == nil
    let isSaid = total == first.rows.count && first.exchange.saysTotal(rows: rows.path)
    if isSaid || isWhole && !inference.saysMore, !isGiven {
      proposal.manifest.paging.proof = !isSaid && inference.isUsualSize ? .presumed : .single
      proposal.note(
        "paging", "single",
        isSaid
          ? first.rows.count == 1
            ? "the only record is in one response"
            : "all \(first.rows.count) records are in one response"
          : "\(tried) parameters were tried, and each repeated the first page"
            + (inference.isUsualSize ? "; \(first.rows.count) rows may be one page of more" : ""))
    } else {
      if isGiven { proposal.manifest.paging = manifest.paging }
      proposal.manifest.paging.proof = .unproved
      guard !proposal.isOutOfTime else {
        proposal.note("paging", "–", "the time limit was reached before a second page was read")
        proposal.warnings.append("paging is not proved: the time limit was reached")
        return nil
      }
      refutation = refutation ?? first.wordsOfPart
      let reason = refutation.map { ": \($0)" } ?? ""
      proposal.note(
        "paging", "–",
        "no second page was found with \((proposal.requests - 1).of("request"))\(reason)")
      // What was told needs no name, but another one.
      let seen = isGiven ? refutation : nil
      let place = inference.namedPaths.first.map { ", which may be at \($0)" } ?? ""
      proposal.warnings.append(
        "paging is not proved: \(seen ?? "name its parameter or its next link\(place)")")
    }
    return nil
  }

  /// Says how many rows came for a page size that was told, and leaves it out if the service sends more.
  func proveSize(_ told: Manifest.Parameter?, _ proposal: inout Proposal, _ first: Sample) {
    guard let told else { return }
    let rows = "\(first.rows.count.of("row")) on page 1"
    // A size may be that of several lists.
    if first.rows.count > told.value, !first.isFile,
      proposal.manifest.rows?.path.isMultiple == false
    {
      proposal.manifest.paging.size = nil
      proposal.warnings.append("the page size is left out: the service sends \(rows) for \(told)")
    }
    let size = proposal.manifest.paging.size
    proposal.note("size", size?.description ?? "–", size == told ? rows : "\(rows) for \(told)")
  }

  /// Compares a flag that was told with the pages: the first of several ones must not be the last.
  func proveMore(
    _ told: Manifest.Paging.More?, _ proposal: inout Proposal, _ first: Sample, _ second: Sample?
  ) {
    guard let told else { return }
    let value = told.path.value(in: first.exchange.document) ?? .null
    let found = value == .null ? "no value" : value.text.oneLine(atMost: 40)
    proposal.note(
      "more", proposal.manifest.paging.more == nil ? "–" : "\(told)", "\(found) on page 1")
    let isWrong =
      switch value.truth {
      case let flag?: second != nil && flag == told.isNegated
      // A list may say only at its end that it is there.
      case nil: value == .null ? second != nil && !told.isNegated : !proposal.hasNoRows
      }
    guard isWrong else { return }
    let likely = proposal.manifest.rows.flatMap { rows in
      PagingInference(
        exchange: first.exchange, rows: rows.path, rowCount: first.rows.count, id: nil
      ).more
    }
    let other = likely == told ? nil : likely.map { "; this looks like it: \($0)" }
    proposal.warnings.append(
      "\"\(told)\" does not say whether there are more pages: \(found) on page 1\(other ?? "")")
    proposal.disproved.append("more")
  }

  /// The ways in which the list continues by its description: those that the response shows, then those that can be
  /// tried, and last those that it would show only if there were more pages.
  private func described(_ manifest: Manifest, _ first: Sample) -> [PagingCandidate] {
    let all = description?.candidates(of: manifest) ?? []
    let isShown = all.map { candidate in
      candidate.step.next.map {
        manifest.value(at: $0, first.exchange.document, first.response, first.rows) != nil
      }
    }
    return [true, nil, false].flatMap { shown in
      zip(all, isShown).filter { $0.1 == shown }.map(\.0)
    }
  }

  /// True if a response without the next page that is described is the whole list: it says so, or its page is not full.
  private func isLast(_ first: Sample, _ manifest: Manifest, _ inference: PagingInference) -> Bool {
    let next = manifest.paging.step?.next.flatMap {
      manifest.value(at: $0, first.exchange.document, first.response, first.rows)
    }
    return next?.meansNone ?? !(inference.saysMore || inference.isUsualSize)
  }

  enum Outcome {
    case proved(Sample, Manifest.Paging.Step)
    case ignored
    /// The page after the first is empty, or there is none.
    case ended
    case refuted(String)
  }

  /// Requests the second page, and compares it with the first.
  func verdict(
    on candidate: PagingCandidate, _ manifest: Manifest, _ first: Sample,
    _ proposal: inout Proposal
  ) async throws(SourceError) -> Outcome {
    let service = manifest.authority ?? name
    // Rows without an ID still have to be compared, so any value will do.
    guard let reply = try? manifest.decode(first.response, by: service) else { return .ended }
    let start: RESTPosition.Start
    switch candidate.step {
    case .page(let parameter): start = .page(parameter.value + 1)
    case .offset(let parameter): start = .offset(parameter.value + first.rows.count)
    case .token:
      guard case .token(let token)? = reply.next else { return .ended }
      start = .token(token)
    case .link:
      switch reply.next {
      case .link(let link)?:
        let known = DeclaredPlugin(name, manifest).settings
        let list = try manifest.request(manifest.url, in: environment.settings, knowing: known)
        guard let stored = list.storedLink(link, otherHosts: Set(manifest.paging.hosts)) else {
          throw SourceError(
            .rejected, "the next link leads to another host: \(link.oneLine(atMost: 80))",
            cause: URL(string: link)?.host().map(OtherHost.init))
        }
        start = .link(stored)
      case .parameters(let parameters)?: start = .parameters(parameters)
      case .token, nil: return .ended
      }
    }
    let second: Sample
    switch try await fetch(manifest, at: start, &proposal) {
    case .success(let sample): second = sample
    case .failure(let error):
      // It may be past the end, so this proves nothing.
      return .refuted(error.message)
    }
    if second.rows.isEmpty {
      let isEnd = try await isEnd(candidate, manifest, first, &proposal)
      return isEnd ? .proved(second, candidate.step) : .ended
    }
    let (one, two) = (first.texts, second.texts)
    if one == two { return .ignored }
    // Records that are the same may vary from one request to the next, as by a time in them.
    let id =
      manifest.id.isEmpty
      ? IDInference(rows: first.records, noun: manifest.noun).best ?? [] : manifest.id
    let ids = [first, second].map { $0.ids(at: id) }
    if !ids[0].isEmpty, ids[0] == ids[1] {
      let names = id.map(\.description).joined(separator: ", ")
      return .refuted("every \(names) of page 1 is repeated on page 2, so the paging is doubtful")
    }
    let repeated = Set(one).intersection(two).count
    let isNew = repeated == first.overlap(with: second)
    switch candidate.step {
    case .offset(var parameter)
    where repeated == 1 && parameter.value == 0 && one.last == two.first:
      // Rows are counted from 1.
      parameter.value = 1
      var next = manifest
      next.paging.step = .offset(parameter)
      let again = try await fetch(next, at: .offset(1 + first.rows.count), &proposal)
      guard case .success(let sample) = again, Set(one).isDisjoint(with: sample.texts) else {
        return .refuted("page 2 repeats rows")
      }
      return .proved(sample, .offset(parameter))
    case .page(var parameter) where isNew && !candidate.isSaid:
      // Pages may be counted from 0: then `page=1` is not the first.
      guard
        case .success(let start) = try await fetch(manifest, at: .page(parameter.value), &proposal)
      else { return .refuted("the first page cannot be requested by its number") }
      if start.texts == one { return .proved(second, candidate.step) }
      guard parameter.value == 1, Set(one).isDisjoint(with: start.texts) else {
        return .refuted("the first page is another by its number")
      }
      parameter.value = 0
      return .proved(start, .page(parameter))
    case .page, .offset, .token, .link: break
    }
    return isNew
      ? .proved(second, candidate.step)
      : .refuted("page 2 repeats \(repeated) of \(two.count.of("row"))")
  }

  /// True if an empty second page is the end of the list: a service that sends no rows for parameters that it does
  /// not have sends none for the position of the last row either.
  ///
  /// No such request is needed for what the response says itself.
  private func isEnd(
    _ candidate: PagingCandidate, _ manifest: Manifest, _ first: Sample,
    _ proposal: inout Proposal
  ) async throws(SourceError) -> Bool {
    guard !candidate.isSaid || proposal.manifest.paging.step != nil, let rows = manifest.rows,
      // A response that contradicts it proves nothing.
      first.total(rows: rows.path) ?? 0 <= first.rows.count,
      !(manifest.paging.more.map { first.exchange.document.isTrue(at: $0) } ?? false)
    else { return false }
    switch candidate.step {
    case .page where candidate.isSaid:
      // The first page was requested by its number, too.
      return true
    case .page(let parameter):
      let again = try await fetch(manifest, at: .page(parameter.value), &proposal)
      return (try? again.get())?.texts == first.texts
    case .offset(let parameter):
      let offset = parameter.value + first.rows.count - 1
      let last = try await fetch(manifest, at: .offset(offset), &proposal)
      return (try? last.get())?.rows.map(\.text) == first.rows.suffix(1).map(\.text)
    case .token, .link: return false
    }
  }
}

extension Prober.Sample {
  /// The number of all records, as the response says it.
  func total(rows path: JSONPath) -> Int? {
    exchange.totalPath(rowCount: rows.count, rows: path).flatMap { number(at: $0) }
  }
}

extension Manifest.Paging.Step {
  /// Where a response names the next page; `nil` if it is counted.
  var next: Manifest.ResponsePath? {
    switch self {
    case .token(_, _, let next), .link(let next): next
    case .page, .offset: nil
    }
  }

  /// The reason for which it is not proved by a second page that is the first one again.
  fileprivate var reasonOfSamePage: String {
    switch self {
    case .page(let parameter), .offset(let parameter): "\(parameter.name) changes nothing"
    case .token, .link: "page 2 is page 1 again"
    }
  }

  /// The request that brings the last of `count` rows.
  fileprivate func description(ofLast count: Int) -> String {
    switch self {
    case .page(let parameter): "\(parameter) brings page 1"
    case .offset(let parameter):
      "\(parameter.name)=\(parameter.value + count - 1) brings the last row"
    case .token, .link: "page 1 names it"
    }
  }
}

extension PagingInference {
  /// The ways to try, those of a description first.
  fileprivate func candidates(after described: [PagingCandidate]) -> [PagingCandidate] {
    described
      + candidates.filter { candidate in !described.contains { $0.step == candidate.step } }
  }

  /// The paths at which the response seems to name the next page, as a manifest has them.
  fileprivate var namedPaths: [String] {
    var seen: Set<String> = []
    return candidates.filter(\.isSaid).compactMap { $0.step.next?.description }
      .filter { seen.insert($0).inserted }
  }
}

extension Manifest {
  /// The reason that a response names no next page where it should; `nil` if it does, or need not.
  fileprivate func missingNext(in sample: Prober.Sample) -> String? {
    guard let next = paging.step?.next else { return nil }
    let shown = "\"\(next.description.oneLine(atMost: 80))\""
    guard let value = value(at: next, sample.exchange.document, sample.response, sample.rows) else {
      return "\(shown) has no value in this response"
    }
    let text = value.text.oneLine(atMost: 40)
    if value.meansNone { return "\(shown) is \(text) in this response" }
    let found = try? continuation(sample.exchange.document, sample.response, sample.rows)
    if found != nil { return nil }
    return "\(shown) is neither a link nor a token: \(text)"
  }

  /// True if a service sends one token for different pages: then it counts the requests, and one that is
  /// repeated would skip a page.
  fileprivate func repeatsToken(_ first: HTTPResponse, _ second: HTTPResponse) -> Bool {
    let tokens = [first, second].map { response -> String? in
      guard case .token(let token)? = (try? decode(response, by: ""))?.next else { return nil }
      return token
    }
    return tokens[0] != nil && tokens[0] == tokens[1]
  }
}
