/* The script of the pages, without which they work too.

   It requests parts of the same pages, so that records are written as HTML in one place alone. */

const list = () => $("#list");
const detail = () => $("#detail");
const form = $("form.search");
const field = $("#query");
const program = $(".brand").textContent;
document.documentElement.classList.add("js");
$("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

/* Returns a part of the page at an address. A failure is a part too: it says what to do. */
async function part(address, name, signal) {
  const response = await fetch(address, { headers: { "X-Part": name }, signal });
  if (response.status === 401) location.reload();
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const element = $(`#${name}`, page);
  if (!element) throw new Error(`The server answered with status ${response.status}.`);
  return document.adoptNode(element);
}

/* Sends a request to the API; errors carry its words. */
async function send(method, address, signal) {
  const response = await fetch(address, { method, signal, headers: { Accept: "application/json" } });
  if (response.status === 401) location.reload();
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Error(problem.detail ?? `The server answered with status ${response.status}.`);
}

function words(error) {
  return error instanceof TypeError
    ? `Cannot reach ${program}. Is it still running?` : sentence(error.message);
}

function sentence(text) {
  const words = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(words) ? words : `${words}.`;
}

/* Shows a message until it is dismissed or replaced. */
function toast(text, action) {
  const button = (label, name, run) => make("button", {
    type: "button", class: name, onclick: () => { $("#toast").replaceChildren(); run?.(); },
  }, label);
  const buttons = [
    ...(action ? [button(action.label, "button primary", action.run)] : []),
    button("Dismiss", "button", () => focusRecord()),
  ];
  $("#toast").replaceChildren(make("p", { dir: "auto" }, text), ...buttons);
  if (action) buttons[0].focus();
}

/* Pictures that cannot be had make room for the initial behind them. */
function dropPicture(image) {
  (image.closest(".portrait") ?? image).remove();
}
addEventListener("error", event => {
  if (event.target instanceof HTMLImageElement) dropPicture(event.target);
}, true);
for (const image of document.images) {
  if (image.complete && image.naturalWidth === 0) dropPicture(image);
}

/* Pictures are loaded three at a time, while they are near the screen, so that other requests need not wait. */
const pictures = { near: new Set(), loading: 0 };
const nearScreen = new IntersectionObserver(entries => {
  for (const { isIntersecting, target } of entries) {
    if (isIntersecting) pictures.near.add(target); else pictures.near.delete(target);
  }
  loadPictures();
}, { rootMargin: "200px" });

function watchPictures() {
  for (const place of $$(".picture[data-image]")) nearScreen.observe(place);
}

function loadPictures() {
  for (const place of pictures.near) {
    if (pictures.loading >= 3) return;
    pictures.near.delete(place);
    const address = place.dataset.image;
    if (!address || !place.isConnected) continue;
    delete place.dataset.image;
    nearScreen.unobserve(place);
    pictures.loading += 1;
    const image = new Image();
    image.alt = "";
    image.onload = image.onerror = ({ type }) => {
      pictures.loading -= 1;
      if (type === "load") place.append(image);
      loadPictures();
    };
    image.src = address;
  }
}
watchPictures();

/* -- Search as you type, and endless scrolling -- */

let searching, typing, loading, shownDetail;

/* The address of the list: the parameters without those that are over. */
function listAddress(from = new URL(location)) {
  const address = new URL(form.action);
  address.search = from.search;
  for (const name of ["cursor", "offset", "deleted"]) address.searchParams.delete(name);
  if (address.searchParams.get("cache") === "reload") address.searchParams.delete("cache");
  return address;
}

function typedAddress() {
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) {
    if (value.trim()) address.searchParams.append(name, value.trim());
  }
  return address;
}

let shownList = form && listAddress().href;

/* The address in the bar: that of the open record, if any, with the parameters of the list. */
function showAddress(address, state = history.state) {
  const bar = new URL(address);
  if (shownDetail) bar.pathname = shownDetail;
  if (bar.href !== location.href) history.replaceState(state, "", bar);
}

