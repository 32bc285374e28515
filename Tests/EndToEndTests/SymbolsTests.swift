#if os(Linux)
  import AggregatorServer
  import Foundation
  import Testing

  @testable import AggregatorProgramTesting

  /// The symbols that `Scripts/build` puts beside the stripped program.
  @Suite struct SymbolsTests {
    private static let gdb = "/usr/bin/gdb"

    @Test(
      .enabled(if: Binary.isRelease, "a debug program"),
      .enabled("\(gdb) is not installed") { FileManager.default.isExecutableFile(atPath: gdb) },
      .enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
    func `a debugger names the functions and lines of a backtrace`() async throws {
      // Where the main thread of a server waits for signals.
      let outcome = try await Binary.run(
        ["serve", "--port", "0"],
        by: [
          Self.gdb, "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off",
          "-ex", "set breakpoint pending on", "-ex", "break sigwait", "-ex", "run", "-ex", "bt",
          "--args",
        ])
      #expect(
        outcome.output.contains(
          /AggregatorCommand\d+Program.* at Sources\/AggregatorCommand\/Program\.swift:\d+/),
        "\(outcome)")
    }
  }
#endif
