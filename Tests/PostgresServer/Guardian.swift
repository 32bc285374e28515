import Foundation
import Synchronization

/// A shell that starts and stops a server, and ends it with this process, however that ends.
///
/// It reads commands from a socket. When that closes, it stops the server and removes its
/// directory.
final class Guardian: Sendable {
  private static let script = #"""
    directory=$1 ready=$2 last=$3 server=
    shift 3
    trap '' INT TERM HUP
    exec 3<&0
    # True once the server is ready; false if it ends before.
    launch() {
      "$@" </dev/null >>"$directory/log" 2>&1 3<&- &
      server=$!
      until eval "$ready"; do
        # Running a program makes the shell notice children that have ended.
        sleep 0.02
        kill -0 $server 2>/dev/null || { wait $server; server=; return 1; }
      done
    }
    end() {
      [ -z "$server" ] || { kill -"$1" $server; wait $server; server=; } 2>/dev/null
    }
    while read -r command <&3; do
      result=done
      case $command in
        start)
          # After a kill, the processes of the old server may take a moment to end.
          for attempt in 1 2 3 4 5 6 7 8 9 10; do
            launch "$@" && result=done && break
            result=failed
            tail -n 5 "$directory/log" | grep -q 'still in use' || break
            sleep 0.2
          done ;;
        *) end "$command" ;;
      esac
      echo $result
    done
    end "$last"
    rm -rf "$directory"
    """#

  private let process = Process()
  private let directory: String
  private let socket: Int32
  /// Held from a command to its reply.
  private let turn = Mutex(())

  /// - Parameters:
  ///   - command: The server, in the foreground.
  ///   - isReady: A command of the shell that succeeds when the server `$server` accepts
  ///     connections.
  ///   - lastSignal: The signal by which the server ends at once.
  ///   - directory: The server's directory, which also gets its `log`.
  init(
    _ command: [String], isReady: String, lastSignal: String, in directory: String
  ) throws {
    self.directory = directory
    let (ours, theirs) = try Self.socketPair()
    socket = ours
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", Self.script, "sh", directory, isReady, lastSignal] + command
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    process.environment = ["PATH": "\(path):/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C"]
    process.currentDirectoryURL = URL(filePath: "/")
    let handle = FileHandle(fileDescriptor: theirs, closeOnDealloc: true)
    process.standardInput = handle
    process.standardOutput = handle
    process.standardError = FileHandle.nullDevice
    try Program.start(process)
  }

  deinit { close(socket) }

  /// Starts the server, and waits until it accepts connections.
  ///
  /// - Throws: ``Program/Failure`` with the end of its log if it ends before.
  func start() async throws {
    guard try await perform("start") == "done" else {
      let log = (try? String(contentsOfFile: "\(directory)/log", encoding: .utf8)) ?? ""
      throw Program.Failure(description: "the server did not start:\n\(log.suffix(2000))")
    }
  }

  /// Ends the server with a signal, such as `INT`, and waits for its end.
  func end(by signal: String) async throws { _ = try await perform(signal) }

  private func perform(_ command: String) async throws -> String {
    try await Program.onThread { [self] in
      turn.withLock { _ in
        _ = "\(command)\n".withCString { write(socket, $0, strlen($0)) }
        var reply: [UInt8] = []
        var byte: UInt8 = 0
        while read(socket, &byte, 1) == 1, byte != 0x0A { reply.append(byte) }
        return String(decoding: reply, as: UTF8.self)
      }
    }
  }

  /// A pair of sockets that no other child inherits, or it would keep the server alive.
  private static func socketPair() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    #if canImport(Darwin)
      let result = socketpair(AF_UNIX, SOCK_STREAM, 0, &ends)
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    #else
      let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
      let result = socketpair(AF_UNIX, Int32(type), 0, &ends)
    #endif
    guard result == 0 else { throw POSIXError(.EMFILE) }
    return (ends[0], ends[1])
  }
}
