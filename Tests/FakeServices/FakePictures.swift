import AggregatorSourceTesting
public import Foundation

/// A host of images, on 127.0.0.1: whatever is asked for is there.
///
/// It is stopped when nobody holds it any more.
public final class FakePictures: FakeService {
  /// A PNG of 3×2 pixels, as a program wrote it: every image is this one.
  public static let picture =
    Data(
      base64Encoded:
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5"
        + "SAAAAABJRU5ErkJggg==") ?? Data()

  /// What answers.
  public let server: InterruptibleServer

  /// Starts the host.
  ///
  /// - Throws: ``SourceError`` with code `unreachable` if the system gives no socket.
  public init() throws {
    server = try InterruptibleServer { _ in
      .ok(Self.picture, headers: [("Content-Type", "image/jpeg")])
    }
  }

  /// The address, without a path.
  public var url: URL { server.baseURL }

  /// Nothing: replies of others name it.
  public var settings: [String: String] { [:] }

  /// The paths that were asked for, in order.
  public var paths: [String] { requests.map(\.path) }
}
