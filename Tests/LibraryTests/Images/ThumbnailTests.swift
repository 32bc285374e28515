import AggregatorKit
import AggregatorObservation
import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorImages
@testable import AggregatorThumbnails

@Suite(
  .timeLimit(.minutes(10)),
  .enabled(
    if: ThumbnailDecoder.isInstalled,
    "GdkPixbuf is not installed (Debian's package: libgdk-pixbuf-2.0-0)"))
struct ThumbnailTests {
  /// Pictures whose left half is red, and whose right half is blue.
  private enum Picture {
    /// 80×40.
    static let png = decoded(
      "iVBORw0KGgoAAAANSUhEUgAAAFAAAAAoCAIAAADmAupWAAAARElEQVR42u3PsQ0AAAzCMP5/mn5RFkvZI6fJpN"
        + "G2AQYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYG/u0AiOx0Nd5R9e8AAAAASUVORK5CYII=")

    /// 64×32.
    static let jpeg = decoded(
      "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUF"
        + "VtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8"
        + "fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAAgAEADASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAA"
        + "AAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0Kx"
        + "wRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhI"
        + "WGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP0"
        + "9fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAx"
        + "EEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RV"
        + "VldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyM"
        + "nK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDKooorzz7AKKKKAMyiiiv0A+HCiiig"
        + "DTooor8/PuAooooAzKKKK/QD4cKKKKAP/9k=")

    /// The same, which a viewer must turn clockwise by a quarter (Exif 2.32, tag 0x0112).
    static let turned = jpeg.prefix(2) + exif + jpeg.dropFirst(2)

    private static let exif =
      Data([0xFF, 0xE1, 0, 34]) + Data("Exif\0\0MM\0*".utf8)
      + Data([0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0])

    /// 8×4, green and half transparent.
    static let transparent = decoded(
      "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAECAYAAACzzX7wAAAAEUlEQVR42mNg+M/QgBfTXgEAUOgv4ZYGNyUAAA"
        + "AASUVORK5CYII=")

    /// One red pixel.
    static let gif = decoded("R0lGODlhAQABAIAAAP8AAP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==")

    private static func decoded(_ text: String) -> Data { Data(base64Encoded: text) ?? Data() }
  }

  private func decoded(
    _ bytes: Data, _ size: ThumbnailSize
  ) async throws(SourceError) -> Thumbnail {
    guard let image = LoadedImage(bytes) else { throw SourceError(.malformed, "not an image") }
    return try await ThumbnailDecoder.thumbnail(of: image, fitting: size)
  }

  /// A pixel of a thumbnail: red, green, blue and alpha.
  private func pixel(_ thumbnail: Thumbnail, _ x: Int, _ y: Int) -> [UInt8] {
    Array(thumbnail.bytes[((y * thumbnail.pixels.width + x) * 4)...].prefix(4))
  }

  private static let place = ThumbnailSize(width: 10, height: 10, scale: 2)

  @Test(arguments: [
    (ThumbnailSize(width: 10, height: 10, scale: 2), PixelSize(width: 20, height: 10)),
    (
      ThumbnailSize(width: 10, height: 10, scale: 2, contentMode: .fill),
      .init(width: 40, height: 20)
    ),
    (ThumbnailSize(width: 30, height: 5), .init(width: 10, height: 5)),
    // Never larger than the picture, or than a screen.
    (ThumbnailSize(width: 500, height: 500), .init(width: 80, height: 40)),
    (ThumbnailSize(width: .infinity, height: .infinity), .init(width: 80, height: 40)),
    // A view without a layout.
    (ThumbnailSize(width: 0, height: -3), .init(width: 1, height: 1)),
    (ThumbnailSize(width: .nan, height: 10, scale: .nan), .init(width: 1, height: 1)),
  ])
  func `a picture is decoded to the size of its place`(
    _ size: ThumbnailSize, _ expected: PixelSize
  ) async throws {
    #expect(size == size)
    #expect(size.pixels(of: PixelSize(width: 80, height: 40)) == expected)
    let thumbnail = try await decoded(Picture.png, size)
    #expect(thumbnail.pixels == expected && thumbnail.cost == expected.width * expected.height * 4)
    guard expected.width > 4 else { return }
    #expect(pixel(thumbnail, 0, 0) == [255, 0, 0, 255])
    #expect(pixel(thumbnail, expected.width - 1, expected.height - 1) == [0, 0, 255, 255])
  }

