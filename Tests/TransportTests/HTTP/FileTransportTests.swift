import AggregatorKit
import Foundation
import Testing

/// A file in the place of a service.
@Suite struct FileTransportTests {
  private let directory = FileManager.default.temporaryDirectory
    .appending(path: "aggregator-\(UUID().uuidString)")

  private func file(_ text: String, changedBefore seconds: Double) throws -> URL {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let file = directory.appending(path: "a b.json", directoryHint: .notDirectory)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: file.path)
    return file
  }

  @Test func `an unchanged file is not read again, and a changed one is`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let url = try file("[1]", changedBefore: 60)
    let first = try await FileTransport().send(HTTPRequest(.get, url))
    #expect(first.status == 200 && first.body == Data("[1]".utf8))
    let tag = try #require(first.header("etag"))
    let condition = HTTPRequest(
      .get, url, headers: [HTTPRequest.Item("If-None-Match", .plain(tag))])
    let same = try await FileTransport().send(condition)
    #expect(same.status == 304 && same.body.isEmpty && same.header("etag") == tag)
    _ = try file("[2]", changedBefore: 50)
    let changed = try await FileTransport().send(condition)
    #expect(changed.status == 200 && changed.body == Data("[2]".utf8))
  }

  @Test func `a file that has just changed is always read`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let response = try await FileTransport().send(
      HTTPRequest(.get, try file("[1]", changedBefore: 0)))
    #expect(response.body == Data("[1]".utf8) && response.header("etag") == nil)
  }

  @Test func `a file that is changed while it is read is no file`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    // More than the stream takes before somebody reads it.
    let url = try file(String(repeating: "a", count: 2 << 20), changedBefore: 60)
    let stream = ResponseStream()
    var request = HTTPRequest(.get, url)
    request.responseStream = stream
    async let error = Self.failure(of: request)
    #expect(await stream.head()?.status == 200)
    let writer = try FileHandle(forUpdating: url)
    try writer.write(contentsOf: Data(repeating: UInt8(ascii: "b"), count: 2 << 20))
    try writer.close()
    while let bytes = await stream.next() {
      #expect(!bytes.contains(UInt8(ascii: "b")))
    }
    #expect(await error?.code == .serverError)
    #expect(await error?.message.hasSuffix("a b.json was changed while it was read") == true)
  }

  private static func failure(of request: HTTPRequest) async -> SourceError? {
    defer { request.responseStream?.finish() }
    do throws(SourceError) { _ = try await FileTransport().send(request) } catch { return error }
    return nil
  }

  @Test func `what is no regular file, or too large, is refused`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let url = try file("[1]", changedBefore: 60)
    let pipe = directory.appending(path: "pipe", directoryHint: .notDirectory)
    #expect(mkfifo(pipe.path, 0o600) == 0)
    for (url, code, words) in [
      (directory, SourceError.Code.rejected, "is a directory"),
      (pipe, .rejected, "is a device or a pipe"),
      (directory.appending(path: "none"), .rejected, "no such file"),
      (URL(filePath: "/dev/null"), .rejected, "is a device or a pipe"),
    ] {
      let error = await #expect(throws: SourceError.self) {
        try await FileTransport().send(HTTPRequest(.get, url))
      }
      #expect(error?.code == code && error?.message.hasSuffix(words) == true, "\(url)")
    }
    var limits = HTTPLimits.standard
    limits.bodyBytes = 2
    let request = HTTPRequest(.get, url, limits: limits)
    let error = await #expect(throws: SourceError.self) {
      try await FileTransport().send(request)
    }
    #expect(error?.code == .tooLarge && error?.message.hasSuffix("larger than 2 bytes") == true)
  }
}
