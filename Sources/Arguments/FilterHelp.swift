import AggregatorFilters

/// The text on filters in `help filters` and the manual page.
enum FilterHelp {
  static let sections: [(title: String, rows: [(String, String)])] = [
    (
      "Conditions",
      [
        ("name=Hulk, name!=Hulk", "is, or is not, exactly this"),
        ("name~hulk", "contains it, ignoring case, accents and punctuation"),
        (
          "id<100, <=, >, >=",
          "is less, and so on: numbers (typed also as -.5 or 1e3) as numbers, dates as dates, texts as searches compare them"
        ),
        (
          "added=2026-01",
          "is in this month; also a year, a quarter (2026-Q1), a week (2026-W07), a day, a time, yesterday, today or now, in UTC"
        ),
        (
          "added>7d ago",
          "is later than so long ago: in seconds, minutes, hours, days, weeks (s, m, h, d, w), months or years (y), also as 2 weeks ago"
        ),
        ("active=true", "is true; also false, yes and no, in any case"),
        ("labels=bug", "is a list with such an element"),
        ("name=, name!=", "has no value, or has one"),
        ("region in (EU, AS)", "is one of these; \"not in\": none of them"),
        ("age in 20..30", "is from one to the other, both included"),
        ("name~/^spider/i", "matches the regular expression, with i in any case"),
        (#""Full Name"=Hulk"#, "double quotes are needed around a name with spaces or signs"),
      ]
    ),
    (
      "Combinations",
      [
        ("A and B", "both hold; each further --where must hold as well"),
        ("A or B", "one of them holds, or both; \"and\" binds more tightly"),
        ("not A", "it does not hold, or there is no value"),
        ("(A or B) and C", "parentheses group conditions"),
      ]
    ),
    ("Grammar", TypedFilter.grammar.map { ($0.name, $0.rule) }),
  ]

  static let notes = [
    "A value needs no quotes unless it would end early: at an \"and\" or \"or\" that a condition follows, or at "
      + "a parenthesis that closes one, or if it goes on like one on a field (Up and id is 1); after ~, a text that "
      + "begins with / needs them too. In quotes, a backslash precedes a quote or a backslash. "
      + "In {x}, x is repeated any number of times, and in [x] it may be missing.",
    #"Regular expressions have . [a-z] [^a-z] [[:alpha:]] \d \w \s \D \W \S \p{L} \P{L} ^ $ \b \B (…) | * + ? {2} {2,} {2,9}, and match "#
      + "anywhere in the value; (?i) at the start ignores case. They take linear time, so that there are neither backreferences nor lookaround.",
    "\"--fields help\" lists the fields of a source.",
  ]
}
