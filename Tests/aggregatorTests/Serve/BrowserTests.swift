import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// The pages of `serve` in a browser, driven by the scripts in `Browser/Scenarios`.
@Suite struct BrowserTests {
  /// A browser is several processes.
  private static let browsers = Binary.Crew(3)

  private static let folder = Repository.root.appending(path: "Tests/aggregatorTests/Serve/Browser")

  /// `Scripts/install tests` installs it, and Playwright and axe with it.
  private static let python = Repository.root.appending(path: ".build/python/bin/python").path

  private static let missing = [
    "/usr/bin/chromium-headless-shell",
    Repository.root.appending(path: ".build/python/bin/playwright").path,
  ].filter { !FileManager.default.isExecutableFile(atPath: $0) }

  private static let scenarios =
    ((try? FileManager.default.contentsOfDirectory(
      atPath: folder.appending(path: "Scenarios").path)) ?? [])
    .filter { $0.hasSuffix(".py") }.map { String($0.dropLast(3)) }.sorted()

  @Test func `there are scenarios`() { #expect(Self.scenarios.count > 10) }

  @Test(
    .enabled(if: missing.isEmpty, "\(missing.joined(separator: " and ")) is not installed"),
    arguments: scenarios)
  func `a person uses the page`(scenario: String) async throws {
    try await Self.browsers.work {
      guard let first = try await failure(of: scenario) else { return }
      // A browser schedules its own processes, and on a busy machine a page may be seen between two states. What fails
      // twice, each time with a server and a browser of its own, is a failure; what fails once is said.
      Issue.record("\(scenario) failed at first:\n\(first)", severity: .warning)
      if let second = try await failure(of: scenario) {
        Issue.record("\(scenario) failed twice:\n\(second)")
      }
    }
  }

  /// Runs a scenario; the messages of a failure, or `nil` if it passes.
  private func failure(of scenario: String) async throws -> String? {
    let services = try BrowsedServices()
    let home = try TestHome(services.settings)
    let server = try await ServingProgram(
      "--source countries,heroes,products --allow-add", environment: home.environment,
      in: home.sandbox)
    let (commands, replies) = (try ProgramPipe(), try ProgramPipe())
    let log = try home.sandbox.write("", to: "browser.log")
    let errors = open(log.path, O_WRONLY | O_APPEND | O_CLOEXEC)
    defer { close(errors) }
    let script = try Child(
      [
        Self.python, "-B", Self.folder.appending(path: "run.py").path, scenario,
        server.address,
      ],
      environment: [
        "HOME": home.sandbox.home.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        "LIST": services.countries.url.absoluteString,
      ],
      directory: home.sandbox.work.path,
      descriptors: [replies.readEnd, commands.writeEnd, errors])
    commands.close(commands.writeEnd)
    async let ending = script.ending()
    // The script awaits each reply.
    while case let line = await commands.firstBytes(atMost: 100), !line.isEmpty {
      services.obey(String(decoding: line.dropLast(), as: UTF8.self))
      #expect(write(replies.writeEnd, "\n", 1) == 1)
    }
    let end = await ending
    let messages = try home.sandbox.text(of: "browser.log")
    try await server.stop()
    return end == .exit(0) ? nil : "\(end)\n\(messages)"
  }
}

/// The services behind the page: heroes with pictures on three pages, and products that attack it.
private struct BrowsedServices {
  let countries: FakeCountries
  let heroes: FakeComicVine
  let emptyHeroes: FakeComicVine
  let allHeroes: FakeComicVine
  let products: FakeProducts
  let pictures: FakePictures

  init() throws {
    let pictures = try FakePictures()
    self.pictures = pictures
    countries = try FakeCountries()
    let cast = FakeCharacter.cast.map { character in
      var character = character
      character.picture =
        character.id == FakeCharacter.unknown.id ? .none : .at(pictures.url.absoluteString)
      return character
    }
    heroes = try FakeComicVine(Array(cast.prefix(55)))
    allHeroes = try FakeComicVine(cast)
    emptyHeroes = try FakeComicVine(quirks: [.emptyPromise])
    let image = pictures.url.appending(path: "product.png").absoluteString
    products = try FakeProducts([
      FakeProduct(
        9, "<script>alert('title')</script>", merchant: #""><img src=x onerror=alert('shop')>"#,
        url: "javascript:alert('link')", images: [.string(image)]),
      FakeProduct(
        8, #"' onmouseover='alert(1)' autofocus onfocus='alert(1)"#, merchant: "&lt;b&gt; &amp;",
        url: "data:text/html,<script>alert('data')</script>", images: ["javascript:alert(1)"]),
      FakeProduct(
        7, "Right\u{202E}tfel ot\u{2066}", merchant: "</title></script><svg onload=alert('svg')>",
        url: "https://shop.example/\"onclick=\"alert(1)", images: []),
      FakeProduct(
        6, .string(String(repeating: "Unbreakable", count: 40)),
        merchant: "{{7*7}}${alert(1)}", url: "JaVaScRiPt\u{3A}alert('case')", images: []),
      FakeProduct(
        5, "Kettle",
        images: .array(
          (1...5).map { number in
            .string("\(image)?view=\(number)&from=\(String(repeating: "angle", count: 30))")
          })),
    ])
  }

  var settings: [String: String] {
    [countries.settings, heroes.settings, products.settings].reduce(into: [:]) {
      $0.merge($1) { $1 }
    }
  }

  /// Obeys a command of a script.
  func obey(_ command: String) {
    switch command {
    case "stop heroes": heroes.stop()
    case "stall heroes": heroes.fail(with: .stalled)
    case "empty heroes": heroes.become(emptyHeroes)
    case "all heroes": heroes.become(allHeroes)
    default: Issue.record("unknown command: \(command)")
    }
  }
}
