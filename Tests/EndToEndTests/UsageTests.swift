import Foundation
import Testing

@testable import AggregatorProgramTesting

/// Invalid command lines and their errors.
@Suite struct UsageTests {
  private static let topics =
    "hint: aggregator help\nhint: topics: options, filters, template, exit-codes, environment, man"

  static let mistakes: [(line: String, errors: String)] = [
    (
      "heros list",
      "unknown source or command \"heros\"\n\nDid you mean \"heroes list\"?\nhint: aggregator help"
    ),
    (
      "aggregator heroes list",
      "unknown source or command \"aggregator\"\n\nDid you mean \"heroes list\"?\nhint: aggregator help"
    ),
    (
      "help aggregator",
      "unknown source or command \"aggregator\"\n\nDid you mean \"help\"?\n\(topics)"
    ),
    (
      "countries --list",
      "unknown option \"--list\"\n\nDid you mean \"countries list\"?\nhint: aggregator help countries"
    ),
    (
      "--man",
      "unknown option \"--man\"\n\nDid you mean \"help man\"?\nhint: aggregator help options"
    ),
    (
      "sources add gz --url http://127.0.0.1/x",
      "unknown option \"--url\"\nhint: URL has no option before it\nhint: aggregator help sources add"
    ),
    (
      "heroes list --output-format json",
      "unknown option \"--output-format\"\n\nDid you mean \"--format json\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --plain",
      "unknown option \"--plain\"\n\nDid you mean \"--format tsv\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes serach spider",
      "unknown verb \"serach\" for heroes\n\nDid you mean \"heroes search\"?\nhint: aggregator help heroes"
    ),
    (
      "heroes check",
      "unknown verb \"check\" for heroes\n\nDid you mean \"sources check heroes\"?\nhint: aggregator help heroes"
    ),
    (
      "list heroes $(x)",
      "unexpected argument \"$(x)\"\n\nDid you mean \"heroes search '$(x)'\"?\nhint: aggregator help heroes list"
    ),
    (
      "ls heroes $(x)",
      "unknown source or command \"ls\"\n\nDid you mean \"heroes list '$(x)'\"?\nhint: aggregator help"
    ),
    (
      "heroes list --no-color",
      "unknown option \"--no-color\"\n\nDid you mean \"--color never\"?\nhint: aggregator help heroes list"
    ),
    (
      "sources rm papers",
      "unknown command \"rm\" for sources\n\nDid you mean \"sources remove\"?\nhint: aggregator help sources"
    ),
    (
      "sources new papers",
      "unknown command \"new\" for sources\n\nDid you mean \"sources add\"?\nhint: aggregator help sources"
    ),
    (
      "query create euro",
      "unknown command \"create\" for query\n\nDid you mean \"query save\"?\nhint: aggregator help query"
    ),
    (
      "heroes prev",
      "unknown verb \"prev\" for heroes\n\nDid you mean \"heroes next --back\"?\nhint: aggregator help heroes"
    ),
    (
      "add papers http://127.0.0.1/",
      "unknown source or command \"add\"\n\nDid you mean \"sources add\"?\nhint: aggregator help"
    ),
    (
      "show sources heroes",
      "unknown source or command \"show\"\n\nDid you mean \"sources show heroes\"?\nhint: aggregator help"
    ),
    (
      "list query",
      "unknown source or command \"list\"\n\nDid you mean \"query list\"?\nhint: aggregator help"
    ),
    (
      "get config COMIC_VINE_RATE",
      "unknown source or command \"get\"\n\nDid you mean \"config get COMIC_VINE_RATE\"?\nhint: aggregator help"
    ),
    (
      "set config COMIC_VINE_API_KEY secret",
      "unknown source or command \"set\"\n\nDid you mean \"config set\"?\nhint: aggregator help"
    ),
    (
      "countries list --yaml",
      "unknown option \"--yaml\"\n\nDid you mean \"--format yaml\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list --md",
      "unknown option \"--md\"\n\nDid you mean \"--format markdown\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list —limit 3",
      "unexpected argument \"—limit\"\n\nDid you mean \"--limit\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list --group-by region --count",
      "--group-by and --count cannot be used together\nhint: --group-by alone counts the records of each value"
    ),
    (
      "heroes show 1443 --json name",
      "unexpected argument \"name\" after --json\n\nDid you mean \"--json --fields name\"?\nhint: aggregator help heroes show"
    ),
    (
      "sql --offline",
      "\"sql\" does not accept --offline\nhint: sql never contacts a service"
    ),
    ("sql x.sql", "\"x.sql\" is no query\nhint: aggregator sql < x.sql"),
    ("sql @x.sql", "\"@x.sql\" is no query\nhint: aggregator sql < x.sql"),
    (
      "sql -f x.sql",
      "\"sql\" does not accept -f\nhint: redirect standard input: aggregator sql < FILE"
    ),
    (
      "help --where name=x",
      "\"help\" does not accept --where\n\nDid you mean \"help filters\"?\nhint: aggregator help help"
    ),
    (
      "heroes list --json=yes",
      "unexpected value \"yes\" for --json"
    ),
    (
      "config comic_vine_rate",
      "unknown command \"comic_vine_rate\" for config\n\nDid you mean \"config get COMIC_VINE_RATE\"?\nhint: aggregator help config"
    ),
    (
      "config COMIC_VINE_RATE=2/s",
      "unknown command \"COMIC_VINE_RATE\" for config\n\nDid you mean \"config set COMIC_VINE_RATE VALUE\"?\nhint: aggregator help config"
    ),
    (
      "config COMIC_VINE_API_KEY s3cret",
      "unknown command \"COMIC_VINE_API_KEY\" for config\n\nDid you mean \"config set COMIC_VINE_API_KEY\"?\nhint: aggregator help config"
    ),
    (
      "sources heroes",
      "unknown command \"heroes\" for sources\n\nDid you mean \"sources show heroes\"?\nhint: aggregator help sources"
    ),
    (
      "list spider",
      "\"list\" requires a source: aggregator SOURCE list\nhint: available sources: \(sourceNames.joined(separator: ", "))\nhint: aggregator \(sourceNames[0]) list"
    ),
    (
      "--versoin",
      "unknown option \"--versoin\"\n\nDid you mean \"--version\"?\nhint: aggregator help options"
    ),
    (
      "heroes fly",
      "unknown verb \"fly\" for heroes\nhint: available verbs: list, next, search, show, pick, sync, diff, delete, restore, open, image"
        + "\nhint: aggregator heroes show fly\nhint: aggregator heroes search fly"
    ),
    (
      "count heroes",
      "unknown source or command \"count\"\n\nDid you mean \"heroes list --count\"?\nhint: aggregator help"
    ),
    (
      "heroes count",
      "unknown verb \"count\" for heroes\n\nDid you mean \"heroes list --count\"?\nhint: aggregator help heroes"
    ),
    (
      "heroes list -5",
      "unknown option \"-5\"\n\nDid you mean \"--limit 5\"?\nhint: aggregator help heroes list"
    ),
    (
      "help foo",
      "unknown source or command \"foo\"\nhint: aggregator help\nhint: topics: options, filters, template, exit-codes, environment, man"
    ),
    (
      "heroes search spider -offline",
      "unknown option \"-offline\"\n\nDid you mean \"--offline\"?\nhint: aggregator help heroes search"
    ),
    (
      "heroes list -quiet",
      "unknown option \"-quiet\"\n\nDid you mean \"--quiet\"?\nhint: aggregator help heroes list"
    ),
    (
      "users list --avg age",
      "unknown option \"--avg\"\n\nDid you mean \"--stats\"?\nhint: aggregator help users list"
    ),
    (
      "serve 8080",
      "unexpected argument \"8080\"\n\nDid you mean \"--port 8080\"?\nhint: aggregator help serve"
    ),
    (
      "export heroes x.csv",
      "unexpected argument \"x.csv\"\n\nDid you mean \"export heroes -o x.csv\"?\nhint: aggregator help export"
    ),
    (
      "store clear",
      "missing argument: SOURCE\nhint: available sources: \(sourceNames.joined(separator: ", "))"
    ),
    (
      "config get api_key",
      "unknown setting \"api_key\"\n\nDid you mean \"COMIC_VINE_API_KEY\"?\nhint: aggregator config list"
    ),
    (
      "config set COMIC_VINE_KEY x",
      "unknown setting \"COMIC_VINE_KEY\"\n\nDid you mean \"COMIC_VINE_API_KEY\"?\nhint: aggregator config list"
    ),
    (
      "heroes list 5",
      "unexpected argument \"5\"\n\nDid you mean \"--limit 5\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list spider",
      "unexpected argument \"spider\"\n\nDid you mean \"heroes search spider\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --limt 5",
      "unknown option \"--limt\"\n\nDid you mean \"--limit\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --li 5",
      "unknown option \"--li\"\n\nDid you mean \"--limit\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list -n 5",
      "unknown option \"-n\"\n\nDid you mean \"--limit\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes search spider -n5",
      "unknown option \"-n5\"\n\nDid you mean \"--limit 5\"?\nhint: aggregator help heroes search"
    ),
    (
      "heroes list -o json",
      "\"heroes list\" does not accept -o\n\nDid you mean \"--format json\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --json name,id",
      "unexpected argument \"name,id\" after --json\n\nDid you mean \"--json --fields name,id\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes search spider --json name,id",
      "unexpected argument \"name,id\" after --json\n\nDid you mean \"--json --fields name,id\"?\nhint: aggregator help heroes search"
    ),
    (
      "heroes list --json=name,id",
      "unexpected value \"name,id\" for --json\n\nDid you mean \"--json --fields name,id\"?"
    ),
    (
      "heroes list --page 2",
      "unknown option \"--page\"\n\nDid you mean \"heroes next\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --filter publisher=Marvel",
      "unknown option \"--filter\"\n\nDid you mean \"--where\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --order-by name",
      "unknown option \"--order-by\"\n\nDid you mean \"--sort\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --reload",
      "unknown option \"--reload\"\n\nDid you mean \"--refresh\"?\nhint: aggregator help heroes list"
    ),
    (
      "countries list --region EU",
      "unknown option \"--region\"\n\nDid you mean \"--where 'region=EU'\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list --region=EU",
      "unknown option \"--region=…\"\n\nDid you mean \"--where 'region=EU'\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list --name",
      "unknown option \"--name\"\n\nDid you mean \"--where 'name=VALUE'\"?\nhint: aggregator help countries list"
    ),
    (
      "heroes list --id 1443",
      "\"heroes list\" does not accept --id; \"sources add\" and \"sources edit\" do\n\nDid you mean \"--where 'id=1443'\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --desc",
      "unknown option \"--desc\"\n\nDid you mean \"--sort -FIELD\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes next --prev",
      "unknown option \"--prev\"\n\nDid you mean \"--back\"?\nhint: aggregator help heroes next"
    ),
    (
      "heroes delete 1443 --force",
      "unknown option \"--force\"\n\nDid you mean \"--yes\"?\nhint: aggregator help heroes delete"
    ),
    (
      "heroes show 1443 --web",
      "unknown option \"--web\"\n\nDid you mean \"heroes open\"?\nhint: aggregator help heroes show"
    ),
    (
      "heroes list --search spider",
      "\"heroes list\" does not accept --search; \"sources add\" and \"sources edit\" do\n\nDid you mean \"heroes search\"?\nhint: aggregator help heroes list"
    ),
    (
      "watch heroes --for 5m",
      "\"watch\" does not accept --for; sync does\nhint: aggregator help watch"
    ),
    (
      "api heroes x -d {}",
      "unknown option \"-d\"\n\nDid you mean \"--input -\"?\nhint: aggregator help api"
    ),
    (
      "api heroes x --data {}",
      "\"api\" does not accept --data; \"sources remove\" does\n\nDid you mean \"--input -\"?\nhint: aggregator help api"
    ),
    ("api heroes x -k", "unknown option \"-k\"\nhint: aggregator help api"),
    (
      "heroes list -all",
      "unknown option \"-all\"\n\nDid you mean \"--all\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes list -?",
      "unknown option \"-?\"\n\nDid you mean \"--help\"?\nhint: aggregator help heroes list"
    ),
    (
      "sources add a http://127.0.0.1/ --token x",
      "unknown option \"--token\"\n\nDid you mean \"--header\"?\nhint: aggregator help sources add"
    ),
    (
      "heroes delete 1443 --no-cache",
      "unknown option \"--no-cache\"\nhint: aggregator help heroes delete"
    ),
    (
      "countries list -o file",
      "\"countries list\" does not accept -o\n\nDid you mean \"export countries -o file\"?\nhint: redirect standard output: aggregator countries list > FILE"
    ),
    (
      "countries --where region=EU -o x.csv",
      "\"countries\" does not accept --where\n\nDid you mean \"countries list --where 'region=EU'\"?\nhint: aggregator help countries list"
    ),
    (
      "countries -o x.csv",
      "\"countries\" does not accept -o\n\nDid you mean \"export countries -o x.csv\"?\nhint: aggregator help export"
    ),
    (
      "export countries --limit 3",
      "\"export\" does not accept --limit\n\nDid you mean \"countries list --limit 3\"?\nhint: aggregator help countries list"
    ),
    (
      "users sync --for 1s",
      "\"users sync\" does not accept --for\n\nDid you mean \"sync users --for 1s\"?\nhint: aggregator help sync"
    ),
    (
      "sync --max-pages 3",
      "\"sync\" does not accept --max-pages\n\nDid you mean \"\(sourceNames[0]) sync --max-pages 3\"?\nhint: aggregator help \(sourceNames[0]) sync"
    ),
    (
      "search spider --all",
      "\"search\" does not accept --all\n\nDid you mean \"\(sourceNames[0]) search spider --all\"?\nhint: aggregator help \(sourceNames[0]) search"
    ),
    (
      "search spider --source=products,heroes --max-pages 2",
      "\"search\" does not accept --max-pages\n\nDid you mean \"products search spider --max-pages 2\"?\nhint: aggregator help products search"
    ),
    (
      "hero show 1443",
      "unknown source or command \"hero\"\n\nDid you mean \"heroes show 1443\"?\nhint: aggregator help"
    ),
    (
      "heroes show --id 1443",
      "\"heroes show\" does not accept --id; \"sources add\" and \"sources edit\" do\n\nDid you mean \"heroes show 1443\"?\nhint: aggregator help heroes show"
    ),
    (
      "search --query spider",
      "unknown option \"--query\"\n\nDid you mean \"search spider\"?\nhint: aggregator help search"
    ),
    (
      "countries list all",
      "unexpected argument \"all\"\n\nDid you mean \"--all\"?\nhint: aggregator help countries list"
    ),
    (
      "man --help",
      "unknown source or command \"man\"\n\nDid you mean \"help man\"?\nhint: aggregator help"
    ),
    (
      "config show --help",
      "unknown command \"show\" for config\n\nDid you mean \"config list\"?\nhint: aggregator help config"
    ),
    (
      "heroes lst --nonsense --help",
      "unknown verb \"lst\" for heroes\n\nDid you mean \"heroes list\"?\nhint: aggregator help heroes"
    ),
    (
      "heros list --limit 0 -h",
      "unknown source or command \"heros\"\n\nDid you mean \"heroes list\"?\nhint: aggregator help"
    ),
    (
      "countries list --where region = EU",
      "unexpected argument \"=\"\n\nDid you mean \"--where 'region = EU'\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list --where region=EU code=FR",
      "unexpected argument \"code=FR\"\n\nDid you mean \"--where 'code=FR'\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list -w region=EU",
      "unknown option \"-w\"\n\nDid you mean \"--where\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list --where region=EU --or region=AS",
      "unknown option \"--or\"\n\nDid you mean \"--where 'A or B'\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list --where region=EU spider",
      "unexpected argument \"spider\"\n\nDid you mean \"countries search spider\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list --fields name, code region",
      "unexpected argument \"code\"\n\nDid you mean \"--fields name,code,region\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list --sort region,name desc",
      "unexpected argument \"desc\"\n\nDid you mean \"--sort region,-name\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list --fields name spider",
      "unexpected argument \"spider\"\n\nDid you mean \"countries search spider\"?\nhint: aggregator help countries list"
    ),
    (
      "countries diff 2h",
      "unexpected argument \"2h\"\n\nDid you mean \"--since 2h\"?\nhint: aggregator help countries diff"
    ),
    (
      "countries list -q .items",
      "unexpected argument \".items\"\n\nDid you mean \"--jq .items\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list help",
      "unexpected argument \"help\"\n\nDid you mean \"help countries list\"?\nhint: aggregator help countries list"
    ),
    (
      "config list COMIC_VINE_RATE",
      "unexpected argument \"COMIC_VINE_RATE\"\n\nDid you mean \"config get COMIC_VINE_RATE\"?\nhint: aggregator help config list"
    ),
    (
      "sources list heroes",
      "unexpected argument \"heroes\"\n\nDid you mean \"sources show heroes\"?\nhint: aggregator help sources list"
    ),
    (
      "countries list region=EU",
      "unexpected argument \"region=EU\"\n\nDid you mean \"--where 'region=EU'\"?\nhint: aggregator help countries list"
    ),
    (
      "sync heroes --max-pages 2",
      "\"sync\" does not accept --max-pages\n\nDid you mean \"heroes sync --max-pages 2\"?\nhint: aggregator help heroes sync"
    ),
    (
      "countries list --format ndjsn",
      "invalid value \"ndjsn\" for --format: must be table, cards, markdown, tsv, csv, json, ndjson or yaml\n\nDid you mean \"--format ndjson\"?"
    ),
    (
      "query save big countries list --where region=EU --sort -name",
      "\"query save\" does not accept --where\n\nDid you mean \"query save big -- countries list --where 'region=EU' --sort -name\"?\nhint: aggregator help query save"
    ),
    (
      "countries where region=EU",
      "unexpected argument \"where\"\n\nDid you mean \"countries list --where 'region=EU'\"?\nhint: aggregator help countries list"
    ),
    (
      "countries list where region=EU",
      "unexpected argument \"where\"\n\nDid you mean \"countries list --where 'region=EU'\"?\nhint: aggregator help countries list"
    ),
    (
      "list heros",
      "\"list\" requires a source: aggregator SOURCE list\n\nDid you mean \"heroes list\"?\nhint: available sources: \(sourceNames.joined(separator: ", "))"
    ),
    (
      "show 1 heroes",
      "the source comes before \"show\"\n\nDid you mean \"heroes show 1\"?\nhint: aggregator help"
    ),
    (
      "countries sql",
      "unknown verb \"sql\" for countries\n\nDid you mean \"sql\"?\nhint: aggregator help countries"
    ),
    (
      "query run big",
      "unknown command \"run\" for query\nhint: a saved query is a command of its own name: aggregator NAME; aggregator query lists them"
    ),
    (
      "help widget",
      "unknown source or command \"widget\"\n\nDid you mean \"help completions\"?\n\(topics)"
    ),
    (
      "help lst",
      "unknown source or command \"lst\"\n\nDid you mean \"help list\"?\n\(topics)"
    ),
    (
      "help console",
      "unknown source or command \"console\"\n\nDid you mean \"help sql\"?\n\(topics)"
    ),
    (
      "help save",
      "unknown source or command \"save\"\n\nDid you mean \"help query save\"?\n\(topics)"
    ),
    (
      "countries list --manifests /nowhere",
      "--manifests: there is no directory /nowhere\nhint: create it, or name another"
    ),
    (
      "sources add a http://127.0.0.1/ --rate often",
      "--rate must be a rate such as \"5/s\", or \"off\"\nhint: aggregator help sources add"
    ),
    (
      "sources add a http://127.0.0.1/ --single --page-param page=1",
      "--single and --page-param cannot be used together\nhint: aggregator help sources add"
    ),
    ("heroes list --re", "unknown option \"--re\"\nhint: aggregator help heroes list"),
    (
      "heroes show -1",
      "unknown option \"-1\"\nhint: put -- before arguments that begin with a dash"
    ),
    ("heroes list -x", "unknown option \"-x\"\nhint: aggregator help heroes list"),
    (
      "heroes list --seed 4",
      "\"heroes list\" does not accept --seed; \"countries deal\" does\nhint: aggregator help heroes list"
    ),
    (
      "heroes show 1 --limit 5",
      "\"heroes show\" does not accept --limit; list, next, search and diff do\nhint: aggregator help heroes show"
    ),
    (
      "heroes --json",
      "\"heroes\" does not accept --json\n\nDid you mean \"heroes list --json\"?\nhint: aggregator help heroes list"
    ),
    (
      "heroes --cursor x",
      "\"heroes\" does not accept --cursor\n\nDid you mean \"heroes list --cursor x\"?\nhint: aggregator help heroes list"
    ),
    ("--limit 5", "--limit requires a source or command\nhint: aggregator help"),
    ("heroes list --limit", "missing value for --limit"),
    ("heroes list --where", "missing value for --where\nhint: aggregator help filters"),
    (
      "countries list --group-by",
      "missing value for --group-by\nhint: available fields: code, name, region, capital"
    ),
    (
      "countries list --sort",
      "missing value for --sort\nhint: available fields: code, name, region, capital"
    ),
    (
      "countries list -f",
      "\"countries list\" does not accept -f; \"api\" does\nhint: aggregator help countries list"
    ),
    (
      "heroes list --json=true",
      "unexpected value \"true\" for --json\n\nDid you mean \"--json\"?"
    ),
    (
      "export heroes --csv",
      "\"export\" does not accept --csv\n\nDid you mean \"--format csv\"?\nhint: aggregator help export"
    ),
    (
      "sql -L 3",
      "\"sql\" does not accept -L\nhint: say it in the query: WHERE, ORDER BY, LIMIT 20"
    ),
    (
      "help heroes list extra",
      "unexpected argument \"extra\"\n\nDid you mean \"help heroes list\"?\nhint: aggregator help heroes list"
    ),
    (
      "help heroes lst",
      "unknown verb \"lst\" for heroes\n\nDid you mean \"help heroes list\"?\nhint: aggregator help heroes"
    ),
    (
      "query save loop -- loop",
      "the saved query \"loop\" calls itself: loop → loop\nhint: begin \"loop\" with a source, a command or another query"
    ),
    (
      "heroes list --csv=",
      "--csv takes no value\n\nDid you mean \"--csv\"?"
    ),
    ("heroes list --quiet=yes", "unexpected value \"yes\" for --quiet"),
    ("heroes list -q=yes", "unexpected value \"=yes\" for --quiet"),
    ("heroes list --limit 0", "invalid value \"0\" for --limit: must be a positive integer"),
    ("heroes list --limit -1", "invalid value \"-1\" for --limit: must be a positive integer"),
    ("heroes list -L-1", "invalid value \"-1\" for --limit: must be a positive integer"),
    ("heroes list -Lhuge", "invalid value \"huge\" for --limit: must be a positive integer"),
    ("heroes list -qLh", "invalid value \"h\" for --limit: must be a positive integer"),
    ("heroes list --limit=", "invalid value \"\" for --limit: must be a positive integer"),
    ("heroes list --limit abc", "invalid value \"abc\" for --limit: must be a positive integer"),
    (
      "heroes list --limit 9999999999999999999999",
      "invalid value \"9999999999999999999999\" for --limit: must be at most 1000000000"
    ),
    (
      "heroes list --timeout 5d",
      "invalid value \"5d\" for --timeout: must be a duration such as 10, 500ms or 2m"
    ),
    (
      "heroes list --timeout 0s",
      "invalid value \"0s\" for --timeout: must be a duration such as 10, 500ms or 2m"
    ),
    (
      "heroes list --format toml",
      "invalid value \"toml\" for --format: must be table, cards, markdown, tsv, csv, json, ndjson or yaml"
    ),
    (
      "heroes list --format csv.gz",
      "invalid value \"csv.gz\" for --format: must be table, cards, markdown, tsv, csv, json, ndjson or yaml\n"
        + "hint: aggregator export SOURCE -o FILE.csv.gz"
    ),
    (
      "tap --format x",
      "\"tap\" does not accept --format\nhint: aggregator help tap"
    ),
    (
      "heroes list --format jsn",
      "invalid value \"jsn\" for --format: must be table, cards, markdown, tsv, csv, json, ndjson or yaml\n\nDid you mean \"--format json\"?"
    ),
    (
      "heroes list --json --csv",
      "--json and --csv cannot be used together\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --json --format csv",
      "--json and --format csv cannot be used together\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --csv-raw --json",
      "--csv-raw requires --csv\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --all --limit 5",
      "--limit and --all cannot be used together\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --stats id --count",
      "--stats and --count cannot be used together\nhint: aggregator help heroes list"
    ),
    (
      "countries list --group-by reg --fields reg --offline",
      "unknown field \"reg\"\n\nDid you mean \"region\"?\nhint: available fields: code, name, region, capital"
    ),
    (
      "heroes list --group-by publisher --sort cuont --offline",
      "unknown field \"cuont\"\n\nDid you mean \"count\"?\nhint: available fields: publisher, count"
    ),
    (
      "users list --group-by registeredAt:year --fields registeredAt --offline",
      "unknown field \"registeredAt\"\n\nDid you mean \"registeredAt:year\"?\nhint: available fields: registeredAt:year, count"
    ),
    (
      "heroes list --offline --refresh",
      "--offline and --refresh cannot be used together\nhint: aggregator help heroes list"
    ),
    ("heroes search", "missing argument: QUERY\nhint: aggregator heroes search spider"),
    (
      "heroes next spider",
      "unexpected argument \"spider\": next continues the last listing\nhint: aggregator heroes search spider"
    ),
    (
      "heroes next --back --peek",
      "--back and --peek cannot be used together\nhint: aggregator help heroes next"
    ),
    (
      "heroes next --cursor x",
      "\"heroes next\" does not accept --cursor; list and search do\nhint: aggregator help heroes next"
    ),
    (
      "heroes list --session ../x",
      "invalid session name \"../x\"\n"
        + "hint: use up to 64 characters of A-Z a-z 0-9 . _ -, not starting with . or -"
    ),
    (
      "heroes show",
      "missing argument: ID\nhint: aggregator heroes show 1443"
        + "\nhint: or pass IDs on standard input, one per line: aggregator heroes show -"
    ),
    (
      "heroes open",
      "missing argument: ID\nhint: aggregator heroes open 1443"
        + "\nhint: or pass IDs on standard input, one per line: aggregator heroes open -"
    ),
    (
      "countries list --offline --fields -region",
      "\"-region\" does not leave out a field: name those to show\n\nDid you mean \"code,name,capital\"?"
        + "\nhint: aggregator help countries list"
    ),
    (
      "ap x",
      "unknown source or command \"ap\"\n\nDid you mean \"api\"?\nhint: aggregator help"
    ),
    ("an", "unknown source or command \"an\"\nhint: aggregator help"),
    (
      "refresh",
      "unknown source or command \"refresh\"\n\nDid you mean \"sync\"?\nhint: aggregator help"
    ),
    (
      "heroes refresh",
      "unknown verb \"refresh\" for heroes\n\nDid you mean \"heroes sync\"?"
        + "\nhint: aggregator help heroes"
    ),
    (
      "login",
      "unknown source or command \"login\"\n\nDid you mean \"config\"?\nhint: aggregator help"
    ),
    (
      "se spider",
      "unknown source or command \"se\"\nhint: names that begin with \"se\": search, serve"
    ),
    (
      "heroes open 1443 1453",
      "unexpected argument \"1453\"\nhint: aggregator help heroes open"
    ),
    ("countries open FR", "countries have no web pages\nhint: aggregator countries show FR"),
    (
      "countries deal --seed -1",
      "invalid value \"-1\" for --seed: must be a non-negative integer"
    ),
    (
      "sources show heros",
      "unknown source \"heros\"\n\nDid you mean \"heroes\"?\n"
        + "hint: available sources: \(sourceNames.joined(separator: ", "))"
    ),
    (
      "help serach",
      "unknown source or command \"serach\"\n\nDid you mean \"help search\"?\n\(topics)"
    ),
    (
      "heroes restore 1443 --yes",
      "\"heroes restore\" does not accept --yes; delete does\nhint: aggregator help heroes restore"
    ),
    (
      "config get COMIC_VINE_RATE --json",
      "\"config get\" does not accept --json; list does\nhint: aggregator help config get"
    ),
    (
      "heroes ls",
      "unknown verb \"ls\" for heroes\n\nDid you mean \"heroes list\"?\n"
        + "hint: aggregator help heroes"
    ),
    (
      "get heroes 1443",
      "unknown source or command \"get\"\n\nDid you mean \"heroes show 1443\"?\nhint: aggregator help"
    ),
    (
      "serach heroes spider",
      "unknown source or command \"serach\"\n\nDid you mean \"heroes search spider\"?\nhint: aggregator help"
    ),
    (
      "find spider",
      "unknown source or command \"find\"\n\nDid you mean \"search\"?\nhint: aggregator help"
    ),
    (
      "ls",
      "unknown source or command \"ls\"\n\nDid you mean \"sources\"?\nhint: aggregator help"
    ),
    (
      "help wher",
      "unknown source or command \"wher\"\n\nDid you mean \"help where\"?\nhint: aggregator help\n"
        + "hint: topics: options, filters, template, exit-codes, environment, man"
    ),
    (
      "doctor --lawss",
      "unknown option \"--lawss\"\nhint: --laws is an option of \"sources check\""
    ),
    (
      "api heroes x --json",
      "\"api\" does not accept --json\nhint: api prints the response as it is; --jq filters it"
    ),
    (
      "countries list --stats name,region",
      "invalid value \"name,region\" for --stats: must be one field\n"
        + "hint: print one after another: --stats name, --stats region"
    ),
    (
      "users pull",
      "unknown verb \"pull\" for users\n\nDid you mean \"users sync\"?\n"
        + "hint: aggregator help users"
    ),
    (
      "config remove COMIC_VINE_RATE",
      "unknown command \"remove\" for config\n\nDid you mean \"config unset\"?\nhint: aggregator help config"
    ),
    (
      "store list",
      "unknown command \"list\" for store\n\nDid you mean \"store\"?\nhint: aggregator help store"
    ),
    (
      "completions tcsh",
      "unsupported shell \"tcsh\"\nhint: supported shells: bash, fish, zsh"
    ),
    (
      "completions bsh",
      "unsupported shell \"bsh\"\n\nDid you mean \"completions bash\"?\nhint: aggregator help completions"
    ),
    (
      "version",
      "unknown source or command \"version\"\n\nDid you mean \"--version\"?\nhint: aggregator help"
    ),
    (
      "exit-codes",
      "unknown source or command \"exit-codes\"\n\nDid you mean \"help exit-codes\"?\nhint: aggregator help"
    ),
    (
      "config get COMIC_VINE_APIKEY",
      "unknown setting \"COMIC_VINE_APIKEY\"\n\nDid you mean \"COMIC_VINE_API_KEY\"?\nhint: aggregator config list"
    ),
    (
      "config get COMIC_VINE_API",
      "unknown setting \"COMIC_VINE_API\"\n\nDid you mean \"COMIC_VINE_API_KEY\"?\nhint: aggregator config list"
    ),
    (
      "query save few heroes list --limit 2",
      "\"query save\" does not accept --limit\n\nDid you mean \"query save few -- heroes list --limit 2\"?\nhint: aggregator help query save"
    ),
    (
      "heroes list -- --limit",
      "unexpected argument \"--limit\"\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --group-by name,id --group-by link,image",
      "invalid value \"name,id,link,image\" for --group-by: must be one to three fields\n"
        + "hint: aggregator help heroes list"
    ),
    (
      "heroes list --stats name,id --group-by publisher",
      "invalid value \"name,id\" for --stats: must be one field\nhint: print one after another: --stats name, --stats id"
    ),
    (
      "heroes list --distinct name,publisher",
      "invalid value \"name,publisher\" for --distinct: must be one field\nhint: --group-by name,publisher has the combinations of several fields"
    ),
    (
      "heroes list --stats id --limit 3",
      "--stats and --limit cannot be used together\nhint: aggregator help heroes list"
    ),
    (
      "heroes list --group-by publisher name",
      "unexpected argument \"name\"\n\nDid you mean \"--group-by publisher,name\"?\n"
        + "hint: aggregator help heroes list"
    ),
  ]

