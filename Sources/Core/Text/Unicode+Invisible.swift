extension Unicode.Scalar {
  /// Whether a terminal may obey this character instead of showing it, or show nothing: C0 and C1
  /// controls, bidirectional controls, zero-width and other format characters, line and paragraph
  /// separators, tags, private use and unassigned code points.
  ///
  /// Variation selectors and the zero-width joiner are format characters too, but part of emoji and of
  /// several scripts; whoever shows text decides about them by context.
  package var isInvisible: Bool {
    // Nearly every character that is asked about is printable ASCII.
    if value < 0x7F { return value < 0x20 }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      true
    default:
      // Fillers that are letters by category and blank by sight.
      [0x115F, 0x1160, 0x3164, 0xFFA0, 0x034F].contains(value)
    }
  }
}
