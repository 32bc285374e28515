import AggregatorKit
import AggregatorSourceTesting
import Foundation

@testable import AggregatorInference
@testable import DeclaredSource

// Prints what is found out about each recorded API in a directory, and whether all of its records are read.
// With a name it serves that API until it is ended, to try it by hand.

let arguments = CommandLine.arguments.dropFirst()
guard let directory = arguments.first else {
  print("usage: aggregator-dialects DIRECTORY [NAME]")
  exit(64)
}
let environment = PluginEnvironment(settings: SourceSettings(), transport: HTTPTransport.standard)

/// The server of a recorded API, and the manifest of what a person would type: its URL and its body.
func serve(_ dialect: Dialect) throws -> (server: LoopbackServer, hints: JSON) {
  let server = try LoopbackServer { dialect.answer($0) }
  let recorded = URLComponents(string: dialect.about["url"]?.idText ?? "") ?? URLComponents()
  var url = "http://127.0.0.1:\(server.port)\(recorded.percentEncodedPath)"
  if let query = recorded.percentEncodedQuery { url += "?\(query)" }
  var body: JSON?
  if case .string(let sent)? = dialect.about["request_body"] {
    body = JSON(inOrder: Data(sent.utf8))
    // A form can be sent as a query, too.
    if body == nil { url += "?\(sent)" }
  }
  let members = [JSON.Member("url", .string(url)), JSON.Member("rate", "off")]
  return (server, .object(members + (body.map { [JSON.Member("body", $0)] } ?? [])))
}

if let name = arguments.dropFirst().first {
  guard let dialect = try Dialect(in: "\(directory)/\(name)", named: name) else { exit(64) }
  let (server, hints) = try serve(dialect)
  print(hints["url"]?.idText ?? "")
  fflush(nil)
  withExtendedLifetime(server) { while true { pause() } }
}

var (complete, count) = (0, 0)
for name in try FileManager.default.contentsOfDirectory(atPath: directory).sorted() {
  guard let dialect = try Dialect(in: "\(directory)/\(name)", named: name) else {
    print("–", name, "is not known")
    continue
  }
  count += 1
  let (server, hints) = try serve(dialect)
  defer { server.stop() }
  do {
    let proposal = try await Proposal(for: name, from: hints, isSingle: false, in: environment)
    let source = try DeclaredPlugin(name, proposal.manifest).live(in: environment)
    var records = 0
    var end: PaginationEnd?
    for try await step in source.pages(size: 20) {
      records += step.items.count
      end = step.end
    }
    let isComplete = records == dialect.rows.count && end == .exhausted
    if isComplete { complete += 1 }
    let values = ["rows", "id", "paging", "total"].map { key in
      proposal.evidence.first { $0.key == key }?.value ?? "–"
    }
    print(
      ([isComplete ? "✓" : "✗", name] + values + [
        proposal.manifest.paging.proof?.rawValue ?? "–", "\(proposal.requests) requests",
        "\(records) of \(dialect.rows.count) records",
      ] + proposal.warnings).joined(separator: "\t"))
  } catch {
    print("✗", name, error, separator: "\t")
  }
}
print("\(complete) of \(count) complete")
