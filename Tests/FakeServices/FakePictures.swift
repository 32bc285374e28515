public import Foundation
public import SourceTesting
import Synchronization

/// A host of images, on 127.0.0.1: whatever is asked for is there.
///
/// It is stopped when nobody holds it any more.
public final class FakePictures: Sendable {
  /// A PNG of 3×2 pixels, as a program wrote it: every image is this one.
  public static let picture =
    Data(
      base64Encoded:
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5"
        + "SAAAAABJRU5ErkJggg==") ?? Data()

  private let server: LoopbackServer
  private let interruption = Interruption()

  /// Starts the host.
  ///
  /// - Throws: ``SourceError`` with code `unreachable` if the system gives no socket.
  public init() throws {
    server = try LoopbackServer { [interruption] _ in
      interruption.next() ?? .ok(Self.picture, headers: [("Content-Type", "image/jpeg")])
    }
  }

  /// The address, without a path.
  public var url: URL { server.baseURL }

  /// All requests so far.
  public var requests: [LoopbackRequest] { server.requests }

  /// The paths that were asked for, in order.
  public var paths: [String] { requests.map(\.path) }

  /// Answers the next requests with something else.
  ///
  /// - Parameters:
  ///   - reply: What to answer.
  ///   - times: How many requests; all that come by default.
  public func fail(with reply: LoopbackReply, times: Int = .max) {
    interruption.begin(reply, times)
  }

  /// Closes the port.
  public func stop() { server.stop() }
}
