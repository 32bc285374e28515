import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The image cache.
extension ImageTests {
  @Test func `a cached image needs no request, also in offline mode`() async throws {
    #expect(try await home.run("heroes image 1 -o a.png").status == 0)
    let offline = try await home.run("heroes image 1 -o b.png --offline")
    #expect(offline.status == 0)
    #expect(offline.errors.contains("note: cached image, fetched "))
    #expect(try bytes("work/b.png") == FakePictures.picture)
    #expect(pictures.requests.count == 1)

    let other = try await home.run("heroes image 1 --size large -o c.png --offline")
    #expect(other.status == 69)
    #expect(
      other.errors.contains(
        "error: heroes: the image is not cached (offline mode)\n"))
    #expect(try await home.run("heroes image 1 -o d.png --refresh").status == 0)
    #expect(pictures.requests.count == 2)
    pictures.fail(with: .status(503))
    let stale = try await home.run("heroes image 1 -o e.png --refresh")
    #expect(stale.status == 0)
    #expect(stale.errors.contains("warning: heroes: cached image, fetched "))
    #expect(try bytes("work/e.png") == FakePictures.picture)
  }

  @Test func `cached images are readable by their owner only`() async throws {
    #expect(try await home.run("heroes image 1 -o a.png").status == 0)
    let directory = "home/.cache/aggregator/images"
    #expect(try home.sandbox.permissions(of: directory) == 0o700)
    let names = try home.sandbox.files(under: directory)
    #expect(names.count == 2)
    for name in names { #expect(try home.sandbox.permissions(of: "\(directory)/\(name)") == 0o600) }
    let elsewhere = home.sandbox.root.appending(path: "all").path
    #expect(
      try await home.run("heroes image 1 -o b.png", ["AGGREGATOR_HOME": elsewhere]).status == 0)
    #expect(try home.sandbox.files(under: "all/cache/images").count == 2)
  }

  @Test func `a damaged image is fetched again, and a missing cache is not a failure`()
    async throws
  {
    #expect(try await home.run("heroes image 1 -o a.png").status == 0)
    let directory = "home/.cache/aggregator/images"
    let name = try #require(
      try home.sandbox.files(under: directory).first { $0.hasSuffix(".image") })
    try home.sandbox.write("<html>", to: "\(directory)/\(name)")
    #expect(try await home.run("heroes image 1 -o b.png").status == 0)
    #expect(pictures.requests.count == 2)
    try home.sandbox.write("", to: "file")
    let cache = home.sandbox.root.appending(path: "file").path
    let outcome = try await home.run("heroes image 1 -o c.png", ["XDG_CACHE_HOME": cache])
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("warning: heroes: the image is not cached: "))
    #expect(try bytes("work/c.png") == FakePictures.picture)
  }

  @Test func `a recording contains the image and replays it without a request`() async throws {
    #expect(try await home.run("heroes image 1 -o a.png --record tape").status == 0)
    #expect(try home.sandbox.files(under: "home").allSatisfy { !$0.hasSuffix(".image") })
    pictures.stop()
    heroes.stop()
    let replayed = try await home.run("heroes image 1 -o b.png --replay tape")
    #expect(replayed.status == 0)
    #expect(replayed.errors == "Saved b.png (image/png, 3×2, 73 bytes)\n")
    #expect(try bytes("work/b.png") == FakePictures.picture)
  }

  @Test func `the store counts images and removes them with their source`() async throws {
    #expect(try await home.run("heroes image 1 -o a.png").status == 0)
    let status = try await home.run("store status")
    #expect(status.errors.contains(/\/home\/.cache\/aggregator\/images, 1 image, \d{3} bytes\n/))
    let other = try await home.run("store clear countries --yes")
    #expect(other.errors == "Removed 0 cached countries\n")
    let cleared = try await home.run("store clear heroes --yes")
    #expect(cleared.errors == "Removed 1 cached hero and 1 image\n")
    #expect(try await !home.run("store status").errors.contains("images"))
  }

  @Test func `concurrent programs respect the cache limit and get their image`() async throws {
    try await withThrowingTaskGroup(of: Outcome.self) { group in
      for number in 0..<6 {
        group.addTask { try await home.run("heroes image 1 -o \(number).png") }
      }
      for try await outcome in group { #expect(outcome.status == 0, "\(outcome)") }
    }
    for number in 0..<6 { #expect(try bytes("work/\(number).png") == FakePictures.picture) }
    #expect(try home.sandbox.files(under: "home/.cache/aggregator/images").count == 2)
  }
}
