import AggregatorKit
import AggregatorLaws
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorCore

/// One list made of the lists of other records, by the operator and by the whole chain of a plugin.
@Suite(.timeLimit(.minutes(10)))
struct PartitionedSourceTests {
  let directory: StoreDirectory
  let store: SQLiteStore
  let today = Today()
  let service = NestedService()

  init() throws {
    directory = try StoreDirectory()
    store = directory.store()
  }

  private func environment(store: (any SourceStore)?) -> PluginEnvironment {
    service.environment(store: store, now: today.now)
  }

  private func chain(store: (any SourceStore)?) throws -> any DataSource<NestedService.Leaf> {
    try LeavesPlugin(service).source(in: environment(store: store))
  }

  private func listed(
    _ source: any DataSource<NestedService.Leaf>, size: Int, _ policy: CachePolicy = .normal
  ) async throws -> (ids: [String], warnings: [Warning], end: PaginationEnd?) {
    var (ids, warnings, end) = ([String](), [Warning](), PaginationEnd?.none)
    let state = PaginationState<NestedService.Leaf>(
      matching: nil, after: nil, size: size, bound: PaginationBound(pages: 1000),
      cachePolicy: policy)
    for try await step in source.pages(state, ahead: 0) {
      ids += step.items.map(\.id)
      warnings += step.page.warnings
      end = step.end
    }
    return (ids, warnings, end)
  }

  private func ids(_ paths: String..., count: Int) -> [String] {
    paths.flatMap { path in (0..<count).map { NestedService.id($0, in: path) } }
  }

  @Test(arguments: [1, 2, 3, 7], [true, false])
  func `lists the records of all parents in their order`(size: Int, isStored: Bool) async throws {
    for (path, count) in [
      ("b", 4), ("e1", 0), ("a/x", 4), ("e2", 0), ("e3", 0), ("e4", 0), ("c", 4),
    ] {
      service.add(path, leaves: count)
    }
    let list = try await listed(chain(store: isStored ? store : nil), size: size)
    #expect(list.ids == ids("b", "a/x", "c", count: 4))
    #expect(list.end == .exhausted && list.warnings.isEmpty)
    // One request for each page, and none at the end.
    #expect(service.requests.count == 1 + 4 + 3 * ((4 + size - 1) / size))
  }

  @Test func `equal IDs below two parents are two records`() async throws {
    service.add("a", leaves: 2)
    service.add("b", leaves: 2)
    let chain = try chain(store: store)
    #expect(try await chain.item("a/1").item.id == "a/1")
    #expect(try await chain.item("b/1").item.id == "b/1")
    await #expect(throws: SourceError.self) { try await chain.item("1") }
    await #expect(throws: SourceError.self) { try await chain.item("a/7") }
  }