/* Shows the list at an address; quietly if nobody has asked for it. */
async function showList(address, isQuiet = false) {
  searching?.abort();
  loading?.abort();
  const controller = searching = new AbortController();
  shownList = listAddress(address).href;
  if (!isQuiet) {
    list().setAttribute("aria-busy", "true");
    form.classList.add("loading");
  }
  try {
    const next = await part(address, "list", controller.signal);
    list().replaceWith(next);
    begin();
    announce($("[data-announce], .state h2", next)?.textContent ?? "");
    if (scrollY > form.offsetTop) form.parentElement.scrollIntoView();
  } catch (error) {
    if (controller.signal.aborted) return;
    shownList = undefined;
    list().removeAttribute("aria-busy");
    toast(words(error), { label: "Try again", run: () => { field.focus(); showList(address); } });
  } finally {
    if (searching === controller) form.classList.remove("loading");
  }
}

/* Shows the list at the address of a link: one that narrows or sorts it. */
function follow(link) {
  const address = new URL(link.href);
  keepInForm(address);
  const bar = new URL(address);
  if (shownDetail) bar.pathname = shownDetail;
  history.pushState(null, "", bar);
  showList(address);
}

/* The search keeps what the list is narrowed by. */
function keepInForm(address) {
  for (const input of $$("input[type=hidden]", form)) input.remove();
  for (const [name, value] of listAddress(address).searchParams) {
    if (name === "query") continue;
    form.append(make("input", { type: "hidden", name, value }));
  }
}

function search() {
  clearTimeout(typing);
  const address = typedAddress();
  if (address.href === shownList) return;
  showAddress(address, null);
  showList(address);
}

/* Prepares a list that has just arrived. */
function begin() {
  takenOut.clear();
  const first = $(".records > *");
  if (first) first.dataset.page = location.href;
  mark();
  watch();
  watchPictures();
  highlight();
}