  @Test(arguments: mistakes.indices)
  func `an invalid command line exits with 64 and an explanation`(index: Int) async throws {
    let mistake = Self.mistakes[index]
    let outcome = try await Binary.run(mistake.line)
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(outcome.errors == "error: \(mistake.errors)\n", "\(mistake.line)")
    #expect(outcome.errorLines.count <= 6)
  }

  @Test(arguments: [
    ("list heroes --offline -L 2", "heroes list --offline -L 2"),
    ("--offline show countries FR", "countries show FR --offline"),
    ("countries export -o x.csv", "export countries -o x.csv"),
    ("deal --seed 1 countries", "countries deal --seed 1"),
    ("heroes watch --every 1", "watch heroes --every 1"),
  ])
  func `a verb may come before its source, and a command after it`(line: String, usual: String)
    async throws
  {
    let (outcome, other) = try await (Binary.run(line), Binary.run(usual))
    #expect(outcome.status == other.status && outcome.output == other.output)
    #expect(outcome.errors == other.errors && !outcome.errors.contains("unknown"), "\(outcome)")
  }

  @Test(arguments: [" ", "\t", "\n"])
  func `a blank query exits with 64`(query: String) async throws {
    let outcome = try await Binary.run(["heroes", "search", query])
    #expect(outcome.status == 64)
    #expect(
      outcome.errors == "error: empty query\nhint: specify at least one word\n")
  }

  @Test(arguments: ["--limit 2", "--limit=2", "-L2", "-L 2", "-L=2", "--limit 7 -L 2"])
  func `an option's value can be written in several ways`(option: String) async throws {
    for line in ["countries list --offline \(option)", "\(option) countries --offline list"] {
      let outcome = try await Binary.run(line)
      #expect(outcome.status == 0, "\(line): \(outcome)")
      #expect(outcome.lines.count == 2)
    }
  }

  @Test func `short options can be combined`() async throws {
    let outcome = try await Binary.run("countries list --offline -qL2")
    #expect(outcome.lines.count == 2)
    #expect(outcome.errors == "")
    #expect(try await Binary.run("countries list -qh").output.hasPrefix("List countries"))
  }

  @Test(arguments: [
    (["heroes list"], "heroes list", "heroes list"),
    (["heroes", "show spider man"], "show spider man", "heroes show spider man"),
    (["sources show", "heroes", "--json"], "sources show", "sources show heroes"),
  ])
  func `words that quotes have joined are no unknown word`(
    arguments: [String], word: String, line: String
  ) async throws {
    let outcome = try await Binary.run(arguments)
    #expect(outcome.status == 64)
    #expect(
      outcome.errors
        == "error: the quotes join \"\(word)\" into one word\nhint: without them: aggregator \(line)\n"
    )
  }

  @Test func `words of a query are joined by spaces`() async throws {
    let outcome = try await Binary.run("countries search --offline new --json zealand")
    let envelope = try outcome.envelope()
    #expect(envelope.query == "new zealand")
    #expect(envelope.items.map(\.code) == ["NZ"])
  }

  @Test(arguments: [
    "garbage", "unreachable.cMg.oyatise5b", "nonsense.cMg.oyatise5a", "Ω", "-1", ".", "a.b.c.d",
    String(repeating: "a", count: 513),
  ])
  func `a damaged or foreign cursor exits with 64 and never restarts silently`(cursor: String)
    async throws
  {
    for source in ["countries list", "heroes list", "countries search new"] {
      let outcome = try await Binary.run("\(source) --offline --cursor \(cursor)")
      #expect(outcome.status == 64, "\(source): \(outcome)")
      #expect(outcome.output == "")
      #expect(outcome.errors.contains("cursor"))
    }
  }

  @Test func `a cursor is valid only for its own listing`() async throws {
    let page = try await Binary.run("countries search new --offline -L1 --json").envelope()
    let cursor = try #require(page.page.next)
    #expect(try await Binary.run("countries search new --cursor \(cursor)").status == 0)
    for line in ["countries list", "countries search island", "heroes search new"] {
      let outcome = try await Binary.run("\(line) --cursor \(cursor)")
      #expect(outcome.status == 64)
      #expect(outcome.errors.contains("belongs to a different source or query"))
    }
  }
}
