import AggregatorKit
import AggregatorSourceTesting
import Paintings
import Testing

@Suite struct PaintingsTests {
  private static let key = "a-key-of-this-test"

  /// Years are text, some are empty; some rows have one artist, some several.
  private static let paintings = FakeRows(
    (1...30).map { number in
      let artist = number.isMultiple(of: 3) ? #"["Ann", "Bob"]"# : #""Ann""#
      let year = number.isMultiple(of: 4) ? "" : "\(1700 + number)"
      return #"{"objectID": \#(number), "title": "Iris \#(number)", "artist": \#(artist), "#
        + #""year": "\#(year)", "picture": "https://museum.example/\#(number).jpg"}"#
    }, id: "objectID")

  @Test func `satisfies the laws in all fault scenarios`() async throws {
    let settings = SourceSettings([PaintingsPlugin.key: Self.key])
    try await expectLawsUnderFaults(of: PaintingsPlugin(), settings: settings) { request in
      guard request.header("X-Api-Key") == Self.key else { return .json("{}", status: 401) }
      if let id = request.path(below: "/v1/paintings") { return Self.paintings.reply(id) }
      let (number, size) = (request.number("page") ?? 1, request.number("per_page") ?? 10)
      let page = Self.paintings.page(
        from: (number - 1) * size, size: size, with: request.parameter("q"))
      return .json(#"{"data": \#(page.json), "total": "\#(page.total)"}"#)
    }
  }

  @Test func `requires the key`() {
    let environment = PluginEnvironment(
      settings: SourceSettings(), transport: HTTPTransport.standard)
    let error = #expect(throws: SourceError.self) { try PaintingsPlugin().remote(in: environment) }
    #expect(error?.code == .missingKey)
    #expect(error?.message == "PAINTINGS_KEY is not set")
  }

  @Test func `the bundled paintings satisfy the laws`() async {
    await expectLaws(ofBundledDataOf: PaintingsPlugin())
  }
}
