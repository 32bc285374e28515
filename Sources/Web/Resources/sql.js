/* The script of the page for SQL: completion, saved queries and charts. Without it, queries run all the same. */

const form = $("#sql-form");
const field = $("#sql");

/* -- The field -- */

/* Replaces a part of the query in a way that the browser can undo. */
function replace(start, end, text) {
  field.focus();
  field.setSelectionRange(start, end);
  // Nothing else adds to what Ctrl-Z takes back.
  if (!document.execCommand("insertText", false, text)) field.setRangeText(text, start, end, "end");
  paint();
}

/* The colours of the query are those of a copy behind the field, whose own text is transparent. */
const copy = make("pre", { class: "copy", "aria-hidden": "true" });
field.before(copy);
field.addEventListener("scroll", () => { copy.scrollTop = field.scrollTop; });
const keywords = "all and any as asc between by case cast collate cross current desc distinct else end escape except exists explain false filter following from full glob group having in inner intersect is isnull join lateral left like limit matches natural not notnull null nulls offset on or order outer over partition preceding range recursive regexp right row rows select then true unbounded union using values when where window with";
const tokens = new RegExp(String.raw`(?<comment>--.*|/\*[^]*?(?:\*/|$))|(?<string>'[^']*'?)|"[^"]*"?|\b(?<number>\d[\w.]*)|\b(?<keyword>${keywords.replaceAll(" ", "|")})\b`, "gi");

function part(start, length) {
  const range = new Range();
  range.setStart(copy.firstChild, start);
  range.setEnd(copy.firstChild, start + length);
  return range;
}

function paint() {
  copy.textContent = `${field.value}\n`;
  if (!globalThis.Highlight) return;
  for (const kind of ["comment", "string", "number", "keyword"]) {
    const found = [...field.value.matchAll(tokens)].filter(({ groups }) => groups[kind]);
    CSS.highlights.set(kind, new Highlight(...found.map(match => part(match.index, match[0].length))));
  }
}
paint();

/* While a query runs, its button stops it: the server ends a query whose client has left. */
const run = $("button.primary", form);
const stop = make("button", { type: "button", class: "button", hidden: true, onclick: () => { window.stop(); showRunning(false); announce("Stopped"); } });
run.after(stop);
function showRunning(isRunning) {
  const [hasFocus, start] = [[run, stop].includes(document.activeElement), performance.now()];
  clearInterval(stop.ticking);
  if (isRunning) stop.ticking = setInterval(() => { stop.textContent = `Stop · running for ${Math.floor((performance.now() - start) / 1000)} s`; }, 1000);
  [run.hidden, stop.hidden, stop.textContent] = [isRunning, !isRunning, "Stop"];
  if (hasFocus) (isRunning ? stop : run).focus();
}
addEventListener("pageshow", () => { paint(); showRunning(false); });

form.addEventListener("submit", () => {
  // What does not fit into an address is the body of a request.
  form.method = encodeURIComponent(field.value).length > 8000 ? "post" : "get";
  if (result) attempt(() => sessionStorage.setItem("chart", location.hash));
  showRunning(true);
  announce("Running…");
});

/* The word at which a mistake is is selected; else the caret is at the end. */
const mistake = $(".failure")?.textContent.match(/\(character (\d+)\)/)?.[1] ?? Infinity;
const start = [...field.value].slice(0, mistake - 1).join("").length;
const wrong = field.value.slice(start).match(/^\w+|^[^]?/u)[0];
// A result is read on; with a keyboard, its query goes on as well. Some browsers would take the focus from a value that is missing.
if ($("#result table") && !$("[autofocus]") && matchMedia("(hover: hover)").matches) field.focus({ preventScroll: true });
if (field === document.activeElement || field.autofocus) field.setSelectionRange(start, start + wrong.length);
$(".keys").hidden = false;
if (/Mac|iPhone|iPad/.test(navigator.platform)) $(".keys kbd").textContent = "⌘";

