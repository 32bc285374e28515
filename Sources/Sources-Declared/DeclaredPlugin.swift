import AggregatorFormats
public import AggregatorKit

/// A source that is declared by a manifest instead of code.
public struct DeclaredPlugin: Plugin {
  public let name: String
  let lazy: Lazy<Result<Manifest, SourceError>, Never>
  let folder: ManifestFolder?
  /// The service of which it is a list; `nil` if it has a manifest of its own.
  package let service: String?
  /// These are made once, as they are asked for with each record.
  private let lazyFields: Lazy<[Field<DeclaredRecord>], Never>
  private let lazyPolicy: Lazy<Policy, Never>
  private let lazyLayout: Lazy<RecordLayout<DeclaredRecord>, Never>

  /// A source whose secrets are not bound to a host, for a manifest that was written by this process.
  package init(_ name: String, _ manifest: Manifest) {
    self.init(name, folder: nil, service: nil, Lazy { .success(manifest) })
  }

  package init(_ name: String, in folder: ManifestFolder, of service: String? = nil) {
    self.init(
      name, folder: folder, service: service,
      Lazy { Result { () throws(SourceError) in try folder.manifest(name) } })
  }

  private init(
    _ name: String, folder: ManifestFolder?, service: String?,
    _ lazy: Lazy<Result<Manifest, SourceError>, Never>
  ) {
    (self.name, self.folder, self.service, self.lazy) = (name, folder, service, lazy)
    let fields = Lazy<[Field<DeclaredRecord>], Never> { Self.manifest(of: lazy).recordFields }
    lazyFields = fields
    lazyLayout = Lazy { Self.manifest(of: lazy).layout(of: fields.value()) }
    lazyPolicy = Lazy { Self.manifest(of: lazy).policy(of: name) }
  }

  /// The manifest; one without anything if it cannot be read, which ``remote(in:)`` reports.
  package var manifest: Manifest { Self.manifest(of: lazy) }

  private static func manifest(of lazy: Lazy<Result<Manifest, SourceError>, Never>) -> Manifest {
    (try? lazy.value().get()) ?? Manifest(url: "")
  }

  /// The reason the manifest cannot be used; `nil` if it can.
  package var failure: SourceError? {
    do throws(SourceError) { _ = try lazy.value().get() } catch { return error }
    return nil
  }

  public var summary: String {
    if let failure { return "error: \(failure.message)".oneLine(atMost: 200) }
    // A manifest may come from others, and is shown in help before anything of it is used.
    if let summary = manifest.summary { return summary.oneLine(atMost: 200) }
    let address = URL(string: manifest.url.prefix { $0 != "?" } + "").map {
      "\(manifest.authority ?? $0.host() ?? "")\($0.path())"
    }
    return address?.replacing("%7B", with: "{").replacing("%7D", with: "}") ?? manifest.url
  }

  /// The method and the URL without its query: `GET https://api.example/things`.
  package var endpoint: String {
    if let tap = manifest.tap { return tap.command.map(\.shellQuoted).joined(separator: " ") }
    if let file = manifest.file { return "file \(file)" }
    return "\(manifest.body == nil ? "GET" : "POST") \(manifest.url.prefix { $0 != "?" })"
  }

  public var account: String { manifest.auth?.account ?? keyNames }

  /// Deletes the tokens with which the source has signed in, but not those that another declared source needs.
  ///
  /// - Throws: ``SourceError`` with code `storage` or `busy`.
  package func removeTokens(
    butThoseOf others: some Sequence<any Plugin>, in environment: PluginEnvironment
  ) async throws(SourceError) {
    guard let auth = manifest.auth, let directory = environment.tokenDirectory else { return }
    try await Authorizer.removeTokens(
      of: auth, butThoseOf: others.compactMap { ($0 as? DeclaredPlugin)?.manifest.auth },
      in: environment.settings, keptIn: directory.path)
  }

  public func scope(in settings: SourceSettings) -> String {
    // Pages and the progress of a sync are kept with the records, whose scope knows the secret.
    manifest.scope
  }

  /// The scope of the records in a store; `nil` if the manifest cannot be read.
  ///
  /// Records of another address, or with other IDs, are those of another source; with another secret they may
  /// be those of another account.
  package func recordScope(in settings: SourceSettings) -> StoreScope? {
    guard (try? lazy.value().get()) != nil else { return nil }
    return recordScope(in: settings, of: secret(in: settings))
  }

