import AggregatorKit
import AggregatorSourceTesting
import Foundation

@testable import AggregatorProgramTesting
@testable import AggregatorTerminal

/// A record that is listed in blocks.
struct Country: SourceRecord {
  var id: String
  var name = ""
  var region = ""
  var capital: String?

  static let fields: [Field<Country>] = [
    Field("code", "Code", \.id, about: "The code."),
    Field("name", "Name", \.name, about: "The name."),
    Field("region", "Region", \.region, about: "The region."),
    Field("capital", "Capital", \.capital, about: "The capital."),
  ]

  static let layout = RecordLayout<Country>(
    .block(
      heading: { "\($0.name), \($0.region)" }, badge: { $0.id }, detail: { $0.capital }),
    card: ["name", "region", "code", "capital"])

  static let afghanistan = Country(
    id: "AF", name: "Afghanistan", region: "AS", capital: "Kabul")
  static let southGeorgia = Country(
    id: "GS", name: "South Georgia and the South Sandwich Islands", region: "AN",
    capital: "King Edward Point")
  static let bouvet = Country(id: "BV", name: "Bouvet Island", region: "AN")
}

/// A record that is listed in a table and has long text.
struct Hero: SourceRecord {
  var id: Int
  var name = ""
  var realName: String?
  var publisher: String?
  var powers: [String] = []
  var issues: Int?
  var biography: String?

  static let fields: [Field<Hero>] = [
    Field("id", "ID", \.id, about: "The number."),
    Field("name", "Name", \.name, about: "The name."),
    Field("realName", "Real name", \.realName, about: "The name at home."),
    Field("publisher", "Publisher", \.publisher, about: "Who prints it."),
    Field("issues", "Issues", \.issues, about: "In how many."),
    Field("powers", "Powers", \.powers, about: "What it can do.", isShown: false),
    Field("biography", "Biography", \.biography, about: "Its life.", isShown: false),
  ]

  static let layout = RecordLayout<Hero>(
    card: ["name", "realName", "publisher", "powers", "issues", "biography"])

  static let spider = Hero(
    id: 1443, name: "Spider-Man", realName: "Peter Benjamin Parker", publisher: "Marvel",
    powers: [
      "Agility", "Danger Sense", "Stamina", "Super Strength", "Wall Clinger", "Web Slinger",
    ],
    issues: 17_203,
    biography: """
      Peter Parker was bitten by a radioactive spider as a teenager, granting him spider-like powers.

      After the death of his Uncle Ben, Peter learned that "with great power, comes great \
      responsibility."
      """)

  /// Names that are hard to align, and a very long one.
  static let motley: [Hero] = [
    spider,
    Hero(id: 7, name: "日本の英雄", realName: "桃太郎", publisher: "出版社", issues: 3),
    Hero(id: 88, name: "Zoe\u{301} Combining", realName: "A\u{30A}ngstro\u{308}m", issues: nil),
    Hero(id: 9, name: "👩🏽‍🚀 Astro ❤️", realName: "🇫🇷 1️⃣", publisher: "🦸", issues: 12),
    Hero(id: 10, name: "شخصية خارقة", realName: "ابطال", publisher: "دار", issues: 1),
    Hero(
      id: 11, name: "\u{1B}[31mRed\u{202E}eil\u{1B}]0;own\u{7}", publisher: "a\tb\nc", issues: 0),
    Hero(id: 123_456_789, name: String(repeating: "very long ", count: 1000), publisher: "P"),
  ]
}

/// Text that must not reach a terminal unsanitized.
let hostileTexts: [String] = [
  "\u{1B}[2J\u{1B}]52;c;ZXZpbA==\u{7}", "\u{9B}31m", "\u{90}q\u{9C}", "a\u{0}b\u{8}\u{7F}",
  "\u{202E}desrever\u{202C}", "\u{2066}a\u{2069}\u{200F}\u{61C}", "zero\u{200B}width\u{FEFF}\u{AD}",
  "tag\u{E0041}\u{E007F}", "line\u{2028}and\u{2029}paragraph\u{85}next", "tab\there\r\nand\rthere",
  "\u{200D}start and end\u{200D}", "Z" + String(repeating: "\u{301}", count: 500), "\u{301}first",
  "private \u{E000}\u{F8FF}", "filler \u{3164}\u{115F}", "=cmd|' /C calc'!A0", "\"quoted\", and",
  "\\x1b[0m \\n", String(repeating: "x", count: 10_000), "日本\u{1B}[1m語", "",
]

extension SeededGenerator {
  /// Random text of problematic characters.
  mutating func text(upTo count: Int) -> String {
    let samples: [String] = [
      "a", "b", "z", " ", " ", "0", "-", "=", "'", "\"", ",", "\\", "\t", "\n", "\r", "日", "語", "、",
      "é", "e\u{301}", "\u{301}", "👩🏽‍🚀", "❤️", "🇫🇷", "1️⃣", "\u{200D}", "\u{200C}", "م", "ی", "क्", "ष",
      "\u{1B}", "\u{9B}", "\u{202E}", "\u{200B}", "\u{FE0F}", "\u{2028}", "\u{2029}", "\u{85}", "한",
      "\u{1100}", "\u{1161}", "กำ", "\u{E000}", "\u{7F}", "�", "🏽", "©",
    ]
    return (0..<Int.random(in: 0...count, using: &self))
      .map { _ in samples.randomElement(using: &self) ?? "" }.joined()
  }
}

/// The output of the command line for pages of records.
func rendered<Item>(
  _ batches: [[Item]], as format: Format, _ listing: Listing<Item>,
  on terminalLayout: TerminalLayout,
  _ summary: ListingSummary = ListingSummary(count: 0)
) -> String {
  var writer = format.writer(for: listing, on: terminalLayout)
  var text = writer.begin()
  for batch in batches { text += writer.append(batch) }
  return text + writer.finish(summary)
}

extension TerminalLayout {
  static func plain(_ width: Int) -> TerminalLayout {
    TerminalLayout(width: width, isTerminal: false, hasColor: false)
  }
  static func terminal(_ width: Int) -> TerminalLayout {
    TerminalLayout(width: width, isTerminal: true, hasColor: true, isRead: true)
  }
}

extension Listing where Item == Hero {
  static var heroes: Listing {
    Listing("list", of: "heroes", fields: Hero.fields, layout: Hero.layout)
  }
  static var heroCards: Listing {
    Listing("show", of: "heroes", fields: Hero.fields, layout: Hero.layout, shape: .cards)
  }
}

extension Listing where Item == Country {
  static var countries: Listing {
    Listing("list", of: "countries", fields: Country.fields, layout: Country.layout)
  }
}