/* Shows where the words of the search are, in browsers that can do so without changing the page. */
function highlight() {
  if (!globalThis.Highlight) return;
  const query = field?.value ?? "";
  const words = folded(query).text.split(/[\s"]+/).filter(Boolean);
  const ranges = [];
  const texts = document.createTreeWalker(list(), NodeFilter.SHOW_TEXT);
  while (words.length && texts.nextNode()) {
    const node = texts.currentNode;
    if (!node.parentElement.closest("td, .record") || node.parentElement.closest(".label, .initial")) continue;
    const { text, places } = folded(node.data);
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = document.createRange();
        range.setStart(node, places[at]);
        range.setEnd(node, places[at + word.length] ?? node.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("match", new Highlight(...ranges));
}

/* A text as searches compare it, without case and accents, and the place of each character in the original. */
function folded(original) {
  let text = "", at = 0;
  const places = [];
  for (const character of original) {
    const plain = character.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    for (let index = 0; index < plain.length; index += 1) places.push(at);
    text += plain;
    at += character.length;
  }
  return { text, places };
}

/* -- Long tables: pages of rows that are far from the screen are taken out, so that scrolling stays quick -- */

const longTable = 200;
const takenOut = new Map();
const nearRows = new IntersectionObserver(entries => {
  const isLong = takenOut.size > 0 || $$("tbody.records > tr").length > longTable;
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) putBack(target); else if (isLong) takeOut(target);
  }
}, { rootMargin: "3000px 0px" });

/* All records of the list, also those that are taken out. */
function records() {
  return $$(".records", list()).flatMap(page => $$(".record", takenOut.get(page) ?? page));
}

function takeOut(page) {
  if (takenOut.has(page) || !page.isConnected || !page.rows.length) return;
  if ($("[aria-current]", page) || page.contains(document.activeElement)) return;
  const table = page.closest("table");
  if (!table.style.tableLayout) {
    // Else the columns would move with the rows that are there.
    for (const heading of $$("th", table.tHead)) heading.style.width = `${heading.offsetWidth}px`;
    table.style.tableLayout = "fixed";
  }
  const cell = make("td", { colspan: page.rows[0].cells.length });
  cell.style.height = `${page.offsetHeight}px`;
  const gap = make("tr", { class: "gap", "aria-hidden": "true" }, cell);
  gap.dataset.page = page.rows[0].dataset.page;
  const rows = document.createDocumentFragment();
  rows.append(...page.childNodes);
  takenOut.set(page, rows);
  page.append(gap);
}

function putBack(page) {
  const rows = takenOut.get(page);
  if (!rows) return;
  takenOut.delete(page);
  page.replaceChildren(rows);
  mark();
  highlight();
  for (const row of $$("[data-page]", page)) inView.observe(row);
}

/* Puts back the page of a record that is to be shown. */
function reveal(record) {
  for (const [page, rows] of takenOut) {
    if (rows.contains(record)) putBack(page);
  }
  return record;
}

function mark() {
  const id = detail()?.dataset.id;
  for (const record of $$(".record[aria-current]")) record.removeAttribute("aria-current");
  if (id !== undefined) recordWith(id)?.setAttribute("aria-current", "true");
  for (const button of $$(".step")) {
    button.hidden = false;
    button.disabled = !recordAt(Number(button.dataset.step));
  }
}

/* The record so many places after the open one in the list, or after the focused one. */
function recordAt(step) {
  const all = records();
  const id = detail()?.dataset.id;
  const index = all.findIndex(record => (
    id === undefined ? record === document.activeElement : record.dataset.id === id));
  return index < 0 && id !== undefined ? undefined : all[index + step];
}

/* Opens the record before or after the open one, or moves to it in the list. */
function goTo(step, focus) {
  const record = recordAt(step);
  if (!record) return;
  // At the end of what is loaded, more follows.
  reveal(record).scrollIntoView({ block: "nearest" });
  if (!shownDetail) return record.focus();
  history.replaceState(history.state, "", record.href);
  openDetail(record.href, focus);
}

const recordWith = id => $(`.record[data-id="${CSS.escape(id)}"]`);

const nearEnd = new IntersectionObserver(entries => {
  for (const { isIntersecting, target } of entries) {
    if (isIntersecting && !target.dataset.failed) loadMore(target);
  }
}, { rootMargin: "0px 0px 600px" });

/* Lets the address follow the page that is being read. */
const inView = new IntersectionObserver(() => {
  const pages = $$(".records > [data-page]");
  const page = pages.findLast(page => page.getBoundingClientRect().top < innerHeight / 2);
  if (!page) return;
  const cursor = new URL(page.dataset.page).searchParams.get("cursor");
  const address = new URL(listAddress());
  if (cursor) address.searchParams.set("cursor", cursor);
  showAddress(address);
}, { rootMargin: "0px 0px -50%" });

function watch() {
  if (!detail()) return;
  nearEnd.disconnect();
  const link = $(".more a");
  if (link) nearEnd.observe(link);
  for (const page of $$(".records > [data-page]")) inView.observe(page);
  // Each is judged again: those that left the screen while the table was short, too.
  nearRows.disconnect();
  for (const page of $$("tbody.records")) nearRows.observe(page);
}

async function loadMore(link) {
  if (loading && !loading.signal.aborted) return;
  const controller = loading = new AbortController();
  const hadFocus = document.activeElement === link;
  link.textContent = "Loading…";
  link.setAttribute("aria-busy", "true");
  delete link.dataset.failed;
  $(".more .note")?.remove();
  try {
    const next = await part(link.href, "list", controller.signal);
    const items = $$(".records > *", next);
    if (!items.length && $(".state", next)) {
      throw new Error($(".state p", next)?.textContent ?? "");
    }
    append(next, items, link);
    if (hadFocus && items.length) $(".record", items[0])?.focus();
  } catch (error) {
    if (controller.signal.aborted) return;
    const note = make("p", { class: "note failed" }, words(error));
    link.before(note);
    link.textContent = "Try again";
    link.dataset.failed = "true";
    link.removeAttribute("aria-busy");
    announce(note.textContent);
  } finally {
    if (loading === controller) loading = undefined;
  }
}

/* Adds a page; one of another origin, or with other columns, keeps its own badge and headings. */
function append(next, items, link) {
  const text = (selector, root) => $$(selector, root).at(-1)?.textContent;
  const place = link.parentElement;
  const isSame = selector => text(selector, list()) === text(selector, next);
  if (items.length) items[0].dataset.page = link.href;
  if (isSame(".badge .label")) {
    const last = $$(".records", list()).at(-1);
    // Each page of rows is a part of the table, which can be taken out.
    if (last.matches("tbody")) last.after(...$$("tbody", next)); else last.append(...items);
  } else {
    $(".bar .count", next)?.remove();
    place.before(...$$(".bar, .table-box, ol.records", next));
  }
  const known = new Set($$(".note", list()).map(note => note.textContent));
  place.before(...$$(".note", next).filter(note => !known.has(note.textContent)));
  place.replaceWith(...$$(".more, .end", next));
  const shown = $("[data-shown]");
  if (shown) shown.textContent = String(Number(shown.textContent) + items.length);
  announce(`${items.length} more`);
  mark();
  watch();
  watchPictures();
  highlight();
}

/* The first page has a search, but no list. */
if (form && list()) {
  if (detail()?.dataset.id !== undefined) shownDetail = location.pathname;
  field.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(search, 200);
  });
  form.addEventListener("submit", event => { event.preventDefault(); search(); });
  const address = new URL(location);
  if (address.searchParams.get("cache") === "reload" || address.searchParams.has("deleted")) {
    for (const name of ["cache", "deleted"]) address.searchParams.delete(name);
    history.replaceState(history.state, "", address);
  }
  begin();
}

