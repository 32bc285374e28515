import AggregatorSourceTesting
import Foundation

/// The built program, run as a child process in a clean environment.
enum Binary {
  /// The destination of the program's output.
  enum Sink: Sendable {
    /// A file that is read at the end.
    case captured
    /// The file at this path.
    case file(String)
    /// A closed descriptor.
    case closed
    /// An open descriptor.
    case descriptor(Int32)
  }

  /// Runs a command line to its end.
  ///
  /// - Parameters:
  ///   - environment: Variables besides `HOME`, `PATH`, `LC_ALL` and the URLs of the services,
  ///     which refuse connections; `nil` removes one of these.
  ///   - input: The contents of standard input.
  ///   - sandbox: The home and working directory; new ones by default.
  ///   - isMerged: `true` to write standard error to the same destination.
  ///   - program: Another program that runs ours, with its arguments: `/usr/bin/strace -f`.
  /// - Throws: `POSIXError` if it cannot be started.
  static func run(
    _ arguments: [String], environment: [String: String?] = [:], input: String = "",
    in sandbox: Sandbox? = nil, output: Sink = .captured, isMerged: Bool = false,
    by program: [String] = []
  ) async throws -> Outcome {
    try await Crew.standard.work {
      try await Run(
        arguments, environment: environment, input: input, in: sandbox, output: output,
        isMerged: isMerged, by: program
      ).outcome()
    }
  }

  /// Runs a command line, split at spaces.
  static func run(
    _ line: String, environment: [String: String?] = [:], input: String = "",
    in sandbox: Sandbox? = nil, output: Sink = .captured, isMerged: Bool = false,
    by program: [String] = []
  ) async throws -> Outcome {
    try await run(
      line.split(separator: " ").map(String.init), environment: environment, input: input,
      in: sandbox, output: output, isMerged: isMerged, by: program)
  }

  /// Starts a command line, whose end `outcome()` awaits.
  static func start(
    _ line: String, environment: [String: String?] = [:], terminal: Int32? = nil,
    in sandbox: Sandbox? = nil, output: Sink = .captured, isMerged: Bool = false,
    by program: [String] = []
  ) throws -> Run {
    try Run(
      line.split(separator: " ").map(String.init), environment: environment, terminal: terminal,
      in: sandbox, output: output, isMerged: isMerged, by: program)
  }

  /// A port that refuses connections while the tests run.
  static let nowhere = Result { try RefusingPort() }

  /// The path of the program: the one that `Scripts/build` makes and packages contain, never one beside the tests.
  static var path: String {
    get throws {
      let path = ProcessInfo.processInfo.environment["AGGREGATOR_PROGRAM"] ?? ""
      guard FileManager.default.isExecutableFile(atPath: path) else { throw NoProgram() }
      return path
    }
  }

  /// False for the debug program of `Scripts/test --debug`.
  static let isRelease = (try? path)?.contains("/debug/") != true

  /// The settings file in the working directory that the program reads, which depends on its build.
  static let settingsFile = "Configuration/\(isRelease ? "Release" : "Debug").xcconfig"

  private struct NoProgram: Error, CustomStringConvertible {
    var description: String {
      "AGGREGATOR_PROGRAM is not the path of a program: run Scripts/test, which builds and names it"
    }
  }

  /// A running command line.
  struct Run: Sendable {
    let child: Child
    let sandbox: Sandbox
    private let output: URL
    private let errors: URL

    init(
      _ arguments: [String], environment: [String: String?] = [:], input: String = "",
      terminal: Int32? = nil, in sandbox: Sandbox? = nil, output sink: Sink = .captured,
      isMerged: Bool = false, by program: [String] = []
    ) throws {
      self.sandbox = try sandbox ?? Sandbox()
      let files = self.sandbox.root.appending(path: UUID().uuidString)
      output = files.appendingPathExtension("out")
      errors = files.appendingPathExtension("err")
      let standardInput = files.appendingPathExtension("in")
      try Data(input.utf8).write(to: standardInput)

      let nowhere = try Binary.nowhere.get().baseURL
      var variables: [String: String?] = [
        "HOME": self.sandbox.home.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C",
        "COUNTRIES_URL": "\(nowhere)/countries.json", "COMIC_VINE_URL": "\(nowhere)/api",
        "PRODUCTS_URL": "\(nowhere)", "RANDOM_USER_URL": "\(nowhere)/api/",
      ]
      for key in sourceURLSettings where variables[key] == nil { variables[key] = "\(nowhere)" }
      variables.merge(environment) { $1 }
      var opened: [Int32] = []
      defer { for descriptor in opened { close(descriptor) } }
      func opening(_ path: String, _ flags: Int32) throws -> Int32 {
        let descriptor = open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        opened.append(descriptor)
        return descriptor
      }
      let write = O_WRONLY | O_CREAT | O_APPEND
      let standardOutput: Int32? =
        switch sink {
        case .captured: try opening(output.path, write)
        case .file(let path): try opening(path, O_WRONLY)
        case .closed: nil
        case .descriptor(let descriptor): descriptor
        }
      child = try Child(
        program + [try Binary.path] + arguments, environment: variables.compactMapValues(\.self),
        directory: self.sandbox.work.path,
        descriptors: [
          terminal ?? opening(standardInput.path, O_RDONLY), standardOutput,
          isMerged ? standardOutput : opening(errors.path, write),
        ])
    }

    /// Awaits the end.
    func outcome() async throws -> Outcome { try outcome(await child.ending()) }

    fileprivate func outcome(_ ending: Child.Ending) throws -> Outcome {
      func text(_ file: URL) -> String {
        String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self)
      }
      return Outcome(ending: ending, output: text(output), errors: text(errors), sandbox: sandbox)
    }
  }

  /// Limits the number of concurrent processes, so that none starves.
  ///
  /// With fewer than eight, a machine of two cores waits for a sixth of the time: a test that waits here keeps one of the
  /// places of `--experimental-maximum-parallelization-width`.
  actor Crew {
    fileprivate static let standard = Crew(8)
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    nonisolated func work<Value: Sendable>(
      _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
      await enter()
      let result: Result<Value, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      await leave()
      return try result.get()
    }

    private func enter() async {
      if free > 0 {
        free -= 1
      } else {
        await withCheckedContinuation { waiting.append($0) }
      }
    }

    private func leave() {
      if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
  }
}
