import AggregatorKit
import Foundation
import Testing

@testable import AggregatorStore
@testable import AggregatorSync

/// The leases of a pass, without a store: its time is an argument.
struct SharedPassTests {
  private var pass = SharedPass(id: "a", size: 10, after: 0, at: .day())

  private mutating func lease(
    _ count: Int, to worker: String = "one", at seconds: Double = 0, depth: Int? = nil
  ) -> [SharedPass.Lease] {
    pass.lease(count, to: worker, at: .day(seconds), for: .seconds(60), depth: depth)
  }

  private mutating func finish(
    _ lease: SharedPass.Lease, records: Int = 10, total: Int? = nil, isLast: Bool = false,
    depth: Int? = nil
  ) {
    pass.finish(
      lease,
      Page(
        (0..<records).map { Note($0) }, next: isLast ? nil : PageCursor("next"), total: total,
        provenance: Provenance(.live)),
      depth: depth, at: .day())
  }

  @Test mutating func `leases the first page alone, because it tells how many there are`() {
    let first = lease(5)
    #expect(first.map(\.place) == [0])
    #expect(lease(5, to: "two").isEmpty)
    finish(first[0], total: 35)
    #expect(lease(2).map(\.place) == [1, 2])
    #expect(lease(5, to: "two").map(\.place) == [3])
  }

  @Test mutating func `is complete when all pages up to the last are done, in any order`() {
    finish(lease(1)[0])
    let leases = lease(4)
    finish(leases[2], records: 3, isLast: true)
    #expect(!pass.isComplete)
    finish(leases[1])
    finish(leases[0])
    #expect(pass.isComplete && pass.progress.isCertain)
    #expect((pass.progress.records, pass.progress.pages) == (33, 4))
    // Beyond the last page there is nothing to lease, and nobody holds what was leased there.
    #expect(lease(5).isEmpty && pass.leases.all.isEmpty)
  }

  @Test mutating func `gives an expired lease to another worker, under another number`() throws {
    finish(lease(1)[0])
    let old = try #require(lease(1).first)
    #expect(pass.leases.isValid(old, at: .day(59)))
    #expect(lease(1, to: "two", at: 59).map(\.place) == [2])
    #expect(!pass.leases.isValid(old, at: .day(60)))
    let new = try #require(lease(1, to: "two", at: 60).first)
    #expect(new.place == old.place && new.fence > old.fence)
    #expect(pass.leases.isValid(new, at: .day(60)) && !pass.leases.isValid(old, at: .day(60)))
  }

  @Test mutating func `renews only leases that are valid`() throws {
    let lease = try #require(lease(1).first)
    pass.renew([lease], at: .day(59), for: .seconds(60))
    #expect(pass.leases.isValid(lease, at: .day(118)))
    pass.renew([lease], at: .day(119), for: .seconds(60))
    #expect(!pass.leases.isValid(lease, at: .day(119)))
  }

  @Test mutating func `passes on at once what a worker gives back`() throws {
    let lease = try #require(lease(1).first)
    pass.release([lease])
    #expect(!pass.leases.isValid(lease, at: .day()))
    #expect(self.lease(1, to: "two").map(\.place) == [0])
  }

  @Test mutating func `goes on where a list is longer than its total was`() {
    finish(lease(1)[0], total: 20)
    let second = lease(5)
    #expect(second.map(\.place) == [1])
    finish(second[0], total: 20)
    #expect(!pass.isComplete)
    #expect(lease(5).map(\.place) == [2])
  }

  @Test mutating func `doubts a list that has records after its last page`() {
    finish(lease(1)[0])
    let leases = lease(2)
    finish(leases[1], records: 10)
    finish(leases[0], records: 0, isLast: true)
    // A record may have moved from one page to another meanwhile.
    #expect(pass.isComplete && !pass.progress.isCertain)
  }

  @Test mutating func `ends where the service lists no more`() {
    finish(lease(1, depth: 25)[0], total: 100, depth: 25)
    let leases = lease(9, depth: 25)
    #expect(leases.map(\.place) == [1, 2])
    finish(leases[1], total: 100, depth: 25)
    #expect(!pass.isComplete && !pass.progress.isCut)
    finish(leases[0], total: 100, depth: 25)
    #expect(pass.isComplete && pass.progress.isCut)
  }

  @Test mutating func `is read back as it was written`() throws {
    finish(lease(1)[0], total: 35)
    let leases = lease(3)
    finish(leases[2], records: 5, total: 35, isLast: true)
    #expect(SharedPass(pass.text, at: .day()) == pass)
    #expect(SharedPass(pass.text, at: .day(8 * 86_400)) == nil)
    let spoilt = [
      (#""z":10"#, #""z":-1"#), (#""z":10"#, #""z":1000000"#), (#""d":1"#, #""d":-1"#),
      (#""n":4"#, #""n":9223372036854775807"#), (#""f":4"#, #""f":9223372036854775807"#),
    ].map { pass.text.replacing($0, with: $1) }
    for text in ["", "{}", "[]", #"{"i":"a","z":0}"#] + spoilt {
      #expect(text != pass.text)
      #expect(SharedPass(text, at: .day()) == nil)
    }
  }
}
