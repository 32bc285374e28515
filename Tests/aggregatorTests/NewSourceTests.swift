import AggregatorKit
import AggregatorPlugins
import Testing

@testable import AggregatorArguments
@testable import AggregatorProgramTesting

/// `Scripts/new-source` makes no source that the command line could not tell from something else.
@Suite struct NewSourceTests {
  @Test func `no word of the command line can be a source's name`() throws {
    let script = try Repository.text(of: "Scripts/new-source")
    let list = try #require(script.firstMatch(of: /\nreserved="([^"]*)"/)?.1)
    let reserved = Set(list.split(whereSeparator: \.isWhitespace).map(String.init))
    var words = Set(HelpTopic.allCases.map(\.rawValue))
    CommandTree.standard.root.visit { words.insert($0.word) }
    // An empty word or one with a dash is not a name anyway.
    let names = words.filter { $0.wholeMatch(of: /[a-z]+[0-9]*/) != nil }
    #expect(names.count > 25)
    // The names of existing sources are rejected because they are taken.
    #expect(names.subtracting(reserved).subtracting(plugins.map(\.name)).isEmpty)
  }
}
