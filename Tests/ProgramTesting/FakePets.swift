import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation

/// An API of pets with images for sources that are added, on 127.0.0.1.
final class FakePets: Sendable {
  let server: LoopbackServer

  /// - Parameters:
  ///   - ids: The IDs; the image of `none` is missing from the record, that of `gone` from the server.
  ///   - image: Returns the image at a path.
  init(
    _ ids: [String],
    image: @escaping @Sendable (String) -> LoopbackReply = { _ in .ok(FakePictures.picture) }
  ) throws {
    server = try LoopbackServer { request in
      if request.path == "/gone.png" { return .status(404) }
      guard request.path == "/pets" else { return image(request.path) }
      let host = request.header("Host") ?? ""
      let rows = ids.map { id in
        let name = id.replacing("/", with: "-")
        let url = id == "none" ? "null" : #""http://\#(host)/\#(name).png""#
        return #"{"id": "\#(id)", "name": "Pet \#(id)", "image": \#(url)}"#
      }
      return .json(#"{"total": \#(ids.count), "pets": [\#(rows.joined(separator: ","))]}"#)
    }
  }

  /// The paths of the images that were requested.
  var images: [String] { server.requests.map(\.path).filter { $0 != "/pets" }.sorted() }
}

/// A home directory with ``FakePets`` as its source `pets`, which it keeps running.
struct PetHome: Sendable {
  let pets: FakePets
  let home: TestHome

  init(_ pets: FakePets) async throws {
    self.pets = pets
    home = try TestHome()
    let added = try await home.run("sources add pets \(pets.server.baseURL)/pets --rate off")
    guard added.status == 0 else { throw POSIXError(.EPROTO) }
  }

  init(_ ids: [String]) async throws { try await self.init(FakePets(ids)) }

  var sandbox: Sandbox { home.sandbox }

  func run(
    _ line: String, _ variables: [String: String?] = [:], input: String = ""
  ) async throws -> Outcome {
    try await home.run(line, variables, input: input)
  }
}
