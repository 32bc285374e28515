import AggregatorFiles
public import AggregatorKit

/// A folder of manifests: `NAME.json` declares the source `NAME`, or a service whose lists are the sources `NAME-LIST`.
///
/// A secret of a manifest is bound to one host: the file `bound-secrets` of the folder says to which. A
/// manifest that somebody copied here cannot send a secret elsewhere, nor take one from the environment. The same file has
/// the files that manifests may read.
public struct ManifestFolder: Sendable {
  public let path: String

  /// The way to start the programs that its manifests name; `nil`, the default, to start none.
  package var feeds: ManifestFeeds?

  public init(_ path: String) { self.path = path }

  /// The file of a source, without `.json`.
  private struct Location {
    let file: String
    /// The list of a service; `nil` if the file declares one source.
    var list: String?
  }

  /// The names of the sources, in alphabetical order; files with other names are ignored.
  public var names: [String] { locations.keys.sorted() }

  /// The names of the files that declare services, in alphabetical order.
  package var services: [String] { files.filter { lists(in: $0) != nil } }

  /// The file of each source.
  ///
  /// A service with a list that has the name of another source has no sources: its file is one itself, which cannot be
  /// used.
  private var locations: [String: Location] {
    let files = files
    var locations = Dictionary(uniqueKeysWithValues: files.map { ($0, Location(file: $0)) })
    for file in files {
      guard let lists = lists(in: file),
        lists.allSatisfy({ locations["\(file)-\($0)"] == nil })
      else { continue }
      locations[file] = nil
      for list in lists { locations["\(file)-\(list)"] = Location(file: file, list: list) }
    }
    return locations
  }

  /// Where a source is declared, by its name alone.
  private func location(of name: String) -> Location {
    if access(path(of: name), F_OK) == 0 { return Location(file: name) }
    for hyphen in name.indices where name[hyphen] == "-" {
      let list = String(name[name.index(after: hyphen)...])
      let file = String(name[..<hyphen])
      if lists(in: file)?.contains(list) == true { return Location(file: file, list: list) }
    }
    return Location(file: name)
  }

  /// The lists of a service; `nil` if the file declares one source, or cannot be read.
  private func lists(in file: String) -> [String]? {
    let bytes = try? PrivateFile(path: path(of: file)).contents(atMost: Manifest.maxBytes)
    // Names are needed at every start, and most files are not worth parsing for them.
    let key = Array("\"resources\"".utf8)
    guard let bytes,
      bytes.indices.contains(where: { index in
        // Only few names begin with this letter.
        bytes[index] == key[1] && index > 0 && bytes[(index - 1)...].starts(with: key)
      })
    else { return nil }
    return (try? ManifestFile(reading: Data(bytes), named: file))?.lists
  }

  /// The sources that a file declares: those of a service, or the one of this name.
  package func sources(of file: String) -> [String] {
    lists(in: file)?.map { "\(file)-\($0)" } ?? [file]
  }

  /// The service of which a source is a list; `nil` if it has a manifest of its own.
  package func service(of name: String) -> String? {
    let location = location(of: name)
    return location.list == nil ? nil : location.file
  }

  /// The reason the folder cannot be read; `nil` if it can, or is not there.
  package var failure: String? {
    let failure = access(path, R_OK | X_OK) == 0 ? nil : SystemFailure(code: errno)
    if OpenFile.isDirectory(path) == false { return "\(path) is no directory" }
    guard let failure, !failure.isMissing else { return nil }
    return "cannot read \(path): \(failure.words)"
  }

