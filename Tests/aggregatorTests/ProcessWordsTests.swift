import Foundation
import Testing

@testable import AggregatorArguments

@Suite struct ProcessWordsTests {
  @Test func `reads the variables that Foundation reads`() {
    let variables = CommandLine.variables
    #expect(variables["PATH"] != nil)
    #expect(variables == ProcessInfo.processInfo.environment)
  }

  @Test func `leaves out the name of the program`() {
    #expect(CommandLine.words == Array(CommandLine.arguments.dropFirst()))
    #expect(CommandLine.firstInvalidWord == nil)
  }
}
