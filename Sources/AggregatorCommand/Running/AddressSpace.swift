import AggregatorFoundation

/// The address space of the process, which `ulimit -v` limits, and how threads share it.
enum AddressSpace {
  #if os(Linux)
    /// With less, threads cannot start, and the program would wait for them or crash.
    private static let minBytes = 200 << 20

    /// Adapts to a limit, and to the command; call it before any thread is created.
    ///
    /// Throws `unavailable` if the limit is too low.
    static func prepare() throws(CommandError) {
      var limit = rlimit()
      let isLimited =
        getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0
        && limit.rlim_cur != ~0  // RLIM_INFINITY
      guard !isLimited || limit.rlim_cur >= minBytes else {
        throw CommandError(
          .unavailable,
          "not enough memory: the address space is limited to \(limit.rlim_cur >> 20) MB",
          hint: "allow \(minBytes >> 20) MB with ulimit -v")
      }
      // The threads of these allocate side by side for long, which is faster with arenas of their own.
      let long = ["load", "serve", "sync", "watch"]
      if isLimited || !CommandLine.arguments.contains(where: long.contains) { shareArena() }
    }

    /// Lets all threads allocate from the same memory.
    ///
    /// glibc reserves up to 128 MB for each of the first threads that allocate, and enlarges what they use by a page at
    /// a time: half a millisecond of a short run.
    private static func shareArena() {
      // glibc's module for Swift lacks malloc.h.
      typealias Function = @convention(c) (_ parameter: Int32, _ value: Int32) -> Int32
      guard let mallopt = dlsym(nil, "mallopt") else { return }
      let maxArenas: Int32 = -8  // M_ARENA_MAX
      // Safe: this is its declaration in malloc.h.
      _ = unsafeBitCast(mallopt, to: Function.self)(maxArenas, 1)
    }
  #else
    static func prepare() throws(CommandError) {}
  #endif
}
