#if os(Linux)
  import AggregatorFakeServices
  import Foundation
  import Testing

  /// A limited address space, as by `ulimit -v`, in KB.
  @Suite struct LittleMemoryTests {
    private func search(limit: Int) async throws -> Outcome {
      let services = try FourServices()
      let home = try TestHome(services.settings)
      return try await home.run(
        "search spider", by: ["/bin/sh", "-c", "ulimit -v \(limit) && exec \"$@\"", "sh"])
    }

    @Test(arguments: [250_000, 300_000, 350_000, 400_000])
    func `searches all sources`(limit: Int) async throws {
      let outcome = try await search(limit: limit)
      #expect(outcome.status == 0 || outcome.status == 3, "\(outcome)")
      #expect(outcome.output.contains("Spider-Anvil"), "\(outcome)")
      #expect(!outcome.errors.contains("no answer within"), "\(outcome)")
    }

    @Test func `reports a limit that is too low`() async throws {
      let outcome = try await search(limit: 150_000)
      #expect(outcome.status == 69, "\(outcome)")
      #expect(
        outcome.errors == """
          error: not enough memory: the address space is limited to 146 MB
          hint: allow 200 MB with ulimit -v

          """)
    }
  }
#endif
