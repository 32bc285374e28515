package import AggregatorKit
import Foundation

/// What was found out about an API: a manifest, and the evidence for each part of it.
package struct Proposal: Sendable {
  package struct Evidence: Sendable {
    /// What it is about: `rows`, `id`, `fields`, `paging`, `total`.
    package var key: String
    package var value: String
    package var reason: String
  }

  var manifest: Manifest
  package var evidence: [Evidence] = []
  package var warnings: [String] = []

  /// The number of requests that were sent.
  package var requests = 0

  /// True if the rows of a second page, or the end after the first, were seen, and all rows have IDs.
  package var isProved: Bool {
    isComplete && manifest.paging.proof.map { $0 != .unproved } ?? false
  }

  /// False if records cannot be read, because nothing is known to identify them.
  package var isComplete: Bool { !manifest.id.isEmpty || manifest.rows?.isEntries ?? false }

  /// The manifest as JSON.
  package var json: JSON { manifest.json }

  /// Requests an API and infers what `hints`, a manifest with at least a URL, does not say.
  ///
  /// - Throws: ``SourceError``: `invalidSettings` for an invalid hint, or why there are no rows to read.
  package init(
    for name: String, from hints: JSON, isSingle: Bool, in environment: PluginEnvironment,
    choosing choose: @escaping Choice = { _, _ in nil }
  ) async throws(SourceError) {
    let manifest = try Manifest(reading: Data(hints.text.utf8))
    let plugin = DeclaredPlugin(name, manifest)
    let clock = environment.clock
    var prober = Prober(
      name: name, settings: environment.settings, known: plugin.settings,
      transport: environment.transport, now: environment.now
    ) { () async throws(SourceError) in
      // Politely: the rate of the manifest holds for probes, too.
      guard let bound = manifest.rate?.bounds.first else { return }
      do { try await clock.sleep(for: bound.period / bound.count) } catch { throw .cancelled }
    }
    prober.choose = choose
    self = try await prober.complete(manifest, isSingle: isSingle)
  }

  /// Asks a person which of several options is right: its index, or `nil` to leave it open.
  package typealias Choice = @Sendable (_ question: String, _ options: [String]) -> Int?

  /// Writes the manifest, and binds its secrets to its host; `secrets` have new values, so that hosts of old
  /// values do not matter.
  ///
  /// - Throws: ``SourceError`` with code `storage`, or `invalidSettings` if a secret is bound to another host.
  package func save(
    as name: String, in folder: ManifestFolder, rebinding secrets: Set<String> = []
  ) throws(SourceError) {
    try folder.write(manifest, as: name, rebinding: secrets)
  }

  fileprivate init(manifest: Manifest) { self.manifest = manifest }
}

/// The host to which a next link leads, and which the manifest does not allow.
package struct OtherHost: Error {
  package let host: String
}

/// The secret settings that a manifest's URL and header fields name.
///
/// - Throws: ``SourceError`` with code `invalidSettings` if the manifest is invalid, or if a secret that is not in
///   `replaced` belongs to another host.
package func declaredSecrets(
  of name: String, in hints: JSON, boundIn folder: ManifestFolder, replacing replaced: Set<String>
) throws(SourceError) -> [Setting] {
  let manifest = try Manifest(reading: Data(hints.text.utf8))
  try folder.check(
    manifest.secretNames.filter { !replaced.contains($0) }, mayBeSentTo: manifest.authority ?? "")
  return DeclaredPlugin(name, manifest).settings
}

/// Finds out what a manifest does not say, and proves the paging by reading a second page.
struct Prober: Sendable {
  let name: String
  let settings: Settings
  let known: [Setting]
  let transport: any Transport
  let now: @Sendable () -> Date
  /// Waits between requests, at the rate of the manifest.
  let pause: @Sendable () async throws(SourceError) -> Void

  /// Decides what the responses leave open.
  var choose: Proposal.Choice = { _, _ in nil }

  static let maxProbes = 6
  private static let maxOptions = 9

  /// Completes a manifest that has at least a URL.
  ///
  /// - Throws: ``SourceError`` of the first request, `malformed` if the response has no list of objects, and
  ///   `rateLimited` of any request.
  func complete(_ hints: Manifest, isSingle: Bool = false) async throws(SourceError) -> Proposal {
    var proposal = Proposal(manifest: hints)
    var first = try await fetch(hints, at: .first, &proposal).get()
    try chooseRows(&proposal, first)
    guard let rows = proposal.manifest.rows else { return proposal }
    first.rows = rows.rows(in: first.exchange.document) ?? []
    var second: Sample?
    if isSingle {
      proposal.manifest.paging.proof = .single
      proposal.note("paging", "single", "as told")
    } else {
      second = try await choosePaging(&proposal, first)
    }
    chooseID(&proposal, first.rows + (second?.rows ?? []))
    chooseTotal(&proposal, first, second)
    chooseFields(&proposal, first.rows + (second?.rows ?? []))
    return proposal
  }

