public import AggregatorCore
import AggregatorFiles
public import AggregatorFoundation
import AggregatorText
import Dispatch

/// An LRU cache of images in a directory, bounded by bytes, which any number of processes may share.
///
/// The files never exceed ``limit``: the least recently used ones are evicted, under a lock, before a new
/// one is written. A truncated, damaged or unrecognized file is treated as missing.
public struct ImageDiskCache: Sendable {
  private static let queue = DispatchQueue(label: "aggregator.images")

  /// More files would be slow to list.
  private static let maxFiles = 10_000

  /// The suffixes of complete files, and of a temporary one.
  private static let (ending, newEnding) = (".image", ".new")

  /// The absolute path; the directory is created with mode 0700 at the first write.
  package let path: String

  /// The most bytes of all files together.
  public let limit: Int

  var maxWait = Duration.seconds(5)

  /// The directory is for the cache alone, and need not exist; the limit is 256 MiB by default.
  public init(in directory: URL, atMost limit: Int = 256 << 20) {
    self.init(in: directory.standardizedFileURL.path, atMost: limit)
  }

  package init(in path: String, atMost limit: Int = 256 << 20) {
    self.path = path
    self.limit = limit
  }

  public var directory: URL { URL(filePath: path, directoryHint: .isDirectory) }

  /// The size of the cache.
  public struct Usage: Hashable, Sendable {
    public var count = 0
    /// The bytes of their files.
    public var bytes = 0
  }

  /// The size of the cache, or of a source's part; zero if the directory cannot be read.
  public func usage(of collection: String? = nil) async -> Usage {
    await Self.queue.run {
      entries().reduce(into: Usage()) { usage, entry in
        guard collection.map(entry.isOf) ?? true else { return }
        usage.count += 1
        usage.bytes += entry.bytes
      }
    }
  }

  /// Removes the images of a source.
  ///
  /// - Throws: ``SourceError``: `storage` if they cannot be removed, `busy`, or `cancelled`.
  public func clear(_ collection: String) async throws(SourceError) {
    // Without a directory there is no lock file.
    guard await usage(of: collection).count > 0 else { return }
    try await locked { () throws(SystemFailure) in
      for entry in entries() where entry.isOf(collection) { try remove(entry.name) }
    }
  }

  /// Gives the images of a source to another one.
  ///
  /// - Throws: ``SourceError``: `storage` if they cannot be renamed, `busy`, or `cancelled`.
  package func move(_ collection: String, to other: String) async throws(SourceError) {
    guard await usage(of: collection).count > 0 else { return }
    try await locked { () throws(SystemFailure) in
      for entry in entries() where entry.isOf(collection) {
        let name = other + entry.name.dropFirst(collection.count)
        try SystemFailure.check { rename(path(of: entry.name), path(of: name)) }
      }
    }
  }

  /// The cached image of at most `maxBytes` bytes, which becomes the most recently used one; `nil` if there
  /// is none.
  func file(
    at address: ImageAddress, of collection: String, atMost maxBytes: Int, used date: Date
  ) async -> ImageCacheFile? {
    let file = path(of: name(of: address, collection))
    return await Self.queue.run { () -> ImageCacheFile? in
      guard let file = try? OpenFile(reading: file, followingLink: false),
        let contents = try? file.contents(atMost: maxBytes + ImageCacheFile.maxHeadSize),
        let image = ImageCacheFile(contents, of: address), image.image.bytes.count <= maxBytes
      else { return nil }
      // Fails in a read-only directory.
      try? file.touch(date)
      return image
    }
  }

  /// Adds an image unless it is larger than ``limit``.
  ///
  /// - Throws: ``SourceError``: `storage` if it cannot be written, `busy`, or `cancelled`.
  func add(_ file: ImageCacheFile, of collection: String, used date: Date) async throws(SourceError)
  {
    let contents = file.contents
    guard contents.count <= limit else { return }
    let name = name(of: file.image.id, collection)
    try await locked { () throws(SystemFailure) in
      try makeRoom(for: contents.count, named: name)
      // A lost image can be fetched again.
      try OpenFile.replace(
        path(of: name), with: contents, via: path(of: name + Self.newEnding), isDurable: false
      ) { file throws(SystemFailure) in try file.touch(date) }
    }
  }

  private struct Entry {
    let name: String
    let bytes: Int
    let lastUse: timespec

    /// `true` if its name is that of the source and 16 digits.
    func isOf(_ collection: String) -> Bool {
      name.hasPrefix("\(collection)-")
        && name.dropFirst(collection.count + 1).count { $0 == "-" } == 0
    }

    func isOlder(than other: Entry) -> Bool {
      (lastUse.tv_sec, lastUse.tv_nsec, name)
        < (other.lastUse.tv_sec, other.lastUse.tv_nsec, other.name)
    }
  }