/* Counts down to the time at which a service is asked again, and shows its answer. */
setInterval(() => {
  for (const place of $$("[data-countdown]")) {
    const rest = Math.max(0, Number(place.dataset.countdown) - 1);
    place.dataset.countdown = rest;
    place.textContent = `${rest} s`;
    if (rest || document.hidden || !list()?.contains(place) || scrollY > innerHeight) continue;
    delete place.dataset.countdown;
    place.textContent = "a moment";
    showList(listAddress(), true);
  }
}, 1000);

/* -- Opening and closing a record without leaving the list -- */

let opening, scrolled = 0;
const heading = $("h1")?.textContent;

async function openDetail(address, focus = "h2") {
  opening?.abort();
  const controller = opening = new AbortController();
  if (!shownDetail) scrolled = scrollY;
  shownDetail = new URL(address, location).pathname;
  document.body.classList.add("has-detail");
  detail().hidden = false;
  detail().setAttribute("aria-busy", "true");
  try {
    const next = await part(address, "detail", controller.signal);
    detail().replaceWith(next);
    mark();
    const title = $("h2", next);
    document.title = [title?.textContent, heading, "aggregator"].filter(Boolean).join(" – ");
    title?.setAttribute("tabindex", "-1");
    const wanted = $(focus, next);
    (wanted?.disabled ? title : wanted)?.focus({ preventScroll: true });
    if (isNarrow()) scrollTo(0, 0);
  } catch (error) {
    if (controller.signal.aborted) return;
    hideDetail();
    toast(words(error));
  }
}

const isNarrow = () => getComputedStyle(list()).display === "none";

function hideDetail() {
  opening?.abort();
  const id = detail().dataset.id;
  const wasNarrow = isNarrow();
  shownDetail = undefined;
  document.body.classList.remove("has-detail");
  detail().removeAttribute("data-id");
  detail().removeAttribute("aria-busy");
  detail().removeAttribute("aria-labelledby");
  detail().setAttribute("aria-label", "Details");
  detail().hidden = true;
  detail().replaceChildren();
  mark();
  document.title = `${heading} – ${program}`;
  if (wasNarrow) scrollTo(0, scrolled);
  focusRecord(id);
}

