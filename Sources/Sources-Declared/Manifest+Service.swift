import AggregatorKit

/// A file of the folder of manifests: the manifest of one source, or of a service with several lists, each of which is
/// a source.
///
/// ```json
/// {"service": {"base": "https://api.example/v3", "rate": "8/s"},
///  "resources": {"contacts": {"url": "/contacts"}, "deals": {"url": "/deals"}}}
/// ```
/// A list has the keys of a manifest. What `service` says is the default of all lists.
struct ManifestFile {
  static let maxLists = 64

  private let name: String
  private let reader: ManifestReader
  private let service: [ManifestReader.Member]
  private let resources: [ManifestReader.Member]

  /// The names of the lists in the order of the file; `nil` for the manifest of one source.
  var lists: [String]? { resources.isEmpty ? nil : resources.map(\.name) }

  /// Reads a file, and checks the names of its lists, but not what else it says of them.
  ///
  /// - Parameter name: The name of the file, with which the names of its sources begin.
  /// - Throws: ``SourceError`` with code `invalidSettings` and the line of the first mistake.
  init(reading bytes: Data, named name: String) throws(SourceError) {
    let reader = try ManifestReader(bytes)
    self.reader = reader
    self.name = name
    let root = JSON(reader.text)
    guard root["service"] != nil || root["resources"] != nil else {
      (service, resources) = ([], [])
      return
    }
    let parts = try reader.members(of: root, at: 0, allowing: ["service", "resources"])
    func members(
      of key: String, allowing keys: [String]?
    ) throws(SourceError) -> [ManifestReader.Member] {
      let part = parts.first { $0.name == key }
      guard let part, part.value.isObject else {
        throw reader.failure(at: part?.offset ?? 0, "\"\(key)\" must be an object")
      }
      return try reader.members(of: part.value, at: part.index, allowing: keys)
    }
    service = try members(of: "service", allowing: ManifestReader.serviceKeys)
    resources = try members(of: "resources", allowing: nil)
    guard 1...Self.maxLists ~= resources.count else {
      throw reader.failure(
        at: parts.first { $0.name == "resources" }?.offset ?? 0,
        "\"resources\" must have 1 to \(Self.maxLists) lists")
    }
    for list in resources {
      let source = "\(name)-\(list.name)"
      guard !list.name.isEmpty, ManifestFolder.isName(source) else {
        throw reader.failure(
          at: list.offset,
          "invalid name \"\(source.oneLine(atMost: 80))\": must be 1 to 32 lower-case letters, digits and hyphens"
        )
      }
      guard list.value.isObject else {
        throw reader.failure(at: list.offset, "\"\(list.name)\" must be an object")
      }
    }
  }

  /// The manifest of a list, or of the one source.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` and the line of the first mistake.
  func manifest(of list: String?) throws(SourceError) -> Manifest {
    var reader = reader
    guard let list, let member = resources.first(where: { $0.name == list }) else {
      return try checked(try reader.manifest(), of: name, reader)
    }
    for list in resources { reader.lists[list.name] = "\(name)-\(list.name)" }
    try reader.readMembers(of: member.value, at: member.index)
    try reader.inherit(from: service)
    var manifest = try reader.declaredManifest(at: member.offset)
    manifest.base = service.first { $0.name == "base" }?.value.string
    return try checked(manifest, of: "\(name)-\(list)", reader)
  }

  /// Refuses a source with a list for each of its own records.
  private func checked(
    _ manifest: Manifest, of source: String, _ reader: ManifestReader
  ) throws(SourceError) -> Manifest {
    guard case .records(source, _)? = manifest.each?.partitions else { return manifest }
    throw reader.failure("each", "another source than \(source) itself")
  }

  /// All manifests.
  func manifests() throws(SourceError) -> [Manifest] {
    guard let lists else { return [try manifest(of: nil)] }
    return try lists.map { list throws(SourceError) in try manifest(of: list) }
  }

  /// The mistake that a list has the name of another source.
  func conflict(of list: String, as source: String) -> SourceError {
    reader.failure(
      at: resources.first { $0.name == list }?.offset ?? 0,
      "\"\(list)\" would be \"\(source)\", which is another source")
  }
}

extension ManifestReader {
  /// The keys that say how pages follow one another, of which a list has its own or those of its service.
  private static let stepKeys = ["page", "offset", "next", "token", "tokenOnce"]

  fileprivate static let serviceKeys =
    ["base"] + keys.filter { !["url", "each", "item", "summary", "stream"].contains($0) }

  /// Adds what a service says, and makes URLs absolute.
  fileprivate mutating func inherit(from service: [Member]) throws(SourceError) {
    let own = Set(values.keys)
    let isSingle = ["single", "presumed"].contains(values["paging"]?.string)
    let hasOwnStep = !own.isDisjoint(with: Self.stepKeys) || isSingle
    for member in service where member.name != "base" {
      if member.name == "headers", let headers = values["headers"], headers.isObject {
        let names = Set(headers.members.map { $0.name.lowercased() })
        let others = member.value.members.filter { !names.contains($0.name.lowercased()) }
        values["headers"] = .object(others + headers.members)
      }
      if own.contains(member.name) || hasOwnStep && Self.stepKeys.contains(member.name) { continue }
      values[member.name] = member.value
      offsets[member.name] = member.offset
    }
    // Null is for a list that does not have what its service says.
    values = values.filter { $0.value != .null }
    let base = service.first { $0.name == "base" }
    if base == nil, values["tap"] != nil { return }
    guard let base, let url = base.value.string, Manifest.authority(of: url) != nil,
      !url.contains("?"), !url.contains("#")
    else {
      throw failure(
        at: base?.offset ?? 0, "\"base\" must be an http or https URL without a query")
    }
    try resolve("url", against: url)
    try resolve("item", against: url)
    try resolve("search", against: url, after: "url:")
  }

  /// Makes the URL of a key absolute, if it begins with a prefix.
  private mutating func resolve(
    _ key: String, against base: String, after prefix: String = ""
  ) throws(SourceError) {
    guard let text = values[key]?.string, text.hasPrefix(prefix), text != prefix else { return }
    let url = text.dropFirst(prefix.count)
    guard url.prefix(while: { $0 != "/" && $0 != "?" }).last == ":" else {
      let separator = url.hasPrefix("/") || url.hasPrefix("?") ? "" : "/"
      let base = base.hasSuffix("/") ? base.dropLast() : base[...]
      values[key] = .string("\(prefix)\(base)\(separator)\(url)")
      return
    }
    func scheme(_ url: some StringProtocol) -> String { url.prefix { $0 != ":" }.lowercased() }
    guard scheme(url) == scheme(base),
      Manifest.authority(of: String(url)) == Manifest.authority(of: base)
    else { throw failure(key, "a path, or a URL on the host of \"base\"") }
  }
}
