import AggregatorFakeServices
import AggregatorSourceTesting
import Foundation
import Synchronization
import Testing

@testable import AggregatorProgramTesting

/// `image` with several IDs or `--all`, of an added source.
@Suite(.timeLimit(.minutes(10))) struct ImageDownloadTests {
  private func files(_ home: PetHome) throws -> [String] {
    try home.sandbox.files(under: "work/pics")
  }

  @Test func `saves several images in a new directory, each once`() async throws {
    let pets = try FakePets(["a", "b", "c"])
    let home = try await PetHome(pets)
    let outcome = try await home.run("pets image b a b -o pics")
    #expect(outcome.status == 0)
    #expect(outcome.output == "")
    #expect(outcome.errors.hasSuffix("Saved 2 images to pics (146 bytes)\n"), "\(outcome)")
    #expect(try files(home) == ["pets-a.png", "pets-b.png"])
    #expect(
      try Data(contentsOf: home.sandbox.work.appending(path: "pics/pets-a.png"))
        == FakePictures.picture)
    #expect(pets.images == ["/a.png", "/b.png"])
  }

  @Test func `reads IDs from standard input`() async throws {
    let home = try await PetHome(["a", "b", "c"])
    #expect(try await home.run("pets image - -o pics -q", input: "a\n c\n").status == 0)
    #expect(try files(home) == ["pets-a.png", "pets-c.png"])
  }

  @Test func `a failure does not stop the others`() async throws {
    let home = try await PetHome(["a", "none", "gone", "b"])
    let outcome = try await home.run("pets image none gone lost a b -o pics")
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("warning: pets: pet none has no image\n"))
    #expect(outcome.errors.contains("warning: pets: pet lost not found\n"))
    #expect(outcome.errors.contains(/refused the request \(404\).* \(ID gone\)\n/))
    #expect(outcome.errors.hasSuffix("Saved 2 images to pics (146 bytes), 3 failed\n"))
    #expect(try files(home) == ["pets-a.png", "pets-b.png"])
  }

  @Test func `without any image it fails with the most serious reason`() async throws {
    let home = try await PetHome(["none", "gone"])
    let missing = try await home.run("pets image none lost -o pics")
    #expect(missing.status == 1)
    #expect(missing.errors.contains("error: pets: pet none has no image\n"))
    #expect(try await home.run("pets image none gone -o pics").status == 69)
    #expect(try files(home) == [])
  }

  @Test func `--all saves the image of every record, and resumes`() async throws {
    let pets = try FakePets(["a", "none", "b", "gone"])
    let home = try await PetHome(pets)
    let first = try await home.run("pets image --all -o pics")
    #expect(first.status == 3)
    #expect(
      first.errors.hasSuffix(
        "Saved 2 images to pics (146 bytes), 1 pet without image, 1 failed\n"), "\(first)")
    try home.sandbox.write("mine", to: "work/pics/pets-a.png")
    try FileManager.default.removeItem(at: home.sandbox.work.appending(path: "pics/pets-b.png"))
    let second = try await home.run("pets image --all -o pics --offline")
    #expect(
      second.errors.hasSuffix(
        "Saved 1 image to pics (73 bytes), 1 already there, 1 pet without image, 1 failed\n"),
      "\(second)")
    #expect(try home.sandbox.text(of: "work/pics/pets-a.png") == "mine")
    #expect(pets.images == ["/a.png", "/b.png", "/gone.png"])
    #expect(try await home.run("pets image a b -o pics --refresh -q").status == 0)
    #expect(
      try Data(contentsOf: home.sandbox.work.appending(path: "pics/pets-a.png"))
        == FakePictures.picture)
  }

  @Test func `an image that is there needs no request, whatever its type`() async throws {
    let pets = try FakePets(["a", "b"])
    let home = try await PetHome(pets)
    let before = pets.server.requests.count
    for name in ["a.webp", "b.jpg"] { try home.sandbox.write("", to: "work/pics/pets-\(name)") }
    let outcome = try await home.run("pets image a b -o pics")
    #expect(outcome.status == 0)
    #expect(outcome.errors == "Saved 0 images to pics, 2 already there\n")
    #expect(pets.server.requests.count == before)
  }

  @Test func `IDs with the same safe name have files of their own`() async throws {
    let home = try await PetHome(["a/b", "a_b", "../x"])
    #expect(try await home.run("pets image --all -o pics -q").status == 0)
    let names = try files(home)
    #expect(names.count == 3 && names.contains("pets-a_b.png"), "\(names)")
    #expect(names.contains { $0.contains(/^pets-a_b-[0-9a-z]+\.png$/) })
    #expect(names.contains { $0.contains(/^pets-\.\._x-[0-9a-z]+\.png$/) })
    #expect(try await home.run("pets image --all -o pics").errors.contains("3 already there"))
  }

  @Test func `--jobs bounds the requests in flight`() async throws {
    // Each waits for another: one at a time would never end.
    let waiting = Mutex<DispatchSemaphore?>(nil)
    let pets = try FakePets((1...6).map { "p\($0)" }) { _ in
      let partner: DispatchSemaphore? = waiting.withLock { waiting in
        defer { waiting = waiting == nil ? DispatchSemaphore(value: 0) : nil }
        return waiting
      }
      if let partner {
        partner.signal()
      } else {
        waiting.withLock(\.self)?.wait()
      }
      return .ok(FakePictures.picture)
    }
    let home = try await PetHome(pets)
    let outcome = try await home.run("pets image --all -o pics --jobs 2 --timeout 5m")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try files(home).count == 6)
    #expect(pets.server.mostInFlight == 2)
  }

  @Test func `says that bundled records have no images`() async throws {
    let outcome = try await TestHome().run(
      "heroes image 1443 1453 -o pics --offline")
    #expect(outcome.status == 69, "\(outcome)")
    #expect(
      outcome.errors.hasPrefix("error: heroes: bundled sample data has no images (offline mode)"))
  }

  @Test func `heroes without an image are no failure`() async throws {
    let home = try TestHome()
    let outcome = try await home.run("heroes image --all --offline -o pics --max-pages 0")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.errors.hasSuffix("Saved 0 images to pics, 107 heroes without image\n"))
    let capped = try await home.run("heroes image --all --offline -o pics --max-pages 1")
    #expect(capped.status == 3)
    #expect(capped.errors.contains("hint: set a higher --max-pages\n"), "\(capped)")
  }

  @Test(arguments: [
    ("image a b", "several images require a directory"),
    ("image a b -o -", "several images require a directory"),
    ("image --all", "several images require a directory"),
    ("image --all -o file", "\"file\" is not a directory"),
    ("image a b -o file", "\"file\" is not a directory"),
    ("image --all a -o pics", "unexpected argument \"a\""),
    ("image a --max-pages 2 -o pics", "--max-pages requires --all"),
    ("image", "missing argument: ID"),
  ])
  func `rejects a wrong command line before any request`(line: String, words: String)
    async throws
  {
    let pets = try FakePets(["a", "b"])
    let home = try await PetHome(pets)
    let before = pets.server.requests.count
    try home.sandbox.write("", to: "work/file")
    let outcome = try await home.run("pets \(line)")
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("error: \(words)\nhint: "), "\(outcome)")
    #expect(pets.server.requests.count == before)
  }

  @Test func `a directory that cannot be created exits 74`() async throws {
    let home = try await PetHome(["a"])
    try home.sandbox.write("", to: "work/file")
    let outcome = try await home.run("pets image --all -o file/pics")
    #expect(outcome.status == 74)
    #expect(outcome.errors.hasPrefix("error: cannot create the directory \"file/pics\""))
  }

  @Test func `shows progress in images and bytes`() async throws {
    let pets = try FakePets(["a", "b"]) { path in
      path == "/a.png" ? .ok(FakePictures.picture) : .stalled
    }
    let home = try await PetHome(pets)
    let pipe = try ProgramPipe()
    let run = try Binary.start(
      "pets image a b -o pics --jobs 1 --timeout 10m",
      environment: ["AGGREGATOR_FORCE_TTY": "60"], in: home.sandbox,
      output: .descriptor(pipe.writeEnd), isMerged: true)
    pipe.close(pipe.writeEnd)
    var written = try await pipe.text(until: "pets: 1 of 2 images, 73 bytes")
    run.child.send(SIGINT)
    #expect(try await run.outcome().ending == .signal(SIGINT))
    #expect(try files(home) == ["pets-a.png"])
    while case let bytes = await pipe.firstBytes(atMost: 4096), !bytes.isEmpty {
      written += String(decoding: bytes, as: UTF8.self)
    }
    #expect(written.contains("Interrupted. Resume with the same command."), "\(written)")
  }
}
