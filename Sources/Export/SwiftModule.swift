import AggregatorInference
package import AggregatorKit
package import DeclaredSource

/// The source of a manifest as a Swift module: record, plugin, bundled data, and a test of the laws.
///
/// The types of the record's properties are those of the rows of the service's first page.
package struct SwiftModule: Sendable {
  package struct File: Sendable {
    /// The path below the folder of a package.
    package let path: String
    package let text: String
  }

  package private(set) var files: [File] = []

  /// The parts of the manifest that the module lacks, each with the place where to write it.
  package private(set) var notes: [String] = []

  /// The name of the target without its ending: `Papers` of `PapersSource`.
  package let module: String

  /// The type of a record.
  package let record: String

  /// True for a name that can be that of a record's type.
  package static func isRecordName(_ text: String) -> Bool {
    text.wholeMatch(of: /[A-Z][A-Za-z0-9]{0,39}/) != nil && !reservedRecords.contains(text)
  }

  /// Types that the code names, which a record of that name would hide.
  private static let reservedRecords: Set<String> = [
    "Any", "Array", "BundledSource", "Codable", "CodingKey", "CodingKeys", "DataSource", "Double",
    "Bool", "Data", "Field", "HTTPRequest", "Hashable", "Int", "JSON", "JSONPathComponent",
    "Optional", "Plugin", "PluginEnvironment", "PluginExample", "Policy", "Protocol", "RESTPaging",
    "RESTResponse", "RESTSource", "RecordLayout", "Secret", "Self", "Sendable", "Setting",
    "SourceError", "SourceRecord", "SourceSettings", "String", "Type", "URL",
  ]

  /// Writes the module of an added source, after it requested the first page and one record.
  ///
  /// - Parameter record: The type of a record, or a noun for it.
  /// - Throws: ``SourceError`` of the manifest and of the first request, and `unsupported` for an ID that a record in
  ///   Swift cannot have.
  package init(
    of name: String, in folder: ManifestFolder, record: String,
    environment: PluginEnvironment
  ) async throws(SourceError) {
    let manifest = try folder.manifest(name)
    guard manifest.each == nil else {
      throw SourceError(
        .unsupported, "one list for each of another cannot be exported",
        remedy: "return Plugin.partitions in a module of your own")
    }
    guard !manifest.numbersRows else {
      throw SourceError(.unsupported, "records with the numbers of rows as IDs cannot be exported")
    }
    // Secrets are sent only to the hosts to which they are bound.
    _ = try DeclaredPlugin(name, in: folder).remote(in: environment)
    let sample = try await ModuleSample(of: name, manifest, in: environment)
    try self.init(of: name, manifest, record: record, from: sample)
  }

  package init(
    of name: String, _ manifest: Manifest, record: String, from sample: ModuleSample
  ) throws(SourceError) {
    func type(_ name: String) -> String {
      name.split(separator: "-").map(\.capitalizedFirst).joined()
    }
    module = type(name)
    let own = type(record)
    self.record = own == module || !Self.isRecordName(own) ? "\(module)Item" : own
    let code = try ModuleCode(
      name: name, module: module, record: self.record, manifest: manifest, sample: sample)
    let sources = "Sources/Sources-\(module)"
    files = [
      File(path: "\(sources)/\(self.record).swift", text: code.recordText),
      File(path: "\(sources)/\(module)Plugin.swift", text: code.pluginText),
      File(path: "\(sources)/Resources/\(code.resource).json", text: code.bundledText),
      File(path: "\(sources)/Resources/README.md", text: code.readmeText),
      File(path: "Tests/\(module)Tests/\(module)Tests.swift", text: code.testText),
    ]
    notes = sample.notes + code.notes
  }
}

/// Replies of the service: its first page, and a single record.
package struct ModuleSample: Sendable {
  /// The first page.
  var page: JSON
  var rows: [JSON]

  /// A record by itself, and the path to it in its response; `nil` if there is none.
  var item: (row: JSON, path: JSONPath)?

  var date = ""
  var notes: [String] = []

  package init(page: JSON, rows: [JSON], item: (row: JSON, path: JSONPath)? = nil) {
    self.page = page
    self.rows = rows
    self.item = item
  }

  fileprivate init(
    of name: String, _ manifest: Manifest, in environment: PluginEnvironment
  ) async throws(SourceError) {
    let (document, rows) = try await Prober.firstPage(of: manifest, named: name, in: environment)
    self.init(page: document, rows: rows)
    date = String(environment.now().iso8601.prefix(10))
    guard !rows.isEmpty else {
      throw SourceError(
        .malformed, "no records now, so their types are unknown",
        remedy: "try again when it has records")
    }
    guard manifest.item != nil else { return }
    do throws(SourceError) {
      item = try await manifest.item(of: rows, in: environment, name)
    } catch {
      notes.append(
        "item: \(error.message): how a single record looks is assumed; see .item(…) in the plugin")
    }
  }
}

extension Manifest {
  /// Requests the first record by itself.
  fileprivate func item(
    of rows: [JSON], in environment: PluginEnvironment, _ name: String
  ) async throws(SourceError) -> (row: JSON, path: JSONPath)? {
    let record = rows.lazy.compactMap { try? DeclaredRecord($0, id: idPaths) }.first
    let known = DeclaredPlugin(name, self).settings
    guard let record, var request = itemRequest(record.id, in: environment.settings, knowing: known)
    else { return nil }
    request.limits.overall = timeout
    let service = authority ?? name
    let response = try await environment.transport.send(request).checked(
      by: service, wantsKey: !known.isEmpty, now: environment.now())
    var level = [(row: try response.document(by: service), path: JSONPath.root)]
    for _ in 0...Self.maxWrappers {
      if let found = level.first(where: {
        (try? DeclaredRecord($0.row, id: idPaths))?.id == record.id
      }) {
        return found
      }
      level = level.flatMap { place in
        place.row.array.map { elements in
          elements.enumerated().map { ($0.element, place.path.appending("\($0.offset)")) }
        } ?? place.row.members.map { ($0.value, place.path.appending($0.name)) }
      }
    }
    throw SourceError(.malformed, "\(service) sent no record with the ID \(record.id)")
  }
}
