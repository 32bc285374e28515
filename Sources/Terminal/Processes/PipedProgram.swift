import AggregatorFiles
package import AggregatorKit
import Dispatch
import Synchronization

/// A running program: a process group of its own, whose output is read.
package final class PipedProgram: Sendable {
  /// The last bytes of standard error that are kept.
  private static let maxErrorBytes = 16 << 10

  /// More than a pipe holds.
  private static let maxBytesAfterEnd = 2 << 20

  /// The time that a program has to end after SIGTERM.
  private static let grace = Duration.seconds(2)

  private struct State {
    /// The status of `waitpid(2)`; `nil` while it runs.
    var status: Int32?
    var isInterrupted = false
    var errors: [UInt8] = []
    var hasLostErrors = false
    var hasClosedErrors = false
    var bytesAfterEnd = 0
    var cleanUp: Interruption.CleanUp?
  }

  private enum Input {
    case bytes([UInt8])
    case nothing, end
  }

  private let child: pid_t
  private let output: OpenFile
  private let errors: OpenFile
  private let state = Mutex(State())
  /// Its calls block.
  private let queue = DispatchQueue(label: "program")

  /// Starts a program, which a signal that ends this process ends, too.
  ///
  /// - Parameters:
  ///   - words: The path of the program, and its arguments.
  ///   - variables: All of its environment.
  ///   - cleanUp: The work after its end if a signal ends this process.
  /// - Throws: ``SourceError``: it cannot be started.
  package init(
    _ words: [String], _ variables: [String: String],
    cleaningUp cleanUp: @escaping @Sendable () -> Void
  ) throws(SourceError) {
    // A signal may come before the program is registered.
    Interruption.delay()
    defer { Interruption.allow() }
    do throws(SystemFailure) {
      let outputs = try Pipe()
      let messages = try Pipe()
      let none = try OpenFile("/dev/null", O_RDONLY)
      let child = ExternalProgram.start(
        words, variables,
        descriptors: [
          STDIN_FILENO: none.descriptor, STDOUT_FILENO: outputs.writing.descriptor,
          STDERR_FILENO: messages.writing.descriptor,
        ], leadsGroup: true)
      guard let child else { throw SystemFailure(code: errno) }
      self.child = child
      output = outputs.reading
      errors = messages.reading
    } catch {
      throw SourceError(.unreachable, "cannot start \(words[0]): \(error.words)")
    }
    let registered = Interruption.atEnd { [self] in
      state.withLock { $0.isInterrupted = true }
      stop()
      cleanUp()
    }
    state.withLock { $0.cleanUp = registered }
  }

  private struct Pipe: ~Copyable {
    let reading: OpenFile
    let writing: OpenFile

    init() throws(SystemFailure) {
      var ends: [Int32] = [0, 0]
      try SystemFailure.check { AggregatorFoundation.pipe(&ends) }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      reading = OpenFile(owning: ends[0])
      writing = OpenFile(owning: ends[1])
    }
  }

  // MARK: - Reading

  /// True if there is output that can be read without waiting.
  package var hasInput: Bool { output.waitForInput(within: .zero) }

  /// The next bytes of standard output; `nil` at its end.
  ///
  /// - Throws: ``SourceError``: `timedOut` if none came until then, or `cancelled`.
  package func next(until end: ContinuousClock.Instant) async throws(SourceError) -> [UInt8]? {
    while true {
      if Task.isCancelled { throw .cancelled }
      switch await blocking({ $0.read() }) {
      case .bytes(let bytes): return bytes
      case .end: return nil
      case .nothing:
        guard ContinuousClock.now < end else {
          throw SourceError(
            .timedOut, "no message for too long", remedy: Remedy("", .allowMoreTime))
        }
      }
    }
  }

  /// Waits for output, for a moment at most.
  private func read() -> Input {
    let isErrorOpen = state.withLock { !$0.hasClosedErrors }
    var polls = [
      pollfd(fd: output.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isErrorOpen ? errors.descriptor : -1, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&polls, 2, 100) > 0 else { return hasExited ? .end : .nothing }
    if polls[1].revents != 0 { readErrors() }
    guard polls[0].revents != 0 else { return hasExited ? .end : .nothing }
    let bytes = Self.bytes(of: output)
    return bytes.isEmpty || isBeyondEnd(bytes.count) ? .end : .bytes(bytes)
  }

  /// True if so much came after the end of the program that something else writes it.
  private func isBeyondEnd(_ count: Int) -> Bool {
    guard hasExited else { return false }
    kill(SIGKILL)
    return state.withLock { state in
      state.bytesAfterEnd += count
      return state.bytesAfterEnd > Self.maxBytesAfterEnd
    }
  }

  private static func bytes(of file: borrowing OpenFile) -> [UInt8] {
    let descriptor = file.descriptor
    return [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
      let address = buffer.baseAddress
      let read = try? SystemFailure.check {
        AggregatorFoundation.read(descriptor, address, buffer.count)
      }
      count = read ?? 0
    }
  }

  private func readErrors() {
    let bytes = Self.bytes(of: errors)
    state.withLock { state in
      state.hasClosedErrors = bytes.isEmpty
      state.errors += bytes
      let excess = state.errors.count - Self.maxErrorBytes
      guard excess > 0 else { return }
      state.errors.removeFirst(excess)
      state.hasLostErrors = true
    }
  }

  /// The last lines of standard error; a line of which the beginning is lost is none.
  package var lastErrors: [String] {
    let (bytes, isCut) = state.withLock { ($0.errors, $0.hasLostErrors) }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return lines.dropFirst(isCut ? 1 : 0).map { String(decoding: $0, as: UTF8.self) }
      .compactMap(\.nonBlank).suffix(3)
  }

  // MARK: - The end

  /// True if the program itself has ended, whatever it has started.
  private var hasExited: Bool {
    if state.withLock({ $0.status != nil }) { return true }
    var info = siginfo_t()
    // Not reaped yet, so that its number stays that of its group.
    return waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT | WNOHANG) != 0
      || info.si_signo == SIGCHLD
  }

  /// Waits for the end after that of the output; returns the status of `waitpid(2)`, `nil` if it had to be ended.
  package func status(within limit: Duration) async -> Int32? {
    let status = await blocking { process -> Int32? in
      let end = ContinuousClock.now + limit
      while !process.hasExited, ContinuousClock.now < end {
        guard process.errors.waitForInput(within: .milliseconds(20)) else { continue }
        if process.state.withLock({ $0.hasClosedErrors }) { usleep(20_000) }
        process.readErrors()
      }
      guard process.hasExited else {
        process.stop()
        return nil
      }
      process.kill(SIGKILL)
      // A process that has left the group may go on for ever.
      for _ in 0..<16 where process.errors.waitForInput(within: .zero) { process.readErrors() }
      return process.reap()
    }
    await afterEnd()
    return status
  }

  /// Ends the whole group.
  package func end() async {
    await blocking { $0.stop() }
    await afterEnd()
  }

  private func afterEnd() async {
    state.withLock {
      $0.cleanUp?.cancel()
      $0.cleanUp = nil
    }
    // The signal ends this process, and decides on its exit code.
    while state.withLock({ $0.isInterrupted }) {
      await withCheckedContinuation { continuation in
        queue.asyncAfter(deadline: .now() + 1) { continuation.resume() }
      }
    }
  }

  /// Ends the group by SIGTERM, and what ignores that by SIGKILL.
  private func stop() {
    guard state.withLock({ $0.status == nil }) else { return }
    kill(SIGTERM)
    let end = ContinuousClock.now + Self.grace
    while !hasExited, ContinuousClock.now < end { usleep(10_000) }
    kill(SIGKILL)
    _ = reap()
  }

  private func kill(_ signal: Int32) { _ = AggregatorFoundation.kill(-child, signal) }

  private func reap() -> Int32 {
    state.withLock { state in
      let status = state.status ?? ExternalProgram.status(of: child)
      state.status = status
      return status
    }
  }

  private func blocking<Value: Sendable>(
    _ call: @escaping @Sendable (PipedProgram) -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: call(self)) }
    }
  }
}