  @Test func `a cursor continues in another process, also while parents come and go`() async throws
  {
    for path in ["a", "b", "c"] { service.add(path, leaves: 2) }
    let source = { try LeavesPlugin(service).wholeRemote(in: environment(store: store)) }
    let first = try await source().page(PageRequest(limit: 1))
    let second = try await source().page(PageRequest(after: first.next, limit: 1))
    #expect(first.records.map(\.id) + second.records.map(\.id) == ids("a", count: 2))
    service.remove("a")
    service.remove("b")
    service.add("d", leaves: 1)
    // A sync of the parents, by anybody.
    today.turn(by: 100)
    let sync = try FoldersPlugin(service: service).sync(into: store, in: environment(store: store))
    #expect(await sync.run(upTo: nil, jobs: 1, waits: false) { _ in }.removedUpstream == 2)
    await #expect { try await source().page(PageRequest(after: second.next, limit: 10)) } throws: {
      ($0 as? SourceError)?.code == .invalidCursor
    }
    let fresh = try await source().page(PageRequest(limit: 10))
    #expect(fresh.records.map(\.id) == ids("c", count: 2))
    let last = try await source().page(PageRequest(after: fresh.next, limit: 10))
    #expect(last.records.map(\.id) == ["d/0"] && last.next == nil)
  }

  @Test func `a refused parent is named, and the others are listed`() async throws {
    for path in ["a", "secret", "c"] { service.add(path, leaves: 1) }
    service.refuse(["secret"])
    let list = try await listed(chain(store: store), size: 5)
    #expect(list.ids == ["a/0", "c/0"])
    #expect(
      list.warnings == [Warning(.incomplete, "secret: leaves refused the request (403)")])
    // Its page is cached with that, too.
    let cached = try await listed(chain(store: store), size: 5, .offline)
    #expect(cached.ids == list.ids && cached.warnings.contains(list.warnings[0]))
  }

  @Test func `only as many parents are read as a page needs`() async throws {
    for number in 0..<25 { service.add("r\(number)", leaves: 1) }
    let remote = try LeavesPlugin(service).wholeRemote(in: environment(store: store))
    let page = try await remote.page(PageRequest(limit: 1))
    #expect(page.records.map(\.id) == ["r0/0"])
    #expect(service.requests == ["folders 0", "r0 0"])
    #expect(try await listed(chain(store: store), size: 1).ids.count == 25)
    #expect(service.requests.filter { $0.hasPrefix("folders") }.count == 3)
  }

  @Test func `an error of the parents' service is one of the next page`() async throws {
    for number in 0..<10 { service.add("r\(number)", leaves: 1) }
    for number in 10..<12 { service.add("r\(number)", leaves: 1) }
    let remote = try LeavesPlugin(service).wholeRemote(in: environment(store: store))
    service.beforeRequest { request throws(SourceError) in
      if request == "folders 10" { throw SourceError(.serverError, "down") }
    }
    var cursor: PageCursor?
    for number in 0..<10 {
      let page = try await remote.page(PageRequest(after: cursor, limit: 5))
      #expect(page.records.map(\.id) == ["r\(number)/0"])
      cursor = page.next
      #expect(cursor != nil)
    }
    await #expect { try await remote.page(PageRequest(after: cursor, limit: 5)) } throws: {
      ($0 as? SourceError)?.code == .serverError
    }
    service.beforeRequest(nil)
    let page = try await remote.page(PageRequest(after: cursor, limit: 5))
    #expect(page.records.map(\.id) == ["r10/0"])
  }

  @Test func `without any parent the list is empty, and complete`() async throws {
    let list = try await listed(chain(store: store), size: 5)
    #expect(list.ids.isEmpty && list.end == .exhausted && list.warnings.isEmpty)
  }

  @Test func `a source for each of itself is refused`() throws {
    var plugin = LeavesPlugin(service)
    plugin.partitions = .records(of: "leaves", field: "id")
    var environment = environment(store: store)
    environment.sources = { [plugin] in [plugin] }
    #expect { try plugin.source(in: environment) } throws: {
      ($0 as? SourceError)?.message
        == "cannot have a list for each of itself: leaves for each of leaves"
    }
    plugin.partitions = .records(of: "nothing", field: "id")
    #expect { try plugin.source(in: environment) } throws: {
      ($0 as? SourceError)?.code == .invalidSettings
    }
  }

  @Test(arguments: [nil, "a"])
  func `satisfies the laws`(store name: String?) async throws {
    for (path, count) in [("a", 8), ("b/c", 5), ("empty", 0), ("d", 12)] {
      service.add(path, leaves: count)
    }
    let fixed = FixedPartitions(["a", "b/c", "empty", "d"])
    let service = service
    let source = PartitionedSource("leaves", for: fixed, now: today.now) {
      partition throws(SourceError) in
      var environment = PluginEnvironment(
        settings: SourceSettings(), transport: TrappingTransport())
      environment.partition = partition
      return try LeavesPlugin(service).remote(in: environment)
    }
    await expectLaws(
      of: LawSubject("leaves", source: source, fields: LeavesPlugin(service).fields))
    await expectLaws(
      of: LawSubject(
        "chain", source: try chain(store: name.map { _ in store }),
        fields: LeavesPlugin(service).fields))
  }
}