  /// Warnings of the paths of fields, tables, titles, links and images that none of some records has.
  package func missingPaths(in records: [DeclaredRecord]) -> [String] {
    let paths =
      manifest.fields.map(\.path) + manifest.tables.map(\.path)
      + [manifest.title, manifest.link, manifest.image].compactMap(\.self)
    return Manifest.missing(paths, in: records).map { path, near in
      let suggestion = near.map { "; did you mean \"\($0)\"?" } ?? ""
      return "none of \(records.count.grouped("cached record")) has \"\(path)\"\(suggestion)"
    }
  }

  /// The command line that adds the source again, with the numbers of its rows as IDs; `nil` if it cannot say all that the
  /// source needs.
  package var numberingCommand: String? {
    let manifest = manifest
    guard manifest.canNumberRows, !manifest.numbersRows, manifest.auth == nil, service == nil else {
      return nil
    }
    var options = ["--id '\(Manifest.rowNumber)'"]
    if let rows = manifest.rows, rows.path != .root {
      options.insert("--rows \(rows.description.shellQuoted)", at: 0)
    }
    if manifest.file == nil { options.append("--single") }
    return manifest.addCommand(as: name, isList: false, options: options)
  }

  public var example: PluginExample { .unknown }

  public var settings: [Setting] {
    manifest.secretNames.map {
      Setting(
        $0, .secret,
        about: "secret of \(service ?? name), sent to \(manifest.authority(of: $0) ?? "") only")
    }
  }

  public var fields: [Field<DeclaredRecord>] { lazyFields.value() }

  public var tables: [NestedTable<DeclaredRecord>] { manifest.tables.map(\.nested) }

  /// The service, whose records may lead to images in its own network.
  public var serviceURLs: [URL] {
    manifest.file == nil ? URL(string: manifest.url).map { [$0] } ?? [] : []
  }

  /// The URL that the lists of a service share.
  public var resourceBase: URL? {
    manifest.base.flatMap { URL(string: $0.hasSuffix("/") ? $0 : "\($0)/") }
  }

  public var layout: RecordLayout<DeclaredRecord> { lazyLayout.value() }

  public var policy: Policy { lazyPolicy.value() }

  public var changes: ChangeTracking? { manifest.changes?.tracking }

  public var decoderVersion: String? { manifest.json.text }

  public var partitions: Partitions? { manifest.each?.partitions }

  public func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<DeclaredRecord> {
    try remote(in: environment, changedSince: nil)
  }

  /// Refuses secrets that are not bound to the host, or the program, that would get them.
  func requireBoundSecrets(in environment: PluginEnvironment) throws(SourceError) {
    guard let folder else { return }
    let manifest = manifest
    try folder.requireAdded(manifest, as: name)
    // A replay sends nothing.
    let own = environment.isReplaying ? manifest.auth?.settings.map(\.key) ?? [] : []
    for secret in manifest.secretNames where !own.contains(secret) {
      let host = manifest.authority(of: secret) ?? manifest.authority ?? name
      if folder.isBound(secret, to: host) { continue }
      throw SourceError(
        .missingKey, "\(secret) may not be sent to \(host) yet",
        remedy: "setting it allows that, also if an environment variable has its value")
    }
  }

