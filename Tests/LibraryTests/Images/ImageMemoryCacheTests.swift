import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorImages
@testable import AggregatorKit

@Suite struct ImageMemoryCacheTests {
  private func image(_ number: Int, bytes: Int = 100) throws -> LoadedImage {
    let address = try #require(ImageAddress("https://cdn.test/\(number).png"))
    return try #require(LoadedImage(SampleImage.png(bytes: bytes), at: address))
  }

  @Test func `the least recently used image is evicted first`() throws {
    let memory = ImageMemoryCache(of: 300)
    let images = try (0..<4).map { try image($0) }
    for image in images.prefix(3) { memory.add(image, fetchedAt: nil) }
    #expect(memory[images[0].id]?.item == images[0])
    memory.add(images[3], fetchedAt: nil)
    #expect(images.map { memory[$0.id] != nil } == [true, false, true, true])
    #expect(memory.bytes == 300)
  }

  @Test func `an image counts once, and the later one replaces it`() throws {
    let memory = ImageMemoryCache(of: 300)
    for bytes in [100, 250, 60] {
      memory.add(try image(1, bytes: bytes), fetchedAt: .day(Double(bytes)))
    }
    #expect(memory.bytes == 60)
    #expect(memory[try image(1).id]?.provenance.fetchedAt == .day(60))
  }

  @Test func `an image larger than the cache is not added, and its old version is removed`() throws
  {
    let memory = ImageMemoryCache(of: 300)
    memory.add(try image(1), fetchedAt: nil)
    memory.add(try image(2), fetchedAt: nil)
    memory.add(try image(1, bytes: 301), fetchedAt: nil)
    #expect(memory[try image(1).id] == nil)
    #expect(memory[try image(2).id] != nil)
    #expect(memory.bytes == 100)
  }

  @Test func `it never exceeds its limit`() throws {
    let memory = ImageMemoryCache(of: 1000)
    var random = SeededGenerator(3)
    for _ in 0..<2000 {
      let size = Int.random(in: 37...600, using: &random)
      memory.add(try image(.random(in: 0..<20, using: &random), bytes: size), fetchedAt: nil)
      #expect(memory.bytes <= 1000)
    }
  }

  @Test func `it is emptied at once`() throws {
    let memory = ImageMemoryCache(of: 300)
    memory.add(try image(1), fetchedAt: nil)
    memory.removeAll()
    #expect(memory[try image(1).id] == nil)
    #expect(memory.bytes == 0)
    for number in 2...4 { memory.add(try image(number), fetchedAt: nil) }
    #expect(memory.bytes == 300)
  }

  /// Images are added so seldom that outdated uses are dropped between.
  @Test func `it evicts the same images as a list in the order of use`() throws {
    let memory = ImageMemoryCache(of: 1000)
    let images = try (0..<20).map { try image($0) }
    var order: [Int] = []
    var random = SeededGenerator(5)
    for _ in 0..<20_000 {
      let number = Int.random(in: images.indices, using: &random)
      let isAdded = Int.random(in: 0..<200, using: &random) == 0
      if isAdded {
        memory.add(images[number], fetchedAt: nil)
      } else {
        try #require((memory[images[number].id] != nil) == order.contains(number))
      }
      guard isAdded || order.contains(number) else { continue }
      order.removeAll { $0 == number }
      order.append(number)
      if order.count > 10 { order.removeFirst() }
    }
    #expect(memory.bytes == 1000)
  }
}

extension ImageMemoryCache {
  fileprivate func add(_ image: LoadedImage, fetchedAt: Date?) {
    add(LookupResult(image, provenance: Provenance(.live, fetchedAt: fetchedAt)))
  }
}
