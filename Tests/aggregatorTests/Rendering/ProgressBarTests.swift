import AggregatorKit
import Testing

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

/// The bar of a progress line.
@Suite struct ProgressBarTests {
  private static let half = (done: 2000, total: 4005, count: 1000, time: Duration.seconds(10))

  @Test(arguments: [
    (120, "heroes: #########........... 49% · 2,000 of 4,005, 100/s · 21 s left"),
    (60, "heroes: #######........ 49% · 2,000 of 4,005, 100/s · 21 s left"),
    (40, "heroes: ####...... 49% · 21 s left"), (39, "heroes: 49% · 21 s left"),
    (1, "heroes: 49% · 21 s left"),
  ])
  func `is shorter on a narrow terminal`(width: Int, line: String) {
    let bar = ProgressBar(width: width, hasUTF8: false)
    let written = bar.line(
      "heroes", Self.half.done, of: Self.half.total, after: Self.half.count, in: Self.half.time)
    #expect(written == line)
  }

  @Test(arguments: [
    ("C.UTF-8", true), ("de_DE.utf8", true), ("de_DE.UTF-8@euro", true), ("UTF-8", true),
    ("C", false), ("de_DE@euro", false), ("de_DE.ISO-8859-15", false),
  ])
  func `the locale says if there are blocks`(locale: String, hasUTF8: Bool) {
    #expect(Terminal(["LC_ALL": locale], of: ProgramName("a")).hasUTF8 == hasUTF8)
    #expect(Terminal(["LC_ALL": "", "LANG": locale], of: ProgramName("a")).hasUTF8 == hasUTF8)
  }

  @Test func `has blocks in UTF-8, and no time left at the end or at first`() {
    let bar = ProgressBar(width: 40, hasUTF8: true)
    #expect(bar.line("a", 5, of: 10, after: 5, in: .zero) == "a: █████░░░░░ 50%")
    #expect(bar.line("a", 5, of: 10, after: 0, in: .seconds(9)) == "a: █████░░░░░ 50%")
    #expect(bar.line("a", 10, of: 10, after: 5, in: .seconds(9)) == "a: ██████████ 100%")
    // More than the service said.
    #expect(bar.line("a", 11, of: 10, after: 5, in: .seconds(9)) == "a: ██████████ 100%")
    #expect(bar.line("a", 0, of: 0, after: 0, in: .seconds(9)) == "a: ██████████ 100%")
  }
}
