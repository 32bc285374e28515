import AggregatorFiles
public import AggregatorKit

/// A folder of manifests: `NAME.json` declares the source `NAME`.
///
/// A secret of a manifest is bound to one host: the file `bound-secrets` of the folder says to which. A
/// manifest that somebody copied here cannot send a secret elsewhere, nor take one from the environment.
public struct ManifestFolder: Sendable {
  public let path: String

  public init(_ path: String) { self.path = path }

  /// The names of the sources, in alphabetical order; files with other names are ignored.
  public var names: [String] {
    // Most people have none, and the first use of a file manager takes a tenth of a millisecond.
    guard access(path, R_OK | X_OK) == 0,
      let files = try? FileManager.default.contentsOfDirectory(atPath: path)
    else { return [] }
    return files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(".json".count)) }
      .filter(Self.isName).sorted()
  }

  /// The sources; their manifests are read when they are needed.
  public var plugins: [DeclaredPlugin] { names.map { DeclaredPlugin($0, in: self) } }

  /// True for a name of 1 to 32 lower-case letters, digits and `-`, which begins with a letter.
  public static func isName(_ text: String) -> Bool {
    text.wholeMatch(of: /[a-z][a-z0-9-]{0,31}/) != nil
  }

  public func file(of name: String) -> String { "\(path)/\(name).json" }

  /// Reads a manifest.
  package func manifest(_ name: String) throws(SourceError) -> Manifest {
    do { return try Manifest(reading: Data(text(of: name))) } catch {
      guard error.code != .storage else { throw error }
      throw SourceError(error.code, "\(file(of: name)): \(error.message)", remedy: error.remedy)
    }
  }

  /// Writes a manifest, and binds its secrets to its host.
  func write(
    _ manifest: Manifest, as name: String, rebinding secrets: Set<String> = []
  ) throws(SourceError) {
    try bind(manifest.secretHosts, replacing: secrets)
    let text = JSONFormatter.indented(Array(manifest.json.text.utf8)) ?? []
    try PrivateFile(path: file(of: name)).write(text + [UInt8(ascii: "\n")])
  }

  /// The text of a manifest, which need not be valid.
  package func text(of name: String) throws(SourceError) -> [UInt8] {
    let file = PrivateFile(path: file(of: name))
    guard let bytes = try file.contents(atMost: Manifest.maxBytes) else {
      throw SourceError(.storage, "cannot read \(file.path): no such file")
    }
    return bytes
  }

  /// A manifest as JSON, without comments.
  package func json(of name: String) throws(SourceError) -> JSON { try manifest(name).json }

  /// Why a manifest cannot be used; `nil` if it is valid.
  package func problem(with name: String) -> SourceError? {
    Result { () throws(SourceError) in try manifest(name) }.failure
  }

  /// Replaces the text of a manifest.
  ///
  /// Its secrets are not bound: the text may be somebody else's, but for a line.
  ///
  /// - Throws: ``SourceError``: `invalidSettings` with the line of the first mistake, or if a secret is bound to another
  ///   host, or `storage`. The manifest is unchanged then.
  package func replace(_ name: String, with text: [UInt8]) throws(SourceError) {
    let manifest = try Manifest(reading: Data(text))
    try check(manifest.secretHosts)
    try PrivateFile(path: file(of: name)).write(text)
  }

  /// Removes a manifest; false if there is none.
  ///
  /// - Throws: ``SourceError`` with code `storage`.
  public func remove(_ name: String) throws(SourceError) -> Bool {
    guard unlink(file(of: name)) != 0 else { return true }
    guard errno == ENOENT else {
      throw SourceError(
        .storage, "cannot remove \(file(of: name)): \(String(cString: strerror(errno)))")
    }
    return false
  }

  // MARK: - Secrets

  private var bindings: PrivateFile { PrivateFile(path: "\(path)/bound-secrets") }

  private static let maxBindingBytes = 64 << 10

  /// An entry of older versions in the file of bound secrets, whose own names have no lower-case letters.
  private static let saltName = "salt"

  /// The host of each bound secret; none if the file cannot be read.
  private var hosts: [String: String] {
    Self.parsed((try? bindings.contents(atMost: Self.maxBindingBytes)) ?? [])
  }

  /// The secrets that are bound to a host, without reading any manifest.
  public var boundSecrets: [Setting] {
    hosts.filter { $0.key != Self.saltName }.sorted { $0.key < $1.key }.map {
      Setting($0.key, .secret, about: "sent to \($0.value) only")
    }
  }

  /// True if a secret may be sent to a host.
  func isBound(_ secret: String, to authority: String) -> Bool { hosts[secret] == authority }

  /// Checks that secrets are not bound to other hosts than these.
  func check(
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
    try bindings.replace(atMost: Self.maxBindingBytes) { bytes throws(SourceError) in
      var hosts = Self.parsed(bytes)
      try check(secrets.filter { !replaced.contains($0.key) }, in: hosts)
      hosts.merge(secrets) { $1 }
      return Array(hosts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined().utf8)
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
