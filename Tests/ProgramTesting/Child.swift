import Foundation
import Synchronization

/// A child process.
final class Child: Sendable {
  enum Ending: Hashable, Sendable {
    /// With this exit status.
    case exit(Int32)
    /// By this signal.
    case signal(Int32)
  }

  /// The process ID.
  let id: pid_t

  private let isReaped = Mutex(false)

  /// Starts a program that inherits nothing.
  ///
  /// It has no variables, no signals blocked or ignored, and no descriptors but the three standard
  /// ones: sockets of other tests' servers would keep their connections open.
  ///
  /// - Parameters:
  ///   - words: The program's path, and its arguments.
  ///   - environment: All of its variables.
  ///   - directory: The working directory.
  ///   - descriptors: Its standard input, output and error; `nil` for a closed one. They stay open
  ///     here.
  /// - Throws: `POSIXError`.
  init(
    _ words: [String], environment: [String: String], directory: String,
    descriptors: [Int32?]
  ) throws {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    for (number, descriptor) in descriptors.enumerated() {
      if let descriptor {
        posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
      } else {
        posix_spawn_file_actions_addclose(&actions, Int32(number))
      }
    }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

    // The system's own way to choose a directory is not known to Swift everywhere.
    let words = ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, directory] + words
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] =
      environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for word in arguments + variables { free(word) } }
    var id: pid_t = 0
    // Whatever is open: hundreds of tests at a time have more than a thousand, and a child that
    // held the pipe of another, which held its own, would never see its reader leave.
    let result = try ProgramPipe.whileNoneIsMade {
      for name in try FileManager.default.contentsOfDirectory(atPath: "/dev/fd") {
        guard let number = Int32(name), number > 2 else { continue }
        posix_spawn_file_actions_addclose(&actions, number)
      }
      return posix_spawn(&id, words[0], &actions, &attributes, &arguments, &variables)
    }
    guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: result) ?? .ENOEXEC) }
    self.id = id
  }

  deinit { send(SIGKILL) }

  /// Sends a signal unless the process has ended.
  func send(_ signal: Int32) {
    isReaped.withLock { isReaped in
      if !isReaped { kill(id, signal) }
    }
  }

  /// Waits for the end on a thread of its own; call it only once.
  ///
  /// After ten minutes the process is killed.
  func ending() async -> Ending {
    let limit = Limit(self)
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(600)) { limit.strike() }
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: self.wait()) }
    }
  }

  #if os(Linux)
    /// The peak memory of the program in bytes; the process must still exist.
    ///
    /// `ru_maxrss` would include the memory of the parent, which a child shares until it runs its
    /// program.
    func peakMemory() throws -> Int {
      let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
      let match = status.firstMatch(of: /VmHWM:\s+([0-9]+) kB/)
      guard let kilobytes = match.flatMap({ Int($0.1) }) else { throw POSIXError(.ESRCH) }
      return kilobytes << 10
    }
  #endif

  #if os(Linux)
    /// The number of threads that can receive a signal, including one that waits for it.
    func threadsTaking(_ signal: Int32) throws -> Int {
      let tasks = "/proc/\(id)/task"
      return try FileManager.default.contentsOfDirectory(atPath: tasks).count { task in
        // The thread may have ended.
        let status = try? String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)
        guard let status else { return false }
        let match = status.firstMatch(of: /SigBlk:\s+([0-9a-f]+)/)
        let blocked = match.flatMap { UInt64($0.1, radix: 16) } ?? 0
        return blocked & 1 << (signal - 1) == 0
      }
    }
  #endif

  private func wait() -> Ending {
    // Without reaping first, so that no signal reaches another process with the same ID.
    var info = siginfo_t()
    while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0 {
      guard errno == EINTR else { break }
    }
    var status: Int32 = 0
    isReaped.withLock { isReaped in
      waitpid(id, &status, 0)
      isReaped = true
    }
    let signal = status & 0x7F
    return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
  }

  /// Kills the child after the time limit, without retaining it.
  private struct Limit: Sendable {
    private weak let child: Child?
    init(_ child: Child) { self.child = child }
    func strike() { child?.send(SIGKILL) }
  }
}
