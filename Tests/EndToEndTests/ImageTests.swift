import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorProgramTesting

/// `image` of one record: into a file, a directory, a pipe.
@Suite struct ImageTests {
  let pictures: FakePictures
  let heroes: FakeComicVine
  let home: TestHome

  private static let drawn = "/a/uploads/scale_medium/0/40/1-portrait.jpg"

  init() throws {
    pictures = try FakePictures()
    heroes = try FakeComicVine([
      FakeCharacter(id: 1, name: "One", picture: .at(pictures.url.absoluteString)),
      FakeCharacter(id: 2, name: "Two", picture: .blank),
    ])
    home = try TestHome(heroes.settings)
  }

  func bytes(_ path: String) throws -> Data {
    try Data(contentsOf: home.sandbox.root.appending(path: path))
  }

  /// The files that the program wrote in the working directory.
  private var written: [String] { get throws { try home.sandbox.files(under: "work") } }

  @Test func `saves an image under the given name`() async throws {
    let outcome = try await home.run("heroes image 1 -o one.png")
    #expect(outcome.status == 0)
    #expect(outcome.output == "")
    #expect(outcome.errors == "Saved one.png (image/png, 3×2, 73 bytes)\n")
    #expect(try bytes("work/one.png") == FakePictures.picture)
    #expect(try written == ["one.png"])
    #expect(pictures.paths == [Self.drawn])
  }

