import AggregatorFakeServices
import AggregatorKit
import AggregatorServer
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorAPI
@testable import AggregatorProgramTesting

/// Images of `serve` whose host does not answer.
@Suite(
  .timeLimit(.minutes(10)), .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed")
) struct ServedImagesTests {
  @Test func `records, lists and searches answer while 120 images hang`() async throws {
    let pictures = try FakePictures()
    let products = try FakeProducts(
      (1...120).map { number in
        let image = pictures.url.appending(path: "\(number).png").absoluteString
        return FakeProduct(number, .string("Lamp \(number)"), images: [.string(image)])
      })
    let home = try TestHome(products.settings)
    let sync = try await home.run("products sync")
    #expect(sync.status == 0, "\(sync)")
    products.stop()
    pictures.fail(with: .stalled)
    let server = try await ServingProgram(
      "--source products", environment: home.environment, in: home.sandbox)
    let clients = try (1...120).map { number in
      try Client(of: server, "/api/v1/products/\(FakeProduct.id(number))/image")
    }
    // 8 are fetched and 64 wait; there is no room for the others.
    let refused = await Client.answered(clients, atLeast: 48)
    _ = await pictures.requests(atLeast: 8)

    let id = FakeProduct.id(7)
    let record = try await server.get("/api/v1/products/\(id)")
    #expect(record.status == 200 && record.text.contains("Lamp 7"), "\(record.text)")
    #expect(try await server.get("/api/v1/products?sort=-title&cache=offline").status == 200)
    #expect(try await server.get("/api/v1/search?query=lamp&cache=offline").status == 200)
    #expect(try await server.get("/sources/products/\(id)?cache=offline").status == 200)

    // None of the images has arrived before them.
    let answers = refused.map(\.text)
    #expect(answers.allSatisfy { !$0.hasPrefix("HTTP/1.1 200 ") }, "\(answers)")
    let busy = answers.first { $0.contains("too many images are being loaded") }
    #expect(busy?.hasPrefix("HTTP/1.1 503 ") == true, "\(answers)")
    #expect(busy?.contains("\r\nRetry-After: 2\r\n") == true, "\(answers)")
    #expect(await Client.answered(clients, atLeast: 0).count < 120)
    // Clients that leave make room, as soon as the server notices.
    pictures.recover()
    for client in clients { client.leave() }
    let address = "/api/v1/products/\(id)/image"
    var image = try await server.get(address)
    for _ in 1...10_000 where image.status >= 500 { image = try await server.get(address) }
    #expect(image.status == 200 && image.body == FakePictures.picture, "\(image)")
    try await server.stop()
  }

  /// A connection that has sent a request.
  private final class Client: Sendable {
    private let descriptor: Int32

    init(of server: ServingProgram, _ path: String) throws {
      descriptor = try ServingProgram.connected(to: server.port)
      let request = Array(
        """
        GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\
        Authorization: Bearer \(server.token ?? "")\r\n\r\n
        """.utf8)
      #expect(write(descriptor, request, request.count) == request.count)
    }

    deinit { close(descriptor) }

    func leave() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// The beginning of the answer.
    var text: String {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = read(descriptor, &bytes, bytes.count)
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// The clients that have an answer, as soon as there are so many.
    static func answered(_ clients: [Client], atLeast count: Int) async -> [Client] {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          var (waiting, answered) = (clients, [Client]())
          repeat {
            var polled = waiting.map { client in
              pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
            }
            poll(&polled, nfds_t(polled.count), answered.count < count ? -1 : 0)
            answered += zip(waiting, polled).filter { $1.revents != 0 }.map(\.0)
            waiting = zip(waiting, polled).filter { $1.revents == 0 }.map(\.0)
          } while answered.count < count
          continuation.resume(returning: answered)
        }
      }
    }
  }

  /// A transport whose calls wait for a gate.
  private struct Held: Transport {
    let gate: Gate

    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      try await gate.pass()
      throw SourceError(.unreachable, "passed")
    }
  }

  @Test func `a pool has few places, and a caller that leaves makes room`() async throws {
    let gate = Gate()
    let pool = ImagePool(width: 1, maxWaiting: 1)
    let transport = pool.transport(Held(gate: gate))
    let url = try #require(URL(string: "http://127.0.0.1/"))
    @Sendable func send() async -> SourceError.Code? {
      do throws(SourceError) { _ = try await transport.send(HTTPRequest(.get, url)) } catch {
        return error.code
      }
      return nil
    }
    let first = Task { await send() }
    await gate.holds(1)
    let second = Task { await send() }
    while pool.waitingCount < 1 { await Task.yield() }
    #expect(await send() == .busy)
    second.cancel()
    #expect(await second.value == .cancelled)
    #expect(pool.waitingCount == 0)
    let third = Task { await send() }
    while pool.waitingCount < 1 { await Task.yield() }
    gate.open()
    #expect(await first.value == .unreachable)
    #expect(await third.value == .unreachable)
  }
}