  // MARK: - Requests

  /// A response and its rows.
  fileprivate struct Sample {
    var exchange: Exchange
    var response: HTTPResponse
    var rows: [JSON] = []

    /// The rows as text, to compare pages.
    var texts: [String] { rows.map(\.text) }
  }

  private func fetch(
    _ manifest: Manifest, at start: RESTPosition.Start, _ proposal: inout Proposal
  ) async throws(SourceError) -> Result<Sample, SourceError> {
    let list = try manifest.request(manifest.url, in: settings, knowing: known)
    let paging = manifest.restPaging
    let request: HTTPRequest
    do {
      var sized = list
      if let size = paging.size { sized = sized.setting(size.parameter, to: "\(size.rows)") }
      request = try paging.request(for: start, after: sized)
    } catch { return .failure(error) }
    if proposal.requests > 0 { try await pause() }
    proposal.requests += 1
    do {
      let service = manifest.authority ?? name
      let response = try await transport.send(request).checked(
        by: service, wantsKey: !known.isEmpty, now: now())
      let document = try response.document(by: service)
      let exchange = Exchange(
        url: URL(string: request.shownAddress) ?? request.url,
        body: request.body.flatMap { JSON(inOrder: $0) },
        headers: response.headers, document: document)
      let rows = manifest.rows?.rows(in: document) ?? []
      return .success(Sample(exchange: exchange, response: response, rows: rows))
    } catch {
      // More requests would make a rate limit worse.
      if error.code == .rateLimited { throw error }
      return .failure(error)
    }
  }

  // MARK: - Rows, ID, total, fields

  private func chooseRows(_ proposal: inout Proposal, _ first: Sample) throws(SourceError) {
    let document = first.exchange.document
    if let given = proposal.manifest.rows {
      guard let rows = given.rows(in: document) else {
        throw SourceError(
          .malformed, "there is no list at \"\(given.description.oneLine(atMost: 80))\"")
      }
      proposal.note("rows", given.description, "as told; \(rows.count) rows")
      return
    }
    let candidates = first.exchange.rowsCandidates()
    guard var best = candidates.first else {
      throw SourceError(
        .malformed, "the response has no list of objects",
        remedy: "name the list, or use the URL of a list")
    }
    let rivals = candidates.filter { best.score - $0.score < 1 }.prefix(Self.maxOptions)
    let chosen =
      rivals.count < 2
      ? nil
      : choose(
        "Which list has the records?",
        rivals.map { "\($0.path): \($0.rows.count) objects, \($0.sharedNames) keys in common" })
    if let chosen { best = rivals[chosen] }
    proposal.manifest.rows = best.path
    proposal.note(
      "rows", best.path.description,
      "\(best.rows.count) objects, \(best.sharedNames) keys in common")
    if chosen == nil, let rival = rivals.dropFirst().first {
      proposal.warnings.append("the rows may also be at \"\(rival.path)\"")
    }
  }

  private func chooseID(_ proposal: inout Proposal, _ rows: [JSON]) {
    if let path = proposal.manifest.rows, path.isEntries {
      proposal.note("id", "id", "the names of the members")
      return
    }
    let given = !proposal.manifest.id.isEmpty
    let noun = proposal.manifest.noun
    guard
      let paths = given
        ? proposal.manifest.id : IDInference(rows: rows, noun: noun).best ?? chooseID(rows)
    else {
      proposal.note("id", "–", "no member is different in all rows")
      proposal.warnings.append("nothing identifies a row: name the members that do")
      return
    }
    proposal.manifest.id = paths
    let ids = rows.compactMap { try? DeclaredRecord($0, id: paths).id }
    let distinct = Set(ids).count
    proposal.note(
      "id", paths.map(\.description).joined(separator: ", "),
      distinct == rows.count
        ? "unique in all \(rows.count) rows" : "\(distinct) different in \(rows.count) rows")
    if distinct * 2 < rows.count {
      proposal.manifest.id = []
      proposal.warnings.append("nothing identifies a row: name the members that do")
    } else if distinct < rows.count {
      proposal.warnings.append("\(rows.count - distinct) rows have no ID of their own")
    }
  }