  @Test(arguments: [
    ("-ohero.jpg", "hero.jpg"), ("-qohh", "hh"), ("-o -hero.jpg", "-hero.jpg"), ("-o=h", "h"),
    ("-o \(String(repeating: "h", count: 255))", String(repeating: "h", count: 255)),
  ])
  func `the name of the file may contain an h, and be as long as a name can be`(
    option: String, name: String
  ) async throws {
    let outcome = try await home.run("heroes image 1 \(option)")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output == "")
    #expect(try written == [name])
  }

  @Test func `a name that is not UTF-8 is rejected before any request`() async throws {
    let outcome = try await home.run(
      "heroes image 1",
      by: ["/bin/sh", "-c", #"exec "$@" -o "$(printf 'a\377b')""#, "sh"])
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("error: argument \"a\u{FFFD}b\" is not valid UTF-8\n"))
    #expect(try written == [])
    #expect(heroes.requests.isEmpty)
  }

  @Test(arguments: ["small", "medium", "large"])
  func `each size has its own URL`(size: String) async throws {
    #expect(try await home.run("heroes image 1 --size \(size) -o -").status == 0)
    #expect(pictures.paths == ["/a/uploads/scale_\(size)/0/40/1-portrait.jpg"])
  }

  @Test func `in a directory, the file is named after ID and type`() async throws {
    let here = try await home.run("heroes image 1 --output .")
    #expect(here.errors == "Saved heroes-1.png (image/png, 3×2, 73 bytes)\n")
    try home.sandbox.write("", to: "work/pictures/other")
    let outcome = try await home.run("heroes image 1 -q -o pictures/")
    #expect(outcome.errors == "")
    #expect(try written == ["heroes-1.png", "pictures", "pictures/heroes-1.png", "pictures/other"])
    let missing = try await home.run("heroes image 1 -o nowhere/")
    #expect(missing.status == 74)
    #expect(
      missing.errors.contains(
        "error: cannot write to nowhere/heroes-1.png: No such file or directory\n"))
  }

  @Test(arguments: ["", " -o -"])
  func `a pipe receives the bytes of the image only`(option: String) async throws {
    let file = try home.sandbox.write("", to: "image")
    let outcome = try await Binary.run(
      "heroes image 1\(option)", environment: home.environment, in: home.sandbox,
      output: .file(file.path))
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
    #expect(try bytes("image") == FakePictures.picture)
  }

  @Test func `the bytes never go to a terminal`() async throws {
    let terminal = try PseudoTerminal()
    let outcome = try await Binary.run(
      "heroes image 1 -o -", environment: home.environment, in: home.sandbox,
      output: .descriptor(terminal.descriptor))
    #expect(outcome.status == 64)
    #expect(
      outcome.errors == """
        error: refusing to write binary data to a terminal
        hint: add -o FILE, or use a pipe

        """)
    #expect(heroes.requests.isEmpty)
  }

  @Test func `a terminal named as a file is rejected too`() async throws {
    let terminal = try PseudoTerminal()
    let outcome = try await Binary.run(
      "heroes image 1 -o /dev/stdout", environment: home.environment, in: home.sandbox,
      output: .descriptor(terminal.descriptor))
    #expect(outcome.status == 64)
  }

  @Test func `replaces an existing file, with its permissions, through its links`()
    async throws
  {
    let file = try home.sandbox.write("older and longer than the image is", to: "work/old.png")
    symlink("old.png", home.sandbox.work.appending(path: "link.png").path)
    #expect(try await home.run("heroes image 1 -o link.png").status == 0)
    #expect(try Data(contentsOf: file) == FakePictures.picture)
    #expect(try home.sandbox.permissions(of: "work/old.png") == 0o600)
    #expect(try written == ["link.png", "old.png"])
    let link = home.sandbox.work.appending(path: "link.png").path
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "old.png")
  }

  @Test func `a failure leaves the file unchanged`() async throws {
    try home.sandbox.write("old", to: "work/one.png")
    pictures.fail(with: .cut(after: FakePictures.picture, of: 5000))
    let outcome = try await home.run("heroes image 1 -o one.png")
    #expect(outcome.status == 69)
    #expect(try home.sandbox.text(of: "work/one.png") == "old")
    #expect(try written == ["one.png"])
  }

  @Test func `writes to special files, and exits 74 for a full one`() async throws {
    #expect(try await home.run("heroes image 1 -o /dev/null").status == 0)
    guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
    let outcome = try await home.run("heroes image 1 -o /dev/full")
    #expect(outcome.status == 74)
    #expect(outcome.errors.contains("error: cannot write to /dev/full: No space left on device\n"))
    #expect(FileManager.default.fileExists(atPath: "/dev/null"))
  }

  static let wrong: [(LoopbackReply, Int32, String)] = [
    (.html(title: "Sorry"), 76, #"sent a page instead of an image: "Sorry""#),
    (.ok(Data(count: 17 << 20)), 76, "the response is larger than 16 MiB"),
    (.status(404), 69, "refused the request (404)"),
    (.status(429, "", headers: [("Retry-After", "3600")]), 75, "rate limited by 127.0.0.1:"),
    (.redirect(to: "http://127.0.0.2/"), 69, "redirects to another host"),
  ]

  @Test(arguments: wrong.indices)
  func `invalid image data has its own exit code`(index: Int) async throws {
    let (reply, status, words) = Self.wrong[index]
    pictures.fail(with: reply)
    let outcome = try await home.run("heroes image 1 -o a.png")
    #expect(outcome.status == status)
    #expect(outcome.errors.contains(words), "\(outcome)")
    #expect(try written == [])
  }

  @Test func `a missing image or an unknown ID exits 1, an invalid ID 64`() async throws {
    let blank = try await home.run("heroes image 2 -o a.png")
    #expect(blank.status == 1)
    #expect(blank.errors == "error: heroes: hero 2 has no image\n")
    #expect(try await home.run("heroes image 3 -o a.png").status == 1)
    #expect(try await home.run("heroes image x -o a.png").status == 64)
    #expect(try await home.run("heroes image").status == 64)
    #expect(try await home.run("heroes image 1 --size huge -o a.png").status == 64)
    #expect(pictures.requests.isEmpty)
    #expect(try written == [])
  }

  @Test func `that bundled records have no images says nothing of their service`() async throws {
    for line in ["heroes image 1443 -o x.png", "heroes image 1443 1453 -o ."] {
      let outcome = try await TestHome().run(line)
      #expect(outcome.status == 77, "\(outcome)")
      let words = "bundled sample data has no images (COMIC_VINE_API_KEY is not set)"
      #expect(outcome.errors.contains(words), "\(outcome)")
      #expect(outcome.errors.split(separator: "config set").count == 2, "\(outcome)")
    }
  }

  @Test func `countries have no images and report so`() async throws {
    let outcome = try await home.run("countries image FR -o a.svg")
    #expect(outcome.status == 64)
    #expect(
      outcome.errors == "error: countries have no images\nhint: aggregator countries show FR\n")
    #expect(
      try await home.run("help countries").output.contains(
        "Not available: countries have no images")
    )
    let overview = try await home.run("").output
    #expect(overview.contains("Show or save a record's image"))
    #expect(overview.contains("Open a record's page in the browser"))
  }

  @Test func `a public service cannot name an address of this machine`() async throws {
    let tape = """
      # aggregator recording 1
      # 2026-01-05T09:12:44Z
      GET https://products.example/product/p

      ### HTTP 200
      content-type: application/json

      {"product":{"id":"p","images":["\(pictures.url)/1.jpg"]}}

      """
    try home.sandbox.write(tape, to: "tape/0001-get-product.http")
    let outcome = try await home.run(
      "products image p -o a.png --replay ../tape", ["PRODUCTS_URL": "https://products.example"])
    #expect(outcome.status == 69)
    #expect(outcome.errors.contains("which is this machine, unlike the service"), "\(outcome)")
    #expect(pictures.requests.isEmpty)
  }

  @Test func `products and users have images too`() async throws {
    let products = try FakeProducts([
      FakeProduct(1, "Tent", images: ["none", .string("\(pictures.url)/tent.jpg?v=1")])
    ])
    let tent = try await home.run(
      "products image \(FakeProduct.id(1)) -o .", products.settings.mapValues(Optional.some))
    #expect(tent.status == 0)
    #expect(try bytes("work/products-\(FakeProduct.id(1)).png") == FakePictures.picture)

    let users = try FakeRandomUser(portraits: "\(pictures.url)/portraits")
    let settings = users.settings.mapValues(Optional.some)
    let email = try #require(
      try await home.run("users list --limit 1 --fields email --tsv", settings).lines.first)
    for size in ["small", "medium", "large"] {
      let user = try await home.run("users image \(email) --size \(size) -o .", settings)
      #expect(user.status == 0, "\(user)")
    }
    #expect(try written.contains("users-\(email).png"))
    let folders = pictures.paths.suffix(3).map {
      $0.split(separator: "/").dropLast().joined(separator: "/")
    }
    #expect(folders == ["portraits/thumb/men", "portraits/med/men", "portraits/men"])
  }

  @Test func `the key is sent to its service, not to an image host`() async throws {
    let outcome = try await home.run("heroes image 1 -o a.png -v")
    #expect(outcome.errors.contains("\(pictures.url)\(Self.drawn)"))
    for request in pictures.requests {
      let text = "\(request.path)?\(request.rawQuery ?? "")\(request.headers)"
      #expect(!text.contains("canary"))
    }
    #expect(!outcome.errors.contains("canary"))
  }

  @Test func `show prints links only on a terminal that supports them`() async throws {
    let terminal = ["AGGREGATOR_FORCE_TTY": "80", "VTE_VERSION": "7600"]
    let linked = try await home.run("heroes show 1", terminal.mapValues(Optional.some))
    let address = "\(pictures.url)\(Self.drawn)"
    #expect(linked.output.contains(";\(address)\u{1B}\\"))
    #expect(linked.output.contains(";https://comicvine.example/character/4005-1/\u{1B}\\"))
    for variables in [["AGGREGATOR_FORCE_TTY": "80"], ["VTE_VERSION": "7600"]] {
      let plain = try await home.run("heroes show 1", variables.mapValues(Optional.some))
      #expect(!plain.output.contains("\u{1B}]8"))
    }
    let json = try await home.run("heroes show 1 --json", ["FORCE_HYPERLINK": "1"])
    #expect(!json.output.contains("\u{1B}"))
  }
}
