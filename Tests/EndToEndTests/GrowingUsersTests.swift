import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Users: a collection that grows on request and keeps its records.
@Suite struct GrowingUsersTests {
  private let service: FakeRandomUser
  private let home: TestHome

  init() throws {
    service = try FakeRandomUser()
    home = try TestHome(service.settings)
  }

  @Test(arguments: [[], [RandomUserQuirk.repeating]])
  func `next three times returns 60 different users despite repeats`(
    quirks: [RandomUserQuirk]
  ) async throws {
    let service = try FakeRandomUser(quirks: Set(quirks))
    let home = try TestHome(service.settings)
    var emails: [String] = []
    for _ in 0..<3 {
      let page = try await home.column("email", "users next")
      #expect(page.count == 20)
      emails += page
    }
    #expect(Set(emails).count == 60)
    #expect(try home.file.ids(of: "users").starts(with: emails))
    #expect(service.pagesAskedFor == Array(1...service.requests.count))
  }

  @Test func `a list fetches only while nothing is cached`() async throws {
    let first = try await home.column("email", "users list")
    #expect(first.count == 20)
    let count = service.requests.count
    for line in ["users list", "users list --limit 1000", "users list --all"] {
      let again = try await home.column("email", line)
      #expect(again.starts(with: first))
    }
    #expect(service.requests.count == count)
  }

  @Test func `a number of users says that the service has more`() async throws {
    _ = try await home.run("users load 30")
    for line in ["users list --count", "users list --group-by gender"] {
      let outcome = try await home.run(line)
      #expect(
        outcome.errors.hasPrefix(
          "only local records are counted: users has no end · more: aggregator users load\n"),
        "\(outcome)")
      #expect(outcome.status == 0)
    }
  }

  @Test func `a first search fetches a page, and its hits can be shown`() async throws {
    let email = try #require(FakeRandomUser.people(onPages: 1..<2).first)
    #expect(try await home.column("email", "users search \(email)") == [email])
    #expect(try await home.column("email", "users show \(email)") == [email])
    #expect(service.requests.count == 1)
  }

  @Test func `suggests bundled people only while they are found`() async throws {
    let before = try await home.run("users search lachlann --offline")
    #expect(
      before.errors.hasPrefix(
        """
        No users match "lachlann". Did you mean "lachlan"?
        warning: users: only bundled sample data was available (no cached users match "lachlann")

        """), "\(before)")
    #expect(try await home.column("name", "users show lachlan.penrose --offline").count == 1)
    _ = try await home.run("users load 20")
    let after = try await home.run("users search lachlann")
    #expect(after.errors.hasPrefix("No users match \"lachlann\"\n"), "\(after)")
    let shown = try await home.run("users show lachlan.penrose")
    #expect(shown.status == 1 && !shown.errors.contains("Penrose"), "\(shown)")
  }

  @Test func `lists all cached users, however many`() async throws {
    let large: [String: String?] = ["RANDOM_USER_PAGE_SIZE": "1000"]
    let loaded = try await home.run("users load 2600", large)
    #expect(loaded.status == 0)
    let pages = service.requests.count
    let all = try await home.run("users list --all --fields email --tsv", large)
    #expect(all.status == 0)
    #expect(all.lines.count > 2600)
    #expect(all.lines == FakeRandomUser.people(onPages: 1..<pages + 1, of: 1000))
    #expect(loaded.errors == "\(all.lines.count) more users cached\n")
    #expect(service.requests.count == pages)
  }

  @Test func `load saves nothing if the service is down`() async throws {
    service.stop()
    let outcome = try await home.run("users load 30")
    #expect(outcome.status == 69)
    #expect(outcome.output == "")
    #expect(outcome.errors.hasPrefix("error: users: cannot connect to 127.0.0.1:"))
    #expect(
      try await home.run("users list -L1 --offline --json").envelope().provenance?.origin
        == "bundled")
  }

  @Test func `load keeps the pages before a failure and resumes after them`() async throws {
    let page = 4
    service.fail(with: RandomUserFault.page.reply, times: 1, onPages: page...page)
    let failed = try await home.run("users load 100")
    #expect(failed.status == 3)
    let people = FakeRandomUser.people(onPages: 1..<page)
    #expect(
      failed.errors.hasPrefix("\(people.count) more users cached\nwarning: users: "),
      "\(failed)")
    #expect(try home.file.ids(of: "users") == people)
    #expect(try await home.run("users load 1").status == 0)
    #expect(service.pagesAskedFor.last == page)
    #expect(try home.file.ids(of: "users") == FakeRandomUser.people(onPages: 1..<page + 1))
  }

  @Test func `another page size adds users and keeps the cached ones`() async throws {
    let settings = ["RANDOM_USER_PAGE_SIZE": "7"]
    #expect(try await home.run("users load 20").status == 0)
    let before = try home.file.ids(of: "users")
    let others = settings.mapValues(Optional.some)
    #expect(try await home.run("users load 20", others).status == 0)
    let after = try home.file.ids(of: "users")
    #expect(after.starts(with: before))
    #expect(after.count >= before.count + 20)
    #expect(Set(after).count == after.count)
    let listed = try await home.run("users list --all --fields email --tsv", others)
    #expect(listed.lines == after)
    let pages = FakeRandomUser.people(
      onPages: 1..<9, of: Int(settings["RANDOM_USER_PAGE_SIZE"] ?? "10") ?? 10,
      seed: settings["RANDOM_USER_SEED"] ?? "aggregator")
    #expect(Set(pages).isSuperset(of: after[before.count...]))
  }

  @Test func `returning to a seed resumes after its cached pages`() async throws {
    #expect(try await home.run("users load 120").status == 0)
    #expect(try await home.run("users load 5", ["RANDOM_USER_SEED": "other"]).status == 0)
    let back = try await home.run("users load 20")
    #expect(back.status == 0, "\(back)")
    let pages = service.requests.filter { $0.query["seed"] == "aggregator" }
      .compactMap { $0.query["page"] }
    #expect(Set(pages).count == pages.count)
  }

  @Test func `past the cached users, exits 69 while the service is down`()
    async throws
  {
    let first = try await home.column("email", "users next")
    service.fail(with: .closed)
    let count = try home.file.ids(of: "users").count
    #expect(count > 20)
    for line in ["users next", "users next --peek"] {
      let failed = try await home.run(line)
      #expect(failed.status == 69, "\(failed)")
      #expect(failed.output == "")
    }
    let rest = try await home.column("email", "users next --offline")
    #expect(first + rest == (try home.file.ids(of: "users")))
  }

  @Test(.timeLimit(.minutes(10)), arguments: [SIGINT, SIGTERM])
  func `a signal during load leaves the store intact`(signal: Int32) async throws {
    let page = 4
    service.fail(with: .stalled, times: 1, onPages: page...page)
    let run = try home.start("users load 100 --timeout 10m")
    let people = FakeRandomUser.people(onPages: 1..<page)
    while (try? home.file.ids(of: "users")) != people { await Task.yield() }
    run.child.send(signal)
    #expect(try await run.outcome().ending == .signal(signal))
    #expect(try home.file.faults() == [])
    #expect(try home.file.ids(of: "users") == people)
    #expect(try await home.run("users load 1").status == 0)
    #expect(try home.file.ids(of: "users") == FakeRandomUser.people(onPages: 1..<page + 1))
  }
}
