package import AggregatorKit

/// The `chafa` program, which decodes an image and draws it for a terminal.
///
/// The library of that name draws only decoded pixels: the decoders are in the program. An image is
/// hostile until it is decoded, so that is better done in a process of its own, which has limits and
/// knows nothing of this one.
package struct Chafa: Sendable {
  package static let program = "chafa"

  private let path: String
  private let search: String
  private let graphics: TerminalGraphics
  private let limit: Duration
  /// The terminal, if it is in use.
  private let usedTerminal: Int32?

  /// More would take longer to decode than anyone waits, and more memory.
  private static let maxPixels = 64 << 20

  /// Limits processor time to 20 s, memory to 2 GB and output to some 64 MB.
  ///
  /// Standard error becomes standard
  /// input: from a terminal, the program reads the size of a cell. Its messages may quote the image.
  private static let script = """
    exec 3<&0 0<&2 2>/dev/null; ulimit -t 20; ulimit -v 2097152; ulimit -f 65536; exec "$@"
    """

  /// - Parameters:
  ///   - path: That of the program, which finds others in the directories of `search`, as in `PATH`.
  ///   - limit: The most time for one image.
  ///   - terminal: The terminal that will be in use while images are drawn; `nil` for standard output, which is not.
  package init(
    at path: String, search: String, _ graphics: TerminalGraphics, within limit: Duration,
    using terminal: Int32?
  ) {
    (self.path, self.search, self.graphics) = (path, search, graphics)
    (self.limit, usedTerminal) = (limit, terminal)
  }

  package var format: Picture.Format { graphics.format }

  /// Draws an image; fails with code `malformed` (also for SVG), `tooLarge`, `timedOut` or `storage`.
  package func picture(
    of image: LoadedImage, within size: Picture.Size
  ) async throws(SourceError) -> Picture {
    guard image.type != .svg else {
      throw SourceError(
        .malformed, "the image is SVG, which is not shown in a terminal",
        remedy: Remedy("save it to a file with image -o"))
    }
    if let pixels = image.pixels, pixels.width > Self.maxPixels / pixels.height {
      throw SourceError(
        .tooLarge, "the image is too large to show (\(pixels) pixels)",
        remedy: Remedy("save it to a file with image -o"))
    }
    let (input, output) = try files(image.bytes)
    let terminal = openTerminal()
    defer { close(terminal) }
    input.rewind()
    // Its variables are not those of the terminal, whose features are known here.
    let child = ExternalProgram.start(
      ["/bin/sh", "-c", Self.script, "sh", path] + arguments(size) + ["/dev/fd/3"],
      ["PATH": search, "TERM": "xterm"],
      descriptors: [0: input.descriptor, 1: output.descriptor, 2: terminal])
    guard let child else { throw SourceError(.storage, "cannot start \(Self.program)") }
    guard let status = await ExternalProgram.status(of: child, within: limit) else {
      guard !Task.isCancelled else { throw .cancelled }
      throw SourceError(
        .timedOut, "\(Self.program) did not draw the image within \(limit.text)",
        remedy: Remedy("allow more time, or retry later", .allowMoreTime))
    }
    guard status == 0 else {
      throw SourceError(
        .malformed, "\(Self.program) cannot decode the image (\(image.type.mediaType))")
    }
    let picture = Picture(
      output.bytes, as: graphics.format, within: size,
      cell: TerminalGraphics.measuredCell(of: usedTerminal ?? STDOUT_FILENO))
    guard let picture else {
      throw SourceError(.malformed, "\(Self.program) printed something else than a picture")
    }
    return picture
  }

  /// The terminal, from which the program takes the size of a cell.
  private func openTerminal() -> Int32 {
    guard let usedTerminal else { return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) }
    // Of one that is in use, the program must read no keys.
    let terminal =
      graphics.format == .symbols
      ? -1 : open("/dev/fd/\(usedTerminal)", O_WRONLY | O_NOCTTY | O_CLOEXEC)
    return terminal < 0 ? open("/dev/null", O_RDWR | O_CLOEXEC) : terminal
  }

  private func arguments(_ size: Picture.Size) -> [String] {
    let symbols = ["--colors", graphics.colors, "--symbols", "block", "--optimize", "0"]
    return ["--format", graphics.format.rawValue, "--size", "\(size.columns)x\(size.rows)"]
      + ["--animate", "off"] + (graphics.format == .symbols ? symbols : [])
  }

  private func files(
    _ bytes: Data
  ) throws(SourceError) -> (input: TemporaryFile, output: TemporaryFile) {
    do {
      let input = try TemporaryFile()
      try input.output.write(bytes)
      return (input, try TemporaryFile())
    } catch let error as CommandError {
      throw SourceError(.storage, error.message)
    } catch {
      throw SourceError(.storage, "cannot write to a temporary file")
    }
  }
}
