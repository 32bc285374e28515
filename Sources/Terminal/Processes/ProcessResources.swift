import AggregatorFoundation

/// The arguments, file descriptors (`ulimit -n`) and address space (`ulimit -v`) of the process.
package enum ProcessResources {
  /// More than 16 connections take; if none is free, Dispatch cannot open files in `/proc`, and crashes.
  private static let minDescriptors = 64

  /// The limit of most Linux systems, and enough for the connections of a server.
  private static let wantedDescriptors = 1024

  /// Adapts to the limits, before any thread is created; throws `unavailable` if one is too low, or without `/proc`.
  package static func prepare() throws(CommandError) {
    // On Linux, Swift reads the arguments there, and Dispatch the states of threads.
    guard CommandLine.argc > 0 else {
      throw CommandError(
        .unavailable, "/proc is not mounted", hint: "mount it with: mount -t proc proc /proc")
    }
    raiseDescriptors()
    try requireDescriptors(minDescriptors)
    try requireMemory()
  }

  /// The most file descriptors that may be open at a time.
  package static var descriptors: Int {
    var limit = rlimit()
    return getrlimit(openFiles, &limit) == 0 ? Int(clamping: limit.rlim_cur) : wantedDescriptors
  }

  package static func requireDescriptors(_ count: Int) throws(CommandError) {
    let descriptors = descriptors
    guard descriptors >= count else {
      throw CommandError(
        .unavailable, "too few file descriptors: they are limited to \(descriptors)",
        hint: "allow \(count) with ulimit -n")
    }
  }

  /// Raises the limit as far as the system allows it, but not above `wantedDescriptors`.
  private static func raiseDescriptors() {
    var limit = rlimit()
    guard getrlimit(openFiles, &limit) == 0, limit.rlim_cur < wantedDescriptors else { return }
    limit.rlim_cur = min(limit.rlim_max, rlim_t(wantedDescriptors))
    // If it may not, the limit stays.
    _ = setrlimit(openFiles, &limit)
  }

  #if os(Linux)
    private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    /// With less, threads cannot start, and the program would wait for them or crash.
    private static let minBytes = 200 << 20

    /// The most bytes of address space; `nil` if it is not limited.
    private static var addressSpace: rlim_t? {
      var limit = rlimit()
      let isLimited =
        getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0
        && limit.rlim_cur != ~0  // RLIM_INFINITY
      return isLimited ? limit.rlim_cur : nil
    }

    private static func requireMemory() throws(CommandError) {
      guard let bytes = addressSpace, bytes < minBytes else { return }
      throw CommandError(
        .unavailable, "not enough memory: the address space is limited to \(bytes >> 20) MB",
        hint: "allow \(minBytes >> 20) MB with ulimit -v")
    }

    /// Lets all threads allocate from the same memory, unless they are faster with arenas of their own and there is
    /// room; call it before any thread is created.
    ///
    /// glibc reserves up to 128 MB for each of the first threads that allocate, and enlarges what they use by a page at
    /// a time: half a millisecond of a short run.
    package static func shareArena(unlessFasterOtherwise needsOwn: Bool) {
      guard !needsOwn || addressSpace != nil else { return }
      // glibc's module for Swift lacks malloc.h.
      typealias Function = @convention(c) (_ parameter: Int32, _ value: Int32) -> Int32
      guard let mallopt = dlsym(nil, "mallopt") else { return }
      let maxArenas: Int32 = -8  // M_ARENA_MAX
      // Safe: this is its declaration in malloc.h.
      _ = unsafeBitCast(mallopt, to: Function.self)(maxArenas, 1)
    }
  #else
    private static let openFiles = RLIMIT_NOFILE

    private static func requireMemory() throws(CommandError) {}

    package static func shareArena(unlessFasterOtherwise needsOwn: Bool) {}
  #endif
}