  /// Asks which of the members that differ in all rows identifies a row.
  private func chooseID(_ rows: [JSON]) -> [JSONPath]? {
    guard let first = rows.first else { return nil }
    let paths = first.scalars(depth: 2).map(\.path).filter { path in
      let values = rows.map { path.value(in: $0) ?? .null }
      return values.allSatisfy(\.isIdentifying) && Set(values.map(\.idText)).count == rows.count
    }.prefix(Self.maxOptions)
    let options = paths.map { "\($0): \($0.value(in: first)?.idText.oneLine(atMost: 40) ?? "")" }
    guard !options.isEmpty, let index = choose("What identifies a record?", options) else {
      return nil
    }
    return [paths[index]]
  }

  private func chooseTotal(_ proposal: inout Proposal, _ first: Sample, _ second: Sample?) {
    if let total = proposal.manifest.total {
      let number = first.number(at: total)
      proposal.note("total", total.description, number.map { "\($0) records" } ?? "as told")
      if number == nil { proposal.warnings.append("there is no number at \"\(total)\"") }
      return
    }
    guard let rows = proposal.manifest.rows,
      // A number of records that is smaller than what was read is of something else.
      let path = first.exchange.totalPath(
        rowCount: first.rows.count + (second?.rows.count ?? 0), rows: rows.path)
    else {
      proposal.note("total", "–", "not given by this API")
      return
    }
    proposal.manifest.total = path
    let samples = [first, second].compactMap(\.self)
    let values = samples.compactMap { $0.number(at: path) }
    proposal.note(
      "total", path.description,
      values.count > 1 && Set(values).count > 1
        ? "changes from page to page" : "\(values.first ?? 0) records")
  }

  private func chooseFields(_ proposal: inout Proposal, _ rows: [JSON]) {
    let inference = FieldInference(rows: rows, id: proposal.manifest.id)
    if proposal.manifest.fields.isEmpty { proposal.manifest.fields = inference.fields }
    let names = proposal.manifest.fields.map(\.name)
    proposal.note(
      "fields", names.prefix(5).joined(separator: ", "),
      names.count > 5 ? "\(names.count - 5) more" : "")
    let manifest = proposal.manifest
    if manifest.title == nil {
      proposal.manifest.title = inference.path(
        named: ["title", "name", "displayname", "label", "fullname"]) { $0.isIdentifying }
    }
    if manifest.link == nil {
      proposal.manifest.link = inference.path(
        named: ["htmlurl", "weburl", "permalink", "link", "pageurl", "homepage", "url"]
      ) { [host = URL(string: manifest.url)?.host()] value in
        // A URL of the API itself is no page for people.
        value.isURL && !value.isImageURL && URL(string: value.idText)?.host() != host
      }
    }
    if manifest.image == nil {
      proposal.manifest.image = inference.path(
        named: [
          "image", "imageurl", "thumbnail", "thumbnailurl", "avatarurl", "picture", "photo",
          "cover",
          "icon", "logo", "poster", "thumb", "smallimage",
        ]
      ) { $0.isURL }
    }
  }

  // MARK: - Paging

  private func choosePaging(
    _ proposal: inout Proposal, _ first: Sample
  ) async throws(SourceError) -> Sample? {
    guard let rows = proposal.manifest.rows else { return nil }
    let inference = PagingInference(
      exchange: first.exchange, rows: rows.path, rowCount: first.rows.count,
      id: IDInference(rows: first.rows, noun: proposal.manifest.noun).best.flatMap {
        $0.count == 1 ? $0[0] : nil
      })
    var manifest = proposal.manifest
    if manifest.paging.size == nil { manifest.paging.size = inference.size }
    if manifest.paging.more == nil { manifest.paging.more = inference.more }
    let isGiven = manifest.paging.step != nil
    let candidates =
      manifest.paging.step.map { [PagingCandidate(step: $0, evidence: "as told", isSaid: true)] }
      ?? inference.candidates
    var ignored = 0
    var tried = 0
    for candidate in candidates.prefix(Self.maxProbes) {
      manifest.paging.step = candidate.step
      tried += 1
      switch try await verdict(on: candidate, manifest, first, &proposal) {
      case .proved(let second, let step):
        manifest.paging.step = step
        manifest.paging.proof = .proved
        if let size = manifest.paging.size, size.value > first.rows.count {
          // Otherwise every page would look like the last.
          manifest.paging.size?.value = first.rows.count
          proposal.warnings.append(
            "the service sends \(first.rows.count) rows a page instead of \(size.value)")
        }
        var reason = "page 2 fetched: \(second.rows.count) new rows, none repeated"
        if manifest.repeatsToken(first.response, second.response) {
          manifest.paging.tokenOnce = true
          reason += "; the same token for every page"
        }
        proposal.manifest.paging = manifest.paging
        proposal.note("paging", candidate.evidence, reason)
        return second
      case .ignored: ignored += 1
      case .ended where candidate.isSaid:
        // The response names its paging, and that this is the last page.
        manifest.paging.proof = isGiven ? .unproved : .single
        proposal.manifest.paging = manifest.paging
        proposal.note("paging", candidate.evidence, "the first page is the last")
        return nil
      case .ended, .refuted: break
      }
    }
    proposal.manifest.paging.more = nil
    let total = first.exchange.totalPath(rowCount: first.rows.count, rows: rows.path).flatMap {
      first.number(at: $0)
    }
    // A number that is called `count` may also be that of this page.
    let isWhole = ignored == tried && total ?? 0 <= first.rows.count
    let isSaid = total == first.rows.count && first.exchange.saysTotal(rows: rows.path)
    if isSaid || isWhole && !inference.saysMore, !isGiven {
      proposal.manifest.paging.proof = .single
      proposal.note(
        "paging", "single",
        isSaid
          ? "all \(first.rows.count) records are in one response"
          : "\(tried) parameters were tried, and each repeated the first page")
    } else {
      if isGiven { proposal.manifest.paging = manifest.paging }
      proposal.manifest.paging.proof = .unproved
      proposal.note("paging", "–", "no second page was found with \(tried) requests")
      proposal.warnings.append("paging is not proved: name its parameter or its next link")
    }
    return nil
  }

