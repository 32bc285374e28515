import Foundation

/// A program that is run to its end.
enum Program {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Its standard output.
  ///
  /// - Parameter words: The program and its arguments; a name without a slash is found in `PATH`.
  /// - Throws: ``Failure`` with its standard error if it fails.
  static func output(of words: [String], environment: [String: String] = [:]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    // None of the variables by which libpq would connect elsewhere.
    process.environment =
      ["PATH": "\(path):/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C", "HOME": "/nonexistent"]
      .merging(environment) { $1 }
    // Any user may enter it.
    process.currentDirectoryURL = URL(filePath: "/")
    process.standardInput = FileHandle.nullDevice
    // Files, because other children might hold the ends of pipes open.
    let (output, errors) = (try Captured(), try Captured())
    process.standardOutput = output.handle
    process.standardError = errors.handle
    try start(process)
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw Failure(
        description:
          "\(words.joined(separator: " ")): status \(process.terminationStatus)\n\(errors.text)")
    }
    return output.text
  }

  /// Starts a process that has no signals blocked, as this thread may have.
  static func start(_ process: Process) throws {
    var none = sigset_t()
    var blocked = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &blocked)
    defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
    try process.run()
  }

  /// Its standard output; a thread of its own waits for it.
  static func run(_ words: [String], environment: [String: String] = [:]) async throws -> String {
    try await onThread { try output(of: words, environment: environment) }
  }

  /// Runs `body`, which blocks, on a thread of its own.
  static func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
  }

  /// A file without a name.
  private struct Captured {
    let handle: FileHandle

    init() throws {
      guard let file = tmpfile() else { throw Failure(description: "no temporary file") }
      let descriptor = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3)
      fclose(file)
      guard descriptor >= 0 else { throw Failure(description: "no file descriptor") }
      handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    var text: String {
      try? handle.seek(toOffset: 0)
      return (try? handle.readToEnd()).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
  }
}
