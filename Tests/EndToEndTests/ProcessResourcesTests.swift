#if os(Linux)
  import AggregatorFakeServices
  import AggregatorPostgresServer
  import AggregatorServer
  import Foundation
  import Testing

  @testable import AggregatorProgramTesting

  /// Low limits of memory and file descriptors, and no `/proc`.
  @Suite struct ProcessResourcesTests {
    /// Runs our program after a command of the shell.
    private static func after(_ command: String) -> [String] {
      ["/bin/sh", "-c", "\(command) && exec \"$@\"", "sh"]
    }

    // MARK: - Address space

    /// - Parameter limit: KB.
    private func search(limit: Int) async throws -> Outcome {
      let services = try FourServices()
      let home = try TestHome(services.settings)
      return try await home.run("search spider", by: Self.after("ulimit -v \(limit)"))
    }

    @Test(arguments: [250_000, 300_000, 350_000, 400_000])
    func `searches all sources in little memory`(limit: Int) async throws {
      let outcome = try await search(limit: limit)
      #expect(outcome.status == 0 || outcome.status == 3, "\(outcome)")
      #expect(outcome.output.contains("Spider-Anvil"), "\(outcome)")
      #expect(!outcome.errors.contains("no answer within"), "\(outcome)")
    }

    @Test func `reports too little memory`() async throws {
      let outcome = try await search(limit: 150_000)
      #expect(outcome.status == 69, "\(outcome)")
      #expect(
        outcome.errors == """
          error: not enough memory: the address space is limited to 146 MB
          hint: allow 200 MB with ulimit -v

          """)
    }

    // MARK: - File descriptors

    @Test func `reports too few file descriptors`() async throws {
      let outcome = try await Binary.run(
        "countries list --offline", by: Self.after("ulimit -n 63"))
      #expect(outcome.status == 69, "\(outcome)")
      #expect(
        outcome.errors == """
          error: too few file descriptors: they are limited to 63
          hint: allow 64 with ulimit -n

          """)
    }

    @Test func `takes more file descriptors if it may`() async throws {
      let outcome = try await Binary.run(
        "countries show FR --offline --fields code --tsv", by: Self.after("ulimit -S -n 20"))
      #expect(outcome.status == 0, "\(outcome)")
      #expect(outcome.output == "FR\n")
    }

    @Test(.enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
    func `reports too few file descriptors for a server`() async throws {
      let outcome = try await Binary.run("serve --port 0", by: Self.after("ulimit -n 191"))
      #expect(outcome.status == 69, "\(outcome)")
      #expect(outcome.errors.contains("allow 192 with ulimit -n"), "\(outcome)")
    }

    @Test(.enabled(if: HTTPServer.isAvailable, "libmicrohttpd is not installed"))
    func `a server keeps fewer connections if there are few descriptors`() async throws {
      let server = try await ServingProgram(
        "--source countries --no-token", by: Self.after("ulimit -n 192"))
      var idle: [pollfd] = []
      defer { for client in idle { close(client.fd) } }
      for _ in 1...60 {
        let descriptor = try ServingProgram.connected(to: server.port)
        idle.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
      }
      let reply = try await server.get("/api/v1/countries/FR?cache=offline")
      #expect(reply.status == 200, "\(reply.text)")
      // 12 connections from one address, of which the reply's was one.
      #expect(poll(&idle, nfds_t(idle.count), 0) == 60 - 11)
      try await server.stop()
    }

    // MARK: - /proc

    @Test(.enabled(if: PostgresServer.canMount, "no file system can be mounted here"))
    func `reports a missing proc file system`() async throws {
      let outcome = try await Binary.run(
        "countries list --offline",
        by: ["/usr/bin/unshare", "--mount"] + Self.after("mount -t tmpfs none /proc"))
      #expect(outcome.status == 69, "\(outcome)")
      #expect(
        outcome.errors == """
          error: /proc is not mounted
          hint: mount it with: mount -t proc proc /proc

          """)
      #expect(outcome.output == "")
    }
  }
#endif
