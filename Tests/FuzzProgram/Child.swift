import AggregatorFuzzing
import Foundation

/// A child process for one job, so that a crash is isolated.
struct Child {
  enum End {
    case outcome(Campaign.Outcome)
    /// Crashed or hung, at a case or, from -1 down, at a shape.
    case stopped(at: Int, String)
  }

  /// The time limit for one input, in seconds.
  static let timeLimit = 20.0

  static func run(_ job: Job) throws -> End {
    let directory = FileManager.default.temporaryDirectory.appending(
      path: "fuzz-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let (progress, output) = (
      directory.appending(path: "progress"), directory.appending(path: "out")
    )
    for file in [progress, output] { try Data().write(to: file) }
    var job = job
    job.progress = progress.path()

    let process = Process()
    process.executableURL = Bundle.main.executableURL
    process.arguments = [
      "--child", String(decoding: try JSONEncoder().encode(job), as: UTF8.self),
    ]
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardInput = FileHandle.nullDevice
    // Print a crash in one line, without symbolising the stack for a minute.
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    try process.run()
    var (last, since, isStuck) = (Int?.none, ContinuousClock.now, false)
    while process.isRunning {
      usleep(50_000)
      let now = Self.number(in: progress)
      if now != last { (last, since) = (now, .now) }
      if ContinuousClock.now - since > .seconds(timeLimit), process.isRunning {
        isStuck = true
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
      }
    }
    if isStuck { return .stopped(at: last ?? 0, "did not end within \(Int(timeLimit)) s") }
    guard process.terminationReason == .exit, process.terminationStatus == 0,
      let outcome = try? JSONDecoder().decode(Campaign.Outcome.self, from: Data(contentsOf: output))
    else {
      return .stopped(
        at: Self.number(in: progress) ?? 0, "crashed with signal \(process.terminationStatus)")
    }
    return .outcome(outcome)
  }

  private static func number(in file: URL) -> Int? {
    guard let bytes = try? Data(contentsOf: file), bytes.count == 8 else { return nil }
    return bytes.withUnsafeBytes { Int($0.loadUnaligned(as: Int64.self)) }
  }
}

/// The job of a child process, and its progress file, in case it crashes or hangs.
struct Job: Codable {
  var target: String
  var seed: UInt64
  /// The first case.
  var first = 0
  /// The number of cases.
  var count = Int.max
  /// The shapes to check afterwards.
  var shapes = 0..<Int.max
  var seconds: Double
  /// A file that contains the number of the case, or -1 - n for shape n.
  var progress: String

  /// Runs the job in the child process; `nil` if the parser does not exist.
  func run() async -> Campaign.Outcome? {
    guard let target = FuzzTarget.all.first(where: { $0.name == target }) else { return nil }
    let file = open(progress, O_WRONLY)
    let report: @Sendable (Int) -> Void = { number in
      withUnsafeBytes(of: Int64(number)) { _ = pwrite(file, $0.baseAddress, $0.count, 0) }
    }
    let start = ContinuousClock.now
    let end = count.addingReportingOverflow(first)
    var outcome = await Campaign(of: target, seed: seed).run(
      first..<(end.overflow ? .max : end.partialValue),
      until: start + .seconds(target.cost == .high ? seconds : seconds * 0.85), progress: report)
    guard target.cost != .high else { return outcome }
    let growth = GrowthSearch(of: target, seed: seed)
    for shape in shapes {
      if shapes.count > 1, ContinuousClock.now >= start + .seconds(seconds) { break }
      report(-1 - shape)
      if let finding = await growth.run(shape) { outcome.findings.append(finding) }
      if outcome.findings.count > 5 { break }
    }
    return outcome
  }
}
