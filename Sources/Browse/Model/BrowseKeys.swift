/// The keys, as the help shows them.
package enum BrowseKeys {
  package static let all: [(keys: String, about: String)] = [
    ("↑ ↓  j k", "move"),
    ("PgUp PgDn", "a page up or down; also Ctrl-B, Ctrl-F and Space"),
    ("Home End  g G", "the first or last record"),
    ("← → Tab", "sources, list, record"),
    ("Enter", "open the record, with all its details"),
    ("Esc", "back; clears the filter"),
    ("J K", "scroll the record"),
    ("/", "filter as you type; Enter also asks the service"),
    ("f", "filter by a condition: publisher=Marvel and name~man"),
    ("s", "sort by a field; the same again reverses"),
    ("o", "open the web page"),
    ("y Y", "copy the ID, or the record as JSON"),
    ("d u", "delete on this machine, and undo"),
    ("r", "refresh: ask the service now"),
    ("n", "load the next page of the service"),
    ("S", "sync everything; S or n again stops it"),
    (":", "query the cached records in SQL"),
    ("Ctrl-L", "draw again"),
    ("Ctrl-Z", "suspend; fg returns"),
    ("q", "quit"),
  ]
}