  @Test func `the sides of a thumbnail have a limit`() {
    let line = PixelSize(width: 60_000, height: 1)
    let size = ThumbnailSize(width: 100, height: 100, contentMode: .fill)
    #expect(size.pixels(of: line) == PixelSize(width: 4096, height: 1))
  }

  @Test func `a photo is turned the right way up`() async throws {
    let plain = try await decoded(Picture.jpeg, Self.place)
    #expect(plain.pixels == PixelSize(width: 20, height: 10))
    let turned = try await decoded(Picture.turned, ThumbnailSize(width: 16, height: 8))
    #expect(turned.pixels == PixelSize(width: 4, height: 8))
    #expect(pixel(turned, 1, 0)[0] > 200 && pixel(turned, 1, 0)[2] < 60)
    #expect(pixel(turned, 1, 7)[2] > 200 && pixel(turned, 1, 7)[0] < 60)
  }

  @Test func `transparency is kept, and a GIF is its first frame`() async throws {
    let glass = try await decoded(Picture.transparent, Self.place)
    #expect(glass.pixels == PixelSize(width: 8, height: 4))
    #expect(pixel(glass, 3, 3) == [0, 255, 0, 128])
    #expect(try await decoded(Picture.gif, Self.place).bytes == [255, 0, 0, 255])
  }

  @Test func `a picture that cannot be decoded is an error`() async {
    func code(_ bytes: Data) async -> SourceError.Code? {
      do throws(SourceError) {
        _ = try await decoded(bytes, Self.place)
        return nil
      } catch { return error.code }
    }
    #expect(await code(Picture.jpeg.prefix(300)) == .malformed)
    #expect(await code(SampleImage.png(bytes: 200)) == .malformed)
    #expect(await code(SampleImage.png(9000, 9000)) == .tooLarge)
    // GdkPixbuf needs a module for it, and the picture is damaged for one.
    let webP = await code(SampleImage.lossyWebP(4, 4))
    #expect(webP == .unsupported || webP == .malformed)
    // Also where GdkPixbuf has a module for it.
    let svg = Data(#"<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>"#.utf8)
    #expect(await code(svg) == .unsupported)
  }

  private func images(
    _ server: LoopbackServer, over transport: any Transport = LongTimeoutTransport(),
    memory: Int = 1 << 20
  ) -> RecordImages<Note> {
    let album = Album { [url = server.baseURL] note, size in ["\(url)/\(size)/\(note.id).png"] }
    let settings = SourceSettings(["ALBUM_URL": server.baseURL.absoluteString])
    let environment = PluginEnvironment(settings: settings, transport: transport)
    return album.images(in: environment, files: nil, memory: memory)
  }

  @Test func `thumbnails are cached beside the files, within one limit`() async throws {
    try await withServer { _ in
      .ok(Picture.png)
    } do: { server in
      // Ten thumbnails of 800 bytes.
      let images = images(server, memory: 8000 + Picture.png.count)
      #expect(images.cachedThumbnail(of: Note(1), .small, fitting: Self.place) == nil)
      let loaded = try await images.thumbnail(of: Note(1), .small, fitting: Self.place)
      let cached = images.cachedThumbnail(of: Note(1), .small, fitting: Self.place)
      #expect(cached?.bytes == loaded.bytes && cached?.scale == 2)
      let other = ThumbnailSize(width: 10, height: 10)
      #expect(images.cachedThumbnail(of: Note(1), .small, fitting: other) == nil)
      // Another size is decoded from the file in memory.
      _ = try await images.thumbnail(of: Note(1), .small, fitting: other)
      #expect(server.requests.count == 1)
      for id in 2...20 { _ = try await images.thumbnail(of: Note(id), .small, fitting: Self.place) }
      #expect(images.cachedThumbnail(of: Note(1), .small, fitting: Self.place) == nil)
      #expect(images.cachedThumbnail(of: Note(20), .small, fitting: Self.place) != nil)
      images.loader.purge()
      #expect(images.cachedThumbnail(of: Note(20), .small, fitting: Self.place) == nil)
    }
  }

  @Test func `a damaged picture is not requested and decoded again`() async throws {
    try await withServer { _ in
      .ok(SampleImage.png(bytes: 200))
    } do: { server in
      let images = images(server, memory: 0)
      for _ in 0..<2 {
        await #expect(throws: SourceError.self) {
          try await images.thumbnail(of: Note(1), .small, fitting: Self.place)
        }
      }
      #expect(server.requests.count == 1)
    }
  }

