import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

/// A repository of a service.
private struct Repo: SourceRecord {
  let id: Int
  let fullName: String
}

/// An issue of a repository.
private struct Issue: SourceRecord {
  struct Wire: Decodable, Sendable {
    let number: Int
    let title: String
  }

  let id: String
  let title: String
}

private struct ReposPlugin: Plugin {
  let base: URL
  let name = "repos"
  let summary = "repositories"
  let example = PluginExample(query: "swift", id: "1")
  let fields: [Field<Repo>] = [Field(\.id), Field(\.fullName)]

  func remote(in environment: PluginEnvironment) -> any DataSource<Repo> {
    RESTSource(
      name, in: environment, list: HTTPRequest(.get, base.appending(path: "repos")),
      paging: RESTPaging(.single))
  }
}

private struct IssuesPlugin: Plugin {
  let base: URL
  let name = "issues"
  let summary = "issues of all repositories"
  let example = PluginExample(query: "bug", id: "swiftlang%2Fswift/1")
  let fields: [Field<Issue>] = [Field(\.id), Field(\.title)]

  public let partitions: Partitions? = .records(of: "repos", field: "fullName")

  func remote(
    in environment: PluginEnvironment
  ) throws(SourceError) -> any DataSource<Issue> {
    guard let repo = environment.partition,
      let url = URL(string: "\(base)/repos/\(try repo.path())/issues")
    else { throw SourceError(.invalidSettings, "invalid URL") }
    return RESTSource(
      name, in: environment, list: HTTPRequest(.get, url), paging: RESTPaging(.link),
      decoding: LossyArray<Issue.Wire>.self
    ) { rows in
      RESTResponse(rows) { row in
        Issue(id: repo.recordID("\(row.number)"), title: row.title)
      }
    }
  }
}

/// A source in Swift with one list for each record of another.
@Suite(.timeLimit(.minutes(10))) struct PartitionedPluginTests {
  @Test func `a plugin lists the issues of each repository`() async throws {
    let server = try LoopbackServer { request in
      switch request.path {
      case "/repos":
        .json(
          """
          [{"id": 1, "fullName": "swiftlang/swift"}, {"id": 2, "fullName": "../admin"},
          {"id": 3, "fullName": "a b/ä?c"}]
          """)
      case "/repos/swiftlang/swift/issues": .json(#"[{"number": 1, "title": "bug"}]"#)
      case "/repos/a%20b/%C3%A4%3Fc/issues": .json(#"[{"number": 1, "title": "other"}]"#)
      default: .json("[]", status: 404)
      }
    }
    let plugin = IssuesPlugin(base: server.baseURL)
    var environment = PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport())
    environment.sources = { [ReposPlugin(base: server.baseURL), plugin] }
    var (issues, warnings) = ([Issue](), [Warning]())
    for try await step in try plugin.live(in: environment).pages(size: 5) {
      issues += step.items
      warnings += step.page.warnings
    }
    #expect(issues.map(\.id) == ["swiftlang%2Fswift/1", "a b%2Fä?c/1"])
    #expect(issues.map(\.title) == ["bug", "other"])
    // No request leads to another resource.
    #expect(warnings.count == 1 && warnings[0].message.hasPrefix("../admin: the path of a URL"))
    #expect(server.requests.count == 3)
  }
}
