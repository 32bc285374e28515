import AggregatorTestSupport
public import Foundation

/// An image host on 127.0.0.1 that has every path.
///
/// Deinitialisation stops it.
public final class FakePictures: FakeService {
  /// A PNG of 3×2 pixels, returned for every path.
  public static let picture =
    Data(
      base64Encoded:
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5"
        + "SAAAAABJRU5ErkJggg==") ?? Data()

  /// The wrong type, as many hosts send it.
  static let reply = LoopbackReply.ok(picture, headers: [("Content-Type", "image/jpeg")])

  public let server: InterruptibleServer

  public init() throws {
    server = try InterruptibleServer { _ in Self.reply }
  }

  public var url: URL { server.baseURL }

  /// Empty: other services return its URLs.
  public var settings: [String: String] { [:] }

  /// The requested paths, in order.
  public var paths: [String] { requests.map(\.path) }
}
