import AggregatorKit
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

/// Hyperlinks in cards, which do not change the visible text.
@Suite struct LinkTests {
  /// A record with a URL, and a list of URLs.
  private struct Page: SourceRecord {
    let id: Int
    var link: String
    var images: [String] = []

    static let fields: [Field<Page>] = [
      Field("link", "Link", \.link, about: ""), Field("images", "Images", \.images, about: ""),
    ]
    static let cards = Listing(
      "show", of: "pages", fields: fields, layout: RecordLayout(card: ["link", "images"]),
      shape: .cards)
  }

  private func card(_ page: Page, width: Int = 80, hasLinks: Bool = true) -> String {
    rendered(
      [[page]], as: .table, Page.cards,
      on: TerminalLayout(width: width, isTerminal: false, hasColor: false, hasLinks: hasLinks))
  }

  /// The target and the visible text of every link.
  private func links(in text: String) -> [[String]] {
    text.matches(of: /\u{1B}\]8;id=[0-9a-z]+;([^\u{1B}]+)\u{1B}\\([^\u{1B}]*)\u{1B}\]8;;\u{1B}\\/)
      .map { [String($0.1), String($0.2)] }
  }

  private func visible(_ text: String) -> String {
    text.replacing(/\u{1B}\]8;[^\u{1B}]*\u{1B}\\/, with: "")
  }

  @Test func `a URL is a link to itself`() {
    let text = card(Page(id: 1, link: "https://host.example/a?b=c&d=e;f#g"))
    #expect(
      links(in: text)
        == [["https://host.example/a?b=c&d=e;f#g", "https://host.example/a?b=c&d=e;f#g"]])
    #expect(
      visible(text)
        == card(Page(id: 1, link: "https://host.example/a?b=c&d=e;f#g"), hasLinks: false))
  }

  @Test(arguments: [20, 30, 56, 80, 100])
  func `pieces of a URL on several lines link to the whole URL`(width: Int) {
    let urls = (1...4).map {
      "https://images.example/a/rather/long/path/to/an/image-\($0).jpg?width=1200&height=1200"
    }
    let page = Page(id: 1, link: urls[0], images: urls)
    let text = card(page, width: width)
    #expect(visible(text) == card(page, width: width, hasLinks: false))
    let links = links(in: text)
    for url in urls {
      let pieces = links.filter { $0[0] == url }.map { $0[1] }
      let whole = pieces.joined()
      #expect(whole == (url == urls[0] ? url + url : url))
    }
    #expect(links.allSatisfy { !$0[1].contains(",") || $0[1].contains("?") })
  }

  @Test(arguments: [
    "", "none", "javascript:alert(1)", "file:///etc/passwd", "//cdn.example/a",
    "see https://a.example",
    "https://", "https://host.example/a b",
    "https://høst.example/\u{1B}]8;;https://evil.example\u{7}",
    "https://host.example/\u{202E}gpj",
    "https://host.example/" + String(repeating: "a", count: 2100),
  ])
  func `other text is not a link`(link: String) {
    let text = card(Page(id: 1, link: link))
    #expect(!text.contains("\u{1B}"))
    #expect(text == card(Page(id: 1, link: link), hasLinks: false))
  }

  @Test func `hostile text cannot begin an escape sequence`() {
    for hostile in hostileTexts {
      let text = card(
        Page(
          id: 1, link: "https://host.example/\(hostile)", images: ["https://a.example", hostile]))
      #expect(TerminalGrid(visible(text)).refused.isEmpty)
      #expect(links(in: text).allSatisfy { $0[0].utf8.allSatisfy { 0x21...0x7E ~= $0 } })
    }
  }

  static let terminals: [([String: String], Bool)] = [
    ([:], false), (["TERM": "xterm-256color"], false), (["TERM": "linux"], false),
    (["VTE_VERSION": "5000"], false), (["VTE_VERSION": "5001"], true),
    (["VTE_VERSION": "x"], false),
    (["TERM": "xterm-kitty"], true), (["TERM": "foot-extra"], true), (["TERM": "alacritty"], true),
    (["TERM": "xterm-ghostty"], true), (["TERM": "footstool"], false),
    (["WT_SESSION": "c0ffee"], true), (["WT_SESSION": ""], false), (["DOMTERM": "version=3"], true),
    (["TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.0.15"], false),
    (["TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.10.2"], true),
    (["TERM_PROGRAM": "vscode", "TERM_PROGRAM_VERSION": "1.96.0"], true),
    (["TERM_PROGRAM": "WezTerm", "TERM_PROGRAM_VERSION": "20240203-110809-5046fc22"], true),
    (["TERM_PROGRAM": "Apple_Terminal", "TERM_PROGRAM_VERSION": "455"], false),
    // The terminal outside of a multiplexer does not count.
    (["TMUX": "/tmp/tmux,1,0", "VTE_VERSION": "7600"], false),
    (["TERM": "tmux-256color", "VTE_VERSION": "7600"], false),
    (["TMUX": "x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"], false),
    (["TMUX": "x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.4"], true),
    (["TMUX": "x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "next-3.6"], true),
    (["TMUX": "x", "TERM_PROGRAM": "WezTerm", "TERM_PROGRAM_VERSION": "20240203"], false),
    (["STY": "1.pts", "VTE_VERSION": "7600"], false),
    (["TERM": "dumb", "VTE_VERSION": "7600"], false),
    (["FORCE_HYPERLINK": "1"], true), (["FORCE_HYPERLINK": "", "VTE_VERSION": "7600"], true),
    (["FORCE_HYPERLINK": "0", "VTE_VERSION": "7600"], false),
    (["NO_COLOR": "1", "VTE_VERSION": "7600"], true),
  ]

  @Test(arguments: terminals.indices)
  func `only terminals that support hyperlinks get them`(index: Int) {
    let (variables, hasLinks) = Self.terminals[index]
    let tty = ["AGGREGATOR_FORCE_TTY": "80"]
    #expect(
      Terminal(tty.merging(variables) { $1 }, of: ProgramName("aggregator")).hasLinks == hasLinks)
  }
}