for (const code of $$("code[data-name]")) {
  const insert = () => {
    const { selectionStart: start, selectionEnd: end, value } = field;
    const gap = /[\w"]$/.test(value.slice(0, start)) ? " " : "";
    replace(start, end, gap + code.dataset.name);
  };
  code.replaceWith(make("button", {
    type: "button", class: "name", "data-name": code.dataset.name, onclick: insert,
    title: "Insert into the query",
  }, code.textContent));
}

/* -- Completion of names: a list box that belongs to the field (WAI-ARIA, the pattern of the combo box) -- */

const tables = $$(".schema-table").map(table => {
  const [name, ...columns] = $$("[data-name]", table).map(button => button.dataset.name);
  return { name, columns };
});
const box = make("ul", { id: "names", role: "listbox", "aria-label": "Names", hidden: true });
field.after(box);
let word = "", chosen = 0;

field.setAttribute("aria-autocomplete", "list");
field.setAttribute("aria-haspopup", "listbox");

/* The names that begin with a word, those of tables of the query before all others. */
function names(word, all) {
  const text = field.value.toLowerCase();
  const plain = name => name.replace(/^"|"$/g, "").toLowerCase();
  const named = tables.filter(table => text.includes(plain(table.name)));
  const found = new Map();
  const add = (name, about) => {
    const begins = plain(name).startsWith(word.replace(/^"/, "").toLowerCase());
    if ((all || begins) && name !== word && !found.has(name)) found.set(name, about);
  };
  for (const table of named) for (const column of table.columns) add(column, table.name);
  for (const table of tables) add(table.name, "table");
  if (!named.length) for (const table of tables) for (const column of table.columns) add(column, table.name);
  return [...found].slice(0, 50);
}

/* The place of the caret, which the copy of the text shows. */
function caret() {
  const [end, box] = [part(field.selectionStart - word.length, 1), copy].map(each => each.getBoundingClientRect());
  return { left: end.left - box.left, top: end.bottom - box.top };
}

function complete(all = false) {
  const before = field.value.slice(0, field.selectionStart);
  word = before.match(/"?[\p{L}_][\p{L}\p{N}_]*$/u)?.[0] ?? "";
  const found = word || all ? names(word, all && !word) : [];
  const isText = (before.match(/'/g)?.length ?? 0) % 2 === 1;
  if (!found.length || isText || field.selectionStart !== field.selectionEnd) return close();
  box.replaceChildren(...found.map(([name, about], index) => make(
    "li", { role: "option", id: `name-${index}`, onmousedown: event => { event.preventDefault(); accept(name); } },
    make("span", {}, name), make("small", {}, about))));
  box.hidden = false;
  const { left, top } = caret();
  box.style.left = `${Math.max(0, Math.min(left, field.clientWidth - box.offsetWidth))}px`;
  box.style.top = `${top}px`;
  field.setAttribute("aria-controls", box.id);
  choose(0);
  announce(`${found.length} ${found.length === 1 ? "name" : "names"}`);
}

function choose(index) { chosen = chooseOption(box, field, index); }

function close() { box.hidden = true; field.removeAttribute("aria-activedescendant"); field.removeAttribute("aria-controls"); }

function accept(name) { replace(field.selectionStart - word.length, field.selectionStart, name); close(); }

field.addEventListener("input", event => { paint(); if (event.isTrusted) complete(); });
field.addEventListener("blur", close);
field.addEventListener("click", close);
field.addEventListener("keydown", event => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    close();
    return form.requestSubmit();
  }
  if (event.key === " " && event.ctrlKey) {
    event.preventDefault();
    return complete(true);
  }
  if (box.hidden || event.isComposing) return;
  if (/^(Arrow(Left|Right)|Home|End)$/.test(event.key)) return close();
  const take = () => accept($("span", box.children[chosen]).textContent);
  const actions = { ArrowDown: () => choose(chosen + 1), ArrowUp: () => choose(chosen - 1), Enter: take, Tab: take, Escape: close };
  if (!actions[event.key] || event.shiftKey) return;
  event.preventDefault();
  actions[event.key]();
});

/* -- Saved queries, in this browser -- */

const saved = $("#saved");
const load = () => kept("queries").filter(({ name, sql }) => name && sql);

function showSaved() {
  const queries = load();
  const input = make("input", { id: "saved-name", maxlength: "80", autocomplete: "off" });
  const without = name => load().filter(query => query.name !== name);
  const change = (queries, text) => {
    announce(keep("queries", queries) ? text : "This browser keeps nothing");
    showSaved();
    $("#saved-name").focus();
  };
  const save = event => {
    event.preventDefault();
    // The button is replaced: the menu would take it for one outside.
    event.stopPropagation();
    const name = input.value.trim();
    if (!name || !field.value.trim()) return (name ? field : input).focus();
    change([...without(name), { name, sql: field.value }].sort((a, b) => a.name.localeCompare(b.name)), `Saved ${name}`);
  };
  // The form of the query is around this, and forms cannot be in forms.
  input.addEventListener("keydown", event => { if (event.key === "Enter") save(event); });
  $(".panel > div", saved).replaceChildren(
    queries.length
      ? make("ul", {}, ...queries.map(({ name, sql }) => make("li", {},
        make("a", { href: `?sql=${encodeURIComponent(sql)}` }, name),
        make("button", {
          type: "button", class: "button", "aria-label": `Delete ${name}`,
          onclick: event => { event.stopPropagation(); change(without(name), `Deleted ${name}`); },
        }, "Delete"))))
      : make("p", { class: "note" }, "No query is saved in this browser."),
    make("div", { class: "save" }, make("label", { for: "saved-name" }, "Name"), input,
      make("button", { type: "button", class: "button primary", onclick: save }, "Save this query")));
}
saved.hidden = false;
showSaved();

/* -- Charts of the result -- */

const chart = $("#chart"), result = $("#result table");
const number = text => (text.trim() === "" ? NaN : Number(text));
const isYear = text => /^(1\d|20)\d\d$|^2100$/.test(text);
const namesYears = /(year|date|born|built|debut|died|established|founded|opened|published|released|since)$/i; // as in tables
const isDate = text => isYear(text) || /^\d{4}-\d\d(-\d\d([T ][\d:.]+(Z|[+-]\d\d:?\d\d)?)?)?$/.test(text);

/* The exact value of a cell, as text. */
const exact = cell => cell.dataset.value ?? cell.textContent;

/* The columns of the table, or of more rows than it has: their names, their texts with "" for null, and their kinds. */
function columns(all) {
  const rows = [...result.tBodies[0].rows];
  return $$("th", result.tHead).map((heading, index) => {
    const texts = all?.map(row => String(row[heading.textContent] ?? ""))
      ?? rows.map(({ cells }) => cells[index].matches(".null") ? "" : exact(cells[index]));
    const known = texts.filter(Boolean);
    const kind = heading.matches(".number") ? "number"
      : known.length && known.every(isDate) ? "date" : known.length ? "text" : undefined;
    const values = kind === "date" ? texts.map(text => (text ? Date.parse(text) : NaN)) : texts.map(number);
    const unit = kind === "number" && namesYears.test(heading.textContent) && known.every(isYear) ? "year" : kind;
    return { name: heading.textContent, kind, unit, texts, values };
  });
}

/* True if no two rows have the same texts in all of some columns. */
const tellApart = (...columns) => new Set(columns[0].texts.map((_, index) => columns.map(({ texts }) => texts[index]).join("\n"))).size === columns[0].texts.length;
/* The columns of the words at bars: the chosen one, with the others that tell apart those that share its texts. */
function wordsOf(x, columns) {
  const others = columns.filter(column => column !== x && ["text", "date"].includes(column.kind));
  return [[x], ...others.map(other => [x, other]), [x, ...others]].find(each => tellApart(...each)) ?? [x];
}
/* The column whose texts, eight at most, tell apart the points of each X; an empty one if no X repeats, none if nothing does. */
const series = (x, columns) => {
  const isOnce = ({ texts = [] }) => new Set(x.texts.map((text, index) => (text ? `${text}\n${texts[index]}` : index))).size === x.texts.length;
  return [{}, ...columns.filter(({ kind, texts }) => kind === "text" && new Set(texts).size <= 8)].find(isOnce);
};
/* The kinds of charts that columns allow: each with the columns for its axes. */
function kinds(columns) {
  const of = (...kinds) => columns.filter(({ kind }) => kinds.includes(kind));
  const [numbers, dates] = [of("number"), of("date")];
  const [latitude, longitude] = [/^lat(itude)?$/i, /^(lng|lon|long|longitude)$/i].map(names => numbers.find(({ name }) => names.test(name)));
  const isOrdered = ({ values }) => values.length > 2 && values.every((value, index) => !index || value >= values[index - 1]);
  const ordered = [...dates, ...numbers.filter(isOrdered)];
  const across = [...new Set([...ordered, ...numbers])].filter(column => series(column, columns));
  const found = {}, z = numbers.length > 1 ? [{ name: "(none)" }, ...numbers] : [];
  if (latitude && longitude) found.map = { label: "Map", x: [longitude], y: [latitude] };
  if (numbers.length && of("text", "date").length) found.bar = { label: "Bars", x: [...of("text", "date"), ...numbers], y: numbers, z };
  if (ordered.some(column => across.includes(column)) && numbers.some(column => column !== across[0])) found.line = { label: "Line", x: across, y: numbers, z };
  if (numbers.length > 1) found.scatter = { label: "Scatter", x: numbers, y: numbers };
  return found;
}

/* Hours, days, months or years that cover a range of time. */
function times(low, high, count) {
  const rough = (high - low) / count / 864e5;
  const days = [1 / 24, 1 / 8, 1 / 4, 1, 2, 7].find(days => days >= rough);
  if (days) return spread(low, high, days * 864e5);
  const months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200].find(months => months * 30 >= rough) ?? 12000;
  const first = new Date(low).getUTCFullYear() * 12 + new Date(low).getUTCMonth();
  const steps = [];
  for (let month = first - first % months; !(steps.at(-1) >= high); month += months) steps.push(Date.UTC(1970, month - 1970 * 12));
  return steps;
}

/* Round steps of an axis that cover a range. */
function ticks(low, high, count, kind) {
  if (kind === "date") return times(low, high, count);
  const rough = Math.max((high - low) / count || 1, kind === "year" ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(rough));
  return spread(low, high, [1, 2, 5, 10].map(factor => factor * power).find(step => step >= rough));
}

/* The multiples of a step that cover a range. */
function spread(low, high, step) {
  const steps = [];
  for (let index = Math.floor(low / step); index * step < high + step; index += 1) steps.push(index * step);
  return steps.length > 1 ? steps : [...steps, (steps[0] ?? 0) + step];
}

const amount = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
function said(value, kind, steps = [value]) {
  if (kind === "year") return String(value);
  if (kind !== "date") return (Math.abs(value) < 10_000 ? plain : amount).format(value);
  const text = step => new Date(step).toISOString();
  // No more than tells each from the others: 2019, 2019-12, 2019-12-23 or the time.
  const length = [4, 7, 10].find(length => steps.every(step => Date.parse(text(step).slice(0, length)) === step));
  return length ? text(value).slice(0, length) : value % 864e5 ? text(value).slice(11, 16) : text(value).slice(0, 10);
}
const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

const maxBars = 40, maxRows = 20_000, maxPoints = 2000;

/* Of many points, one for each place of the size of a point, which says for how many it stands. */
function thinned(points, placeOf) {
  if (points.length <= maxPoints) return points;
  const places = new Map();
  for (const point of points) {
    const place = placeOf(point).map(length => Math.round(length / 8)).join();
    if (places.has(place)) places.get(place).others += 1; else places.set(place, { ...point, others: 0 });
  }
  return [...places.values()];
}

/* Draws what the table is too short for. */
async function loadRows() {
  const body = JSON.stringify({ sql: chart.dataset.sql });
  delete chart.dataset.sql;
  const response = await fetch(`/api/v1/sql?format=ndjson&limit=${maxRows + 1}`, { method: "POST", body, headers: { "Content-Type": "application/json" } }).catch(() => ({}));
  // The rows of the table stay drawn.
  if (!response.ok) return;
  const rows = (await response.text()).split("\n").filter(Boolean).map(line => JSON.parse(line));
  const controls = () => $$(".views button, #chart select");
  const focused = controls().indexOf(document.activeElement);
  $("#outcome").textContent = $("#outcome").textContent.replace(/ rows/, ` of ${rows.length > maxRows ? "more than " : ""}${plain.format(Math.min(rows.length, maxRows))} rows`);
  showCharts(rows.slice(0, maxRows), rows.length > maxRows);
  controls()[focused]?.focus();
}
const extent = values => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);

/* The columns of a chart of two measures, in which each row is twice. */
function paired(x, y, z, { names, ids, words, ...rest }) {
  const both = column => column && { ...column, texts: column.texts.flatMap(text => [text, text]), values: column.values.flatMap(value => [value, value]) };
  const [texts, values] = ["texts", "values"].map(member => y[member].flatMap((value, index) => [value, z[member][index]])), keys = [y.name, z.name];
  return [both(x), { ...y, name: keys.join(", "), texts, values }, { ...rest, names: both(names), ids: both(ids), words: words.map(both), lines: { keys, texts: x.texts.flatMap(() => keys) } }];
}

function draw(kind, x, y, { view, names, ids, hasMore, lines, words }) {
  const isBar = kind === "bar", isMap = kind === "map", measures = lines?.keys?.length ?? 1;
  const named = words.map(({ name }) => name).join(", ");
  let points = x.texts.map((_, index) => ({ row: Math.floor(index / measures), text: words.map(({ texts }) => texts[index]).filter(Boolean).join(" · "), label: y.texts[index], name: names?.texts[index], id: ids?.texts[index], line: lines?.texts?.[index] ?? "", x: x.values[index], y: y.values[index] }))
    .filter(point => Number.isFinite(point.y) && (isBar || Number.isFinite(point.x)));
  if (isMap) points = points.filter(point => Math.abs(point.x) <= 180 && Math.abs(point.y) <= 90);
  const rowsOf = points => new Set(points.map(({ row }) => row)).size, all = rowsOf(points);
  if (isBar) points = points.slice(0, maxBars);
  if (kind === "line") points.sort((a, b) => a.x - b.x);
  if (!points.length) return undefined;
  // Of a width that the screen has, so that words have their size.
  const width = Math.max(300, Math.min(chart.clientWidth - 2, 1400));
  const [left, right, top] = [isBar ? Math.min(words.length > 1 ? 260 : 160, width / 3) : 72, Math.max(44, ...points.map(point => isBar && 7 * said(point.y, y.unit).length + 12)), 12];
  const inner = width - left - right, keys = lines?.keys ?? (lines ? [...new Set(points.map(({ line }) => line))].sort() : []);
  const height = isBar ? points.length * 24 : isMap ? inner / 2 : Math.min(360, inner * .6);
  const scale = (values, kind, count, isFromZero) => {
    let [low, high] = extent(isFromZero ? [0, ...values] : values);
    if (low === high && kind === "date") [low, high] = [low - 864e5, high + 864e5];
    const steps = ticks(low, high, count, kind);
    return { steps, low: steps[0], high: steps.at(-1) };
  };
  /* The part of the world that a map shows. */
  const degrees = (middle, limit, step) => {
    const [low, high] = [middle - limit / view.zoom, middle + limit / view.zoom];
    const whole = Array.from({ length: 2 * limit / step + 1 }, (_, index) => index * step - limit);
    const steps = view.zoom > 1 ? ticks(low, high, 2 * limit / step) : whole;
    return { low, high, steps: steps.filter(step => step >= low && step <= high) };
  };
  const across = isMap ? degrees(view.x, 180, width < 600 ? 60 : 30)
    : isBar ? scale(points.map(point => point.y), y.unit, Math.max(2, inner / 110), true)
      : scale(points.map(point => point.x), x.unit, Math.max(2, Math.floor(inner / 110)));
  const up = isMap ? degrees(view.y, 90, 30) : isBar ? { steps: [] } : scale(points.map(point => point.y), y.unit, 5);
  const toX = value => left + inner * (value - across.low) / (across.high - across.low), toY = value => top + height - height * (value - up.low) / (up.high - up.low);
  const labels = [], [wide, high] = isBar ? [y, { name: named }] : [x, y];
  const plot = { x: left, y: top, width: inner, height }, world = { x: toX(-180), y: toY(90), width: inner * view.zoom, height: height * view.zoom };
  // What is in the plot alone is cut off at its edge.
  const cutOff = parts => make("svg", { ...plot, viewBox: Object.values(plot).join(" ") }, ...parts);
  if (isMap) labels.push(cutOff([make("image", { href: chart.dataset.land, ...world, preserveAspectRatio: "none" })]));
  for (const step of across.steps) {
    labels.push(make("line", { class: "grid", x1: toX(step), x2: toX(step), y1: top, y2: top + height }));
    labels.push(make("text", { x: toX(step), y: top + height + 18, "text-anchor": "middle" }, said(step, wide.unit, across.steps)));
  }
  for (const step of up.steps) {
    labels.push(make("line", { class: "grid", x1: left, x2: left + inner, y1: toY(step), y2: toY(step) }));
    labels.push(make("text", { x: left - 8, y: toY(step) + 4, "text-anchor": "end" }, said(step, high.unit)));
  }
  labels.push(make("text", { class: "axis", x: left + inner / 2, y: top + height + 42, "text-anchor": "middle" }, cut(wide.name, 60)));
  if (isBar) labels.push(make("text", { class: "axis", x: left - 8, y: top + height + 42, "text-anchor": "end" }, cut(high.name, words.length > 1 ? 36 : 20)));
  else labels.push(make("text", { class: "axis", "text-anchor": "middle", transform: `translate(22 ${top + height / 2}) rotate(-90)` }, cut(high.name, 40)));
  const shown = isBar ? points : thinned(points, point => [toX(point.x), toY(point.y)]);
  const marks = shown.map((point, index) => {
    const others = point.others ? `, and ${plain.format(point.others)} more here` : "";
    const pair = isMap ? `${point.label}, ${point.text}` : `${[point.text, point.line].filter(Boolean).join(", ")}: ${point.label}`;
    const title = make("title", {}, (point.name && !isBar ? `${point.name} (${pair})` : pair) + others);
    const record = { "data-href": point.id && chart.dataset.records + encodeURIComponent(point.id), class: lines && `s${keys.indexOf(point.line)}` };
    if (!isBar) return make("circle", { cx: toX(point.x), cy: toY(point.y), r: kind === "line" ? 2.5 : 4 + Math.min(8, Math.log2(1 + (point.others ?? 0))), ...record }, title);
    const [start, end] = [toX(0), toX(point.y)];
    return make("g", {},
      make("rect", { x: Math.min(start, end), y: top + index * 24 + 3, width: Math.max(1, Math.abs(end - start)), height: 18, rx: 2, ...record }, title),
      make("text", { x: left - 8, y: top + index * 24 + 16, "text-anchor": "end" }, points[index - 1]?.row === point.row ? "" : cut(point.text, Math.floor((left - 12) / 7))),
      make("text", { class: "value", x: Math.max(start, end) + 4, y: top + index * 24 + 16 }, said(point.y, y.unit)));
  });
  if (!isBar) marks.unshift(...keys.map((key, number) => make("path", { class: `s${number}`, d: points.filter(({ line }) => line === key).map((point, index) => `${index ? "L" : "M"}${toX(point.x).toFixed(1)} ${toY(point.y).toFixed(1)}`).join("") })));
  if (isMap) marks.splice(0, marks.length, cutOff(marks), make("rect", { class: "sea", ...plot }));
  const [low, most] = extent(points.map(point => point.y));
  const name = isMap ? `Map of ${all} places` : `${{ bar: "Bar", line: "Line", scatter: "Scatter" }[kind]} chart of ${y.name} by ${named}: ${points.length} values from ${said(low, y.unit)} to ${said(most, y.unit)}.`;
  const drawing = make("svg", { class: `drawing ${kind}`, role: "img", "aria-label": name, width, height: top + height + 50, viewBox: `0 0 ${width} ${top + height + 50}` }, ...labels, ...marks);
  const [total, listed, drawn] = [x.texts.length / measures, result.tBodies[0].rows.length, rowsOf(points)], count = number => `${plain.format(number)} ${number === 1 ? "row" : "rows"}`;
  const isAll = drawn === total && !hasMore;
  const notes = [
    (!isAll || listed < total) && `drawn: ${isAll ? "all " : `${drawn < all || hasMore ? "the first " : ""}${plain.format(drawn)} of ${hasMore ? "more than " : ""}`}${count(total)}`,
    all < total && `${count(total - all)} without these values`,
    shown.length < points.length && "a point stands for all rows at its place",
    listed < total && `the table has the first ${plain.format(listed)}`,
  ];
  const legend = keys.map((key, number) => lines.texts ? make("span", { class: `s${number}` }, `● ${key || "(none)"} `) : "");
  return [drawing, make("p", { class: "note" }, ...legend, sentence(notes.filter(Boolean).join("; ")))];
}

/* A box for a map that shows the places at first, and can be enlarged and moved: by buttons, keys, the wheel with Ctrl, and the pointer. */
function mapBox(view, show, { x, y }) {
  const within = (low, value, high) => Math.max(low, Math.min(high, value));
  const set = (x, y, zoom) => {
    const [wide, high] = [180 - 180 / zoom, 90 - 90 / zoom];
    Object.assign(view, { zoom, x: within(-wide, x, wide), y: within(-high, y, high) });
    box.classList.toggle("enlarged", zoom > 1);
  };
  const move = (x, y, zoom = view.zoom) => { set(x, y, zoom); show(); };
  /* What is at a place stays there. */
  const zoomBy = (factor, { x, y } = view) => {
    const zoom = within(1, view.zoom * factor, 32);
    const part = view.zoom / zoom;
    move(x + (view.x - x) * part, y + (view.y - y) * part, zoom);
    announce(`Enlarged ${Number(zoom.toFixed(1))} times`);
  };
  const scale = () => {
    const { left, top, width, height } = $(".sea", box).getBoundingClientRect();
    return { left: left + width / 2, top: top + height / 2, degrees: 360 / view.zoom / width };
  };
  const onkeydown = event => {
    const step = 45 / view.zoom;
    const keys = {
      "+": () => zoomBy(2), "=": () => zoomBy(2), "-": () => zoomBy(.5), "0": () => move(0, 0, 1),
      ArrowLeft: () => move(view.x - step, view.y), ArrowRight: () => move(view.x + step, view.y),
      ArrowUp: () => move(view.x, view.y + step), ArrowDown: () => move(view.x, view.y - step),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  };
  const onwheel = event => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const { left, top, degrees } = scale();
    zoomBy(2 ** (-Math.sign(event.deltaY) / 2), { x: view.x + (event.clientX - left) * degrees, y: view.y - (event.clientY - top) * degrees });
  };
  let held;
  const onpointerdown = event => {
    if (event.button || view.zoom === 1 || event.target.closest("button, [data-href]")) return;
    held = { x: view.x + event.clientX * scale().degrees, y: view.y - event.clientY * scale().degrees };
    box.setPointerCapture(event.pointerId);
  };
  const onpointermove = event => { if (held) move(held.x - event.clientX * scale().degrees, held.y + event.clientY * scale().degrees); };
  const drop = () => { held = undefined; };
  const button = (label, sign, factor) => make("button", { type: "button", class: "button", "aria-label": label, onclick: () => zoomBy(factor) }, sign);
  const box = make("div", {
    class: "map-box", tabindex: "0", role: "group", "aria-label": "Map: plus and minus enlarge it, arrows move it, 0 shows the world",
    onkeydown, onwheel, onpointerdown, onpointermove, onpointerup: drop, onpointercancel: drop,
  }, make("div", { class: "zoom" }, button("Zoom in", "+", 2), button("Zoom out", "−", .5)), make("div"));
  const [[west, east], [south, north]] = [[x, 180], [y, 90]]
    .map(([[{ values }], limit]) => extent(values.filter(value => Math.abs(value) <= limit)));
  const part = Math.max((east - west) / 360, (north - south) / 180);
  if (part >= 0) set((west + east) / 2, (south + north) / 2, within(1, .8 / part, 16));
  else set(0, 0, 1);
  return box;
}

/* The table, or a chart in its place. */
const views = make("div", { class: "views", role: "group", "aria-label": "View" });

function showCharts(rows, hasMore = Boolean(chart.dataset.sql)) {
  const found = columns(rows);
  const possible = kinds(found);
  if (!Object.keys(possible).length || !found[0].texts.length) return;
  // A query that was changed has the chart of the last one, whose address had it.
  let drawnAt, kind = "", choice = new URLSearchParams((location.hash || attempt(() => sessionStorage.getItem("chart")) || "").slice(1));
  attempt(() => sessionStorage.removeItem("chart"));
  const [x, y, z] = [1, 2, 3].map(() => make("select", { onchange: () => { show(); share(); } }));
  const axes = Object.entries({ x, y, z });
  const figure = make("div", { class: "figure" });
  const offer = name => {
    kind = name;
    for (const button of views.children) {
      if (button.value === kind) button.setAttribute("aria-current", "true"); else button.removeAttribute("aria-current");
    }
    for (const [axis, select] of axes) {
      const choices = possible[kind]?.[axis] ?? [];
      select.replaceChildren(...choices.map(column => make("option", { value: found.indexOf(column), selected: column.name === choice.get(axis) }, column.name)));
      select.parentElement.hidden = choices.length < 2;
      select.parentElement.firstChild.data = `${{ z: "And", ...(kind === "bar" && { x: "Bars", y: "Length" }) }[axis] ?? axis.toUpperCase()} `;
    }
    if (x.value === y.value) y.value = found.indexOf(possible[kind]?.y.find(column => found.indexOf(column) !== Number(x.value)) ?? found[y.value]);
    show();
    share();
  };
  const view = {}, second = () => (z.value === y.value ? undefined : found[z.value]);
  const map = possible.map && mapBox(view, () => show(), possible.map);
  const ids = found.find(({ name }) => name === chart.dataset.id), texts = found.filter(({ kind }) => kind === "text");
  const names = texts.find(({ name }) => /^(title|name|label)$/i.test(name)) ?? texts.find(column => column !== ids);
  const show = () => {
    chart.hidden = !kind;
    $("#table").hidden = Boolean(kind);
    if (!kind) return;
    drawnAt = chart.clientWidth;
    if (chart.dataset.sql) loadRows();
    const [across, up] = [found[x.value], found[y.value]], lines = kind === "line" ? series(across, found) : undefined;
    // Lines that a column tells apart are of one measure.
    if (lines?.texts) z.value = "-1";
    z.parentElement.hidden = z.length < 2 || Boolean(lines?.texts);
    const rest = { view, names, ids, hasMore, words: kind === "bar" ? wordsOf(across, found) : [across], lines };
    const drawn = draw(kind, ...(second() ? paired(across, up, second(), rest) : [across, up, rest])) ?? [make("p", { class: "note" }, "There is nothing to draw.")];
    if (kind !== "map") return figure.replaceChildren(...drawn);
    map.lastChild.replaceChildren(...drawn);
    if (!map.isConnected) figure.replaceChildren(map);
  };
  /* The address has the chart, so that it can be shared. */
  const share = () => {
    if (kind) choice = new URLSearchParams({ chart: kind, x: found[x.value].name, y: found[y.value].name, ...(second() && { z: second().name }) });
    history.replaceState(history.state, "", kind ? `#${choice}` : location.pathname + location.search);
  };
  views.replaceChildren(...Object.entries({ "": { label: "Table" }, ...possible }).map(([value, { label }]) => make(
    "button", { type: "button", class: "button", value, onclick: () => offer(value) }, label)));
  $("#outcome").after(views);
  chart.replaceChildren(make("div", { class: "pickers" }, ...axes.map(([axis, select]) => make("label", {}, " ", select))), figure);
  offer(Object.hasOwn(possible, choice.get("chart")) ? choice.get("chart") : "");
  onresize = () => { if (kind && chart.clientWidth !== drawnAt) show(); };
}
if (result) showCharts();
chart?.addEventListener("click", ({ target }) => { if (target.dataset.href) location.assign(target.dataset.href); });

/* The first 200 rows are there at once; the others follow while there is nothing else to do. */
const [far, whenIdle] = [[...(result?.tBodies[0].rows ?? [])], globalThis.requestIdleCallback ?? setTimeout];
function showFar() {
  for (const row of far.splice(0, 200)) row.className = "near";
  if (far.length) whenIdle(showFar);
}
whenIdle(showFar);

/* -- Sorting of the result, by a click on a head: up, down, and as the query has it -- */

function sortable(table) {
  const headings = $$("th", table.tHead);
  const rows = [...table.tBodies[0].rows];
  const { compare } = new Intl.Collator("en", { numeric: true });
  const sort = (heading, index) => {
    const way = { null: "ascending", ascending: "descending" }[heading.getAttribute("aria-sort")];
    for (const other of headings) other.removeAttribute("aria-sort");
    if (way) heading.setAttribute("aria-sort", way);
    const [isNumber, sign] = [heading.matches(".number"), way === "descending" ? -1 : 1];
    const isNull = row => row.cells[index].matches(".null");
    const text = row => exact(row.cells[index]);
    table.tBodies[0].append(...(way ? rows.toSorted((a, b) => (
      // What is missing is last, whichever way.
      isNull(a) - isNull(b) || sign * ((isNumber && number(text(a)) - number(text(b))) || compare(text(a), text(b)))
    )) : rows));
    announce(way ? `Sorted by ${heading.textContent}, ${way}` : "As the query has them");
  };
  for (const [index, heading] of headings.entries()) {
    heading.replaceChildren(make("button", { type: "button", onclick: () => sort(heading, index) }, heading.textContent));
  }
}
if (result && result.tBodies[0].rows.length > 1) sortable(result);
