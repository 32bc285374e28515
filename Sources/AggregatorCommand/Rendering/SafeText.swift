import AggregatorKit

extension String {
  /// This text made harmless for one line that a person reads.
  ///
  /// Text from services is hostile until it went through here. What is left shows what it is, moves no
  /// cursor, reorders nothing, and hides nothing:
  ///
  /// - C0 controls become their pictures (the escape character `␛`), so that an escape sequence is
  ///   plain text; C1 controls, private use and unassigned code points become `�`.
  /// - Line and paragraph breaks and tabs become one space; at the ends they vanish.
  /// - Bidirectional controls, zero-width and other format characters, fillers and tags are removed.
  /// - Joiners stay where they shape what is seen: between emoji (three at most, as in the longest
  ///   sequence of Unicode) and between letters of Arabic, Indic and similar scripts. Variation
  ///   selectors stay behind what they can vary, one each.
  /// - A letter keeps four combining marks; a mark without a letter is removed, and so
  ///   is a skin tone without somebody who can have one.
  ///
  /// Letters that run from right to left stay as they are. Terminals that reorder them do so for a
  /// whole line, columns included; the only cures are the very controls that are removed here, which
  /// many terminals show as boxes. `--json` and `--tsv` are the way to read such text exactly.
  package var safeLine: String { Sanitizer.sanitize(self, breaks: .spaces) }

  /// This text made harmless as ``safeLine`` does, but with its line breaks.
  ///
  /// Every kind of break is a `\n`; there is never more than one blank line, and none at the ends.
  package var safeParagraphs: String { Sanitizer.sanitize(self, breaks: .paragraphs) }

  /// This text made harmless as ``safeLine`` does, but with every tab, carriage return and line feed
  /// as it is: for formats that quote them.
  package var safeCell: String { Sanitizer.sanitize(self, breaks: .kept) }
}
