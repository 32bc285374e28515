import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

/// The output of the program that draws pictures, of which nothing else may reach the terminal.
@Suite struct PictureReaderTests {
  private static let limit = Picture.Size(columns: 20, rows: 10)

  private func picture(_ text: String, _ format: Picture.Format) -> Picture? {
    Picture(Array(text.utf8), as: format, within: Self.limit, cell: (8, 16))
  }

  @Test func `symbols keep their colors, which end with the line`() throws {
    let read = try #require(
      picture("\u{1B}[?25l\u{1B}[38;5;1m▀ \u{1B}[0m\n\u{1B}[7m█▟\n\u{1B}[?25h", .symbols))
    #expect(read.size == Picture.Size(columns: 2, rows: 2))
    #expect(read.lines == ["\u{1B}[38;5;1m▀ \u{1B}[0m\u{1B}[0m", "\u{1B}[7m█▟\u{1B}[0m"])
    #expect(read.text == read.lines.map { $0 + "\n" }.joined())
  }

  @Test func `pixels keep their sequences`() throws {
    let kitty =
      "\u{1B}_Ga=T,f=32,s=3,v=2,c=15,r=10,m=1\u{1B}\\\u{1B}_Gm=1;AAA+/w==\u{1B}\\\u{1B}_Gm=0\u{1B}\\"
    #expect(picture(kitty, .kitty)?.lines.joined() == kitty)
    #expect(picture(kitty + "\n", .kitty)?.size == Picture.Size(columns: 15, rows: 10))
    let iterm = "\u{1B}]1337;File=inline=1;width=5;height=4;preserveAspectRatio=0:AAA=\u{7}"
    #expect(picture(iterm + "\n", .iterm)?.text == iterm + "\n")
    #expect(picture(iterm, .iterm)?.size == Picture.Size(columns: 5, rows: 4))
    let sixels = "\u{1B}P0;1;0q\"1;1;17;33#0;2;4;3;24#0!8?AB$-\u{1B}\\"
    #expect(picture(sixels, .sixels)?.lines == [sixels])
    // Rounded up to cells of 8 × 16 pixels.
    #expect(picture(sixels, .sixels)?.size == Picture.Size(columns: 3, rows: 3))
    #expect(Picture(Array(sixels.utf8), as: .sixels, within: Self.limit) == nil)
  }

  static let others: [(Picture.Format, String)] = [
    (.symbols, ""), (.symbols, "\n"), (.symbols, "a"), (.symbols, "▀\t"), (.symbols, "▀\r▀"),
    (.symbols, "─"), (.symbols, "■"), (.symbols, "▀\u{9B}"), (.symbols, "▀\u{1B}[2J"),
    (.symbols, "▀\u{1B}[1;1H"), (.symbols, "▀\u{1B}]0;t\u{7}"), (.symbols, "▀\u{1B}c"),
    (.symbols, "▀\u{1B}"), (.symbols, "▀\u{1B}["), (.symbols, "▀▀\n▀"),
    (.symbols, "▀\u{1B}[\(String(repeating: "1;", count: 40))m"),
    (.symbols, String(repeating: "▀", count: 21)),
    (.symbols, String(repeating: "▀\n", count: 11)),
    (.kitty, ""), (.kitty, "▀"), (.kitty, "\u{1B}_Gm=0;AAAA\u{1B}\\"),
    // Actions other than showing, and files.
    (.kitty, "\u{1B}_Ga=d,c=1,r=1\u{1B}\\"), (.kitty, "\u{1B}_Ga=q,c=1,r=1;AAAA\u{1B}\\"),
    (.kitty, "\u{1B}_Ga=T,t=f,c=1,r=1;L2V0Yw==\u{1B}\\"),
    (.kitty, "\u{1B}_Ga=T,c=1,r=1;AAAA\u{1B}\\\u{1B}_Ga=T;AAAA\u{1B}\\"),
    (.kitty, "\u{1B}_Ga=T,c=21,r=1;AAAA\u{1B}\\"), (.kitty, "\u{1B}_Ga=T,r=1;AAAA\u{1B}\\"),
    (.kitty, "\u{1B}_Ga=T,c=1,r=1;AA\u{1B}[2J\u{1B}\\"), (.kitty, "\u{1B}_Ga=T,c=1,r=1;AA"),
    (.kitty, "\u{1B}_Ga=T,a=T,c=1,r=1;AA\u{1B}\\"),
    (.kitty, "\u{1B}_Ga=T,c=1,r=1;AA\u{1B}\\rm -rf"),
    // A download, and another command.
    (.iterm, "\u{1B}]1337;File=inline=0;width=5;height=4:AAA=\u{7}"),
    (.iterm, "\u{1B}]1337;File=name=eA==;inline=1;width=5;height=4:AAA=\u{7}"),
    (.iterm, "\u{1B}]1337;ClearScrollback\u{7}"),
    (.iterm, "\u{1B}]1337;File=inline=1;width=5px;height=4:AAA=\u{7}"),
    (.iterm, "\u{1B}]1337;File=inline=1;width=5;height=11:AAA=\u{7}"),
    (.iterm, "\u{1B}]1337;File=inline=1;width=5;height=4:AA\u{1B}[2J\u{7}"),
    (.iterm, "\u{1B}]1337;File=inline=1;width=5;height=4:AAA=\u{7}x"),
    (.sixels, "\u{1B}Pq#0AB\u{1B}\\"), (.sixels, "\u{1B}Pq\"1;1;8;16#0AB"),
    (.sixels, "\u{1B}Pq\"1;1;8;16#0A\u{7}\u{1B}\\"),
    (.sixels, "\u{1B}Pq\"1;1;8;16A\u{1B}\\\u{1B}c"),
    (.sixels, "\u{1B}Pq\"1;1;800;16A\u{1B}\\"), (.sixels, "\u{1B}P+q\"1;1;8;16A\u{1B}\\"),
    (.sixels, "\u{1B}Pq\"1;1;99999999999999999999;16A\u{1B}\\"),
  ]

  @Test(arguments: others.indices)
  func `anything else is no picture`(index: Int) {
    let (format, text) = Self.others[index]
    #expect(picture(text, format) == nil, "\(format) \(text.debugDescription)")
  }
}
