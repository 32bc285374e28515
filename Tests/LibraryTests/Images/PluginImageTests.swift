import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite struct PluginImageTests {
  @Test func `the first valid address is used`() throws {
    #expect(try Album(nil).address() == nil)
    #expect(try Album([]).address() == nil)
    #expect(try Album(["", "none", "ftp://x.example/a"]).address() == nil)
    #expect(
      try Album(["none", "//cdn.example/1.jpg", "https://cdn.example/2.jpg"]).address()
        == "https://cdn.example/1.jpg")
  }

  static let reaches: [(service: String, image: String, isAllowed: Bool)] = [
    ("https://album.example", "http://127.0.0.1:8080/x", false),
    ("https://album.example", "http://169.254.169.254/latest", false),
    ("https://album.example", "http://0x7f.1/x", false),
    ("http://192.168.1.5", "http://192.168.1.6/x", true),
    ("http://192.168.1.5", "http://localhost/x", false),
    ("http://nas.local", "https://cdn.example/x", true),
    ("http://localhost:3000", "http://127.0.0.1:9000/x", true),
    ("http://localhost:3000", "http://10.0.0.1/x", true),
    ("http://localhost:3000", "https://cdn.example/x", true),
  ]

  @Test(arguments: reaches.indices)
  func `an image is not in a more private network than its service`(index: Int) throws {
    let (service, image, isAllowed) = Self.reaches[index]
    if isAllowed {
      #expect(try Album([image]).address(at: service) != nil)
    } else {
      let error = #expect(throws: SourceError.self) { try Album([image]).address(at: service) }
      #expect(error?.code == .rejected)
      #expect(
        try Album([image, "https://cdn.example/y"]).address(at: service) == "https://cdn.example/y")
    }
  }

  static let numbered: [(number: Int, address: String?)] = [
    (0, nil), (1, "https://cdn.example/1"), (2, nil), (4, "https://cdn.example/4"), (5, nil),
  ]

  @Test(arguments: numbered)
  func `an image has the number of its address`(number: Int, address: String?) throws {
    let album = Album([
      "https://cdn.example/1", "none", "http://127.0.0.1/", "https://cdn.example/4",
    ])
    let settings = SourceSettings(["ALBUM_URL": "https://album.example"])
    let note = Note(1, "one")
    #expect(
      try album.imageAddress(of: note, .small, number: number, in: settings)?.description == address
    )
    // It is not in a more private network than the service.
    let error = #expect(throws: SourceError.self) {
      try album.imageAddress(of: note, .small, number: 3, in: settings)
    }
    #expect(error?.code == .rejected)
  }
}

extension Album {
  fileprivate init(_ addresses: [String]?) {
    if let addresses { self.init { _, _ in addresses } } else { self.init(images: nil) }
  }

  fileprivate func address(
    at service: String = "https://album.example/api"
  ) throws(SourceError) -> String? {
    try imageAddress(
      of: Note(1, "one"), .medium, in: SourceSettings(["ALBUM_URL": service]))?.description
  }
}
