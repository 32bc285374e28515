import AggregatorKit
import AggregatorObservation
import Foundation
import HeroesSource
import Observation
import Synchronization

/// `list-scroll FILE COUNT`: fills a store with made-up heroes; `list-scroll FILE`: scrolls a list of them to its end.
///
/// Prints the number of records in the list; the median, the 99th percentile and the maximum of the microseconds of processor
/// time that a page of 20 takes on the main actor; the bytes of resident memory that a record takes, and the median and the maximum of the microseconds that
/// a deletion takes at the end of the list, which follows the store.
@main
enum ListScroll {
  static func main() async throws {
    let arguments = CommandLine.arguments
    switch (arguments.dropFirst().first, arguments.dropFirst(2).first.flatMap { Int($0) }) {
    case (let file?, let count?) where count > 0: try await fill(store(file), with: count)
    case (let file?, nil) where arguments.count == 2: try await scroll(store(file))
    default:
      print("usage: list-scroll FILE [COUNT]")
      exit(64)
    }
  }

  private static func store(_ file: String) -> SQLiteStore {
    SQLiteStore(at: URL(filePath: file)) { print($0.message) }
  }

  private static func fill(_ store: SQLiteStore, with count: Int) async throws {
    let heroes = Crowd(count: count).growing(in: HeroesPlugin().recordStore(in: store), by: 1000)
    for try await _ in heroes.pages(size: 1000, ahead: 0) {}
  }

  @MainActor private static func scroll(_ store: SQLiteStore) async throws {
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: HTTPTransport.standard, store: store)
    let heroes = try HeroesPlugin().source(in: environment)
    let list = PagedList(
      heroes, cachePolicy: .offline, following: HeroesPlugin().recordStore(in: store))
    await list.load()
    // A view holds the records that it shows while the next page is loaded.
    var shown = list.records
    let before = residentBytes()
    let first = shown.count
    var times: [Double] = []
    while list.hasMore {
      let start = ThreadTime.now()
      list.loadMoreIfNeeded(after: shown[shown.count - 1])
      let begun = start.microseconds
      let arrival = await firstChange { _ = (list.records.count, list.error) }
      shown = list.records
      if let error = list.error { throw error }
      if let ended = arrival.microseconds, let begun { times.append(begun + ended) }
    }
    guard shown.count > first else { throw SourceError(.malformed, "one page of records") }
    let count = shown.count
    let bytes = Double(residentBytes() - before) / Double(shown.count - first)
    var deletions = try await delete(50, from: list)
    guard times.count > 10, deletions.count > 10 else {
      throw SourceError(.malformed, "too few pages or deletions to measure")
    }
    times.sort()
    deletions.sort()
    let values = [
      times[times.count / 2], times[times.count * 99 / 100], times[times.count - 1], bytes,
      deletions[deletions.count / 2], deletions[deletions.count - 1],
    ]
    print(([count.description] + values.map { String(format: "%.1f", $0) }).joined(separator: "\t"))
  }

  /// The microseconds of processor time that deletions of records all over the list take on the main actor, until the row is gone.
  @MainActor private static func delete(
    _ count: Int, from list: PagedList<Hero>
  ) async throws -> [Double] {
    var times: [Double] = []
    for number in 0..<count {
      let shown = list.records
      let id = shown[number * shown.count / count].id
      let starts = Mutex(ThreadTime.now())
      let deletion = Task {
        starts.withLock { $0 = .now() }
        try await list.delete(id)
      }
      _ = await firstChange { _ = list.records.count }
      if let time = starts.withLock(\.self).microseconds { times.append(time) }
      try await deletion.value
    }
    return times
  }

  /// The moment at which something that `read` has read begins to change; returns when the main actor is free again.
  @MainActor private static func firstChange(of read: () -> Void) async -> ThreadTime {
    await withCheckedContinuation { continuation in
      withObservationTracking(read) { continuation.resume(returning: .now()) }
    }
  }

  /// Zero where there is no `/proc`.
  private static func residentBytes() -> Int {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?
      .split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return (pages ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}

/// A moment in the processor time of a thread, which does not count the time of other programs.
private struct ThreadTime {
  private let thread: pthread_t
  private let nanoseconds: Int

  /// Not inlined: the compiler takes `pthread_self()` for constant, even across an `await`.
  @inline(never) static func now() -> ThreadTime {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return ThreadTime(
      thread: pthread_self(),
      nanoseconds: time.tv_sec * 1_000_000_000 + time.tv_nsec)
  }

  /// The time since then; `nil` on another thread: on Linux the main actor may change it between two jobs.
  var microseconds: Double? {
    let now = ThreadTime.now()
    return now.thread == thread ? Double(now.nanoseconds - nanoseconds) / 1000 : nil
  }
}

/// Made-up heroes, each a function of its number.
private struct Crowd: DataSource {
  let count: Int

  func page(_ request: PageRequest) async throws(SourceError) -> Page<Hero> {
    let seal = CursorSeal("crowd", for: nil)
    let start = try seal.openOffset(request.cursor)
    let end = min(start + request.limit, count)
    return Page(
      (start..<end).map(Self.hero), next: end < count ? try seal.close(end) : nil,
      provenance: Provenance(.live))
  }

  func item(_ id: Int, cachePolicy: CachePolicy) async throws(SourceError) -> LookupResult<Hero> {
    throw .notFound(id, in: "crowd")
  }

  /// As long as the heroes of a list of Comic Vine are.
  private static func hero(_ number: Int) -> Hero {
    var hero = Hero(id: number, name: "Made-up hero \(number)")
    hero.realName = "Somebody with the number \(number)"
    hero.publisher = "Marvel"
    hero.aliases = ["Number \(number)", "The other \(number)"]
    hero.summary = "The \(number)th hero of a list which is long enough to be scrolled for a while."
    hero.image = "https://comicvine.gamespot.com/a/uploads/scale_medium/0/\(number).jpg"
    hero.link = "https://comicvine.gamespot.com/made-up-\(number)/4005-\(number)/"
    return hero
  }
}
