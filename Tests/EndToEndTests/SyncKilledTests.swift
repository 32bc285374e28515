import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `kill -9` in the middle of a sync: the next one requests the rest, and the result is the same.
///
/// `AGGREGATOR_SOAK=1 Scripts/test --filter SyncKilledTests` does 100 rounds of each.
@Suite struct SyncKilledTests {
  /// Kills a sync some time after the service got as many requests as are waited for.
  private func kill(
    _ line: String, in home: TestHome, _ requests: () async -> [LoopbackRequest]
  ) async throws {
    let run = try home.start(line)
    _ = await requests()
    for _ in 0..<Int.random(in: 0..<500) { sched_yield() }
    run.child.send(SIGKILL)
    #expect(try await run.outcome().ending == .signal(SIGKILL))
  }

  /// All requests; each page begins once, except the one that was being read, and the last one that was stored, by which
  /// the next run sees whether the list has moved.
  private func expectResumed(_ starts: [String?], _ whole: [String], _ comment: Comment) {
    var counts: [String: Int] = [:]
    for start in starts { counts[start ?? "", default: 0] += 1 }
    #expect(Set(counts.keys) == Set(whole), comment)
    #expect(starts.count <= whole.count + 2, comment)
  }

  @Test func `heroes`() async throws {
    for round in Soak.rounds(4) {
      let service = try FakeComicVine()
      let home = try TestHome(service.settings.merging(["COMIC_VINE_PAGE_SIZE": "10"]) { $1 })
      let moment = Int.random(in: 1..<23)
      // Should killing take long, the service keeps the process waiting.
      service.fail(with: .stalled, after: moment + 3)
      try await kill("heroes sync --timeout 10m", in: home) {
        await service.requests(atLeast: moment)
      }
      service.recover()
      let comment: Comment = "round \(round), killed after request \(moment)"
      let isThere = FileManager.default.fileExists(atPath: home.file.path)
      if isThere { #expect(try home.file.faults() == [], comment) }

      let rest = try await home.run("heroes sync")
      #expect(rest.status == 0, "\(comment): \(rest)")
      #expect(try home.file.ids(of: "heroes") == NextTests.cast.map(String.init), comment)
      #expect(try home.file.faults() == [], comment)
      let again = try await home.run("heroes sync")
      #expect(again.lines == ["heroes\t0\t0\t257\t0\t26\ttrue"], comment)
      let offsets = service.requests.map { $0.query["offset"] }
      expectResumed(offsets.dropLast(26), (0..<26).map { "\($0 * 10)" }, comment)
    }
  }

  @Test func `products`() async throws {
    for round in Soak.rounds(4) {
      let service = try FakeProducts((0..<195).map { FakeProduct($0, "Thing") })
      let home = try TestHome(service.settings.merging(["PRODUCTS_PAGE_SIZE": "10"]) { $1 })
      let moment = Int.random(in: 1..<17)
      service.fail(with: .stalled, after: moment + 3)
      try await kill("products sync --timeout 10m", in: home) {
        await service.requests(atLeast: moment)
      }
      service.recover()
      let comment: Comment = "round \(round), killed after request \(moment)"
      let rest = try await home.run("products sync")
      #expect(rest.status == 0, "\(comment): \(rest)")
      #expect(try home.file.ids(of: "products") == (0..<195).map(FakeProduct.id), comment)
      #expect(try home.file.faults() == [], comment)
      let again = try await home.run("products sync")
      #expect(again.lines == ["products\t0\t0\t195\t0\t21\ttrue"], comment)
      let skips = service.requests.map { request in
        String(decoding: request.body, as: UTF8.self)
      }
      let starts = (0..<20).map { $0 * 10 } + [195]
      expectResumed(
        skips.dropLast(21), starts.map { #"{"skip":\#($0),"take":10}"# }, comment)
    }
  }

  /// The records are so large that the log is copied into the file meanwhile.
  @Test func `products beyond the length of the log`() async throws {
    for round in Soak.rounds(2) {
      let service = try FakeProducts((0..<200).map(FakeProduct.large))
      let home = try TestHome(service.settings.merging(["PRODUCTS_PAGE_SIZE": "10"]) { $1 })
      let moment = Int.random(in: 12..<17)
      service.fail(with: .stalled, after: moment + 3)
      try await kill("products sync --jobs 4 --timeout 10m", in: home) {
        await service.requests(atLeast: moment)
      }
      service.recover()
      let comment: Comment = "round \(round), killed after request \(moment)"
      #expect(try home.file.faults() == [], comment)
      let rest = try await home.run("products sync --jobs 4")
      #expect(rest.status == 0, "\(comment): \(rest)")
      #expect(try home.file.ids(of: "products") == (0..<200).map(FakeProduct.id), comment)
      #expect(try home.file.faults() == [], comment)
    }
  }
}

extension FakeProduct {
  /// A product of about 200 KB.
  static func large(_ number: Int) -> FakeProduct {
    let name = String(repeating: "x", count: 200_000)
    return FakeProduct(number, "Thing", images: [.string("https://cdn.example/\(name).jpg")])
  }
}
