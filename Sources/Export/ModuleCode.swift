import AggregatorKit
import DeclaredSource

/// The texts of the files of a ``SwiftModule``.
struct ModuleCode {
  let name: String
  let module: String
  let record: String
  @Indirect private(set) var manifest: Manifest
  let sample: ModuleSample

  let shape: RecordShape
  private(set) var notes: [String] = []

  /// The rows that are compiled into the module, as records write themselves.
  let bundled: [JSON]

  /// The name of the file with the bundled rows.
  ///
  /// The build plugin names a constant after it, in which digits may begin a word.
  let resource: String

  /// The names of settings in Swift, by their keys.
  let secrets: [(key: String, name: String)]

  /// The setting of the service's URL, and those of URLs that are not below it.
  let addresses: Addresses

  private static let maxBundled = 20
  private static let maxBundledBytes = 64 << 10

  init(
    name: String, module: String, record: String, manifest: Manifest, sample: ModuleSample
  ) throws(SourceError) {
    guard
      [manifest.url, manifest.item ?? ""].allSatisfy({
        URL(string: Addresses.parts($0).path)?.user() == nil
      })
    else {
      throw SourceError(
        .unsupported, "the URL has a user name, which settings cannot have",
        remedy: "use an Authorization header instead")
    }
    self.name = name
    self.module = module
    self.record = record
    self.manifest = manifest
    self.sample = sample
    let layout = [manifest.image, manifest.link].compactMap(\.self)
    let fields = Self.fields(of: manifest)
    let shape = try RecordShape(
      id: manifest.idPaths, others: fields.map(\.path) + layout, rows: sample.rows,
      item: sample.item?.row, type: record)
    self.shape = shape
    for (path, reason) in shape.leftOut {
      notes.append(
        "\(path.description.oneLine(atMost: 80)): \(reason): write a property of \(record) and its Field by hand"
      )
    }
    let seen = sample.rows + [sample.item?.row].compactMap(\.self)
    let unseen = fields.filter { field in
      shape.expression(field.path).map { $0.kind == .any && $0.rest.isEmpty } ?? false
        && seen.allSatisfy { (field.path.value(in: $0) ?? .null).isBlank }
    }
    if !unseen.isEmpty {
      let names = unseen.map(\.name).joined(separator: ", ").oneLine(atMost: 200)
      notes.append("fields: \(names) had no value, so the type is JSON: see \(record).swift")
    }
    var bundled: [JSON] = []
    var size = 0
    for row in sample.rows.prefix(Self.maxBundled).compactMap(shape.encoded) {
      size += row.text.utf8.count
      if size <= Self.maxBundledBytes { bundled.append(row) }
    }
    self.bundled = bundled
    let isPlain = name.wholeMatch(of: /[a-z]+[0-9]*(-[a-z]+[0-9]*)*/) != nil
    resource = isPlain ? name : "records"
    var names = SwiftNames(avoiding: Self.members)
    let prefix = name.uppercased().replacing("-", with: "_") + "_"
    secrets = manifest.secretNames.map { key in
      let own = key.hasPrefix(prefix) && key != prefix ? String(key.dropFirst(prefix.count)) : key
      return (key, names.property(own))
    }
    addresses = Addresses(of: manifest)
    let plugin = "\(module)Plugin.swift"
    if [.unproved, .presumed].contains(manifest.paging.proof) {
      notes.append(
        "paging: it is not proved, and no list will say so: compare their length in \(plugin)")
    }
    if let rows = manifest.rows, rows.isEntries || rows.path.isMultiple {
      notes.append(
        "rows: those of an object are in the order of its names: see the RESTSource in \(plugin)")
    }
    if !manifest.tables.isEmpty {
      let names = manifest.tables.map(\.name).joined(separator: ", ")
      notes.append("tables: \(names) are left out: write them as the tables of \(plugin)")
    }
    if errorRules == nil {
      notes.append(
        "errors: a path or a value of a rule is not plain: write .handlingErrors(by:) in \(plugin)")
    }
    if manifest.changes != nil {
      notes.append(
        "since: write changes and remote(in:changedSince:) in \(plugin), or every sync reads everything"
      )
    }
    if let obstacle = itemObstacle {
      notes.append("item: \(obstacle): write .item(at:decoding:) in \(plugin)")
    }
  }

  /// Members of a plugin, and constants of its `remote`.
  private static let members: Set<String> = [
    "account", "bundled", "changes", "environment", "example", "fields", "init", "itemURL",
    "layout", "list",
    "name",
    "paging", "policy", "rate", "remote", "scope", "searchURL", "self", "serviceURLs", "settings",
    "summary", "url", "verbs",
  ]

  // MARK: - Record

  /// The fields but for those of a name that is there already, the title first.
  static func fields(of manifest: Manifest) -> [Manifest.DeclaredField] {
    // Columns of SQL are the same in upper and lower case.
    var names: Set<String> = ["id"]
    var fields = manifest.fields.filter { names.insert($0.name.lowercased()).inserted }
    if let title = fields.firstIndex(where: { $0.path == manifest.title }) {
      fields.insert(fields.remove(at: title), at: 0)
    }
    return fields
  }

  var recordText: String {
    let ids = manifest.idPaths
    let isStored = ids == [.root.appending("id")]
    let parts = ids.compactMap(shape.expression).map { part in
      // The name may be a keyword, which only a dot before it makes a name.
      part.kind == .text ? "self.\(part.path)" : "String(self.\(part.path))"
    }
    let id =
      parts.count == 1
      ? parts[0]
      : """
      \(swiftCall("[", parts, "]", at: 4)).map {
        $0.replacing("%", with: "%25").replacing("/", with: "%2F")
      }.joined(separator: "/")
      """
    return "public import AggregatorKit\n\n"
      + shape.declaration(of: record, about: "One of the \(name).", id: isStored ? nil : id)
  }

  var bundledText: String { Self.pretty(.array(bundled)) + "\n" }

  private static func pretty(_ json: JSON) -> String {
    JSONFormatter.indented(Array(json.text.utf8)).map { String(decoding: $0, as: UTF8.self) }
      ?? json.text
  }

  var readmeText: String {
    let address = manifest.url.prefix { $0 != "?" }
    return """
      # \(resource).json

      The first \(name) of <\(address)>, read on \(sample.date). Make sure that its terms allow you to publish them, or
      replace them by invented ones.

      The keys are those of `\(record)` (see `\(record).swift`); the file is compiled into the binary.

      """
  }
}

extension JSON {
  /// True for what a record reads as missing.
  fileprivate var isBlank: Bool { self == .null || string.map { $0.nonBlank == nil } ?? false }
}