  public func remote(
    in environment: PluginEnvironment, changedSince mark: String?
  ) throws(SourceError) -> any DataSource<DeclaredRecord> {
    // Without a partition nothing is sent.
    let value = (environment.partition ?? .sample).value
    let (manifest, known) = (try lazy.value().get().filled(with: value), settings)
    let settings = environment.settings
    let service = manifest.authority ?? name
    if let tap = manifest.tap {
      // A missing key is an error before a sync.
      for setting in known where settings.secret(setting) == nil {
        throw SourceError(.missingKey, "\(setting.key) is not set")
      }
      return UnavailableSource(
        SourceError(
          .unsupported, "\(tap.name) sends its records to a sync alone",
          remedy: Remedy("\(name) sync", .command)))
    }
    if let key = manifest.missingKey {
      throw SourceError(
        .invalidSettings, "the manifest is incomplete: it has no \"\(key)\"",
        remedy: Remedy(manifest.addCommand(as: name, isList: self.service != nil), .command))
    }
    try requireBoundSecrets(in: environment)
    var all = try manifest.request(manifest.url, in: settings, knowing: known)
    if manifest.file != nil { all.limits.bodyBytes = FileTransport.maxBytes }
    let changed = mark.flatMap { mark in
      manifest.changes?.parameter.map { all.setting(manifest.parameter($0), to: mark) }
    }
    let list = changed ?? all
    var environment = try manifest.authorized(environment)
    if manifest.file != nil {
      guard !environment.isReplaying else {
        throw SourceError(.notRecorded, "a file is not recorded, so it cannot be replayed")
      }
      environment.transport = FileTransport()
    }
    var paging = manifest.restPaging
    // Pages that can be requested in any order are compared with those that were read last.
    paging.predictsCursors = manifest.file != nil
    if manifest.isFile {
      paging = .file
      paging.isUnproved = manifest.restPaging.isUnproved
      environment = environment.readingFiles(of: self, as: manifest.format)
    }
    var source = RESTSource<DeclaredRecord>(
      name, of: service, in: environment, list: list, paging: paging
    ) { response, _ throws(SourceError) in
      try manifest.decode(response, by: service)
    }
    .handlingErrors(by: manifest.errors)
    source.collection = mark.map { "since \($0)" }
    source.format = manifest.format
    source.rows = manifest.rowNames
    if manifest.item != nil {
      source = source.item(
        at: { manifest.itemRequest($0, in: settings, knowing: known) },
        decoding: { response, id throws(SourceError) in
          try manifest.decodeItem(response, id: id, by: service)
        })
    }
    switch manifest.search {
    case nil: break
    case .parameter(let parameter):
      source = source.searching { query in
        list.setting(manifest.parameter(parameter), to: query.text)
      }
    case .url(let url):
      // The settings were checked with the list's URL; a search without them is the list's request.
      source = source.searching { query in
        let address = url.replacing("{query}", with: query.text.percentEncoded)
        return (try? manifest.request(address, in: settings, knowing: known)) ?? list
      }
    }
    return source
  }
}

extension Manifest {
  fileprivate func layout(of fields: [Field<DeclaredRecord>]) -> RecordLayout<DeclaredRecord> {
    var link: (@Sendable (DeclaredRecord) -> String?)?
    if let path = self.link { link = { path.text(in: $0.row) } }
    var images: (@Sendable (DeclaredRecord, ImageSize) -> [String])?
    if let path = image {
      images = { record, _ in path.text(in: record.row).map { [$0] } ?? [] }
    }
    // A card has the ID once.
    let copies = self.fields.filter { [$0.path] == id && $0.name != "id" }.map(\.name)
    return RecordLayout(
      card: fields.map(\.name).filter { !copies.contains($0) }, link: link, images: images)
  }

  fileprivate func policy(of source: String) -> Policy {
    // All pages of a file are one request.
    let isFileOnly = isFile && item == nil && search == nil
    let rate = (isFileOnly || file != nil ? nil : self.rate).map {
      Setting("\(source)_RATE", .rate, default: "\($0)", about: "rate limit of \(source)")
    }
    // Of several lists, each of which may be one page, ten at least.
    let bound = each == nil ? 1000 : max(1000, 10 * pageSize)
    var policy = Policy(
      deadline: timeout, rate: rate, largestPage: pageSize,
      upstreamPageSize: .fixed(pageSize),
      localSearchBound: search == nil ? bound : nil,
      readOrder: .liveFirst(freshFor: fresh))
    policy.listIsFile = isFile
    policy.file = file
    // Only a page that is not cut is known to be unchanged, and of pages of an unknown size each is one request.
    if !isFile, file != nil || paging.step != nil && paging.size == nil {
      policy.syncPageSize = .fixed(100_000)
    }
    if tap != nil { (policy.readOrder, policy.rate) = (.storedOnly, nil) }
    return policy
  }

  /// Without a page size of the service, a usual one; for a single response, more than it has.
  private var pageSize: Int {
    paging.size?.value ?? (isFile ? FilePages.maxRows : paging.step == nil ? 1_000_000 : 100)
  }
}

extension Manifest {
  /// A text that differs if other records, or other IDs, are read.
  package var scope: String {
    let parts: [JSON] = [
      .string(url), body ?? .null, .string(rows?.description ?? ""),
      .array(idTexts.map(JSON.string)),
    ]
    if let tap { return JSON.array([tap.scope, parts[3]]).text }
    return JSON.array(parts + (each.map { [$0.scope] } ?? [])).text
  }