  /// Removes abandoned temporary files, the old file of this name, and the least recently used files, under the lock.
  private func makeRoom(for count: Int, named name: String) throws(SystemFailure) {
    for left in names() where left.hasSuffix(Self.newEnding) { try remove(left) }
    var entries = entries()
    if let old = entries.firstIndex(where: { $0.name == name }) {
      try remove(entries.remove(at: old).name)
    }
    var total = entries.reduce(count) { $0 + $1.bytes }
    guard total > limit || entries.count >= Self.maxFiles else { return }
    entries.sort { $1.isOlder(than: $0) }
    while total > limit || entries.count >= Self.maxFiles, let oldest = entries.popLast() {
      try remove(oldest.name)
      total -= oldest.bytes
    }
  }

  private func remove(_ name: String) throws(SystemFailure) {
    do throws(SystemFailure) { try SystemFailure.check { unlink(path(of: name)) } } catch let error
      where error.isMissing
    {
      // Another process removed it.
    }
  }

  /// The complete files, judged by their names; not links and directories.
  private func entries() -> [Entry] {
    names().compactMap { name in
      var status = stat()
      guard name.hasSuffix(Self.ending), lstat(path(of: name), &status) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { return nil }
      #if canImport(Darwin)
        let lastUse = status.st_mtimespec
      #else
        let lastUse = status.st_mtim
      #endif
      return Entry(name: name, bytes: Int(status.st_size), lastUse: lastUse)
    }
  }

  private func names() -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
  }

  /// A name with a hash of the URL, which does not reveal it.
  private func name(of address: ImageAddress, _ collection: String) -> String {
    "\(collection)-\(address.description.fnv1a.text(radix: 16, digits: 16))\(Self.ending)"
  }

  private func path(of name: String) -> String { "\(path)/\(name)" }

  private func locked(
    _ body: @escaping @Sendable () throws(SystemFailure) -> Void
  ) async throws(SourceError) {
    do {
      let lock = FileLock(path: path(of: "lock"))
      try await lock.holding(within: maxWait, clock: ContinuousClock()) {
        try await Self.queue.run(body)
      }
    } catch let error as SourceError {
      throw error
    } catch let failure as SystemFailure {
      throw SourceError(unwritable: path, failure)
    } catch {
      throw SourceError(.busy, "\(path) is locked by another process")
    }
  }
}

extension OpenFile {
  /// Sets the time of the last use: the modification time, which every file system has.
  fileprivate borrowing func touch(_ date: Date) throws(SystemFailure) {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    let fraction = (date.timeIntervalSince1970 - seconds) * 1e9
    let time = timespec(
      tv_sec: Int(clamping: Int64(seconds)), tv_nsec: Int(min(max(fraction, 0), 999_999_999)))
    try SystemFailure.check { futimens(descriptor, [time, time]) }
  }
}

/// The file format of a cached image: three lines of text, a blank one, the bytes.
///
/// ```
/// aggregator image 1
/// https://cdn.example/1.jpg
/// 1795169400000 34567 9c51e2d84b067f3a
///
/// …
/// ```
/// The numbers are the time of fetching in milliseconds since 1970, the number of bytes, and a checksum
/// of everything else. A file that does not match them is invalid.
struct ImageCacheFile {
  private static let title = "aggregator image 1"

  static let maxHeadSize = 4096 + 256

  let image: LoadedImage
  let fetchedAt: Timestamp

  init(_ image: LoadedImage, fetchedAt: Timestamp) {
    self.image = image
    self.fetchedAt = fetchedAt
  }

  init?(_ contents: [UInt8], of address: ImageAddress) {
    let parts = contents.prefix(Self.maxHeadSize).split(
      separator: UInt8(ascii: "\n"), maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count == 5 else { return nil }
    let lines = parts.prefix(4).map { String(decoding: $0, as: UTF8.self) }
    let numbers = lines[2].split(separator: " ", omittingEmptySubsequences: false)
    let bytes = contents[parts[4].startIndex...]
    guard lines[0] == Self.title, lines[1] == address.description, lines[3].isEmpty,
      numbers.count == 3, let fetchedAt = Int64(numbers[0]).flatMap(Timestamp.init(milliseconds:)),
      Int(numbers[1]) == bytes.count,
      let image = LoadedImage(Data(bytes), at: address)
    else { return nil }
    self.init(image, fetchedAt: fetchedAt)
    guard numbers[2] == checksum else { return nil }
  }

  var contents: [UInt8] {
    let numbers = "\(fetchedAt.milliseconds) \(image.bytes.count) \(checksum)"
    return Array("\(Self.title)\n\(image.id)\n\(numbers)\n\n".utf8) + image.bytes
  }

  private var checksum: String {
    let head = "\(image.id) \(fetchedAt.milliseconds) ".fnv1a
    return String(image.bytes.withUnsafeBytes { $0.fnv1a(from: head) }, radix: 16)
  }
}
