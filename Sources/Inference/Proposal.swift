import AggregatorFormats
package import AggregatorKit
package import DeclaredSource

/// A manifest that was inferred from the responses of an API, and the evidence for each part of it.
package struct Proposal: Sendable {
  package struct Evidence: Sendable {
    /// The subject: `rows`, `id`, `fields`, `link`, `left out`, `paging` or `total`, and of a hint or a probe `item`,
    /// `more`, `search`, `size` or `depth`.
    package var key: String
    package var value: String
    package var reason: String
  }

  @Indirect var manifest: Manifest
  package var evidence: [Evidence] = []
  package var warnings: [String] = []

  /// Another list that may have the records.
  package struct Rival: Sendable {
    package let path: String
    /// The one of ``warnings`` that says so.
    package let warning: String
  }

  /// The likeliest other list; `nil` if none is nearly as likely.
  package var rival: Rival?

  /// The values that may fit as well, or instead of none, by the key of the evidence: `rows`, the likeliest first, or `id`.
  package var choices: [String: [String]] = [:]

  /// The number of requests that were sent, without repetitions after a pause.
  package var requests = 0

  /// The time at which the service accepts requests again, if its last response says that no quota is left.
  var quotaReset: Date?

  /// True if the time limit kept a request from being sent or answered.
  package var isOutOfTime = false

  /// The number of rows on the first page; `nil` if it was not requested.
  package var rowCount: Int?

  /// The first rows of the first page.
  package var rows: [JSON] = []

  /// True if the list of records is empty, so that it shows neither an ID nor fields nor paging.
  package var hasNoRows: Bool { rowCount == 0 }

  /// True if rows of the first page cannot be read, or are missing because a file ends too early.
  package var isPartial = false

  /// The keys of hints that the responses contradict.
  package var disproved: [String] = []

  /// True if the paging is proved, all rows have IDs, and no hint is contradicted.
  package var isProved: Bool { isComplete && isPagingProved && disproved.isEmpty }

  /// True if the rows of a second page, or the end after the first, were seen.
  package var isPagingProved: Bool { manifest.paging.proof.map { $0 != .unproved } ?? false }

  /// False if records cannot be read, because nothing is known to identify them.
  package var isComplete: Bool { !manifest.idTexts.isEmpty || manifest.rows?.isEntries ?? false }

  /// True if the number of a row can be its ID.
  package var canNumberRows: Bool { manifest.canNumberRows }

  /// The manifest as JSON.
  package var json: JSON { manifest.json }

  /// The reason nothing can be saved yet; `nil` if it can.
  package var obstacle: String? {
    guard !isComplete else { return nil }
    return hasNoRows ? "the list is empty, and shows no ID" : "records have no ID"
  }

  /// Requests an API and infers what `hints`, a manifest with at least a URL, does not say.
  ///
  /// `isProbing` also tries the usual forms of what a list does not show, with at most 12 more requests.
  ///
  /// - Throws: ``SourceError``: `invalidSettings` for an invalid hint, or that of the first request.
  package init(
    for name: String, from hints: JSON, isSingle: Bool = false, isProbing: Bool = false,
    in environment: PluginEnvironment,
    choosing choose: @escaping Choice = { _, _ in nil }
  ) async throws(SourceError) {
    let hints = try Manifest(reading: Data(hints.text.utf8))
    let prober = Prober(
      name: name, environment: try hints.authorized(environment), choose: choose)
    guard let each = hints.each,
      // Its parent signs in by itself.
      let lists = try DeclaredPlugin(name, hints).partitionList(in: environment)
    else {
      self = try await prober.complete(hints, isSingle: isSingle, isProbing: isProbing)
      return
    }
    self = try await prober.complete(
      hints, forEach: each, of: lists, isSingle: isSingle, isProbing: isProbing)
  }

  /// Requests a list that is described, and proves what the description says.
  ///
  /// `previous` is the list of the same service that was requested before.
  ///
  /// - Throws: ``SourceError``: `invalidSettings` for an invalid hint, or that of the first request.
  package init(
    for name: String, from hints: JSON, describedBy description: ListDescription,
    after previous: Proposal?, in environment: PluginEnvironment
  ) async throws(SourceError) {
    let hints = try Manifest(reading: Data(hints.text.utf8))
    var prober = Prober(name: name, environment: try hints.authorized(environment)) { _, _ in nil }
    prober.description = description
    prober.previous = previous
    self = try await prober.complete(hints)
  }

  /// Proposes a list as it is described, without any request, and so without proof.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` for an invalid hint.
  package init(
    of hints: JSON, describedBy description: ListDescription, in environment: PluginEnvironment
  ) throws(SourceError) {
    let hints = try Manifest(reading: Data(hints.text.utf8))
    var prober = Prober(name: "", environment: environment) { _, _ in nil }
    prober.description = description
    self = prober.describe(hints)
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

  /// This proposal with the choices of a person, as ``Manifest/edited(title:names:id:)`` takes them.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings`.
  package func edited(
    title: String?, names: [String: String]?, link: String? = nil, image: String? = nil
  ) throws(SourceError) -> Proposal {
    var edited = self
    edited.manifest = try manifest.edited(title: title, names: names, link: link, image: image)
    return edited
  }

  /// Tells a source of the proposal how long the service accepts no request, if its last response says that no quota is left.
  package func passOnQuota(to name: String, in environment: PluginEnvironment) async {
    guard let quotaReset else { return }
    let pause = Duration.seconds(quotaReset.timeIntervalSince(environment.now()))
    guard pause > .zero else { return }
    await DeclaredPlugin(name, manifest).pauseService(for: pause, in: environment)
  }

  /// See ``Plugin/rateNote(in:isChosen:)``.
  package func rateNote(
    as name: String, in environment: PluginEnvironment, isChosen: Bool
  ) -> String? {
    DeclaredPlugin(name, manifest).rateNote(in: environment, isChosen: isChosen)
  }

  init(manifest: Manifest) { self.manifest = manifest }

  /// True if another request may be sent, of a number of them in all.
  func mayRequest(until end: Int) -> Bool { requests < end && !isOutOfTime }

  mutating func note(_ key: String, _ value: String, _ reason: String) {
    evidence.append(Evidence(key: key, value: value, reason: reason))
  }

  /// Names members of rows that are no fields.
  mutating func noteLeftOut(_ paths: [JSONPath], _ reason: String) {
    guard !paths.isEmpty else { return }
    note("left out", paths.map(\.fieldName).joined(separator: ", "), reason)
  }
}

/// A response that cannot be a list.
package enum UnusableResponse: Error {
  /// The service wants credentials, or others: 401.
  case unauthorized(keyPlace: String)
  /// 403, which may mean the same.
  case refusal(keyPlace: String)
  /// An HTML page, perhaps at another URL, to which the service redirects, as those do that want a person to sign in.
  case page(isRedirected: Bool)
  /// Neither JSON nor a format that is read as JSON.
  case otherFormat

  /// Where the service probably takes a key, as ``SourceRequest/add(key:in:)`` reads it; `nil` if it wants none.
  package var keyPlace: String? {
    switch self {
    case .unauthorized(let place), .refusal(let place): place
    case .page, .otherFormat: nil
    }
  }

  /// The place that a response names; the usual one if it names none.
  private static func keyPlace(in response: HTTPResponse) -> String {
    let text = String(decoding: response.body.prefix(4096), as: UTF8.self)
    if let match = text.firstMatch(of: /(?i)(?:^|[^a-z-])(x-[a-z-]*(?:key|token))/) {
      return String(match.1)
    }
    let scheme = response.header("WWW-Authenticate")?.prefixMatch(of: /(?i)(?:Bearer|Token)\b/)
    if scheme == nil, let match = text.firstMatch(of: /(?:^|[^a-z_])(api_?key|access_token|appid)/)
    {
      return "?\(match.1)"
    }
    return "Authorization: \(scheme.map { String($0.0) } ?? "Bearer")"
  }

  init?(_ response: HTTPResponse, isRedirected: Bool) {
    switch (response.status, response.body.firstSignificantByte) {
    case (401, _): self = .unauthorized(keyPlace: Self.keyPlace(in: response))
    case (403, _): self = .refusal(keyPlace: Self.keyPlace(in: response))
    case (200..<300, let first?):
      self =
        first == UInt8(ascii: "<") && !response.body.isXML
        ? .page(isRedirected: isRedirected) : .otherFormat
    default: return nil
    }
  }
}

/// A response, or a file, without a list of objects.
package struct NoList: Error {
  package let isFile: Bool

  /// The path of the members of an object that may be the records; `nil` for none.
  package let entries: String?

  /// The path of a list of lists, whose values have no names; `nil` for none.
  package let lists: String?
}

/// The host to which a next link leads, and which the manifest does not allow.
package struct OtherHost: Error {
  package let host: String
}

/// The secret settings that a manifest's URL, header fields and `auth` name.
///
/// - Throws: ``SourceError`` with code `invalidSettings` if the manifest is invalid, or if a secret that is not in
///   `replaced` belongs to another host.
package func declaredSecrets(
  of name: String, in hints: JSON, boundIn folder: ManifestFolder, replacing replaced: Set<String>
) throws(SourceError) -> [Setting] {
  let manifest = try Manifest(reading: Data(hints.text.utf8))
  try folder.check(manifest.secretHosts.filter { !replaced.contains($0.key) })
  return DeclaredPlugin(name, manifest).settings
}
