import AggregatorFakeServices
import AggregatorKit
import Foundation
import Testing

@testable import AggregatorBrowse
@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

/// Pictures of pixels in the browser.
@Suite(.timeLimit(.minutes(10)))
struct BrowsePixelTests {
  private static let kitty = "\u{1B}_Ga=T,f=32,s=1,v=1,c=4,r=2,m=0;AAAA\u{1B}\\"
  private static let sixels = "\u{1B}P0;1;0q\"1;1;36;36#0~\u{1B}\\"

  private func picture(_ text: String, _ format: Picture.Format) throws -> Picture {
    try #require(
      Picture(
        Array(text.utf8), as: format, within: .init(columns: 10, rows: 5), cell: (9, 18)))
  }

  private func screen(_ picture: Picture?, at column: Int = 20, text: String = "text") -> Screen {
    var screen = Screen(width: 40, height: 12)
    screen.put(text, at: 0, 2, width: 10)
    if let picture { screen.draw(picture, in: Area(column, 2, 10, 5)) }
    return screen
  }

  @Test func `a picture of kitty is placed once, and removed when another is shown`() throws {
    let picture = try picture(Self.kitty, .kitty)
    var writer = ScreenWriter()
    let placed = "\u{1B}[3;21H\u{1B}_GC=1,q=2,a=T,f=32,s=1,v=1,c=4,r=2,m=0;AAAA\u{1B}\\"
    #expect(writer.frame(screen(picture)).contains(placed))
    #expect(writer.frame(screen(picture)) == "")
    // Text beside it leaves it alone.
    let other = writer.frame(screen(picture, text: "日本"))
    #expect(!other.isEmpty && !other.contains("\u{1B}_G"))
    let moved = writer.frame(screen(picture, at: 25))
    let removal = try #require(moved.firstRange(of: ScreenWriter.kittyRemoval))
    let placement = try #require(moved.firstRange(of: "\u{1B}[3;26H\u{1B}_GC=1"))
    #expect(removal.upperBound <= placement.lowerBound)
    let gone = writer.frame(screen(nil))
    #expect(gone.contains(ScreenWriter.kittyRemoval))
    #expect(!writer.frame(screen(nil, text: "x")).contains("\u{1B}_G"))
  }

  @Test func `a new size and a redrawing place it anew`() throws {
    let picture = try picture(Self.kitty, .kitty)
    var writer = ScreenWriter()
    _ = writer.frame(screen(picture))
    writer.reset()
    let frame = writer.frame(screen(picture))
    let removal = try #require(frame.firstRange(of: ScreenWriter.kittyRemoval))
    let placement = try #require(frame.firstRange(of: "\u{1B}_GC=1"))
    #expect(removal.upperBound <= placement.lowerBound)
  }

  @Test func `sixels are removed by blanks in their cells, and in no others`() throws {
    let picture = try picture(Self.sixels, .sixels)
    #expect(picture.size == .init(columns: 4, rows: 2))
    var writer = ScreenWriter()
    #expect(writer.frame(screen(picture)).contains("\u{1B}[3;21H\(Self.sixels)"))
    #expect(writer.frame(screen(picture)) == "")
    let gone = writer.frame(screen(nil))
    for row in [3, 4] {
      #expect(gone.contains("\u{1B}[\(row);21H\u{1B}[0m    "), "\(gone.debugDescription)")
    }
    #expect(!gone.contains("\u{1B}[5;21H"))
    #expect(!gone.contains("\u{1B}P"))
    #expect(writer.frame(screen(nil)) == "")
  }

  @Test func `sixels are drawn again after a row of theirs was erased`() throws {
    let picture = try picture(Self.sixels, .sixels)
    var writer = ScreenWriter()
    _ = writer.frame(screen(picture))
    #expect(!writer.frame(screen(picture, text: "other")).contains("\u{1B}P"))
    // Of a wide character nobody knows the cells.
    let frame = writer.frame(screen(picture, text: "日本"))
    #expect(frame.contains("\u{1B}[3;1H\u{1B}[0m\u{1B}[2K"))
    #expect(frame.contains(Self.sixels))
  }

  @Test func `text below a picture has the full width, and is not scrolled under it`() throws {
    var browsing = BrowsingState(["heroes"])
    browsing.state = BrowseState(
      [.init("heroes", fields: BrowsingState.columns)], isOffline: true, hasPictures: true,
      now: BrowsingState.now)
    browsing.open("heroes", width: 120, height: 30)
    browsing.answer(total: 3) { number in
      var row = BrowsingState.row(number, "Hero \(number)")
      row.hasImage = true
      row.card += [.init("Story", String(repeating: "many words ", count: 400))]
      return row
    }
    browsing.press(.enter)
    var widths: [Int] {
      browsing.state.layout.cardLines(browsing.state).map { $0.margin + $0.text.displayWidth }
    }
    let card = try #require(browsing.state.layout.card)
    let place = try #require(browsing.state.layout.picture)
    let narrow = place.column - card.column - 2
    // Until it is there, it has all of its place.
    let count = place.height - 1
    #expect(widths.prefix(count).allSatisfy { $0 <= narrow }, "\(browsing.text)")
    #expect(widths.dropFirst(count).contains { $0 > narrow }, "\(browsing.text)")
    let request = try #require(browsing.state.picture)
    browsing.handle(.picture(request, try picture(Self.kitty, .kitty)))
    #expect(browsing.screen().pixels != nil && browsing.state.layout.picture == place)
    #expect(widths.prefix(1).allSatisfy { $0 <= narrow }, "\(browsing.text)")
    #expect(widths.dropFirst(1).contains { $0 > narrow }, "\(browsing.text)")
    let before = widths
    browsing.press(.down)
    #expect(browsing.state.cardTop == 1 && browsing.screen().pixels == nil)
    #expect(widths == before)
    browsing.press(.up)
    #expect(browsing.screen().pixels != nil)
  }

  @Test func `a picture that is larger than its place is not drawn`() throws {
    let picture = try picture(Self.kitty, .kitty)
    var writer = ScreenWriter()
    for area in [Area(38, 2, 4, 5), Area(0, 11, 10, 2), Area(0, 0, 3, 3), Area(0, 0, 10, 1)] {
      var screen = Screen(width: 40, height: 12)
      screen.draw(picture, in: area)
      #expect(!writer.frame(screen).contains("\u{1B}_G"), "\(area)")
    }
  }

  // MARK: - On a terminal

  private func start(
    _ home: PetHome, on terminal: PseudoTerminal, _ term: String, _ script: String
  ) throws -> Binary.Run {
    var variables = try FakeChafa.path(script, in: home.sandbox)
    variables.merge(["TERM": term, "LC_ALL": "C.UTF-8"]) { $1 }
    return try Binary.start(
      "browse pets", environment: home.home.environment.merging(variables) { $1 },
      terminal: terminal.descriptor, in: home.sandbox, output: .descriptor(terminal.descriptor),
      isMerged: true)
  }

  @Test func `a terminal with kitty's protocol shows pixels, and none stay`() async throws {
    let home = try await PetHome(["a", "b"])
    let terminal = try PseudoTerminal()
    terminal.widen(to: 120, rows: 40, cell: (9, 18))
    let run = try start(
      home, on: terminal, "xterm-kitty",
      #"printf '\033_Ga=T,f=32,s=1,v=1,c=4,r=2,m=0;AAAA\033\\'"#)
    try await terminal.read(until: "\u{1B}_GC=1,q=2,a=T")
    // Over the keys there is none.
    terminal.type("?")
    try await terminal.read(until: ScreenWriter.kittyRemoval, "scroll")
    terminal.type("\u{1B}")
    try await terminal.read(until: "\u{1B}_GC=1,q=2,a=T")
    terminal.type("j")
    try await terminal.read(until: ScreenWriter.kittyRemoval, "\u{1B}_GC=1,q=2,a=T")
    terminal.widen(to: 130, rows: 40, cell: (9, 18))
    run.child.send(SIGWINCH)
    try await terminal.read(until: "\u{1B}[2J", "\u{1B}_GC=1,q=2,a=T")
    terminal.type("q")
    try await terminal.read(until: ScreenWriter.kittyRemoval, BrowseTerminalTests.leave)
    #expect(try await run.outcome().ending == .exit(0))
  }
}
