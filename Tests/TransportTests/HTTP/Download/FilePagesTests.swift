import AggregatorCore
import AggregatorHTTP
import AggregatorSourceTesting
import Foundation
import Testing

/// The pages of a file of records.
@Suite(.timeLimit(.minutes(10))) struct FilePagesTests {
  private let directory = DownloadDirectory()
  private let clock = ManualClock()

  /// Another process has one of its own.
  private func pages() -> FilePages {
    FilePages(
      over: LongTimeoutTransport(), into: directory.path, maxFileBytes: 1 << 30, as: nil,
      rowCount: 1000)
  }

  /// The place after a page, and what is left of its ten seconds, of which nine had passed before.
  private func page(
    at place: String, of url: URL, by pages: FilePages
  ) async throws -> (next: String?, left: Duration) {
    let deadline = Deadline(after: .seconds(10), on: clock)
    clock.advance(by: .seconds(9))
    let request = HTTPRequest(.get, url).setting(FilePages.parameter, to: place)
    let response = try await Deadline.$current.withValue(deadline) { try await pages.send(request) }
    return (response.header("aggregator-file-place"), deadline.remaining())
  }

  @Test func `the way to a place does not count as time of its page`() async throws {
    let rows = (1...3000).map { "\($0),lamp \($0)\n" }.joined()
    let server = try LoopbackServer { _ in
      .status(200, "id,name\n\(rows)", headers: [("Content-Type", "text/csv"), ("ETag", "\"a\"")])
    }
    let url = server.baseURL.appending(path: "lamps.csv")
    let first = self.pages()
    let begun = try await page(at: FilePages.start, of: url, by: first)
    #expect(begun.left == .seconds(1))
    let second = try await page(at: try #require(begun.next), of: url, by: first)
    #expect(second.left == .seconds(1))
    let resumed = try await page(at: try #require(second.next), of: url, by: self.pages())
    #expect(resumed.left == .seconds(10))
  }
}
