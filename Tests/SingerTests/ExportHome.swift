import AggregatorKit
import AggregatorTestSupport
import Foundation
import Synchronization
import Testing

/// A home directory of the program, with a service of things on 127.0.0.1 as its source `things`.
final class ExportHome: Sendable {
  struct Outcome: CustomStringConvertible {
    let status: Int32
    let output: String
    let errors: String

    var description: String { "exit \(status)\n\(output.prefix(3000))\n--\n\(errors.prefix(3000))" }
    /// Those of standard output.
    let lines: [String]

    init(status: Int32, output: String, errors: String) {
      (self.status, self.output, self.errors) = (status, output, errors)
      lines = output.utf8.split(separator: UInt8(ascii: "\n")).compactMap { String($0) }
    }
  }

  let root: URL
  private let server: LoopbackServer
  private let variables: [String: String]

  private final class Service: Sendable {
    let rows: Mutex<[String]> = Mutex([])
    let isDown = Mutex(false)
  }
  private let service = Service()

  /// - Parameter rows: The rows of the service, as JSON objects; by default `t1` to `t5`.
  init(
    _ rows: [String] = ExportHome.things(1...5), _ variables: [String: String] = [:]
  ) async throws {
    self.variables = variables
    root = FileManager.default.temporaryDirectory.appending(path: "aggregator-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    let service = service
    server = try LoopbackServer { _ in
      if service.isDown.withLock({ $0 }) { return .status(500) }
      let rows = service.rows.withLock { $0 }
      return .json(#"{"total": \#(rows.count), "things": [\#(rows.joined(separator: ","))]}"#)
    }
    serve(rows)
    let added = try await run("sources add things \(server.baseURL)/things --rate off --yes")
    try #require(added.status == 0, "\(added)")
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  static func thing(_ id: String, _ name: String, price: Double = 1.5) -> String {
    #"{"id": "\#(id)", "name": "\#(name)", "price": \#(price)}"#
  }

  static func things(_ numbers: ClosedRange<Int>) -> [String] {
    numbers.map { thing("t\($0)", "thing \($0)") }
  }

  func serve(_ rows: [String]) { service.rows.withLock { $0 = rows } }

  func fail(_ fails: Bool = true) { service.isDown.withLock { $0 = fails } }

  /// Syncs the source until it is complete: what is missing has to be confirmed.
  func sync() async throws {
    for _ in 1...2 {
      let synced = try await run("things sync")
      try #require(synced.status == 0, "\(synced)")
    }
  }

  func path(_ name: String) -> String { root.appending(path: name).path }

  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: root.appending(path: name))
  }

  static func program() throws -> String {
    let path = ProcessInfo.processInfo.environment["AGGREGATOR_PROGRAM"] ?? ""
    try #require(
      FileManager.default.isExecutableFile(atPath: path),
      "AGGREGATOR_PROGRAM is not the path of a program")
    return path
  }

  /// Runs the program, or a command line of the shell in which `$AGGREGATOR` is the program.
  func run(_ line: String, _ more: [String: String] = [:]) async throws -> Outcome {
    try await shell("exec \"$AGGREGATOR\" \(line)", more)
  }

  func shell(_ line: String, _ more: [String: String] = [:]) async throws -> Outcome {
    try await start(line, more).outcome()
  }

  struct Running {
    let process: ChildProcess
    fileprivate let files: String

    /// Waits for the end.
    func outcome() async throws -> Outcome {
      let status = await process.ending()
      let texts = try ["out", "err"].map { ending in
        let file = "\(files).\(ending)"
        defer { try? FileManager.default.removeItem(atPath: file) }
        return String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
      }
      return Outcome(status: status, output: texts[0], errors: texts[1])
    }
  }

  func start(_ line: String, _ more: [String: String] = [:]) throws -> Running {
    let files = path(UUID().uuidString)
    let variables = [
      "HOME": root.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C", "AGGREGATOR": try Self.program(),
    ].merging(variables) { $1 }.merging(more) { $1 }
    let words = [
      "/bin/sh", "-c", #"cd "$0"; exec /bin/sh -c "$1" >"$2.out" 2>"$2.err" </dev/null"#,
      root.path, line, files,
    ]
    return Running(process: try ChildProcess(words, variables), files: files)
  }

  /// The listed records, each as JSON with sorted members, by their IDs.
  func cached(_ source: String = "things", id: String = "id") async throws -> [String: String] {
    let listed = try await run("\(source) list --all --offline --max-pages 0 --ndjson")
    var records: [String: String] = [:]
    for line in listed.lines {
      let record = try Message.object(line)
      records[Message.text(record[id])] = Message.text(record)
    }
    return records
  }
}
