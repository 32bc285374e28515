import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization

/// A service in memory with folders, each of which has a list of leaves, by offset.
final class NestedService: Sendable {
  struct Folder: SourceRecord {
    let id: Int
    var path: String
  }

  /// A leaf; its ID begins with the path of its folder.
  struct Leaf: SourceRecord {
    let id: String
    var title: String
  }

  private struct State {
    var folders: [Folder] = []
    /// Titles and times of change by number, by the path of the folder.
    var leaves: [String: [Int: (title: String, changed: Int)]] = [:]
    var refused: Set<String> = []
    var skipped: Set<String> = []
    var requests: [String] = []
    var beforeRequest: (@Sendable (String) throws(SourceError) -> Void)?
  }

  private let state = Mutex(State())

  /// An environment with folders and leaves as its sources.
  func environment(
    store: (any SourceStore)?, now: @escaping @Sendable () -> Date
  ) -> PluginEnvironment {
    var environment = PluginEnvironment(
      settings: SourceSettings(), transport: TrappingTransport(), store: store,
      clock: ManualClock(),
      now: now)
    environment.sources = { [self] in [FoldersPlugin(service: self), LeavesPlugin(self)] }
    return environment
  }

  /// The requests so far: `folders 0`, `a/b 10`, `a/b 0 since 5`.
  var requests: [String] { state.withLock { $0.requests } }

  func forgetRequests() { state.withLock { $0.requests = [] } }

  /// The IDs of all leaves with their titles, of folders that exist.
  var leaves: [String: String] {
    state.withLock { state in
      var all: [String: String] = [:]
      for folder in state.folders {
        for (number, leaf) in state.leaves[folder.path] ?? [:] {
          all[Self.id(number, in: folder.path)] = leaf.title
        }
      }
      return all
    }
  }

  func beforeRequest(_ body: (@Sendable (String) throws(SourceError) -> Void)?) {
    state.withLock { $0.beforeRequest = body }
  }

  func add(_ path: String, leaves count: Int = 0, at time: Int = 0) {
    state.withLock { state in
      state.folders.append(Folder(id: (state.folders.map(\.id).max() ?? 0) + 1, path: path))
    }
    for number in 0..<count { set(number, in: path, at: time) }
  }

  func remove(_ path: String) { state.withLock { $0.folders.removeAll { $0.path == path } } }

  func set(_ number: Int, in path: String, _ title: String = "leaf", at time: Int = 0) {
    state.withLock { $0.leaves[path, default: [:]][number] = (title, time) }
  }

  func remove(_ number: Int, in path: String) {
    state.withLock { $0.leaves[path]?[number] = nil }
  }

  func refuse(_ paths: Set<String>) { state.withLock { $0.refused = paths } }

  /// Lets a rule for errors leave out these folders.
  func skip(_ paths: Set<String>) { state.withLock { $0.skipped = paths } }

  static func id(_ number: Int, in path: String) -> String {
    Partition(position: 0, value: path).recordID("\(number)")
  }

  static func mark(_ time: Int) -> String {
    Date(timeIntervalSince1970: 1_699_000_000 + Double(time)).iso8601
  }

  private func begin(_ request: String) throws(SourceError) {
    guard !Task.isCancelled else { throw .cancelled }
    let hook = state.withLock { state in
      state.requests.append(request)
      return state.beforeRequest
    }
    try hook?(request)
  }

  fileprivate func folders(_ request: PageRequest) throws(SourceError) -> Page<Folder> {
    let seal = CursorSeal("folders", for: nil)
    let offset = try seal.openOffset(request.cursor)
    try begin("folders \(offset)")
    return try page(of: state.withLock { $0.folders }, from: offset, request.limit, seal)
  }