  /// A key without which nothing can be read; `nil` if there is none missing.
  fileprivate var missingKey: String? {
    rows == nil ? "rows" : idTexts.isEmpty && rows?.isEntries != true ? "id" : nil
  }

  /// The command line that infers what is missing.
  ///
  /// A manifest that was written by hand may contain a secret itself, which is left out. For a list of a service, the
  /// command only prints what it finds out.
  fileprivate func addCommand(
    as name: String, isList: Bool, options: [String] = []
  ) -> String {
    let url =
      file
      ?? url.replacing(/([?&])([^=&]*)=([^&]*)/) { match in
        "\(match.1)\(match.2)=\(shown(String(match.3), of: String(match.2)))"
      }
    var words = ["sources add", name, url.shellQuoted]
    for header in headers {
      let value = shown(header.value, of: header.name)
      words += ["--header", "\(header.name): \(value)".shellQuoted]
    }
    if let body { words += ["--body", body.text.shellQuoted] }
    switch each?.partitions {
    case .days(let first, _, _): words += ["--each", first]
    case .values(let values): words += ["--each", values.joined(separator: ",").shellQuoted]
    case .records, nil: break
    }
    return (words + options + [isList ? "--dry-run" : "--replace"]).joined(separator: " ")
  }

  /// `${NAME}` instead of a value that may be a secret.
  private func shown(_ value: String, of name: String) -> String {
    (LikelySecret.isHeader(name, value: value) || LikelySecret.isParameter(name))
      && !value.contains("${") ? "${NAME}" : value
  }
}

extension JSONPath {
  fileprivate func text(in row: JSON) -> String? {
    value(in: row)?.string.flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension Manifest {
  /// The kind of the values of a field; `nil` if the manifest does not say it.
  package func kind(ofField name: String) -> FieldKind? {
    let path = fields.first { $0.name == name }?.path
    switch kinds.paths.first(where: { $0.path == path })?.kind {
    case nil: return nil
    case .number?, .decimalComma?: return .number
    case .boolean?: return .bool
    case .dayFirst?, .monthFirst?: return .text
    }
  }

  /// The fields of a record.
  fileprivate var recordFields: [Field<DeclaredRecord>] {
    let id = idField
    let each = [self.each?.field.field(storedIn: "row", \DeclaredRecord.row)].compactMap(\.self)
    // Nothing says which members records have.
    guard !fields.isEmpty else { return [id] + each + [Self.whole] }
    // Columns of SQL are the same in upper and lower case.
    var names = Set(["id"] + each.map { $0.name.lowercased() })
    var declared = fields.filter { names.insert($0.name.lowercased()).inserted }
    let name = declared.firstIndex { $0.path == title }
    // The columns of a table are in the order of its file.
    if let name, format?.isTable != true { declared.insert(declared.remove(at: name), at: 0) }
    // The column `ID` has it already.
    let others = declared.filter { [$0.path] != self.id }
    let rest = others.filter { $0.path != title }
    // Long texts are shown only where there are too few others.
    let named =
      others.filter { $0.path == title } + rest.filter(\.isShown) + rest.filter { !$0.isShown }
    let shown = named.prefix(Self.shownFields).map(\.name)
    let kinds = Dictionary(self.kinds.paths.map { ($0.path, $0.kind) }) { first, _ in first }
    return [id] + each
      + declared.map { declared -> Field<DeclaredRecord> in
        let field: Field<DeclaredRecord> = declared.field(
          storedIn: "row", isShown: shown.contains(declared.name), of: kinds[declared.path], \.row)
        return declared.path == title ? field.asName() : field
      }
  }

  /// The ID with the kind that the service sends, so that numbers compare as such, also in SQL.
  private var idField: Field<DeclaredRecord> {
    let about = "Identifier of the record."
    if numbersRows {
      return Field("id", "ID", .integer, about: about) { Int($0.id).map(JSON.integer) ?? .null }
        .stored(at: "id")
    }
    guard idPaths.count == 1, let path = idPaths.first, let names = path.components.plainNames
    else { return Field("id", "ID", \.id, about: about) }
    return Field("id", "ID", .any, about: about) { path.value(in: $0.row) ?? .string($0.id) }
      .stored(at: (["row"] + names).joined(separator: "."))
  }

  /// All members of a record, for a manifest without fields.
  private static let whole = Field<DeclaredRecord>(
    "record", "record", .any, about: "All members of the record.", isShown: false, read: \.row
  ).stored(at: "row")

  private static let shownFields = 5
}
