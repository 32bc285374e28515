import AggregatorFuzzing
import Foundation

/// A process of its own for one errand, so that a crash ends nothing else.
struct Child {
  /// How it ended.
  enum End {
    case outcome(Campaign.Outcome)
    /// It crashed, or was ended because it did not go on; at which case or, from -1 down, which shape.
    case stopped(at: Int, String)
  }

  /// How long one input may take, in seconds.
  static let patience = 20.0

  /// Runs an errand to its end.
  static func run(_ errand: Errand) throws -> End {
    let directory = FileManager.default.temporaryDirectory.appending(
      path: "fuzz-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let (progress, output) = (
      directory.appending(path: "progress"), directory.appending(path: "out")
    )
    for file in [progress, output] { try Data().write(to: file) }
    var errand = errand
    errand.progress = progress.path()

    let process = Process()
    process.executableURL = Bundle.main.executableURL
    process.arguments = [
      "--child", String(decoding: try JSONEncoder().encode(errand), as: UTF8.self),
    ]
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardInput = FileHandle.nullDevice
    // A crash is told in one line, without a minute of looking up the stack.
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    try process.run()
    var (last, since, isStuck) = (Int?.none, ContinuousClock.now, false)
    while process.isRunning {
      usleep(50_000)
      let now = Self.number(in: progress)
      if now != last { (last, since) = (now, .now) }
      if ContinuousClock.now - since > .seconds(patience), process.isRunning {
        isStuck = true
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
      }
    }
    if isStuck { return .stopped(at: last ?? 0, "did not end within \(Int(patience)) s") }
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

/// What a child process is to do, and where it says how far it is: it may crash, or never end.
struct Errand: Codable {
  var target: String
  var seed: UInt64
  /// The case to begin with.
  var first = 0
  /// How many cases.
  var count = Int.max
  /// The shapes to try after that.
  var shapes = 0..<Int.max
  var seconds: Double
  /// A file that begins with the number of the case, or with what is left of a shape's number from -1.
  var progress: String

  /// The child's part.
  ///
  /// - Returns: What came of it; `nil` if there is no such parser.
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
    let growth = LoadMorePolicy(of: target, seed: seed)
    for shape in shapes {
      if shapes.count > 1, ContinuousClock.now >= start + .seconds(seconds) { break }
      report(-1 - shape)
      if let finding = await growth.run(shape) { outcome.findings.append(finding) }
      if outcome.findings.count > 5 { break }
    }
    return outcome
  }
}
