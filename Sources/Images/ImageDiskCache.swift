public import AggregatorCore
import AggregatorFiles
import Foundation

/// Images on the disk: a directory of files, bounded in size, which any number of processes may use at
/// once.
///
/// The files never take more room than ``limit``, not for a moment: whoever writes makes room first,
/// under a lock, and removes what was used longest ago. A file that is cut, damaged or foreign is not
/// there. What is lost can be fetched again, so nothing waits for the disk.
public struct ImageDiskCache: Sendable {
  /// A disk may take its time, and tasks must not stand still for it.
  private static let queue = DispatchQueue(label: "aggregator.images")

  /// More files than these would make looking through them slow.
  private static let mostFiles = 10_000

  /// How names of files end: those that are whole, and one that is being written.
  private static let (ending, newEnding) = (".image", ".new")

  /// The absolute path; made with mode 0700 when something is first written.
  public let directory: String

  /// The most bytes that all files together have.
  public let limit: Int

  /// How long to wait for another process.
  var maxWait = Duration.seconds(5)

  /// Images in a directory.
  ///
  /// - Parameters:
  ///   - directory: The absolute path of a directory of their own, which need not exist.
  ///   - limit: The most bytes that all files together have; 256 MiB by default.
  public init(in directory: String, atMost limit: Int = 256 << 20) {
    self.directory = directory
    self.limit = limit
  }

  /// How many images are kept.
  public struct Usage: Hashable, Sendable {
    /// How many images.
    public var count = 0
    /// How many bytes their files have.
    public var bytes = 0
  }

  /// How many images are kept.
  ///
  /// - Parameter collection: Of which source; of all by default.
  /// - Returns: None if the directory is not there, or cannot be read.
  public func usage(of collection: String? = nil) async -> Usage {
    await onQueue {
      entries().reduce(into: Usage()) { usage, entry in
        guard collection.map(entry.isOf) ?? true else { return }
        usage.count += 1
        usage.bytes += entry.bytes
      }
    }
  }

  /// Removes the images of a source.
  ///
  /// - Parameter collection: The source's name.
  /// - Throws: ``SourceError``: `storage` if they cannot be removed, `busy`, or `cancelled`.
  public func clear(_ collection: String) async throws(SourceError) {
    // Without a directory there is nothing to lock either.
    guard await usage(of: collection).count > 0 else { return }
    try await locked { () throws(SystemFailure) in
      for entry in entries() where entry.isOf(collection) { try remove(entry.name) }
    }
  }

  /// The image of an address, which counts as used from then on.
  ///
  /// - Parameters:
  ///   - address: Its address.
  ///   - collection: The source that it belongs to.
  ///   - largest: The most bytes that it may have.
  ///   - date: When it is used.
  /// - Returns: `nil` if it is not kept, or cannot be read.
  func file(
    at address: ImageAddress, of collection: String, atMost largest: Int, used date: Date
  ) async -> ImageCacheFile? {
    let path = path(name(of: address, collection))
    return await onQueue { () -> ImageCacheFile? in
      guard let file = try? OpenFile(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY),
        let mode = try? file.mode(), mode & S_IFMT == S_IFREG,
        let contents = try? file.contents(atMost: largest + ImageCacheFile.longestHead),
        let image = ImageCacheFile(contents, of: address), image.image.bytes.count <= largest
      else { return nil }
      // In a directory that may only be read it stays as old as it is.
      try? file.touch(date)
      return image
    }
  }

  /// Keeps an image, if it fits at all.
  ///
  /// - Parameters:
  ///   - file: The image.
  ///   - collection: The source that it belongs to.
  ///   - date: When it is used.
  /// - Throws: ``SourceError``: `storage` if it cannot be written, `busy`, or `cancelled`.
  func add(_ file: ImageCacheFile, of collection: String, used date: Date) async throws(SourceError)
  {
    let contents = file.contents
    guard contents.count <= limit else { return }
    let name = name(of: file.image.id, collection)
    try await locked { () throws(SystemFailure) in
      try makeRoom(for: contents.count, named: name)
      let new = path(name + Self.newEnding)
      do throws(SystemFailure) {
        let file = try OpenFile(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        try file.writeAll(contents)
        try file.touch(date)
        try SystemFailure.check { rename(new, path(name)) }
      } catch {
        unlink(new)
        throw error
      }
    }
  }
}

extension ImageDiskCache {
  /// A file of ours.
  private struct Entry {
    let name: String
    let bytes: Int
    /// When it was used last.
    let used: timespec

