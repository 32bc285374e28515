import Foundation
import Synchronization
import Testing

/// Another process, with the signals of a shell and without the descriptors of this one.
///
/// No thread of the pool waits for it.
final class ChildProcess: Sendable {
  /// A child that is made while a program is written would hold it open, and nobody could start it.
  static let spawning = Mutex(())

  let id: pid_t
  /// 128 and more for a signal, as a shell has it.
  private let status = Mutex<Int32?>(nil)
  private let waiting = Mutex<[CheckedContinuation<Int32, Never>]>([])

  /// - Parameters:
  ///   - words: The path of a program, and its arguments.
  ///   - variables: All of its environment.
  init(_ words: [String], _ variables: [String: String]) throws {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for number in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var environment: [UnsafeMutablePointer<CChar>?] =
      variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for word in arguments + environment { free(word) } }
    var child: pid_t = 0
    let code = Self.spawning.withLock { _ in
      posix_spawn(&child, words[0], nil, &attributes, &arguments, &environment)
    }
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .ENOEXEC) }
    id = child
    Thread.detachNewThread { [self] in
      var ending: Int32 = 0
      while waitpid(id, &ending, 0) < 0, errno == EINTR {}
      let signal = ending & 0x7F
      let code = signal == 0 ? ending >> 8 & 0xFF : 128 + signal
      let waiters = waiting.withLock { waiting in
        status.withLock { $0 = code }
        defer { waiting = [] }
        return waiting
      }
      for waiter in waiters { waiter.resume(returning: code) }
    }
  }

  var isRunning: Bool { status.withLock { $0 == nil } }

  /// Waits for the end; returns the exit status, or 128 and more for a signal.
  func ending() async -> Int32 {
    await withCheckedContinuation { continuation in
      let code = waiting.withLock { waiting in
        let code = status.withLock { $0 }
        if code == nil { waiting.append(continuation) }
        return code
      }
      if let code { continuation.resume(returning: code) }
    }
  }
}
