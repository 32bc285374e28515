import AggregatorKit
import Foundation

extension FaultScenario {
  /// The reply is complete, and no answer.
  static let replies = [
    FaultScenario(
      "html-200", "An HTML page comes with status 200.", .failing, says: [.malformed],
      play: .answer { _ in .html(title: "Be right back") }),
    FaultScenario(
      "html-500", "An HTML page comes with status 500.", .failing, says: [.serverError],
      play: .answer { _ in .html(title: "Internal Server Error", status: 500) }),
    FaultScenario(
      "not-json", "The body is no JSON.", .failing, says: [.malformed],
      play: .answer { _ in .json(#"{"results": [{"id": 1, "name": "#) }),
    FaultScenario(
      "oversize", "The body is larger than the cap.", .failing, says: [.tooLarge],
      play: .answer { _ in .chunked(Data(repeating: 0x20, count: 64 << 10), times: 32) }),
    FaultScenario(
      "bomb", "A small body unpacks to 64 MiB.", .failing, says: [.tooLarge],
      play: .answer { _ in .gzipBomb(of: 64 << 20) }),
    FaultScenario(
      "redirect-loop", "Every call is redirected to itself.", .failing, says: [.rejected],
      play: .answer { _ in .redirect(to: "?again") }),
    FaultScenario(
      "redirect-away", "Every call is redirected to another host.", .failing, says: [.rejected],
      play: .answer { _ in .redirect(to: "http://elsewhere.invalid/") }),
  ]
}
