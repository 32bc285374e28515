/// Threads for calls that block, for which Swift's pool, with one thread a core, must not be used.
package enum SystemThread {
  /// Runs work on a new thread, which ends with it.
  ///
  /// - Parameter stackSize: In bytes; the system's default if `nil`.
  package static func start(stackSize: Int? = nil, _ work: @escaping @Sendable () -> Void) {
    #if canImport(Darwin)
      let thread = Thread(block: work)
      if let stackSize { thread.stackSize = stackSize }
      thread.start()
    #else
      var attributes = pthread_attr_t()
      pthread_attr_init(&attributes)
      defer { pthread_attr_destroy(&attributes) }
      pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
      if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
      let argument = Unmanaged.passRetained(Work(run: work)).toOpaque()
      var thread = pthread_t()
      // For now there are no more threads or there is no memory, and the caller depends on this one.
      while pthread_create(&thread, &attributes, run, argument) == EAGAIN { usleep(10_000) }
    #endif
  }
}

#if !canImport(Darwin)
  private final class Work: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
    return nil
  }
#endif
