import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorProgramTesting

/// Added sources that sign in, with the program.
@Suite struct SignInTests {
  private let home: TestHome
  private let login: FakeLogin
  private let shop: FakeShop

  private static let settings = "home/.config/aggregator/config.xcconfig"
  private static let secrets: [String: String?] = [
    "SHOP_ID": FakeLogin.id, "SHOP_SECRET": FakeLogin.secret, "SHOP_REFRESH": FakeLogin.refresh,
  ]

  init() throws {
    home = try TestHome()
    login = try FakeLogin()
    shop = try FakeShop(login)
  }

  /// Adds the shop; the secrets come from the environment, and are saved then as a person would.
  private func add(refreshing: Bool = true) async throws {
    let added = try await home.run(
      "sources add shop \(shop.url) --rate off --oauth-token-url \(login.url) --oauth-scope read"
        + (refreshing ? " --oauth-refresh" : ""), Self.secrets)
    try #require(added.status == 0, "\(added)")
    let text = Self.secrets.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value ?? "")\n" }
    // In a settings file, two slashes begin a comment.
    try home.sandbox.write(text.joined(), to: Self.settings)
  }

  /// The texts of all files below the home directory, by their paths.
  private func files() throws -> [String: String] {
    try home.sandbox.files(under: "home").reduce(into: [:]) { texts, path in
      if let data = try? Data(contentsOf: home.sandbox.home.appending(path: path)) {
        texts[path] = String(decoding: data, as: UTF8.self)
      }
    }
  }

  @Test func `client credentials end to end: nothing but the private files has a secret`()
    async throws
  {
    // Half of the pages need a new token.
    login.change { $0.uses = 2 }
    try await add(refreshing: false)
    #expect(
      try home.sandbox.text(of: home.manifestPath("shop.json")).contains(#""id": "${SHOP_ID}""#))
    var said = ""
    let tape = home.sandbox.root.appending(path: "tape").path
    for line in [
      "shop sync -v", "shop list --all --json", "shop list --explain", "shop show 7 -v",
      "shop list --refresh --all -v", "sources show shop", "sources", "config list --json",
      "shop list --all --record \(tape)", "sources check shop", "shop next",
    ] {
      let outcome = try await home.run(line)
      #expect(outcome.status == 0, "\(line): \(outcome)")
      said += outcome.output + outcome.errors
    }
    #expect(login.issued > 4)
    let tokens = login.accessTokens
    for token in tokens + [FakeLogin.secret] { #expect(!said.contains(token)) }
    for (path, text) in try files() {
      let isPrivate = path.hasPrefix(".local/state/aggregator/tokens/")
      for token in tokens where !isPrivate { #expect(!text.contains(token), "\(path)") }
      if !isPrivate, !path.hasSuffix("config.xcconfig") {
        #expect(!text.contains(FakeLogin.secret), "\(path)")
      }
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: tape) {
      let text = try String(contentsOfFile: "\(tape)/\(name)", encoding: .utf8)
      for token in tokens + [FakeLogin.secret] { #expect(!text.contains(token), "\(name)") }
      #expect(!text.contains("/oauth/token"))
    }
    // Neither secret nor token, and no service.
    let (requests, signIns) = (shop.server.requests.count, login.server.requests.count)
    try home.sandbox.write("", to: Self.settings)
    try FileManager.default.removeItem(
      at: home.sandbox.home.appending(path: ".local/state/aggregator/tokens"))
    let replayed = try await home.run("shop list --all --replay \(tape)")
    #expect(replayed.status == 0, "\(replayed)")
    #expect(replayed.lines.count == FakeShop.count)
    // A request that is only printed has a token, for which no made-up secret may be sent.
    let printed = try await home.run("api shop x --curl")
    #expect(printed.status == 77 && printed.errors.contains("SHOP_ID is not set"), "\(printed)")
    #expect(shop.server.requests.count == requests)
    #expect(login.server.requests.count == signIns)
  }

  @Test func `a source is removed with its tokens, unless another one signs in with them`()
    async throws
  {
    try await add(refreshing: false)
    let manifest = try home.sandbox.text(of: home.manifestPath("shop.json"))
    try home.sandbox.write(manifest, to: home.manifestPath("copy.json"))
    #expect(try await home.run("shop list").status == 0)
    func names() throws -> Set<String> {
      Set(
        try FileManager.default.contentsOfDirectory(
          atPath: home.sandbox.home.appending(path: ".local/state/aggregator/tokens").path
        ).map { String($0.drop { $0 != "." }) })
    }
    #expect(try names().contains(".json"))
    for (command, isKept) in [
      ("sources remove shop --data --yes", true), ("sources remove copy --data --yes", false),
    ] {
      let removed = try await home.run(command)
      #expect(removed.status == 0, "\(removed)")
      #expect(try names().contains(".json") == isKept, "\(command)")
    }
  }

  @Test func `a user and a password end to end`() async throws {
    let shop = try FakeShop(nil)
    let added = try await home.run(
      "sources add shop \(shop.url) --rate off --basic \(FakeShop.user)",
      ["SHOP_PASSWORD": FakeShop.password])
    #expect(added.status == 0, "\(added)")
    let listed = try await home.run("shop list --all", ["SHOP_PASSWORD": FakeShop.password])
    #expect(listed.lines.count == FakeShop.count)
    let curl = "curl \(shop.url) -u '\(FakeShop.user):\(FakeShop.password)'"
    let copied = try await home.run("sources add copy --curl --rate off", input: curl)
    #expect(copied.status == 0, "\(copied)")
    #expect(try home.sandbox.text(of: Self.settings) == "COPY_PASSWORD = \(FakeShop.password)\n")
    #expect(try await home.run("copy list --all").lines.count == FakeShop.count)
    let wrong = try await home.run("copy list --refresh", ["COPY_PASSWORD": "wrong"])
    #expect(wrong.errors.contains("does not accept COPY_PASSWORD"), "\(wrong)")
    let refused = try await home.run(
      "copy list --refresh --no-fallback", ["COPY_PASSWORD": "wrong"])
    #expect(refused.status == 77, "\(refused)")
    #expect(
      refused.errors.hasSuffix("hint: change or unset the environment variable COPY_PASSWORD\n"),
      "\(refused)")
    // An empty variable hides nothing.
    try home.sandbox.write("COPY_PASSWORD = wrong\n", to: Self.settings)
    let saved = try await home.run("copy list --refresh --no-fallback", ["COPY_PASSWORD": ""])
    #expect(saved.status == 77, "\(saved)")
    #expect(saved.errors.hasSuffix("hint: aggregator config set COPY_PASSWORD\n"), "\(saved)")
  }

  @Test func `what is not set is named, and what is refused is not saved`() async throws {
    let line = "sources add shop \(shop.url) --oauth-token-url \(login.url)"
    let missing = try await home.run(line)
    #expect(missing.status == 77, "\(missing)")
    #expect(missing.errors.contains("SHOP_ID is not set"), "\(missing)")
    let refused = try await home.run(line, ["SHOP_ID": "who", "SHOP_SECRET": "what"])
    #expect(refused.status == 77, "\(refused)")
    #expect(refused.errors.contains("does not accept SHOP_ID and SHOP_SECRET"), "\(refused)")
    #expect(try home.sandbox.files(under: "home").allSatisfy { !$0.hasSuffix("shop.json") })
    for options in ["--oauth-scope read", "--oauth-refresh", "--basic a:b"] {
      let outcome = try await home.run("sources add shop \(shop.url) \(options)")
      #expect(outcome.status == 64, "\(outcome)")
    }
    let both = try await home.run("\(line) --basic mary")
    #expect(both.status == 64, "\(both)")
    #expect(shop.server.requests.isEmpty)
  }

  @Test func `a revoked grant is exit code 77, and a new setting mends it`() async throws {
    login.change { $0.isRotating = true }
    try await add()
    #expect(try await home.run("shop list").status == 0)
    login.revoke()
    login.expire()
    let refused = try await home.run("shop list --refresh --no-fallback")
    #expect(refused.status == 77, "\(refused)")
    #expect(refused.errors.contains("the refresh token of SHOP_REFRESH any more (invalid_grant)"))
    #expect(refused.errors.contains("config set SHOP_REFRESH"), "\(refused)")
    let rejected = try await home.run("config set SHOP_REFRESH", input: "a wrong refresh token")
    #expect(rejected.status == 77, "\(rejected)")
    #expect(try home.sandbox.text(of: Self.settings).contains(FakeLogin.refresh))
    login.signIn(with: "a newly set refresh token")
    let set = try await home.run("config set SHOP_REFRESH", input: "a newly set refresh token")
    #expect(set.status == 0, "\(set)")
    #expect(set.errors.contains("Verified with one request"), "\(set)")
    for _ in 1...3 {
      login.expire()
      #expect(try await home.run("shop list --refresh --no-fallback").status == 0)
    }
    #expect(login.refresh != "a newly set refresh token")
  }

  @Test func `a rotated refresh token survives kill -9`() async throws {
    login.change { $0.isRotating = true }
    try await add()
    var lost = 0
    for round in Soak.rounds(8) {
      login.expire()
      let requests = login.server.requests.count
      let run = try home.start("shop list --refresh --no-fallback")
      // Spread from before the request to after the end.
      if round % 4 > 0 {
        _ = await login.server.requests(atLeast: requests + 1)
        for _ in 0..<Int.random(in: 0..<(round % 4) * 2000) { sched_yield() }
      }
      run.child.send(SIGKILL)
      _ = try await run.outcome()
      await login.server.idle()
      let files = try files().filter { $0.key.contains("/tokens/") && $0.key.hasSuffix(".json") }
      let hasCurrent =
        files.values.contains { $0.contains("\"\(login.refresh)\"") } || login.rotations == 0
      login.expire()
      let after = try await home.run("shop list --refresh --no-fallback")
      if hasCurrent {
        #expect(after.status == 0, "round \(round): \(after)")
        // What a killed process left behind is removed by the next one that writes.
        let own = try self.files().filter { $0.value.contains("\"\(login.refresh)\"") }.keys
        let grant = try #require(own.first { $0.hasSuffix(".json") })
        #expect(own.allSatisfy { !$0.hasPrefix("\(grant).") }, "\(own)")
      } else {
        // The service had replaced the token, and the process was killed before it had the new one.
        #expect(after.status == 77, "round \(round): \(after)")
        #expect(after.errors.contains("sign in again"))
        lost += 1
        let text = "signed in again in round \(round)"
        login.signIn(with: text)
        #expect(try await home.run("config set SHOP_REFRESH", input: text).status == 0)
      }
    }
    // Of a hundred kills some are before the reply, some between the rotation and the disk, and some after it.
    if Soak.isOn { #expect(1..<100 ~= lost, "\(lost)") }
  }

  @Test func `a call that ends sooner than a renewal loses no refresh token`() async throws {
    login.change { $0.isRotating = true }
    try await add()
    login.expire()
    let gate = DispatchSemaphore(value: 0)
    login.change { $0.pause = { gate.wait() } }
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      "shop list --refresh --no-fallback --timeout 1s", in: home.sandbox,
      output: .descriptor(pipe.writeEnd), isMerged: true)
    pipe.close(pipe.writeEnd)
    let said = String(decoding: await pipe.firstBytes(atMost: 1000), as: UTF8.self)
    #expect(said.contains("error: shop: no answer within 1 s"), "\(said)")
    // The person has the answer, and the process waits for the service.
    let rotations = login.rotations
    gate.signal()
    #expect(try await run.outcome().status == 75)
    #expect(login.rotations == rotations + 1)
    login.change { $0.pause = nil }
    login.expire()
    let after = try await home.run("shop list --refresh --no-fallback")
    #expect(after.status == 0, "\(after)")
  }

  @Test func `a manifest that signs in is not exported without it`() async throws {
    try await add()
    let exported = try await home.run("sources export shop --swift")
    #expect(exported.status == 1, "\(exported)")
    #expect(exported.errors.contains("shop signs in by \"auth\""), "\(exported)")
    #expect(try home.sandbox.files(under: "work").isEmpty)
  }

  @Test func `what is missing is asked for in order, and saved when it was accepted`() async throws
  {
    let terminal = try PseudoTerminal()
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      "sources add shop \(shop.url) --rate off --oauth-token-url \(login.url) --oauth-refresh",
      terminal: terminal.descriptor, in: home.sandbox, output: .descriptor(pipe.writeEnd),
      isMerged: true)
    pipe.close(pipe.writeEnd)
    for (prompt, value) in [
      ("SHOP_ID: ", FakeLogin.id), ("SHOP_SECRET: ", FakeLogin.secret),
      ("SHOP_REFRESH: ", FakeLogin.refresh),
    ] {
      try await pipe.wait(for: prompt)
      terminal.type("\(value)\n")
    }
    #expect(try await run.outcome().status == 0)
    let text = try home.sandbox.text(of: Self.settings)
    #expect(text.contains("SHOP_REFRESH = \(FakeLogin.refresh)\n"), "\(text)")
    #expect(try await home.run("shop list").status == 0)
  }

  @Test func `config set asks for the other secrets of the source, and tries them together`()
    async throws
  {
    try await add(refreshing: false)
    try home.sandbox.write("", to: Self.settings)
    let terminal = try PseudoTerminal()
    for (secret, status) in [("a wrong secret", Int32(77)), (FakeLogin.secret, 0)] {
      let pipe = try ProgramPipe()
      let run = try Binary.start(
        "config set SHOP_ID", terminal: terminal.descriptor, in: home.sandbox,
        output: .descriptor(pipe.writeEnd), isMerged: true)
      pipe.close(pipe.writeEnd)
      for (prompt, value) in [("SHOP_ID: ", FakeLogin.id), ("SHOP_SECRET: ", secret)] {
        try await pipe.wait(for: prompt)
        terminal.type("\(value)\n")
      }
      #expect(try await run.outcome().status == status)
      #expect(try home.sandbox.text(of: Self.settings).isEmpty == (status != 0))
    }
    #expect(try await home.run("shop list --refresh").status == 0)
  }

  @Test func `processes and clients renew once`() async throws {
    login.change { $0.isRotating = true }
    try await add()
    login.expire()
    let issued = login.issued
    async let one = home.run("shop list --refresh --no-fallback")
    async let two = home.run("shop list --refresh --no-fallback")
    async let three = home.run("shop sync")
    for outcome in try await [one, two, three] { #expect(outcome.status == 0, "\(outcome)") }
    #expect(login.issued == issued + 1)

    let server = try await ServingProgram("--source shop", in: home.sandbox)
    login.expire()
    let statuses = await (0..<16).concurrentMap { number in
      try? await server.send(
        "GET", "/api/v1/shop?limit=\(number + 1)&cache=live"
      ).status
    }
    #expect(statuses == Array(repeating: 200, count: 16))
    #expect(login.issued == issued + 2)
    try await server.stop()
  }
}

extension ProgramPipe {
  /// Reads until the output ends with a prompt; fails if the program ends before.
  fileprivate func wait(for prompt: String) async throws {
    var said = ""
    while !said.hasSuffix(prompt) {
      let bytes = await firstBytes(atMost: 100)
      try #require(!bytes.isEmpty, "\(said)")
      said += String(decoding: bytes, as: UTF8.self)
    }
  }
}
