import AggregatorCore
import AggregatorFiles
import AggregatorFoundation
import AggregatorText

/// The private file with the bytes of a download, and beside it one that says what they are; locked while it is open.
final class DownloadFile: Sendable {
  /// The version of the service's file that the bytes belong to.
  struct Metadata: Codable, Sendable {
    /// The request without its secrets: file names are digests, which could be the same for two of them.
    let identity: String
    /// Names and values of the header fields.
    let fields: [[String]]
    var length: Int?

    /// The fields as those of a response with the whole file.
    var response: HTTPResponse {
      HTTPResponse(
        status: 200, headers: fields.filter { $0.count == 2 }.map { ($0[0], $0[1]) })
    }

    init(_ identity: String, _ response: HTTPResponse) {
      self.identity = identity
      fields = response.headers.filter { $0.name != "set-cookie" }.map { [$0.name, $0.value] }
      length = response.fileLength
    }
  }

  private static let ending = ".part"
  private static let temporaryEnding = ".new"
  private static let maxAge = 24 * 3600.0
  /// The longest wait for the task of a download that has just ended, which may be writing.
  private static let maxWait = Duration.milliseconds(250)
  private static let maxMetadataBytes = 2 << 20

  let path: String
  private let identity: String
  private let file: OpenFile
  /// False if another process or object uses the file of that name: this one vanishes when it is closed.
  private let hasName: Bool

  /// Opens the file for a request, and removes those of others that are a day old, or exceed `maxBytes` altogether.
  ///
  /// - Throws: ``SourceError`` with code `storage`.
  init(_ identity: String, in directory: String, atMost maxBytes: Int) throws(SourceError) {
    try PrivateFile.makeDirectory(directory)
    self.identity = identity
    path = "\(directory)/\(String(identity.fnv1a, radix: 36))\(Self.ending)"
    do throws(SystemFailure) {
      switch try Self.locked(path) {
      case .some(let file):
        self.file = file
        hasName = true
      case .none:
        file = try Self.unnamed(path)
        hasName = false
      }
    } catch {
      throw SourceError(unwritable: path, error)
    }
    Self.removeOld(in: directory, except: path, atMost: maxBytes)
  }

  /// The file at a path, created if it is missing; `nil` if it is in use.
  private static func locked(_ path: String) throws(SystemFailure) -> OpenFile? {
    while true {
      let file = try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
      // Without locks, as on some network file systems, all files are in use.
      guard (try? file.lock(.exclusive, within: maxWait)) ?? false else { return nil }
      // Another process may have removed it before it was locked.
      if try file.linkCount() > 0 { return file }
    }
  }

  private static func unnamed(_ path: String) throws(SystemFailure) -> OpenFile {
    let path = "\(path).\(UInt64.random(in: .min ... .max))\(temporaryEnding)"
    let file = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
    unlink(path)
    return file
  }

  // MARK: - Metadata

  private static func metadata(of path: String) -> PrivateFile {
    PrivateFile(path: "\(path.dropLast(ending.count)).json")
  }

  /// The version of the bytes of an earlier download; `nil` if it is unknown.
  var metadata: Metadata? {
    guard hasName,
      let bytes = try? Self.metadata(of: path).contents(atMost: Self.maxMetadataBytes),
      let metadata = try? JSONText(Data(bytes))?.read(Metadata.self),
      metadata.identity == identity
    else { return nil }
    return metadata
  }

  /// Removes all bytes, and makes sure that those that follow are not taken for another version, whenever the process ends.
  func restart(_ metadata: Metadata) throws(SourceError) {
    try using { () throws(SystemFailure) -> Void in
      _ = try SystemFailure.check { ftruncate(file.descriptor, 0) }
    }
    guard hasName, let text = try? CanonicalJSON.text(of: metadata) else { return }
    try Self.metadata(of: path).write(Array(text.utf8))
  }

  // MARK: - Bytes

  func size() throws(SourceError) -> Int {
    try using { () throws(SystemFailure) in try file.size() }
  }

  /// Reads at most `count` bytes; fewer at the end.
  func bytes(at offset: Int, atMost count: Int) throws(SourceError) -> [UInt8] {
    try using { () throws(SystemFailure) in
      var bytes = [UInt8](repeating: 0, count: count)
      var filled = 0
      while filled < count {
        let read = try SystemFailure.check {
          bytes.withUnsafeMutableBytes { buffer in
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            return pread(file.descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
          }
        }
        if read == 0 { break }
        filled += read
      }
      bytes.removeLast(count - filled)
      return bytes
    }
  }

  func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(SourceError) {
    try using { () throws(SystemFailure) in
      var rest = bytes
      while !rest.isEmpty {
        let position = off_t(offset + bytes.count - rest.count)
        let count = try SystemFailure.check {
          rest.withUnsafeBytes { pwrite(file.descriptor, $0.baseAddress, $0.count, position) }
        }
        rest = rest.dropFirst(count)
      }
    }
  }

  private func using<Value>(
    _ call: () throws(SystemFailure) -> Value
  ) throws(SourceError) -> Value {
    do throws(SystemFailure) { return try call() } catch {
      throw SourceError(unwritable: path, error)
    }
  }

  // MARK: - Removing

  /// Removes the file, which can still be used until it is closed.
  func remove() { if hasName { Self.remove(path) } }

  private static func remove(_ path: String) {
    // First: a file without it is one without bytes.
    unlink(metadata(of: path).path)
    unlink(path)
  }

  private static func removeOld(in directory: String, except own: String, atMost maxBytes: Int) {
    let manager = FileManager.default
    let names = (try? manager.contentsOfDirectory(atPath: directory)) ?? []
    let files = names.map { "\(directory)/\($0)" }.filter { $0 != own }.compactMap { path in
      (try? manager.attributesOfItem(atPath: path)[.modificationDate] as? Date).map { (path, $0) }
    }
    let oldest = Date().addingTimeInterval(-maxAge)
    var rest = maxBytes
    for (path, date) in files.sorted(by: { $0.1 > $1.1 }) {
      guard path.hasSuffix(ending) else {
        // Of a process that was killed before it renamed or removed it.
        if path.hasSuffix(temporaryEnding), date < oldest { unlink(path) }
        continue
      }
      rest -= OpenFile.size(of: path) ?? 0
      if date < oldest || rest < 0 { try? removeUnused(path) }
    }
  }

  private static func removeUnused(_ path: String) throws(SystemFailure) {
    let file = try OpenFile(path, O_RDWR | O_NOFOLLOW)
    if try file.lock(.exclusive, within: .zero) { remove(path) }
  }
}
