import Foundation

enum Browser {
  #if os(macOS)
    private static let opener = "open"
  #else
    private static let opener = "xdg-open"
  #endif

  /// Waits for the opener to exit; throws `unavailable` if there is none or it fails.
  static func open(_ url: URL, variables: [String: String]) throws(CommandError) {
    // Relative directories would run programs of the working directory.
    let path = variables["PATH", default: ""].split(separator: ":").filter { $0.hasPrefix("/") }
      .map { "\($0)/\(opener)" }.first(where: FileManager.default.isExecutableFile)
    let hint: Hint = "open \(url) yourself"
    guard let path else {
      throw CommandError(.unavailable, "no browser found (\(opener) is not installed)", hint: hint)
    }
    let status = run([path, url.absoluteString], variables)
    guard status == 0 else {
      throw CommandError(.unavailable, "\(opener) failed with status \(status)", hint: hint)
    }
  }

  /// Runs a program with default signal handling: it would inherit the signals that this program
  /// blocks or ignores.
  private static func run(_ arguments: [String], _ variables: [String: String]) -> Int32 {
    #if canImport(Darwin)
      var attributes: posix_spawnattr_t?
    #else
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var pipe = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &pipe)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))

    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    var environment: [UnsafeMutablePointer<CChar>?] =
      variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for word in words + environment { free(word) } }
    var child: pid_t = 0
    guard posix_spawn(&child, arguments[0], nil, &attributes, &words, &environment) == 0 else {
      return -1
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { return -1 }
    }
    return status
  }
}
