package struct ServerLimits: Sendable {
  /// The most bytes of a request line with its header fields; more is 431.
  package var headBytes = 16 << 10

  /// The memory of a connection, for the head of a request and that of its response.
  ///
  /// libmicrohttpd itself answers a head that does not fit, with a text of its own and without calling us:
  /// `transmit_error_response_static` with `REQUEST_TOO_BIG` in `connection.c` of 0.9.75, 414 for a request line and
  /// 431 for header fields. So the memory is much larger than ``headBytes``.
  var memory: Int { headBytes * 4 }

  /// True if a head leaves half of the memory to the response; libmicrohttpd makes a record of each field.
  func allowsHead(of bytes: Int, fields: Int) -> Bool {
    bytes <= headBytes && bytes + fields * Self.recordBytes <= memory / 2
  }

  /// `sizeof (struct MHD_HTTP_Header)` is 56.
  private static let recordBytes = 64

  /// The most bytes of a body; more is 413.
  package var bodyBytes = 64 << 10

  package var connections = 256

  /// Most of all connections, because programs on this machine share an address.
  package var connectionsPerAddress = 192

  /// The most sockets: also those of connections that are being closed.
  var sockets: Int { connections * 2 + Self.spareSockets }

  private static let spareSockets = 64

  package var eventStreams = 16

  /// The longest time for a request to arrive, from the connection on, however many pieces it arrives in.
  package var request: Duration = .seconds(10)

  /// The longest time between a response and the next request.
  package var idle: Duration = .seconds(30)

  /// The longest time for a client to take a response, or a piece of an event stream, in addition to
  /// the time that it takes at the lowest rate.
  package var response: Duration = .seconds(30)

  /// The lowest rate at which a client must take a response.
  package var bytesPerSecond = 16 << 10

  package static let standard = ServerLimits()

  /// The descriptors of a process for all but its clients: stores, and connections to services.
  private static let otherDescriptors = 96

  package static let minDescriptors = 192

  private init() {}

  /// The standard limits, with as many connections as a process has descriptors for.
  ///
  /// - Parameter descriptors: ``minDescriptors`` or more.
  package init(descriptors: Int) {
    let sockets = descriptors - Self.otherDescriptors
    connections = min((sockets - Self.spareSockets) / 2, connections)
    connectionsPerAddress = connections * 3 / 4
  }

  var checkInterval: Duration { min(.milliseconds(250), min(request, idle, response) / 4) }

  func deadline(forResponseOf bytes: Int) -> Duration {
    response + .seconds(bytes / bytesPerSecond)
  }
}
