import AggregatorFiles
package import AggregatorFoundation
import AggregatorText

package enum ExternalProgram {
  /// The path of an installed program, or `nil` if there is none; a name with a slash is a path.
  package static func path(of name: String, _ variables: [String: String]) -> String? {
    // Relative directories would run programs of the working directory.
    let directories = variables["PATH", default: ""].split(separator: ":").filter {
      $0.hasPrefix("/")
    }
    return (name.contains("/") ? [name] : directories.map { "\($0)/\(name)" })
      .first(where: FileManager.default.isExecutableFile)
  }

  /// The path of a program that an action requires; fails with code `unavailable` if it is not installed.
  ///
  /// - Parameter alternative: The words of the hint for those who do without it.
  package static func path(
    of name: String, requiredBy action: String, or alternative: String = "",
    _ variables: [String: String]
  ) throws(CommandError) -> String {
    guard let path = path(of: name, variables) else {
      throw CommandError(
        .unavailable, "\(action) requires \(name), which is not installed",
        hint:
          "install it with your package manager (apt install \(name), brew install \(name))\(alternative)"
      )
    }
    return path
  }

  /// The words that start a command line; `nil` if it is blank or its program is not installed.
  ///
  /// As with `git`: a line with special characters of the shell is run by it.
  package static func words(of line: String, _ variables: [String: String]) -> [String]? {
    let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    guard let name = words.first else { return nil }
    if line.contains(where: { "|&;<>()$`\\\"'*?[#~=%{}\n".contains($0) }) {
      return ["/bin/sh", "-c", line]
    }
    return path(of: name, variables).map { [$0] + words.dropFirst() }
  }

  /// Runs a program to its end with default signal handling: it would inherit the signals that this program
  /// blocks or ignores.
  ///
  /// Its standard input, output and error are those of this program, or the given `descriptors`.
  ///
  /// - Returns: The status of `waitpid(2)`; -1 if it cannot be started.
  package static func run(
    _ arguments: [String], _ variables: [String: String], descriptors: [Int32: Int32] = [:]
  ) -> Int32 {
    start(arguments, variables, descriptors: descriptors).map(status) ?? -1
  }

  /// Starts a program with default signal handling.
  ///
  /// - Parameters:
  ///   - descriptors: Its standard descriptors, instead of those of this program; it has no others.
  ///   - leadsGroup: True to make it the leader of a process group.
  /// - Returns: Its process ID; `nil` if it cannot be started, and `errno` says why.
  package static func start(
    _ arguments: [String], _ variables: [String: String], descriptors: [Int32: Int32] = [:],
    leadsGroup: Bool = false
  ) -> pid_t? {
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
    for (standard, descriptor) in descriptors {
      posix_spawn_file_actions_adddup2(&actions, descriptor, standard)
    }
    // Without this it would hold connections and locks open: not every library closes its descriptors.
    #if canImport(Darwin)
      for standard in STDIN_FILENO...STDERR_FILENO where descriptors[standard] == nil {
        posix_spawn_file_actions_addinherit_np(&actions, standard)
      }
      let closing = Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)
    #else
      // An extension of glibc that Swift does not import.
      typealias CloseFrom =
        @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
      let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: CloseFrom.self)
      }
      _ = closeFrom?(&actions, STDERR_FILENO + 1)
      let closing: Int16 = 0
    #endif
    var none = sigset_t()
    sigemptyset(&none)
    var pipe = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &pipe)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF) | closing
        | (leadsGroup ? Int16(POSIX_SPAWN_SETPGROUP) : 0))

    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var environment: [UnsafeMutablePointer<CChar>?] =
      variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for word in words + environment { free(word) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, arguments[0], &actions, &attributes, &words, &environment)
    guard code == 0 else {
      errno = code
      return nil
    }
    return child
  }

  /// Runs a program in the place of this one, with default signal handling.
  ///
  /// Call it before there are other threads. Returns only if the program cannot be started.
  package static func become(
    _ arguments: [String], _ variables: [String: String]
  ) -> CommandError {
    let words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    let environment: [UnsafeMutablePointer<CChar>?] =
      variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for word in words + environment { free(word) } }
    signal(SIGPIPE, SIG_DFL)
    var none = sigset_t()
    var blocked = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &blocked)
    execve(arguments[0], words, environment)
    let reason = String(cString: strerror(errno))
    pthread_sigmask(SIG_SETMASK, &blocked, nil)
    signal(SIGPIPE, SIG_IGN)
    return CommandError(.unavailable, "cannot start \(arguments[0]): \(reason)")
  }

  /// The end of a program in words: `status 1` or `signal 9`.
  package static func ending(_ status: Int32) -> String {
    let signal = status & 0x7F
    return signal == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(signal)"
  }

  /// Waits for the end of a program; returns the status of `waitpid(2)`, -1 if there is none.
  package static func status(of child: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { return -1 }
    }
    return status
  }

  /// Waits for the end of a program, which is killed if that takes longer or the task is cancelled.
  ///
  /// - Returns: The status of `waitpid(2)`; -1 if there is none, `nil` if it was killed.
  package static func status(of child: pid_t, within limit: Duration) async -> Int32? {
    let end = ContinuousClock.now + limit
    var status: Int32 = 0
    while true {
      let ended = waitpid(child, &status, WNOHANG)
      if ended == child { return status }
      if ended < 0, errno != EINTR { return -1 }
      guard ContinuousClock.now < end, (try? await Task.sleep(for: .milliseconds(5))) != nil else {
        kill(child, SIGKILL)
        _ = self.status(of: child)
        return nil
      }
    }
  }
}

