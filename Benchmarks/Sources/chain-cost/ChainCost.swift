import AggregatorKit
import Foundation
import ProductsSource

/// `chain-cost ROWS CALLS`: what a page of 20 products costs, bare and through the chain, in memory.
///
/// ROWS is a file with a product a line, each with a comma after it. Prints a line for each chain: its name
/// and the microseconds of processor time that a call takes, of all threads together.
@main
enum ChainCost {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let calls = Int(arguments[2]), calls > 0 else {
      print("usage: chain-cost ROWS CALLS")
      exit(64)
    }
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "chain-cost-\(ProcessInfo.processInfo.processIdentifier)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let plugin = ProductsPlugin()
    let bare = PluginEnvironment(
      settings: SourceSettings(), transport: try SamePage(rows: arguments[1], count: 20))
    var storing = bare
    storing.store = SQLiteStore(at: directory.appending(path: "store.sqlite")) {
      print($0.message)
    }
    let chains: [(String, any DataSource<Product>)] = [
      ("remote", try plugin.remote(in: bare)),
      ("live", try plugin.live(in: bare)),
      ("chain", try plugin.source(in: bare)),
      ("chain, refreshing the store", try plugin.source(in: storing).cachePolicy(.reload)),
      ("chain, answered by the store", try plugin.source(in: storing)),
    ]
    for (name, chain) in chains {
      // The first calls open files and fill caches.
      try await ask(chain, times: max(1, calls / 10))
      let start = processorTime()
      try await ask(chain, times: calls)
      let cost = (processorTime() - start) / Double(calls) * 1e6
      print("\(name)\t\(String(format: "%.1f", cost))")
    }
  }

  private static func ask(_ source: some DataSource<Product>, times: Int) async throws {
    for _ in 0..<times {
      let page = try await source.page(PageRequest(limit: 20))
      guard page.records.count == 20 else {
        throw SourceError(.malformed, "\(page.records.count) records instead of 20")
      }
    }
  }

  /// Seconds that this process has computed so far.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// A service in memory that always gives the same page.
private struct SamePage: Transport {
  private let response: HTTPResponse

  init(rows path: String, count: Int) throws {
    // Each ends with a comma.
    let rows = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      .prefix(count).joined().dropLast()
    response = HTTPResponse(
      status: 200, headers: [("Content-Type", "application/json")],
      body: Data(#"{"products":[\#(rows)]}"#.utf8))
  }

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse { response }
}
