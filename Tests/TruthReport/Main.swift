import AggregatorFakeServices
import AggregatorKit
import Foundation

/// Runs a program against services that say less than they have, and prints which of its answers are untrue.
@main struct TruthReport {
  static func main() async throws {
    guard let program = ProcessInfo.processInfo.environment["AGGREGATOR_PROGRAM"] else {
      print("error: AGGREGATOR_PROGRAM is not set\nhint: run Scripts/truth")
      exit(64)
    }
    let wanted = CommandLine.arguments.dropFirst()
    var count = 0
    var untrue = 0
    for lie in LyingService.Lie.allCases where wanted.isEmpty || wanted.contains(lie.rawValue) {
      var line = ""
      var faults: [String] = []
      for (paging, extra, _) in LyingService.table.filter({ $0.2 == lie }) {
        let service = try LyingService(paging, extra, lie)
        let found = try await TruthTrial.faults(
          of: service, running: try Runner(program, service).run)
        count += 1
        if !found.isEmpty { untrue += 1 }
        line += " \(found.isEmpty ? "✓" : "✗") \(paging.rawValue)"
        if extra != .nothing { line += "+\(extra.rawValue)" }
        faults += found.map { "    \(service.name): \($0)" }
      }
      print("\(lie.rawValue):\(line)")
      for fault in faults { print(fault) }
    }
    print("\n\(count) services, \(untrue) with an answer that says more than it knows")
    print("Not noticed by any client: \(LyingService.unnoticeable.joined(separator: "; "))")
    exit(untrue == 0 ? 0 : 1)
  }
}

/// Runs the program in homes of its own.
private final class Runner: Sendable {
  private let program: String
  private let root: URL

  init(_ program: String, _ service: LyingService) throws {
    self.program = program
    root = FileManager.default.temporaryDirectory.appending(path: "truth-\(UUID())")
    for home in 0..<TruthTrial.homes {
      let folder = root.appending(path: "\(home)/.config/aggregator/sources")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(service.manifest.utf8).write(to: folder.appending(path: "lamps.json"))
    }
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  @Sendable func run(_ arguments: [String], home: Int) async throws -> TruthTrial.Outcome {
    let process = Process()
    let directory = root.appending(path: "\(home)")
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.currentDirectoryURL = directory
    process.environment = ["HOME": directory.path, "PATH": "/usr/bin:/bin"]
    let files = ["out", "err"].map { directory.appending(path: $0) }
    for file in files { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
    return TruthTrial.Outcome(
      status: process.terminationStatus, output: texts[0], errors: texts[1])
  }
}