  fileprivate func leaves(
    of path: String, since mark: String?, _ request: PageRequest
  ) throws(SourceError) -> Page<Leaf> {
    let seal = CursorSeal("leaves", for: nil)
    let offset = try seal.openOffset(request.cursor)
    try begin("\(path) \(offset)" + (mark.map { " since \($0)" } ?? ""))
    guard state.withLock({ !$0.refused.contains(path) }) else {
      throw SourceError(.rejected, "leaves refused the request (403)")
    }
    guard state.withLock({ !$0.skipped.contains(path) }) else {
      return Page(
        [], provenance: Provenance(.live), warnings: [Warning(.skippedPartition, "empty")])
    }
    let found = state.withLock { $0.leaves[path] ?? [:] }
      .filter { leaf in mark.map { Self.mark(leaf.value.changed) >= $0 } ?? true }
      .sorted { $0.key < $1.key }
    let all = found.map { Leaf(id: Self.id($0.key, in: path), title: $0.value.title) }
    var page = try page(of: all, from: offset, request.limit, seal)
    page.changeMarks = found.dropFirst(offset).prefix(request.limit)
      .map { Self.mark($0.value.changed) }
    return page
  }

  private func page<Item>(
    of all: [Item], from offset: Int, _ limit: Int, _ seal: CursorSeal
  ) throws(SourceError) -> Page<Item> {
    let slice = all.dropFirst(offset).prefix(limit)
    return Page(
      Array(slice), next: slice.endIndex < all.endIndex ? try seal.close(slice.endIndex) : nil,
      total: all.count, provenance: Provenance(.live))
  }

  fileprivate struct List<Item: SourceRecord>: DataSource {
    let read: @Sendable (PageRequest) throws(SourceError) -> Page<Item>

    func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> { try read(request) }

    func item(
      _ id: Item.ID, cachePolicy: CachePolicy
    ) async throws(SourceError) -> LookupResult<Item> {
      guard !Task.isCancelled else { throw .cancelled }
      var cursor: PageCursor?
      repeat {
        let page = try read(PageRequest(after: cursor, limit: 100))
        if let item = page.records.first(where: { $0.id == id }) {
          return LookupResult(item, provenance: page.provenance)
        }
        cursor = page.next
      } while cursor != nil
      throw .notFound(id, in: "leaves")
    }
  }
}

struct FoldersPlugin: Plugin {
  let service: NestedService
  let policy = Policy.plain(size: 10)
  let name = "folders"
  let summary = "folders of a test"
  let example = PluginExample(query: "folder", id: "1")
  let fields: [Field<NestedService.Folder>] = [Field(\.id), Field(\.path, isSearchable: true)]

  func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<NestedService.Folder> {
    NestedService.List { [service] request throws(SourceError) in try service.folders(request) }
  }
}

struct LeavesPlugin: Plugin {
  let service: NestedService
  var changes: ChangeTracking?
  var partitions: Partitions? = .records(of: "folders", field: "path")
  var policy = Policy.plain(size: 3)
  let name = "leaves"
  let summary = "leaves of a test"
  let example = PluginExample(query: "leaf", id: "1")
  let fields: [Field<NestedService.Leaf>] = [Field(\.id), Field(\.title, isSearchable: true)]

  init(_ service: NestedService, incremental: Bool = false) {
    self.service = service
    if incremental { changes = ChangeTracking("since", lookback: .seconds(10)) }
  }

  func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<NestedService.Leaf> {
    try remote(in: environment, changedSince: nil)
  }

  func remote(
    in environment: PluginEnvironment, changedSince mark: String?
  ) throws(SourceError) -> any DataSource<NestedService.Leaf> {
    guard let path = environment.partition?.value else {
      throw SourceError(.invalidSettings, "no folder")
    }
    return NestedService.List { [service] request throws(SourceError) in
      try service.leaves(of: path, since: mark, request)
    }
  }
}

extension Policy {
  fileprivate static func plain(size: Int) -> Policy {
    var policy = Policy(
      retry: RetryPolicy(attempts: 1, firstWait: .zero, maxWait: .zero), breaker: nil,
      readOrder: .liveFirst(freshFor: .seconds(60)))
    policy.syncPageSize = .fixed(size)
    return policy
  }
}