  private enum Outcome {
    case proved(Sample, Manifest.Paging.Step)
    case ignored
    /// The page after the first is empty, or there is none.
    case ended
    case refuted(String)
  }

  /// Requests the second page, and compares it with the first.
  private func verdict(
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
        let list = try manifest.request(manifest.url, in: settings, knowing: known)
        guard let stored = list.storedLink(link, otherHosts: Set(manifest.paging.hosts)) else {
          throw SourceError(
            .rejected, "the next link leads to another host: \(link.oneLine(atMost: 80))",
            cause: URL(string: link)?.host().map(OtherHost.init))
        }
        start = .link(stored)
      case .parameters(let parameters)?: start = .parameters(parameters)
      default: return .ended
      }
    }
    let second: Sample
    switch try await fetch(manifest, at: start, &proposal) {
    case .success(let sample): second = sample
    case .failure(let error):
      // A refusal of the position after the last is an end; of anything else it is no proof.
      return .refuted(error.message)
    }
    if second.rows.isEmpty { return .ended }
    let (one, two) = (first.texts, second.texts)
    if one == two { return .ignored }
    let repeated = Set(one).intersection(two).count
    switch candidate.step {
    case .offset(var parameter)
    where repeated == 1 && parameter.value == 0 && one.last == two.first:
      // Rows are counted from 1.
      parameter.value = 1
      var next = manifest
      next.paging.step = .offset(parameter)
      let again = try await fetch(next, at: .offset(1 + first.rows.count), &proposal)
      guard case .success(let sample) = again, Set(one).isDisjoint(with: sample.texts) else {
        return .refuted("rows are repeated")
      }
      return .proved(sample, .offset(parameter))
    case .page(var parameter) where repeated == 0 && !candidate.isSaid:
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
    default: break
    }
    return repeated == 0
      ? .proved(second, candidate.step) : .refuted("\(repeated) rows are repeated")
  }
}

extension Prober.Sample {
  fileprivate func number(at path: Manifest.ResponsePath) -> Int? {
    switch path {
    case .header(let name): exchange.header(name).flatMap { Int($0) }
    case .body(let path):
      path.value(in: exchange.document).flatMap { Scalar(path: path, value: $0).integer }
    case .lastRow: nil
    }
  }
}

extension Proposal {
  fileprivate mutating func note(_ key: String, _ value: String, _ reason: String) {
    evidence.append(Evidence(key: key, value: value, reason: reason))
  }
}

extension Manifest {
  /// True if a service sends one token for different pages: then it counts the requests, and one that is
  /// repeated would skip a page.
  fileprivate func repeatsToken(_ first: HTTPResponse, _ second: HTTPResponse) -> Bool {
    let tokens = [first, second].map { response -> String? in
      guard case .token(let token)? = (try? decode(response, by: ""))?.next else { return nil }
      return token
    }
    return tokens[0] != nil && tokens[0] == tokens[1]
  }

  /// What a record is probably called.
  fileprivate var noun: String? {
    if let name = rows?.path.lastName, !name.isEmpty { return words(of: name).last.map(singular) }
    return URL(string: url).flatMap {
      Exchange(url: $0, body: nil, headers: [], document: .null).noun
    }
  }
}

extension JSON {
  fileprivate var isImageURL: Bool {
    guard case .string(let text) = self else { return false }
    let path = text.prefix { $0 != "?" }.lowercased()
    return [".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"].contains { path.hasSuffix($0) }
  }
}
