import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

extension ImageLoaderTests {
  private final class Cable: Transport {
    let isConnected = Mutex(false)

    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      guard isConnected.withLock(\.self) else { throw .because(.unreachable) }
      return try await LongTimeoutTransport().send(request)
    }
  }

  static let wrong: [(LoopbackReply, SourceError.Code, String)] = [
    (.html(title: "Not here"), .malformed, #"sent a page instead of an image: "Not here""#),
    (
      .ok(Data("<svg/>".utf8), headers: [("Content-Type", "image/png")]), .malformed,
      "sent a page instead of an image"
    ),
    (
      .ok(Data("hello".utf8), headers: [("Content-Type", "image/jpeg")]), .malformed,
      #"sent other data instead of an image: "hello""#
    ),
    (.ok(Data()), .malformed, "sent nothing instead of an image"),
    (.ok(SampleImage.png().prefix(20)), .malformed, "sent a damaged image"),
    (.status(404, SampleImage.png()), .rejected, "refused the request (404)"),
    (.cut(after: SampleImage.png(), of: 1500), .connectionLost, "in the middle of the response"),
    (.ok(SampleImage.png(bytes: 2001)), .tooLarge, "the response is larger than 2000 bytes"),
    (.redirect(to: "http://127.0.0.2/x.png"), .rejected, "redirects to another host"),
  ]

  @Test(arguments: wrong.indices)
  func `other data than an image is a failure, and is not cached`(index: Int) async throws {
    let (reply, code, words) = Self.wrong[index]
    try await withServer(replies: reply, .ok(SampleImage.png())) { server in
      let loader = loader(files: files, maxBytes: 2000)
      let error = await failure(loader, try address(server))
      #expect(error?.code == code)
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
      #expect(await files.usage().count == 0)
      let found = try await self.loader(files: files).image(at: try address(server))
      #expect(found.item.bytes == SampleImage.png())
    }
  }

  @Test func `a broken image is requested again only after a minute`() async throws {
    let time = Mutex(Date.day())
    try await withServer(
      replies: .html(title: "Not here"), .status(404), .ok(SampleImage.png())
    ) { server in
      let (loader, address) = (
        loader(now: { time.withLock(\.self) }), try address(server)
      )
      for (seconds, code, requests) in [
        (0, SourceError.Code.malformed, 1), (59, .malformed, 1), (60, .rejected, 2),
        (119, .rejected, 2),
      ] {
        time.withLock { $0 = .day(Double(seconds)) }
        #expect(await failure(loader, address)?.code == code)
        #expect(server.requests.count == requests)
      }
      // Set back, the clock does not prolong it.
      time.withLock { $0 = .day(30) }
      #expect(try await loader.image(at: address).item.bytes == SampleImage.png())
    }
  }

  @Test func `a lost connection and a refresh ask for the image at once`() async throws {
    try await withServer(
      replies: .cut(after: SampleImage.png(), of: 5000), .status(404), .status(404),
      .ok(SampleImage.png()), .ok(SampleImage.png())
    ) { server in
      let (loader, address) = (loader(memory: 0), try address(server))
      #expect(await failure(loader, address)?.code == .connectionLost)
      #expect(await failure(loader, address)?.code == .rejected)
      #expect(await failure(loader, address, .reload)?.code == .rejected)
      #expect(await failure(loader, address, .reload) == nil)
      // Success ends the wait.
      #expect(await failure(loader, address) == nil)
      #expect(server.requests.count == 5)
    }
  }

  @Test func `an image appears as soon as the service can be reached`() async throws {
    try await withServer { _ in
      .ok(SampleImage.png())
    } do: { server in
      let cable = Cable()
      let (loader, address) = (loader(transport: cable), try address(server))
      #expect(await failure(loader, address)?.code == .unreachable)
      cable.isConnected.withLock { $0 = true }
      #expect(try await loader.image(at: address).item.bytes == SampleImage.png())
    }
  }
}