/* Returns the focus to the list. */
function focusRecord(id) {
  const record = (id !== undefined && recordWith(id)) || $(".record[aria-current]");
  (record ?? $(".record") ?? field)?.focus({ preventScroll: Boolean(record) });
}

function closeDetail() {
  if (history.state?.isFromList) return history.back();
  const address = new URL(listAddress());
  hideDetail();
  history.pushState(null, "", address);
}

function isPlainClick(event) {
  return event.button === 0 && !event.defaultPrevented
    && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}

if (detail()) {
  document.addEventListener("click", event => {
    if (!isPlainClick(event)) return;
    const row = getSelection().isCollapsed && event.target.closest("tbody tr");
    const link = event.target.closest("a") ?? (row && $(".record", row)) ?? undefined;
    if (link?.matches(".record")) {
      event.preventDefault();
      const isFromList = !shownDetail;
      history.pushState({ isFromList }, "", link.href);
      openDetail(link.href);
    } else if (event.target.closest(".step")) {
      const { step } = event.target.closest(".step").dataset;
      goTo(Number(step), `[data-step="${step}"]`);
    } else if (link?.matches(".close")) {
      event.preventDefault();
      closeDetail();
    } else if (link?.matches(".more a")) {
      event.preventDefault();
      loadMore(link);
    } else if (link?.matches(".filter, .chip, .facets a, thead a")) {
      event.preventDefault();
      follow(link);
    }
  });
  addEventListener("popstate", () => {
    const address = listAddress();
    if (address.href !== shownList) {
      field.value = address.searchParams.get("query") ?? "";
      keepInForm(address);
      showList(address);
    }
    const isRecord = location.pathname !== new URL(form.action).pathname;
    if (!isRecord || location.pathname === "/") {
      if (shownDetail) hideDetail();
    } else if (location.pathname !== shownDetail) {
      openDetail(location.href);
    }
  });
}

/* -- Adding a source: its service may take long -- */

$("form#add")?.addEventListener("submit", event => {
  const button = $("button", event.target);
  button.disabled = true;
  button.textContent = button.dataset.busy;
  announce(button.dataset.busy);
});
// The form is as it was when one comes back to it.
addEventListener("pageshow", event => { if (event.persisted && $("form#add")) location.reload(); });

/* -- Deleting a record, with a way back -- */

document.addEventListener("submit", async event => {
  if (!event.target.matches("form.delete")) return;
  event.preventDefault();
  const { api, name } = event.target.dataset;
  const button = $("button", event.target);
  button.disabled = true;
  try {
    await send("DELETE", api);
  } catch (error) {
    button.disabled = false;
    return toast(words(error));
  }
  const item = recordWith(detail().dataset.id)?.closest("li, tr");
  const gap = document.createComment("deleted");
  item?.replaceWith(gap);
  changeCount(-1);
  const path = location.pathname;
  const address = new URL(listAddress());
  hideDetail();
  history.replaceState(null, "", address);
  toast(`Deleted “${name}”`, { label: "Undo", run: () => restore(api, path, item, gap) });
});

async function restore(api, path, item, gap) {
  try {
    await send("POST", `${api}/restore`);
  } catch (error) {
    return toast(words(error), { label: "Try again", run: () => restore(api, path, item, gap) });
  }
  if (item && gap.isConnected) {
    gap.replaceWith(item);
    changeCount(1);
    $(".record", item).focus();
  } else {
    focusRecord();
  }
  announce("Restored");
}

function changeCount(change) {
  const count = $(".count [data-shown]") ?? $(".count");
  const number = count?.firstChild;
  if (!number) return;
  number.textContent = number.textContent.replace(/\d+/, text => String(Number(text) + change));
}