/// The editor of the person.
package enum Editor {
  /// The command of the editor: VISUAL, EDITOR or vi.
  package static func command(_ variables: [String: String]) -> String {
    ["VISUAL", "EDITOR"].lazy.compactMap { variables[$0]?.nonBlank }.first ?? "vi"
  }

  /// Waits until the editor of a file has ended: that of VISUAL, of EDITOR, or on a terminal vi, which would wait for ever
  /// without one.
  ///
  /// - Throws: ``CommandError`` with code `io` if it fails, `usage` if there is none.
  package static func open(_ path: String, _ variables: [String: String]) throws(CommandError) {
    let isChosen = ["VISUAL", "EDITOR"].contains { variables[$0]?.nonBlank != nil }
    guard isChosen || isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 else {
      throw CommandError(
        .usage, "editing requires a terminal, or VISUAL or EDITOR",
        hint: "set EDITOR to a command that changes the file")
    }
    let editor = command(variables)
    // The variable may hold options, as in `code --wait`.
    let status = ExternalProgram.run(["/bin/sh", "-c", "\(editor) \"$@\"", "sh", path], variables)
    guard status == 0 else {
      throw CommandError(
        .io, "the editor \"\(editor)\" failed; nothing was changed",
        hint: "set VISUAL or EDITOR to the command of your editor")
    }
  }
}

/// A file without a name, which goes with its last user.
package final class TemporaryFile: Sendable {
  private let file: OpenFile

  package var descriptor: Int32 { file.descriptor }

  /// Fails with code `io`.
  package init() throws(CommandError) {
    let directory = FileManager.default.temporaryDirectory.path
    var path = Array("\(directory)/aggregator-XXXXXX".utf8CString)
    let descriptor = mkstemp(&path)
    guard descriptor >= 0 else {
      throw CommandError(
        .io, "cannot create a file in \"\(directory)\": \(String(cString: strerror(errno)))")
    }
    unlink(path)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    file = OpenFile(owning: descriptor)
  }

  package var output: Output { Output(descriptor: descriptor, named: "a temporary file") }

  package func rewind() { lseek(descriptor, 0, SEEK_SET) }

  /// All of it, from the beginning.
  package var bytes: [UInt8] {
    rewind()
    return (try? file.contents(atMost: .max - 1)) ?? []
  }
}

package enum Browser {
  #if os(macOS)
    package static let opener = "open"
  #else
    package static let opener = "xdg-open"
  #endif

  /// Waits for the opener to exit; throws `unavailable` if there is none or it fails.
  ///
  /// - Parameter isSilent: True if the opener gets no terminal.
  package static func open(
    _ url: URL, variables: [String: String], isSilent: Bool = false
  ) throws(CommandError) {
    let hint: Hint = "open \(url) yourself"
    guard let path = ExternalProgram.path(of: opener, variables) else {
      throw CommandError(.unavailable, "no browser found (\(opener) is not installed)", hint: hint)
    }
    let nowhere = isSilent ? AggregatorFoundation.open("/dev/null", O_RDWR | O_CLOEXEC) : -1
    defer { if nowhere >= 0 { close(nowhere) } }
    let standard = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    let status = ExternalProgram.run(
      [path, url.absoluteString], variables,
      descriptors: nowhere < 0
        ? [:] : Dictionary(uniqueKeysWithValues: standard.map { ($0, nowhere) }))
    guard status == 0 else {
      throw CommandError(
        .unavailable, "\(opener) failed with \(ExternalProgram.ending(status))", hint: hint)
    }
  }
}
