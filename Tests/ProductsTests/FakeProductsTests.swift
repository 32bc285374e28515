import AggregatorFakeServices
import AggregatorKit
import AggregatorSourceTesting
import Foundation
import Testing

/// Checks that the fake service has the oddities of the real one.
@Suite(.timeLimit(.minutes(10)))
struct FakeProductsTests {
  private static let json = "application/json"

  private func ask(
    _ service: FakeProducts, _ method: HTTPRequest.Method = .post, _ path: String,
    _ body: String = "", type: String = json
  ) async throws -> (status: Int, text: String) {
    let response = try await service.transport.send(
      HTTPRequest(
        method, service.url.appending(path: path), headers: [.init("Content-Type", .plain(type))],
        body: Data(body.utf8)))
    return (response.status, String(decoding: response.body, as: UTF8.self))
  }

  @Test(
    arguments: [
      (#"{"skip":0,"take":2}"#, json, 200, 2), (#"{"skip":"28","take":"5"}"#, json, 200, 2),
      (#"{"skip":30,"take":5}"#, json, 200, 0), (#"{"skip":0,"take":0}"#, json, 200, 0),
      (#"{"skip":0,"take":-2}"#, json, 200, 2), (#"{"skip":0}"#, json, 500, 0),
      (#"{"take":5}"#, json, 500, 0), (#"{"skip":-1,"take":5}"#, json, 500, 0),
      (#"{"skip":0,"take":1.5}"#, json, 500, 0), (#"{"skip":0,"take":"many"}"#, json, 500, 0),
      (#"{"skip":0,"take":2}"#, "text/plain", 500, 0), (#"{"skip":0,"take""#, json, 400, 0),
    ])
  func `reads numbers as JavaScript does, without error messages`(
    body: String, type: String, status: Int, count: Int
  ) async throws {
    let answer = try await ask(try FakeProducts(), .post, "products/offset", body, type: type)
    #expect(answer.status == status)
    switch status {
    case 200: #expect(answer.text.ranges(of: #""createdAt""#).count == count)
    case 400: #expect(answer.text.hasPrefix("<!DOCTYPE html>"))
    default: #expect(answer.text == "{}")
    }
  }

  @Test(arguments: [
    (ProductsEra.products, #"{"products":[{"id":"#, #"{"product":{"id":"#, #"{"product":{}}"#),
    (.posts, #"{"posts":[{"id":"#, #"{"post":{"id":"#, #"{"post":{}}"#),
    (.bare, #"[{"id":"#, #"{"post":{"id":"#, #"{"post":{}}"#),
  ])
  func `uses the envelope of its era`(
    era: ProductsEra, list: String, known: String, unknown: String
  ) async throws {
    let service = try FakeProducts(era: era)
    let rows = try await ask(service, .post, "products/offset", #"{"skip":0,"take":1}"#)
    #expect(rows.text.hasPrefix(list))
    #expect(try await ask(service, .get, "product/\(FakeProduct.id(7))").text.hasPrefix(known))
    #expect(try await ask(service, .get, "product/x").text == unknown)
  }

  @Test(arguments: [
    (HTTPRequest.Method.get, "products/offset"), (.post, "product/x"), (.get, "product/a/b"),
    (.post, "products/ofset"),
  ])
  func `returns a web page for an unknown route`(
    method: HTTPRequest.Method, path: String
  ) async throws {
    let answer = try await ask(try FakeProducts(), method, path)
    #expect(answer.status == 404)
    #expect(answer.text.contains("Cannot \(method.rawValue) /\(path)"))
  }

  @Test func `has thirty rows, the newest first, with everything that is odd`() async throws {
    #expect(FakeProduct.catalog.count == 30)
    let all = try await ask(try FakeProducts(), .post, "products/offset", #"{"skip":0,"take":99}"#)
    let dates = all.text.matches(of: /"createdAt":"([^"]*)"/).map { String($0.1) }
    #expect(dates.count == 30)
    #expect(dates.first == "2020-08-14T20:00:00.150Z")
    #expect(dates == dates.sorted(by: >))
    for (piece, count) in [
      (#""title":"""#, 3), (#""title":null"#, 1), (#""merchant":"""#, 2), (#""merchant":null"#, 1),
      (#""url":"""#, 1), (#""url":null"#, 1), (#""images":[]"#, 1), (#"["","#, 1),
      (#"["none"]"#, 1), (#"["//cdn"#, 1), ("Juan Soto", 2), (#"qlt=90,0https://"#, 16),
    ] {
      #expect(all.text.ranges(of: piece).count == count, "\(piece)")
    }
  }
}