/* -- Syncs: the server runs them, and every page shows those that are under way -- */

let syncs = new Map(), asking;

/* Shows the syncs as they are now, and again: soon while one of them runs. */
async function showSyncs() {
  clearTimeout(asking);
  asking = undefined;
  try {
    const { items } = await (await send("GET", "/api/v1/sync")).json();
    const before = syncs;
    syncs = new Map(items.map(sync => [sync.source, sync]));
    for (const box of $$(".sync")) showSync(box);
    for (const place of $$("nav [data-source]")) showSyncIn(place);
    for (const [source, sync] of syncs) {
      if (before.get(source)?.state === "running" && !runs(sync)) ended(sync);
    }
  } catch {
    // The server is asked again.
  }
  const isBusy = [...syncs.values()].some(runs);
  if (!document.hidden) asking = setTimeout(showSyncs, isBusy ? 500 : 10000);
}

const runs = sync => sync?.state === "running";
const number = count => count.toLocaleString("en");

function showSync(box) {
  const sync = syncs.get(box.dataset.source);
  const isRunning = runs(sync);
  box.hidden = false;
  if (isRunning) box.dataset.isWatched = "true";
  const label = $("button span", box);
  label.dataset.usual ??= label.textContent;
  label.textContent = isRunning ? "Stop" : label.dataset.usual;
  const bar = $("progress", box);
  bar.hidden = !isRunning;
  showAmount(bar, sync);
  // What ended before the page was opened is of interest only if it failed.
  const isNew = box.dataset.isWatched || ["failed", "interrupted"].includes(sync?.state);
  const text = sync && isNew ? syncWords(sync, box.dataset.noun) : "";
  $(".sync-state", box).hidden = !text;
  const place = $(".sync-words", box);
  if (place.textContent !== text) place.textContent = text;
}

/* The progress below the name of a source. */
function showSyncIn(place) {
  const sync = syncs.get(place.dataset.source);
  let bar = $("progress", place);
  if (!runs(sync)) return bar?.remove();
  if (!bar) {
    bar = make("progress", { "aria-label": "Syncing" });
    place.append(bar);
  }
  showAmount(bar, sync);
}

function showAmount(bar, sync) {
  const { records = 0, total } = sync?.result ?? {};
  if (!total) return bar.removeAttribute("value");
  bar.max = total;
  bar.value = Math.min(records, total);
}

function syncWords({ state, result, error }, noun) {
  const { kind, records = 0, total, added, changed, complete, warnings = [] } = result;
  const amount = kind === "incremental" && state !== "running"
    ? `${number(added + changed)} changed ${noun}` : `${number(records)} ${noun}`;
  switch (state) {
    case "running":
      if (!records) return "Starting…";
      return total ? `${number(records)} of ${number(total)} ${noun}` : amount;
    case "done":
      if (complete || kind === "endless") return `${amount} synced`;
      return `${amount} synced, but not all: ${warnings[0]?.message ?? "the list did not end"}`;
    case "cancelled": return `Stopped after ${amount}; the next sync goes on there`;
    case "interrupted":
      return `Stopped after ${amount}, because the server ended; the next sync goes on there`;
    default: return sentence(error.message);
  }
}

/* Shows what a sync has brought. */
function ended({ source }) {
  const box = $(`.sync[data-source="${CSS.escape(source)}"]`);
  if (!box) return;
  announce($(".sync-words", box).textContent);
  if ($("#sources")) showSources();
  else if (list() && scrollY < innerHeight) showList(listAddress(), true);
}

async function showSources() {
  const watched = $$(".sync").filter(box => box.dataset.isWatched).map(box => box.dataset.source);
  const next = await part("/", "sources");
  $("#sources").replaceWith(next);
  for (const box of $$(".sync")) {
    if (watched.includes(box.dataset.source)) box.dataset.isWatched = "true";
    showSync(box);
  }
}