  /// The names of the files of manifests, in alphabetical order.
  private var files: [String] {
    // Most people have none, and the first use of a file manager takes a tenth of a millisecond.
    guard access(path, R_OK | X_OK) == 0,
      let files = try? FileManager.default.contentsOfDirectory(atPath: path)
    else { return [] }
    return files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(".json".count)) }
      .filter(Self.isName).sorted()
  }

  /// The sources; their manifests are read when they are needed.
  public var plugins: [DeclaredPlugin] {
    locations.sorted { $0.key < $1.key }.map { name, location in
      DeclaredPlugin(name, in: self, of: location.list == nil ? nil : location.file)
    }
  }

  /// True for a name of 1 to 32 lower-case letters, digits and `-`, which begins with a letter.
  public static func isName(_ text: String) -> Bool {
    1...32 ~= text.utf8.count && text.utf8.first.map { $0 >= UInt8(ascii: "a") } ?? false
      && text.utf8.allSatisfy {
        $0 == UInt8(ascii: "-") || $0.isASCIIAlphanumeric && !(0x41...0x5A ~= $0)
      }
  }

  /// The path of the file that declares a source or a service, or would declare it.
  public func file(of name: String) -> String { path(of: location(of: name).file) }

  private func path(of file: String) -> String { "\(path)/\(file).json" }

  /// Reads a manifest.
  package func manifest(_ name: String) throws(SourceError) -> Manifest {
    let location = location(of: name)
    do throws(SourceError) {
      let file = try ManifestFile(reading: Data(text(of: name)), named: location.file)
      if location.list == nil, let lists = file.lists {
        let names = names
        let list = lists.first { names.contains("\(name)-\($0)") } ?? lists[0]
        throw file.conflict(of: list, as: "\(name)-\(list)")
      }
      return try file.manifest(of: location.list)
    } catch {
      guard error.code != .storage else { throw error }
      throw SourceError(error.code, "\(file(of: name)): \(error.message)", remedy: error.remedy)
    }
  }

  /// Writes a manifest, and binds its secrets to its host.
  package func write(
    _ manifest: Manifest, as name: String, rebinding secrets: Set<String> = []
  ) throws(SourceError) {
    try bind(manifest.secretHosts, replacing: secrets)
    let text = JSONFormatter.indented(Array(manifest.json.text.utf8)) ?? []
    try PrivateFile(path: file(of: name)).write(text + [UInt8(ascii: "\n")])
  }

  /// Writes the file of a service, and binds its secrets to its host; `secrets` have new values.
  ///
  /// - Throws: ``SourceError``: `invalidSettings` for an invalid manifest, or if a secret is bound to another host, or
  ///   `storage`.
  package func write(
    service: JSON, as name: String, rebinding secrets: Set<String> = []
  ) throws(SourceError) {
    let text = JSONFormatter.indented(Array(service.text.utf8)) ?? []
    for manifest in try Self.manifests(of: service, as: name) {
      try bind(manifest.secretHosts, replacing: secrets)
    }
    try PrivateFile(path: path(of: name)).write(text + [UInt8(ascii: "\n")])
  }

  /// The manifests of the lists of a service.
  ///
  /// - Throws: ``SourceError`` with code `invalidSettings` for an invalid one.
  package static func manifests(
    of service: JSON, as name: String
  ) throws(SourceError) -> [Manifest] {
    try ManifestFile(reading: Data(service.text.utf8), named: name).manifests()
  }

  /// The text of the file that declares a source or a service, which need not be valid.
  package func text(of name: String) throws(SourceError) -> [UInt8] {
    let file = PrivateFile(path: file(of: name))
    guard let bytes = try file.contents(atMost: Manifest.maxBytes) else {
      throw SourceError(.storage, "cannot read \(file.path): no such file")
    }
    return bytes
  }

  /// A manifest as JSON, without comments.
  package func json(of name: String) throws(SourceError) -> JSON { try manifest(name).json }

  /// Replaces the text of the manifest of a source, or of a service.
  ///
  /// Its secrets are not bound: the text may be somebody else's, but for a line.
  ///
  /// - Throws: ``SourceError``: `invalidSettings` with the line of the first mistake, or if a secret is bound to another
  ///   host, or `storage`. The manifest is unchanged then.
  package func replace(_ name: String, with text: [UInt8]) throws(SourceError) {
    let file = location(of: name).file
    for manifest in try ManifestFile(reading: Data(text), named: file).manifests() {
      try check(manifest.secretHosts)
    }
    try PrivateFile(path: path(of: file)).write(text)
  }

  /// Removes the file of a source, or of a service with all of its lists; false if there is none.
  ///
  /// - Throws: ``SourceError`` with code `storage`.
  public func remove(_ name: String) throws(SourceError) -> Bool {
    guard unlink(file(of: name)) != 0 else {
      try forgetFiles()
      return true
    }
    guard errno == ENOENT else {
      throw SourceError(
        .storage, "cannot remove \(file(of: name)): \(String(cString: strerror(errno)))")
    }
    return false
  }

  /// Renames the file of a source, or of a service with all of its lists.
  ///
  /// - Throws: ``SourceError`` with code `storage`, also if there is a file of the new name.
  package func rename(_ name: String, to new: String) throws(SourceError) {
    guard access(path(of: new), F_OK) != 0 else {
      throw SourceError(.storage, "cannot rename \(file(of: name)): \(path(of: new)) exists")
    }
    try PrivateFile(path: path(of: new)).write(try text(of: name))
    _ = try remove(name)
  }

  // MARK: - Secrets

  /// The most lists of a service.
  package static let maxLists = ManifestFile.maxLists

  private var bindings: PrivateFile { PrivateFile(path: "\(path)/bound-secrets") }

  /// The most bytes to write; older versions wrote more, which are read, so that they can be removed.
  private static let maxBindingBytes = 64 << 10
  private static let maxReadBytes = 1 << 20

  /// An entry of older versions in the file of bound secrets, whose own names have no lower-case letters.
  private static let saltName = "salt"

  /// The host of each bound secret; none if the file cannot be read.
  private var hosts: [String: String] {
    Self.parsed((try? bindings.contents(atMost: Self.maxReadBytes)) ?? [])
  }

  /// The secrets that are bound to a host, without reading any manifest.
  public var boundSecrets: [Setting] {
    hosts.filter { $0.key != Self.saltName && $0.value != Self.fileMark }.sorted { $0.key < $1.key }
      .map {
        Setting($0.key, .secret, about: "sent to \($0.value) only")
      }
  }

  /// True if a secret may be sent to a host.
  func isBound(_ secret: String, to authority: String) -> Bool { hosts[secret] == authority }

  /// Checks that secrets are not bound to other hosts than these.
  package func check(
    _ secrets: [String: String], in hosts: [String: String]? = nil
  ) throws(SourceError) {
    let hosts = hosts ?? self.hosts
    for (secret, authority) in secrets.sorted(by: { $0.key < $1.key }) {
      guard let host = hosts[secret], host != authority else { continue }
      throw SourceError(
        .invalidSettings, "\(secret) belongs to \(host), so it cannot be sent to \(authority)",
        remedy: "use another name for the secret")
    }
  }

  /// Binds secrets to their hosts; those in `replaced` also if they are bound to another.
  private func bind(
    _ secrets: [String: String], replacing replaced: Set<String> = []
  ) throws(SourceError) {
    guard !secrets.isEmpty else { return }
    try bindings.replace(atMost: Self.maxReadBytes) { bytes throws(SourceError) in
      var hosts = Self.parsed(bytes)
      try check(secrets.filter { !replaced.contains($0.key) }, in: hosts)
      hosts.merge(secrets) { $1 }
      let text = Self.text(of: hosts)
      guard text.count <= max(bytes.count, Self.maxBindingBytes) else {
        throw SourceError(
          .tooLarge, "\(bindings.path) would have more than \(Self.maxBindingBytes) bytes",
          remedy: "remove sources that read files")
      }
      return text
    }
  }

  /// Forgets the files that no manifest names any more: another manifest must not read them.
  private func forgetFiles() throws(SourceError) {
    guard hosts.values.contains(Self.fileMark) else { return }
    let named = Set(names.compactMap { try? manifest($0).url })
    try bindings.replace(atMost: Self.maxReadBytes) { bytes in
      Self.text(of: Self.parsed(bytes).filter { $1 != Self.fileMark || named.contains($0) })
    }
  }

  /// Binds a secret that is not bound yet to the host of the manifests that name it.
  ///
  /// - Returns: The host of the secret; `nil` if no manifest names it.
  /// - Throws: ``SourceError``: `invalidSettings` if manifests of several hosts name it, or `storage`.
  package func bind(_ secret: String) throws(SourceError) -> String? {
    if let host = hosts[secret] { return host }
    let users = names.compactMap { name -> (name: String, host: String)? in
      guard let manifest = try? manifest(name), manifest.secretNames.contains(secret),
        let host = manifest.authority(of: secret)
      else { return nil }
      return (name, host)
    }
    guard let host = users.first?.host else { return nil }
    if let other = users.first(where: { $0.host != host }) {
      throw SourceError(
        .invalidSettings,
        "\(secret) would be sent to \(host) by \(users[0].name) and to \(other.host) by \(other.name)",
        remedy: "use another name for it in one of these sources")
    }
    try bind([secret: host])
    return host
  }

  /// One secret and its host on each line.
  private static func text(of hosts: [String: String]) -> [UInt8] {
    Array(hosts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined().utf8)
  }

  private static func parsed(_ bytes: [UInt8]) -> [String: String] {
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    return Dictionary(
      lines.compactMap { line in
        let parts = line.split(separator: " ")
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
      }
    ) { first, _ in first }
  }
}
