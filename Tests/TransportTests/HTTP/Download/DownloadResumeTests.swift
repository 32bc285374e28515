import AggregatorCore
import AggregatorFakeServices
import AggregatorHTTP
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DownloadResumeTests {
  private let directory = DownloadDirectory()
  private static let size = 1_000_000

  /// Serves each request by the next of these functions, then by the last one.
  private func serving(
    _ replies: [@Sendable (LoopbackRequest) -> LoopbackReply],
    do body: (LoopbackServer) async throws -> Void
  ) async throws {
    let count = Mutex(0)
    try await withServer(
      { request in
        let index = count.withLock { count in
          defer { count += 1 }
          return min(count, replies.count - 1)
        }
        return replies[index](request)
      }, do: body)
  }

  @Test func `a cut file is read up to the cut, then continued`() async throws {
    let file = ServedFile(Self.size)
    var cut = file
    cut.cut = 400_000
    try await serving([{ [cut] in cut.reply(to: $0) }, { file.reply(to: $0) }]) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      let first = try await download.restBeforeError()
      #expect(first.data == file.bytes.prefix(400_000))
      #expect(first.error?.code == .connectionLost)
      let second = try await download.rest(from: 400_000)
      #expect(second == file.bytes.dropFirst(400_000))
      let request = try #require(server.requests.last)
      #expect(request.header("range") == "bytes=400000-")
      #expect(request.header("if-range") == "\"1\"")
      #expect(request.header("accept-encoding") == "identity")
      let head = try await download.head()
      #expect(head.response.status == 200 && head.version == 0 && !head.isRestarted)
      #expect(head.validator == "\"1\"")
    }
  }

  @Test func `a chunked file without its end is cut`() async throws {
    let reply = LoopbackReply.begin(headers: [("Transfer-Encoding", "chunked"), ("ETag", "\"1\"")])
      .sending(Data("4\r\nsome\r\n".utf8)).closing
    try await serving([{ _ in reply }]) { server in
      let cut = try await directory.download(HTTPRequest(.get, server.baseURL)).restBeforeError()
      #expect(cut.data == Data("some".utf8))
      #expect(cut.error?.code == .connectionLost)
    }
  }

  @Test func `each attempt that makes progress is one request of a caller who repeats`()
    async throws
  {
    var file = ServedFile(Self.size)
    file.cut = 300_000
    try await serving([{ [file] in file.reply(to: $0) }]) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      var data = Data()
      var errors = 0
      while data.count < Self.size {
        do { data += try await download.rest(from: data.count) } catch { errors += 1 }
        // What came before the error.
        if data.count < Self.size {
          data += try await download.bytes(at: data.count, atMost: Self.size, of: 0)
        }
      }
      #expect(data == file.bytes)
      #expect(server.requests.count == 4)
      #expect(errors > 0)
    }
  }

  static let lastModified = ("Last-Modified", "Mon, 05 Jan 2026 09:00:00 GMT")

  @Test(arguments: [
    [lastModified, ("Date", "Mon, 05 Jan 2026 09:01:00 GMT")],
    [("ETag", "\"a b\""), lastModified],
  ])
  func `strong validators continue`(validators: [(String, String)]) async throws {
    var file = ServedFile(Self.size)
    file.fields = validators
    var cut = file
    cut.cut = 400_000
    try await serving([{ [cut] in cut.reply(to: $0) }, { [file] in file.reply(to: $0) }]) {
      server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      _ = try await download.restBeforeError()
      let rest = try await download.rest(from: 400_000)
      #expect(rest == file.bytes.dropFirst(400_000))
      #expect(server.requests.last?.header("if-range") == validators[0].1)
    }
  }

  @Test(arguments: [
    [], [("ETag", "W/\"1\"")], [("ETag", "1")], [lastModified],
    [lastModified, ("Date", "Mon, 05 Jan 2026 09:00:59 GMT")],
    [("ETag", "W/\"1\""), lastModified, ("Date", "Mon, 05 Jan 2026 10:00:00 GMT")],
  ])
  func `without a strong validator the file begins anew`(
    validators: [(String, String)]
  ) async throws {
    var file = ServedFile(Self.size)
    file.fields = validators
    var cut = file
    cut.cut = 400_000
    try await serving([{ [cut] in cut.reply(to: $0) }, { [file] in file.reply(to: $0) }]) {
      server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      _ = try await download.restBeforeError()
      let error = await #expect(throws: SourceError.self) {
        try await download.bytes(at: 400_000, atMost: 10, of: 0)
      }
      #expect(error?.code == .invalidCursor)
      #expect(error?.cause is Download.VersionChanged)
      let head = try await download.head()
      #expect(head.version == 1 && head.isRestarted)
      let data = try await download.rest(of: 1)
      #expect(data == file.bytes)
      #expect(server.requests.count == 2)
      #expect(server.requests.last?.header("range") == nil)
      #expect(server.requests.last?.header("if-range") == nil)
    }
  }

  @Test func `a file that has changed begins anew, for all readers`() async throws {
    let old = ServedFile(Self.size)
    var (cut, new) = (old, ServedFile(Self.size / 2))
    cut.cut = 400_000
    new.fields = [("ETag", "\"2\"")]
    try await serving([{ [cut] in cut.reply(to: $0) }, { [new] in new.reply(to: $0) }]) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      _ = try await download.restBeforeError()
      for offset in [400_000, 0] {
        let error = await #expect(throws: SourceError.self) {
          try await download.bytes(at: offset, atMost: 10, of: offset == 0 ? 7 : 0)
        }
        #expect(error?.cause is Download.VersionChanged)
      }
      let data = try await download.rest(of: 1)
      #expect(data == new.bytes)
      #expect(download.validator == "\"2\"")
      #expect(server.requests.last?.header("range") == "bytes=400000-")
    }
  }

  @Test(arguments: [
    "bytes 399999-999999/1000000", "bytes 400000-999999/1000001", "bytes */1000000",
    "pages 400000-999999/1000000", "400000-", "",
  ])
  func `a range that does not continue is not used`(range: String) async throws {
    let file = ServedFile(Self.size)
    var cut = file
    cut.cut = 400_000
    try await serving([
      { [cut] in cut.reply(to: $0) },
      { _ in
        file.reply(206, from: 400_000, range.isEmpty ? [] : [("Content-Range", range)])
      },
      { file.reply(to: $0) },
    ]) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      _ = try await download.restBeforeError()
      let error = await #expect(throws: SourceError.self) {
        try await download.bytes(at: 400_000, atMost: 10, of: 0)
      }
      #expect(error?.cause is Download.VersionChanged)
      let data = try await download.rest(of: 1)
      #expect(data == file.bytes)
      #expect(server.requests.map { $0.header("range") } == [nil, "bytes=400000-", nil])
    }
  }

  @Test func `a range of another version is not used, even if the service sends it`() async throws {
    let file = ServedFile(Self.size)
    var (cut, other) = (file, file)
    cut.cut = 400_000
    other.fields = [("ETag", "\"2\"")]
    let range = ("Content-Range", "bytes 400000-999999/1000000")
    try await serving([
      { [cut] in cut.reply(to: $0) }, { [other] _ in other.reply(206, from: 400_000, [range]) },
      { [other] in other.reply(to: $0) },
    ]) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      _ = try await download.restBeforeError()
      await #expect(throws: SourceError.self) {
        try await download.bytes(at: 400_000, atMost: 10, of: 0)
      }
      let data = try await download.rest(of: 1)
      #expect(data == file.bytes)
    }
  }

  @Test func `a secret on both sides of a cut is masked once the file goes on`() async throws {
    let key = Secret("Canary6f1e0c27")
    let half = String(repeating: "x", count: 50_000)
    let file = ServedFile("\(half)Canary6f1e0c27\(half)")
    var cut = file
    cut.cut = 50_006
    try await serving([{ [cut] in cut.reply(to: $0) }, { file.reply(to: $0) }]) { server in
      let download = directory.download(
        HTTPRequest(.get, server.baseURL, query: [.init("key", .secret(key))]))
      let first = try await download.restBeforeError()
      #expect(first.data.count == 50_006)
      let rest = try await download.rest(from: 50_006)
      #expect(rest == Data("ED******\(half)".utf8))
      let whole = try await download.rest()
      #expect(whole == Data("\(half)REDACTED******\(half)".utf8))
    }
  }

  @Test(arguments: [400_000, 399_999])
  func `a range beyond the end is the end, or another file`(total: Int) async throws {
    let begin = LoopbackReply.begin(headers: [("Transfer-Encoding", "chunked"), ("ETag", "\"1\"")])
    let file = ServedFile(400_000)
    let cut = begin.sending(Data("61a80\r\n".utf8)).sending(file.bytes).closing
    try await serving([
      { _ in cut },
      { _ in .status(416, "", headers: [("Content-Range", "bytes */\(total)")]) },
      { file.reply(to: $0) },
    ]) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      let first = try await download.restBeforeError()
      #expect(first.data == file.bytes && first.error?.code == .connectionLost)
      if total == 400_000 {
        let end = try await download.rest(from: total)
        #expect(end.isEmpty)
        #expect(server.requests.count == 2)
      } else {
        await #expect(throws: SourceError.self) { try await download.rest(from: 400_000) }
        let data = try await download.rest(of: 1)
        #expect(data == file.bytes)
      }
    }
  }

  @Test func `a range that was not asked for is refused`() async throws {
    let file = ServedFile(100)
    try await serving([{ _ in file.reply(206, from: 10, [("Content-Range", "bytes 10-99/100")]) }])
    { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      let error = await #expect(throws: SourceError.self) { try await download.head() }
      #expect(error?.code == .malformed)
    }
  }

  // MARK: - Objects and processes

  /// Receives `count` bytes by a download, and waits until nothing of it is left but its file.
  private func receive(_ count: Int, of request: HTTPRequest) async throws {
    let used = directory.usedCount
    try await receiveOnce(count, of: request)
    // Its task may end later than the object.
    while directory.usedCount > used { await Task.yield() }
  }

  private func receiveOnce(_ count: Int, of request: HTTPRequest) async throws {
    let download = directory.download(request)
    var offset = 0
    while offset < count {
      offset += try await download.bytes(
        at: offset, atMost: count - offset, of: download.head().version
      ).count
    }
  }

  @Test func `another download of the directory continues the file`() async throws {
    let file = ServedFile(Self.size)
    var cut = file
    cut.cut = 400_000
    try await serving([{ [cut] in cut.reply(to: $0) }, { file.reply(to: $0) }]) { server in
      let request = HTTPRequest(.get, server.baseURL, query: [.init("a", "1")])
      try await receive(400_000, of: request)
      #expect(directory.names.count == 2)
      let download = directory.download(request)
      let head = try await download.head()
      #expect(!head.isRestarted && head.length == Self.size)
      #expect(server.requests.last?.header("range") == "bytes=400000-")
      let data = try await download.rest()
      #expect(data == file.bytes)
    }
    // The last one has read it, and is gone.
    while !directory.names.isEmpty { await Task.yield() }
  }

  @Test func `a whole file that was not read is not sent again`() async throws {
    let file = ServedFile(Self.size)
    try await serving([{ file.reply(to: $0) }]) { server in
      let request = HTTPRequest(.get, server.baseURL)
      try await receive(1, of: request)
      while try directory.contents(of: ".part")?.count != Self.size {
        // It may have been gone before the end of the file came.
        try await receive(Self.size - 1, of: request)
      }
      let sent = server.bytesSent
      let data = try await directory.download(request).rest()
      #expect(data == file.bytes)
      #expect(server.bytesSent - sent < 1000)
    }
  }

  @Test func `a file that has changed meanwhile begins anew, and says so`() async throws {
    let old = ServedFile(Self.size)
    var new = ServedFile(Self.size / 2)
    new.fields = [("ETag", "\"2\"")]
    var cut = old
    cut.cut = 400_000
    try await serving([{ [cut] in cut.reply(to: $0) }, { [new] in new.reply(to: $0) }]) { server in
      let request = HTTPRequest(.get, server.baseURL)
      try await receive(400_000, of: request)
      let download = directory.download(request)
      let head = try await download.head()
      #expect(head.isRestarted && head.version == 0 && head.validator == "\"2\"")
      let data = try await download.rest()
      #expect(data == new.bytes)
    }
  }

  @Test func `two downloads at once have a file each`() async throws {
    let file = ServedFile(Self.size)
    try await serving([{ file.reply(to: $0) }]) { server in
      let request = HTTPRequest(.get, server.baseURL)
      let (first, second) = (directory.download(request), directory.download(request))
      _ = try await first.head()
      let data = try await second.rest()
      let other = try await first.rest()
      #expect(data == file.bytes && other == file.bytes)
      #expect(directory.names.filter { $0.contains(".part") }.count == 1)
      #expect(server.requests.count == 2)
    }
  }

  @Test func `damaged metadata is no reason to fail`() async throws {
    let file = ServedFile(Self.size)
    var cut = file
    cut.cut = 400_000
    try await serving([{ [cut] in cut.reply(to: $0) }, { file.reply(to: $0) }]) { server in
      let request = HTTPRequest(.get, server.baseURL)
      try await receive(400_000, of: request)
      let name = try #require(directory.names.first { $0.hasSuffix(".json") })
      try Data("{".utf8).write(to: URL(filePath: "\(directory.path)/\(name)"))
      let data = try await directory.download(request).rest()
      #expect(data == file.bytes)
      #expect(server.requests.last?.header("range") == nil)
    }
  }

  @Test func `old files, and those beyond the limit, are removed unless they are in use`()
    async throws
  {
    var file = ServedFile(100_000)
    file.cut = 50_000
    try await serving([{ [file] in file.reply(to: $0) }]) { server in
      func request(_ name: String) -> HTTPRequest {
        HTTPRequest(.get, server.baseURL.appending(path: name))
      }
      func age(_ name: String) throws {
        try FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSinceNow: -25 * 3600)],
          ofItemAtPath: "\(directory.path)/\(name)")
      }
      let used = directory.download(request("used"))
      _ = try await used.head()
      _ = try await used.bytes(at: 49_999, atMost: 1, of: 0)
      for name in directory.names { try age(name) }
      for name in ["a", "b", "c"] { try await receive(50_000, of: request(name)) }
      #expect(directory.names.count == 8)
      // Less than two of these three need.
      let next = directory.download(request("d"), maxBytes: 99_999)
      _ = try await next.head()
      #expect(directory.names.count == 6)
      let bytes = try await used.bytes(at: 0, atMost: 100, of: 0)
      #expect(Data(bytes) == file.bytes.prefix(100))
      for name in directory.names { try age(name) }
      let last = directory.download(request("e"))
      _ = try await last.head()
      #expect(directory.names.count == 6)
    }
  }

  @Test func `files are private`() async throws {
    try await serving([{ ServedFile(100).reply(to: $0) }]) { server in
      let download = directory.download(HTTPRequest(.get, server.baseURL))
      _ = try await download.head()
      for name in [""] + directory.names {
        let path = "\(directory.path)/\(name)"
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == (name.isEmpty ? 0o700 : 0o600))
      }
      #expect(directory.names.count == 2)
    }
  }

  @Test func `a directory that cannot be written is named`() async throws {
    try Data().write(to: URL(filePath: directory.path))
    let url = try #require(URL(string: "http://127.0.0.1:1/file"))
    let error = await #expect(throws: SourceError.self) {
      try await directory.download(HTTPRequest(.get, url)).head()
    }
    #expect(error?.code == .storage)
    #expect(error?.message.contains(directory.path) == true)
  }

  // MARK: - Recordings

  @Test func `a download is recorded and replayed`() async throws {
    let file = ServedFile("id,name\n1,Ann\n")
    let tape = Tape()
    try await serving([{ file.reply(to: $0) }]) { server in
      let request = HTTPRequest(.get, server.baseURL.appending(path: "file"))
      let recording = try RecordingTransport(
        LongTimeoutTransport(), into: URL(filePath: tape.path), hiding: [])
      let data = try await directory.download(request, over: recording).rest()
      #expect(data == file.bytes)
      let replaying = ReplayingTransport(try Recording(URL(filePath: tape.path)))
      let replayed = try await DownloadDirectory().download(request, over: replaying).rest()
      #expect(replayed == file.bytes)
      #expect(server.requests.count == 1)
    }
  }

  @Test func `a file that is too large for a recording is not recorded`() async throws {
    let tape = Tape()
    let block = Data(repeating: 0x61, count: 1 << 20)
    try await serving([{ _ in .chunked(block, times: 17) }]) { server in
      let recording = try RecordingTransport(
        LongTimeoutTransport(), into: URL(filePath: tape.path), hiding: [])
      let download = directory.download(HTTPRequest(.get, server.baseURL), over: recording)
      let error = await #expect(throws: SourceError.self) { try await download.head() }
      #expect(error?.code == .notRecorded)
      #expect(
        error?.message
          == "not recorded: the response is larger than 16 MiB, the most that is recorded")
      #expect(tape.names.isEmpty)
    }
  }
}