document.addEventListener("click", async event => {
  const box = event.target.closest(".sync button")?.closest(".sync");
  if (!box) return;
  const { source, action, bound } = box.dataset;
  box.dataset.isWatched = "true";
  try {
    if (runs(syncs.get(source))) await send("DELETE", action);
    else await send("POST", action + bound);
  } catch (error) {
    toast(words(error));
  }
  showSyncs();
});

document.addEventListener("visibilitychange", () => { if (!document.hidden) showSyncs(); });
if ($("nav")) showSyncs();

/* -- Keys, as the dialog of ? lists them -- */

const shortcuts = $("#shortcuts");
const menus = "details:is(.badge, .menu)[open]";
const isEditable = element => element?.matches?.("input, textarea, select, [contenteditable]");

function showShortcuts() {
  attempt(() => localStorage.setItem("shortcuts", shortcuts.checked ? "on" : "off"));
  for (const hint of $$("kbd.hint")) hint.hidden = !shortcuts.checked;
}

if (shortcuts) {
  shortcuts.checked = attempt(() => localStorage.getItem("shortcuts")) !== "off";
  shortcuts.closest(".shortcuts").hidden = false;
  shortcuts.addEventListener("change", showShortcuts);
  showShortcuts();
}

/* The record that an arrow leads to; in a gallery, rows are as wide as the screen lets them be. */
function neighbour(record, key) {
  const all = records();
  const index = all.indexOf(record);
  const gallery = record.closest(".gallery");
  const line = $$(".record", record.closest(".records"));
  const columns = gallery
    ? line.filter(other => other.offsetTop === line[0].offsetTop).length : 1;
  const isRightToLeft = getComputedStyle(record).direction === "rtl";
  const steps = {
    ArrowDown: columns, ArrowUp: -columns, Home: -index, End: all.length - 1 - index,
    ArrowRight: gallery ? (isRightToLeft ? -1 : 1) : 0,
    ArrowLeft: gallery ? (isRightToLeft ? 1 : -1) : 0,
  };
  const step = steps[key];
  if (!step) return null;
  if (index + step < 0) return key === "ArrowUp" ? field : null;
  return reveal(all[Math.min(index + step, all.length - 1)]);
}

document.addEventListener("keydown", event => {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
  const target = event.target;
  if ($("dialog[open]")) return;
  const isSingle = shortcuts?.checked && !isEditable(target);
  if (isSingle && event.key === "?") {
    $("#keys").showModal();
  } else if (isSingle && ["j", "k"].includes(event.key) && detail()) {
    event.preventDefault();
    goTo(event.key === "j" ? 1 : -1);
  } else if (isSingle && event.key === "/" && field) {
    event.preventDefault();
    if (document.body.classList.contains("has-detail") && isNarrow()) closeDetail();
    field.focus();
    field.select();
  } else if (event.key === "Escape") {
    const menu = $(menus);
    if (menu) {
      menu.open = false;
      $("summary", menu).focus();
    } else if (target === field && field.value) {
      return;
    } else if (shownDetail) {
      closeDetail();
    }
  } else if (event.key === "ArrowDown" && target === field) {
    const first = $(".record", list());
    if (first) { event.preventDefault(); first.focus(); }
  } else if (target.matches?.(".record")) {
    const next = neighbour(target, event.key);
    if (next) { event.preventDefault(); next.focus(); }
  }
});

document.addEventListener("click", event => {
  for (const menu of $$(menus)) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  const copied = event.target.closest("[data-copy]");
  if (copied) copy(copied);
});

/* Menus are shown with what needs the script. */
document.addEventListener("toggle", event => {
  if (event.target.matches?.(menus)) {
    for (const button of $$("[data-copy]", event.target)) button.hidden = false;
  }
}, true);

async function copy({ dataset }) {
  const text = "url" in dataset ? new URL(dataset.copy, location).href : dataset.copy;
  try { await navigator.clipboard.writeText(text); announce("Copied"); toast(`Copied: ${text}`); }
  catch { toast(text); }
}