    /// Whether it belongs to a source: its name is that of the source, and 16 digits.
    func isOf(_ collection: String) -> Bool {
      name.hasPrefix("\(collection)-")
        && name.dropFirst(collection.count + 1).count { $0 == "-" } == 0
    }

    func isOlder(than other: Entry) -> Bool {
      (used.tv_sec, used.tv_nsec, name) < (other.used.tv_sec, other.used.tv_nsec, other.name)
    }
  }

  /// Removes what was left half-written, the old file of this name, and then what was used longest ago.
  ///
  /// Call it under the lock: nobody else is writing then.
  private func makeRoom(for count: Int, named name: String) throws(SystemFailure) {
    for left in names() where left.hasSuffix(Self.newEnding) { try remove(left) }
    var entries = entries()
    if let old = entries.firstIndex(where: { $0.name == name }) {
      try remove(entries.remove(at: old).name)
    }
    var total = entries.reduce(count) { $0 + $1.bytes }
    guard total > limit || entries.count >= Self.mostFiles else { return }
    entries.sort { $1.isOlder(than: $0) }
    while total > limit || entries.count >= Self.mostFiles, let oldest = entries.popLast() {
      try remove(oldest.name)
      total -= oldest.bytes
    }
  }

  private func remove(_ name: String) throws(SystemFailure) {
    do throws(SystemFailure) { try SystemFailure.check { unlink(path(name)) } } catch let error
      where error.isMissing
    {
      // It is gone, which is what was wanted.
    }
  }

  /// The files that are whole, as far as their names tell; links and directories are none.
  private func entries() -> [Entry] {
    names().compactMap { name in
      var status = stat()
      guard name.hasSuffix(Self.ending), lstat(path(name), &status) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { return nil }
      #if canImport(Darwin)
        let used = status.st_mtimespec
      #else
        let used = status.st_mtim
      #endif
      return Entry(name: name, bytes: Int(status.st_size), used: used)
    }
  }

  private func names() -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
  }

  /// A name that tells nothing of the address but which one it is.
  private func name(of address: ImageAddress, _ collection: String) -> String {
    let digits = String(address.description.fnv1a, radix: 16)
    return
      "\(collection)-\(String(repeating: "0", count: 16 - digits.count))\(digits)\(Self.ending)"
  }

  private func path(_ name: String) -> String { "\(directory)/\(name)" }

  /// Does something while no other process does.
  private func locked(
    _ body: @escaping @Sendable () throws(SystemFailure) -> Void
  ) async throws(SourceError) {
    let result: Result<Void, SystemFailure>
    do {
      result = try await FileLock(path: path("lock")).holding(
        within: maxWait, clock: ContinuousClock()
      ) {
        await onQueue { Result(catching: body) }
      }
    } catch let error as SourceError {
      throw error
    } catch {
      throw SourceError(.busy, "another process is at work in \(directory)")
    }
    do throws(SystemFailure) { try result.get() } catch {
      throw SourceError(
        .storage, "\(directory) cannot be written: \(error.words)",
        remedy: "see that the disk has room and that the directory is yours")
    }
  }

  private func onQueue<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      Self.queue.async { continuation.resume(returning: body()) }
    }
  }
}

extension OpenFile {
  /// Says when the file was used: the time of its last change, which every file system keeps.
  fileprivate borrowing func touch(_ date: Date) throws(SystemFailure) {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    let nanoseconds = (date.timeIntervalSince1970 - seconds) * 1e9
    let time = timespec(tv_sec: Int(seconds), tv_nsec: Int(min(max(nanoseconds, 0), 999_999_999)))
    try SystemFailure.check { futimens(descriptor, [time, time]) }
  }
}
