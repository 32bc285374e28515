import AggregatorKit
import CountriesSource
import Foundation
import Testing

@testable import AggregatorArguments
@testable import AggregatorBrowse
@testable import AggregatorCommand
@testable import AggregatorProgramTesting
@testable import AggregatorQueries
@testable import AggregatorSelection
@testable import AggregatorTerminal

/// The work beside the input.
@Suite(.timeLimit(.minutes(10))) struct EffectRunnerTests {
  private enum Step { case begun, stopped, posted }

  private struct NoTransport: Transport {
    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      throw SourceError(.unreachable, "no transport")
    }
  }

  /// A source that answers nothing until it is cancelled.
  private struct Stalled: BrowsedSource {
    let steps: AsyncStream<Step>.Continuation

    let name = "heroes"
    let fields = BrowsingState.columns
    let isEndless = false
    let scannedPages: Int? = nil
    var refusal: SourceError?

    private func stall() async -> CancellationError {
      steps.yield(.begun)
      // It ends only for a cancelled task.
      let (never, sink) = AsyncStream<Void>.makeStream()
      for await _ in never {}
      sink.finish()
      steps.yield(.stopped)
      return CancellationError()
    }

    func check(_ request: ListRequest) throws(CommandError) {}
    func window(_ request: ListRequest, start: Int, count: Int) async throws -> BrowsedWindow {
      throw await stall()
    }
    func count(_ request: ListRequest) async throws -> Int { throw await stall() }
    func facets(of field: String, in request: ListRequest) async throws -> [Facet] {
      throw await stall()
    }
    func index(_ condition: String, _ changed: @Sendable (Bool) -> Void) async throws {}
    func status() async throws -> SourceStatus { SourceStatus() }
    func refresh(_ query: String, isForced: Bool) async throws -> Refreshed? { nil }
    func record(_ id: String) async throws -> BrowsedRow { throw await stall() }
    func picture(_ request: PictureRequest) async throws -> Picture? { nil }
    func delete(_ id: String) async throws {}
    func restore(_ id: String) async throws {}
    func sync(
      pages: Int?, progress: @escaping @Sendable (SyncResult) -> Void
    ) async throws -> SyncReport {
      throw await stall()
    }
  }

  private static func runner(
    of steps: AsyncStream<Step>.Continuation, post: @escaping @Sendable (BrowseEvent) -> Void
  ) -> EffectRunner {
    let tree = CommandTree("aggregator", plugins: [CountriesPlugin()])
    let context = CommandContext(
      Invocation(arguments: [], values: [:]), of: tree.catalog, variables: [:])
    return EffectRunner(
      [Stalled(steps: steps)], [],
      PluginEnvironment(settings: SourceSettings(), transport: NoTransport()), context, post: post)
  }

  @Test func `values that differ by control characters look different`() {
    var row = BrowsedRow(id: "1", name: "", cells: [], card: [])
    row.object = ["a": "x\u{1B}[31m\u{7}", "b": "x[31m"]
    #expect(
      row.showing([BrowsedColumn("a", "A"), BrowsedColumn("b", "B")]).cells
        == ["x␛[31m␇", "x[31m"])
  }

  @Test func `leaving stops a sync, and tells of it`() async throws {
    let (steps, sink) = AsyncStream<Step>.makeStream()
    let runner = Self.runner(of: sink) { _ in }
    runner.perform(.sync("heroes", pages: nil))
    var iterator = steps.makeAsyncIterator()
    #expect(await iterator.next() == .begun)
    #expect(await runner.finish() == ["heroes"])
  }

  @Test func `leaving tells nothing of a sync that has ended`() async throws {
    let (steps, sink) = AsyncStream<Step>.makeStream()
    let runner = Self.runner(of: sink) { _ in sink.yield(.posted) }
    var iterator = steps.makeAsyncIterator()
    runner.perform(.sync("heroes", pages: nil))
    #expect(await iterator.next() == .begun)
    runner.perform(.stopSync("heroes"))
    #expect(await iterator.next() == .stopped)
    #expect(await iterator.next() == .posted)
    #expect(await runner.finish() == [])
  }

  @Test func `what is stopped ends, posts nothing and writes no file`() async throws {
    let sandbox = try Sandbox()
    let (steps, sink) = AsyncStream<Step>.makeStream()
    let runner = Self.runner(of: sink) { _ in sink.yield(.posted) }
    let path = sandbox.root.appending(path: "heroes.csv").path
    let request = ListRequest("heroes")
    let list = WrittenList(
      request: request, fields: BrowsingState.columns, rows: [], path: path, replaces: false)
    var iterator = steps.makeAsyncIterator()
    for (effect, work) in [
      (BrowseEffect.values(request, BrowsingState.columns[2]), BrowseState.Work.values),
      (.write(list), .write),
    ] {
      runner.perform(effect)
      #expect(await iterator.next() == .begun)
      runner.perform(.stop(work))
      #expect(await iterator.next() == .stopped)
    }
    await runner.finish()
    sink.finish()
    #expect(await iterator.next() == nil)
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
