import Foundation

/// Constants of the socket interface that differ between systems, in value or in type.
enum SocketConstants {
  #if canImport(Darwin)
    static let stream = SOCK_STREAM
    /// Lets a second socket of the process use a port.
    static let sharesPort = SO_REUSEPORT
    /// Makes `send` to a peer that has left an error instead of a signal: an option of the socket here.
    static let noSignalOption: Int32? = SO_NOSIGPIPE
    static let sendFlags: Int32 = 0
  #else
    static let stream = Int32(SOCK_STREAM.rawValue)
    static let sharesPort = SO_REUSEADDR
    static let noSignalOption: Int32? = nil
    static let sendFlags = Int32(MSG_NOSIGNAL)
  #endif
}
