import AggregatorTestSupport
import Foundation
import Testing

/// Taps, and a library for taps, that nobody here wrote.
@Suite(
  .enabled(if: PythonProgram.has("tap-rest-api-msdk"), "tap-rest-api-msdk is not installed"),
  .timeLimit(.minutes(10)))
struct PublishedTapTests {
  @Test func `tap-rest-api-msdk reads a service in pages`() async throws {
    let server = try LoopbackServer { request in
      let page = request.query["page"].flatMap { Int($0) } ?? 1
      let rows = (1...25).dropFirst((page - 1) * 10).prefix(10).map { number in
        #"{"id": \#(number), "name": "row \#(number)"}"#
      }
      return .json(
        #"{"things": [\#(rows.joined(separator: ","))], "hasMore": \#(page < 3)}"#)
    }
    let user = try TapUser()
    try user.write(
      """
      {"api_url": "\(server.baseURL)", "pagination_request_style": "page_number_paginator",
       "pagination_response_style": "page", "pagination_next_page_param": "page",
       "pagination_page_size": 10,
       "streams": [{"name": "things", "path": "/things", "primary_keys": ["id"], "records_path": "$.things[*]"}]}
      """, to: "config.json")
    let tap = PythonProgram.path(of: "tap-rest-api-msdk")
    let added = try await user.run("sources add things --tap \(tap) --tap-config config.json")
    #expect(added.status == 0, "\(added)")
    let synced = try await user.run("things sync")
    #expect(synced.status == 0, "\(synced)")
    #expect(try await user.records(of: "things") == rows(1...25))
  }

  @Test func `a tap of singer-sdk goes on from its state, and sends children of its rows`()
    async throws
  {
    let user = try TapUser()
    let python = PythonProgram.path(of: "python", in: "tap-rest-api-msdk")
    // The library asks for the package of the class.
    try FileManager.default.createDirectory(
      atPath: user.path("shop"), withIntermediateDirectories: true)
    try user.write("#!\(python)\nfrom shop import Shop\nShop.cli()\n", to: "tap")
    try user.write(
      """
      import json
      from singer_sdk import Stream, Tap
      from singer_sdk import typing as th

      ROW = th.PropertiesList(
          th.Property("id", th.IntegerType), th.Property("name", th.StringType),
          th.Property("at", th.IntegerType)).to_dict()

      class Rows(Stream):
          schema, primary_keys = ROW, ["id"]

          def rows(self):
              return [json.loads(line) for line in open(self.config["rows"])]

      class Orders(Rows):
          name, replication_key, is_sorted = "orders", "at", True

          def get_records(self, context):
              first = self.get_starting_replication_key_value(context) or 0
              return (row for row in self.rows() if row["at"] >= first)

          def get_child_context(self, record, context):
              return {"order": record["id"]}

      class Customers(Rows):
          name = "customers"

          def get_records(self, context):
              return self.rows()

      class Lines(Rows):
          name, parent_stream_type = "lines", Orders

          def get_records(self, context):
              number = context["order"] * 10
              return [{"id": number, "name": f"row {number}", "at": 0}]

      class Shop(Tap):
          name = "tap-shop"
          config_jsonschema = th.PropertiesList(th.Property("rows", th.StringType)).to_dict()

          def discover_streams(self):
              return [Orders(self), Customers(self), Lines(self)]
      """, to: "shop/__init__.py")
    try user.setRows(1...5)
    let added = try await user.add()
    #expect(added.output.contains("orders     id  incremental  at"), "\(added)")
    for name in ["orders", "customers", "lines"] {
      let synced = try await user.run("shop-\(name) sync")
      #expect(synced.status == 0, "\(synced)")
      let expected = name == "lines" ? rows((1...5).map { $0 * 10 }) : rows(1...5)
      #expect(try await user.records(of: "shop-\(name)") == expected, "\(name)")
    }
    try user.setRows(4...9)
    let orders = try await user.run("shop-orders sync")
    // The last one is sent again, because others may have its time.
    #expect(orders.output.hasPrefix("shop-orders\t4\t0\t1\t0\t"), "\(orders)")
    let customers = try await user.run("shop-customers sync")
    #expect(customers.output.hasPrefix("shop-customers\t4\t0\t2\t"), "\(customers)")
    #expect(try await user.records(of: "shop-orders") == rows(1...9))
  }
}
