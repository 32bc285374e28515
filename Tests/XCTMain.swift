import Testing

/// The entry point of all tests on Linux.
///
/// Without one SwiftPM compiles the tests with an index, which takes a fifth of the time, to find tests of XCTest in it. There
/// are none, so its run ends at once.
@main enum Main {
  static func main() async {
    if CommandLine.arguments.contains("xctest") { return }
    await Testing.__swiftPMEntryPoint() as Never
  }
}