  /// Holds requests until its gate is opened, or they are cancelled.
  private struct Held: Transport {
    let begun = Counter()
    let ended = Counter()
    let gate = Gate()

    func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
      begun.add()
      defer { ended.add() }
      try await gate.pass()
      return try await LongTimeoutTransport().send(request)
    }
  }

  @Test func `a row that is scrolled away cancels its thumbnail`() async throws {
    try await withServer { _ in
      .ok(Picture.png)
    } do: { server in
      let held = Held()
      let images = images(server, over: held)
      let row = Task {
        await Result { () async throws(SourceError) in
          try await images.thumbnail(of: Note(1), .small, fitting: Self.place)
        }
      }
      await held.begun.reaches(1)
      row.cancel()
      #expect(await row.value.failure == .cancelled)
      await held.ended.reaches(1)
      #expect(server.requests.isEmpty)
    }
  }

  @MainActor @Test func `a list loads the thumbnails of the rows below`() async throws {
    try await withServer { _ in
      .ok(Picture.png)
    } do: { server in
      let images = images(server)
      let page = Page((1...40).map { Note($0) }, provenance: Provenance(.live))
      let list = PagedList(ScriptedSource(pages: [.success(page)]))
      await list.load()
      #expect(list.records(after: Note(38)).map(\.id) == [39, 40])
      #expect(list.records(after: Note(40)).isEmpty && list.records(after: Note(41)).isEmpty)
      list.prefetch(images, .small, fitting: Self.place, after: Note(10))
      while images.cachedThumbnail(of: Note(30), .small, fitting: Self.place) == nil {
        await Task.yield()
      }
      while server.requests.count < 20 { await Task.yield() }
      #expect(Set(server.requests.map(\.path)) == Set((11...30).map { "/small/\($0).png" }))
    }
  }

  @MainActor @Test func `a list that is offline requests no thumbnails`() async throws {
    try await withServer { _ in
      .ok(Picture.png)
    } do: { server in
      let images = images(server)
      let page = Page((1...40).map { Note($0) }, provenance: Provenance(.cached))
      let offline = PagedList(ScriptedSource(pages: [.success(page)]), cachePolicy: .offline)
      await offline.load()
      offline.prefetch(images, .small, fitting: Self.place, after: Note(10))
      let list = PagedList(ScriptedSource(pages: [.success(page)]))
      await list.load()
      list.prefetch(images, .small, fitting: Self.place, after: Note(30))
      while server.requests.count < 10 { await Task.yield() }
      #expect(Set(server.requests.map(\.path)) == Set((31...40).map { "/small/\($0).png" }))
    }
  }

  @MainActor @Test
  func `scrolling on asks for no thumbnail twice, and for none that is out of sight`()
    async throws
  {
    try await withServer { _ in
      .ok(Picture.png)
    } do: { server in
      let held = Held()
      let images = images(server, over: held)
      var list: PagedList<Note>? = PagedList(
        ScriptedSource(pages: [.success(Page((1...40).map { Note($0) }, provenance: .init(.live)))])
      )
      await list?.load()
      list?.prefetch(images, .small, fitting: Self.place, after: Note(1))
      await held.begun.reaches(4)
      list?.prefetch(images, .small, fitting: Self.place, after: Note(2))
      // Row 2 has passed: only its request has ended, and that of row 6 has begun.
      await held.ended.reaches(1)
      await held.begun.reaches(5)
      #expect(held.ended.value == 1)
      list = nil
      await held.ended.reaches(5)
      #expect(held.begun.value == 5 && server.requests.isEmpty)
    }
  }
}
