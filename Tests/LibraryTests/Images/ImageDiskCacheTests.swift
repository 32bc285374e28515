import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorFiles
@testable import AggregatorImages
@testable import AggregatorKit

@Suite(.timeLimit(.minutes(10)))
struct ImageFilesTests {
  private let home: StoreDirectory
  private let today = Today()

  init() throws { home = try StoreDirectory() }

  private var directory: String { "\(home.root)/cache/images" }

  private func files(atMost limit: Int = 1 << 20) -> ImageDiskCache {
    ImageDiskCache(in: directory, atMost: limit)
  }

  private func address(_ number: Int) throws -> ImageAddress {
    try #require(ImageAddress("https://cdn.test/\(number).png?v=1"))
  }

  private func file(_ number: Int, bytes: Int = 1000) throws -> ImageCacheFile {
    let image = try #require(
      LoadedImage(SampleImage.png(bytes: bytes), at: try address(number)))
    return ImageCacheFile(image, fetchedAt: Timestamp(.seconds(1_795_169_400)))
  }

  /// Adds an image, a second after the one before.
  private func add(
    _ number: Int, bytes: Int = 1000, to files: ImageDiskCache, of source: String = "notes"
  ) async throws {
    today.turn(by: 1)
    try await files.add(try file(number, bytes: bytes), of: source, used: today.now())
  }

  private func has(_ number: Int, in files: ImageDiskCache) async throws -> Bool {
    today.turn(by: 1)
    return await files.file(
      at: try address(number), of: "notes", atMost: 1 << 20, used: today.now()) != nil
  }

  /// The files in the directory.
  private var names: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()) ?? []
  }

  private var onlyImage: String {
    get throws { "\(directory)/\(try #require(names.first { $0.hasSuffix(".image") }))" }
  }

  @Test(arguments: ["", "/", "/../images"])
  func `the directory is a URL`(end: String) async throws {
    try await add(1, to: files())
    let files = ImageDiskCache(in: URL(filePath: directory + end))
    #expect(files.path == directory)
    #expect(files.directory == URL(filePath: directory, directoryHint: .isDirectory))
    #expect(try await has(1, in: files))
  }

  @Test func `an added image is found by other processes, with its fetch time`()
    async throws
  {
    try await add(1, to: files())
    let found = await files().file(
      at: try address(1), of: "notes", atMost: 1000, used: today.now())
    #expect(found?.image == (try file(1).image))
    #expect(found?.fetchedAt == Timestamp(.seconds(1_795_169_400)))
    #expect(try await !has(2, in: files()))
    #expect(await files().file(at: try address(1), of: "others", atMost: 1000, used: .day()) == nil)
    #expect(await files().file(at: try address(1), of: "notes", atMost: 999, used: .day()) == nil)
  }

  @Test func `a file is private, and its name does not reveal the URL`() async throws {
    try await add(1, to: files())
    #expect(try home.mode(of: directory) == 0o700)
    #expect(try home.mode(of: onlyImage) == 0o600)
    #expect(names.count == 2 && names[0] == "lock")
    #expect(names[1].contains(/^notes-[0-9a-f]{16}\.image$/))
  }

  @Test func `the least recently used images are evicted`() async throws {
    let size = try file(1).contents.count
    let files = files(atMost: 3 * size)
    for number in 1...3 { try await add(number, to: files) }
    #expect(try await has(1, in: files))
    try await add(4, to: files)
    var kept: [Int] = []
    for number in 1...4 where try await has(number, in: files) { kept.append(number) }
    #expect(kept == [1, 3, 4])
    #expect(await files.usage() == .init(count: 3, bytes: 3 * size))
  }

  @Test func `the same image replaces its old file only`() async throws {
    let files = files(atMost: 3 * (try file(1).contents.count))
    for number in 1...3 { try await add(number, to: files) }
    try await add(1, bytes: 900, to: files)
    #expect(await files.usage().count == 3)
    let found = await files.file(at: try address(1), of: "notes", atMost: 1000, used: .day())
    #expect(found?.image.bytes.count == 900)
  }

  @Test func `an image larger than the cache is not added, and evicts nothing`() async throws {
    let files = files(atMost: 3000)
    try await add(1, to: files)
    try await add(2, bytes: 3000, to: files)
    #expect(try await has(1, in: files))
    #expect(try await !has(2, in: files))
  }

  @Test func `the limit holds at every moment, also with several processes`() async throws {
    let limit = 20_000
    let most = await withTaskGroup(of: Int.self) { group in
      for adder in 0..<6 {
        group.addTask {
          var files = files(atMost: limit)
          files.maxWait = .seconds(120)
          var random = SeededGenerator(UInt64(adder))
          var most = 0
          for _ in 0..<40 {
            let size = Int.random(in: 100...9000, using: &random)
            do {
              try await add(.random(in: 0..<30, using: &random), bytes: size, to: files)
              most = max(most, try await bytesOnDisk())
            } catch {
              Issue.record(error)
            }
          }
          return most
        }
      }
      return await group.reduce(0) { max($0, $1) }
    }
    #expect((1...limit).contains(most), "\(most)")
    let usage = await files().usage()
    #expect(usage.bytes <= limit && usage.count > 1)
    #expect(names.allSatisfy { !$0.hasSuffix(".new") })
  }

  /// The number of bytes in the directory, counted under the lock so that no process writes
  /// meanwhile.
  private func bytesOnDisk() async throws -> Int {
    let lock = FileLock(path: "\(directory)/lock")
    return try await lock.holding(within: .seconds(120), clock: ContinuousClock()) {
      try names.reduce(0) { sum, name in
        var status = stat()
        try #require(lstat("\(directory)/\(name)", &status) == 0)
        return sum + Int(status.st_size)
      }
    }
  }

  static let damages: [(String, @Sendable (inout Data) -> Void)] = [
    ("empty", { $0 = Data() }), ("cut", { $0 = $0.dropLast() }),
    ("cut in its head", { $0 = $0.prefix(30) }), ("longer", { $0.append(0) }),
    ("another byte", { $0[$0.count - 20] ^= 1 }), ("another time", { $0[47] ^= 1 }),
    ("foreign", { $0 = Data("<html></html>".utf8) }), ("zeros", { $0 = Data(count: $0.count) }),
    ("an image alone", { $0 = SampleImage.png() }),
  ]

  @Test(arguments: damages.indices)
  func `a damaged file is treated as missing, and can be replaced`(index: Int) async throws {
    let files = files()
    try await add(1, to: files)
    let path = try onlyImage
    var bytes = try Data(contentsOf: URL(filePath: path))
    Self.damages[index].1(&bytes)
    try bytes.write(to: URL(filePath: path))
    #expect(try await !has(1, in: files), "\(Self.damages[index].0)")
    try await add(1, to: files)
    #expect(try await has(1, in: files))
  }

  @Test func `an image of another URL with the same file name is not used`() async throws {
    try await add(1, to: files())
    let path = try onlyImage
    try Data(try file(2).contents).write(to: URL(filePath: path))
    #expect(try await !has(1, in: files()))
  }

  @Test func `links, pipes and directories are not read`() async throws {
    try await add(1, to: files())
    let path = try onlyImage
    let elsewhere = "\(home.root)/elsewhere"
    try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
    symlink(elsewhere, path)
    #expect(try await !has(1, in: files()))
    unlink(path)
    mkfifo(path, 0o600)
    #expect(try await !has(1, in: files()))
    unlink(path)
    mkdir(path, 0o700)
    #expect(try await !has(1, in: files()))
  }

  @Test func `the temporary file of a killed process is removed, and foreign files stay`()
    async throws
  {
    let files = files(atMost: 3000)
    try await add(1, to: files)
    for name in ["notes-0123456789abcdef.image.new", "holiday.jpg"] {
      try Data(count: 2900).write(to: URL(filePath: "\(directory)/\(name)"))
    }
    try await add(2, to: files)
    #expect(names.count == 4)
    #expect(names.contains("holiday.jpg"))
    #expect(try await has(1, in: files))
  }

  @Test func `clearing removes the images of one source`() async throws {
    let files = files()
    await #expect(throws: Never.self) { try await files.clear("notes") }
    #expect(names == [])
    for source in ["notes", "notes-two", "others"] { try await add(1, to: files, of: source) }
    #expect(await files.usage(of: "notes").count == 1)
    try await files.clear("notes")
    #expect(await files.usage().count == 2)
    #expect(await files.usage(of: "notes") == .init())
  }

  @Test func `a directory that cannot be created is a storage error`() async throws {
    try Data().write(to: URL(filePath: "\(home.root)/cache"))
    let error = await #expect(throws: SourceError.self) { try await add(1, to: files()) }
    #expect(error?.code == .storage)
    #expect(try await !has(1, in: files()))
    #expect(await files().usage() == .init())
  }
}
