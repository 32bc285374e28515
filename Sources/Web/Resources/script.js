/* The script of the pages, without which they work too.

   It requests parts of the same pages, so that records are written as HTML in one place alone. */

const [list, detail] = ["#list", "#detail"].map(name => () => $(name));
const [form, field, program] = [$("form.search"), $("#query"), $(".brand").textContent];
document.documentElement.classList.add("js");
if (location.pathname === "/search" && field?.value === "" && matchMedia("(hover: hover)").matches) field.focus(); // a touch would open a keyboard
const number = count => count.toLocaleString("en");
const amountIn = text => Number(text.replaceAll(",", ""));

/* Returns a part of the page at an address. A failure is a part too: it says what to do. */
async function part(address, name, signal) {
  const response = await fetch(address, { headers: { "X-Part": name }, signal });
  if (response.status === 401) location.reload();
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const element = $(`#${name}`, page);
  if (!element) throw Object.assign(new Error(`The server answered with status ${response.status}.`), { status: response.status });
  return Object.assign(document.adoptNode(element), { status: response.status });
}

/* Sends a request to the API; errors carry its words. */
async function send(method, address, signal) {
  const response = await fetch(address, { method, signal, headers: { Accept: "application/json" } });
  if (response.status === 401) location.reload();
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new Error(problem.detail ?? `The server answered with status ${response.status}.`);
}

const words = error => (error instanceof TypeError ? `Cannot reach ${program}. Is it still running?` : sentence(error.message));

/* Shows a message until it is dismissed or replaced; an offer takes no focus. */
function toast(text, action) {
  const button = (label, name, run) => make("button", { type: "button", class: name, onclick: () => { $("#toast").replaceChildren(); run?.(); } }, label);
  const dismiss = button("Dismiss", "button", () => { if (list() && !list().hidden && !action?.isOffer) focusRecord(); });
  const buttons = action ? [button(action.label, "button primary", action.run), dismiss] : [dismiss];
  $("#toast").replaceChildren(make("p", { dir: "auto" }, text), ...buttons);
  if (action && !action.isOffer) buttons[0].focus();
}

/* Pictures that cannot be had make room for the initial behind them; the room of others is no larger than they are. */
const fitPicture = image => (image.naturalWidth ? image.closest(".portrait")?.classList.add("loaded") : (image.closest(".portrait") ?? image).remove());
for (const type of ["load", "error"]) document.addEventListener(type, ({ target }) => { if (target instanceof HTMLImageElement) fitPicture(target); }, true);
for (const image of document.images) if (image.complete) fitPicture(image);

/* Pictures are loaded three at a time, while they are near the screen, so that other requests need not wait. */
const pictures = { near: new Set(), loading: new Map() };
const nearScreen = new IntersectionObserver(entries => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) pictures.near.add(target); else leavePicture(target);
  loadPictures();
}, { rootMargin: "200px" });

const watchPictures = () => $$(".picture[data-image]").forEach(place => nearScreen.observe(place));

function loadPictures() {
  for (const place of pictures.near) {
    if (pictures.loading.size >= 3) return;
    if (!place.isConnected || pictures.loading.has(place)) continue;
    const image = Object.assign(new Image(), { alt: "", decoding: "async" });
    image.onload = image.onerror = ({ type }) => {
      leavePicture(place);
      nearScreen.unobserve(place);
      delete place.dataset.image;
      place.classList.add(type === "load" ? "loaded" : "failed");
      if (type === "load") place.append(image); else foldPictures(place.closest(".gallery"), image.src);
      loadPictures();
    };
    pictures.loading.set(place, image);
    image.src = place.dataset.image;
  }
}

/* Where none of the pictures near the screen could be had, galleries need no room for them, and say why. */
function foldPictures(gallery, address) {
  if (!gallery || pictures.near.size || $(".gallery .loaded")) return;
  for (const each of $$(".gallery")) each.classList.add("plain");
  if (!$("#no-pictures")) $(".gallery").before(make("p", { class: "note", id: "no-pictures", dir: "auto" }, "Pictures cannot be loaded."));
  send("GET", address).catch(error => $("#no-pictures")?.replaceChildren(`Pictures cannot be loaded. ${words(error)}`));
}

/* Stops to load the picture of a place, if it has not arrived. */
function leavePicture(place) {
  const image = pictures.loading.get(place);
  for (const places of Object.values(pictures)) places.delete(place);
  if (image) Object.assign(image, { onload: null, onerror: null }, !image.complete && { src: "" });
}
watchPictures();

/* -- Search as you type, and endless scrolling -- */

let searching, typing, loading, opening, shownDetail, touched;

/* The first page shows what a search finds in the place of its sources, at its own address. */
const isHome = Boolean($("#sources"));

const typed = {
  number: { pattern: "-?[0-9,]+(\\.[0-9]+)?", title: "A number, such as 12.5" },
  numbers: { pattern: "[\\-0-9.,; ]+", title: "Numbers, such as 12.5, 13" },
  date: { pattern: "\\d{4}(-\\d\\d(-\\d\\d([T ].+)?)?)?", title: "A date, such as 2024, 2024-03 or 2024-03-04" },
};

/* The address of the list: the parameters without those that are over. */
function listAddress(from = isHome ? typedAddress() : new URL(location)) {
  const address = new URL(form.action);
  address.search = from.search;
  for (const name of ["cursor", "offset", "deleted", "edit"]) address.searchParams.delete(name);
  if (address.searchParams.get("cache") === "reload") address.searchParams.delete("cache");
  return address;
}

/* The address of what is typed. */
function typedAddress() {
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) if (value.trim()) address.searchParams.append(name, value.trim());
  return address;
}

let shownList = form && listAddress().href;

/* The address in the bar: that of the open record, if any, with the parameters of the list. */
function showAddress(address, state = history.state, change = "replaceState") {
  const bar = new URL(address);
  if (shownDetail) bar.pathname = shownDetail;
  if (bar.href !== location.href) history[change](state, "", bar);
}

/* Shows the list at an address; quietly, also for those who hear the page, if nobody has asked for it. */
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
    const focused = list().contains(document.activeElement) && placeOf(document.activeElement);
    const filters = $(".filters", list());
    const open = filters && new Map($$("details", filters).map(each => [foldOf(each), each.open]));
    const top = filters?.scrollTop;
    list().replaceWith(next);
    if (isHome) next.hidden = !($("#sources").hidden = Boolean(field.value.trim()));
    fold(open);
    $(".filters", next)?.scrollTo(0, $("[autofocus]", next) ? 0 : top ?? 0);
    if (focused) focusAt(focused, next, ".filter, .group h2 a");
    if (!shownDetail && !isHome) document.title = listTitle();
    begin();
    if (!isQuiet) announce($(".failure p, [data-announce], .state h2", next)?.textContent ?? "");
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

/* The field of whose values an element is one, if it is. */
const fieldOf = element => element.closest(".facets section")?.querySelector("h2").textContent;
const foldOf = details => `${fieldOf(details)} ${details.matches(".facets details details")}`;

/* Leaves open what was; at first, only what is chosen where the values are above the list, so that it is not far below. */
function fold(open) {
  const isAtFirst = details => $("[aria-current]", details) || !$(".filters").offsetHeight || getComputedStyle($(".filters")).position !== "static";
  for (const details of $$(".filters details", list())) details.open = open?.get(foldOf(details)) ?? (details.open && isAtFirst(details));
}

/* What tells an element of a part from the others, also in the next one. */
function placeOf(element) {
  const words = $("bdi", element) ?? element;
  return [element.tagName, element.name, element.ariaLabel, words.textContent.trim(), fieldOf(element)].join("\n");
}

/* Focuses what another part wants to, else what has the place in it, or something else of it. */
function focusAt(place, next, other) {
  const found = $$("a, button, summary, select, input", next).find(element => placeOf(element) === place);
  ($("[autofocus]", next) ?? found ?? $(other, next))?.focus({ preventScroll: true });
}

/* Shows the list at the address of a link: one that narrows or sorts it; with Shift, by the next key, or by the range of a
   histogram from a first bar on. Filters for which an open record leaves no room are shown in its place. */
function follow(link, { shiftKey, pointerType }, first = shiftKey ? touched : link) {
  const bars = barsBetween(first, link);
  // A first touch, or the first bar with Shift, shows its range.
  if (link.closest(".range") && (shiftKey ? !bars.length : pointerType === "touch" && touched !== link)) return (touched = link).focus();
  const { then, where } = link.dataset;
  const ends = bars.length > 1 && [bars[0].dataset.from, bars.at(-1).dataset.to].filter(Boolean);
  let address = where ? toggled(where) : new URL(ends ? link.closest(".range").dataset.href : (shiftKey && then) || link.href, location);
  if (ends.length) address.searchParams.append("where", ends.join(" and "));
  const isFilter = link.matches(".tools > .filter, .chip a:not(.remove)");
  if (shownDetail && (isFilter ? !getComputedStyle(link).getPropertyValue("--beside") : where && isNarrow())) {
    hideDetail();
    if (link.matches(".filter") && $(".filters", list())) address = listAddress();
  }
  keepInForm(address);
  showAddress(address, null, "pushState");
  return showList(address);
}

/* The conditions of the list, as the server writes them. */
const chosenFilters = () => $$(".chips [data-where]", list()).map(chip => chip.dataset.where);

/* The address of the list with a condition besides the others, or without it. */
function toggled(where) {
  const [address, conditions] = [listAddress(), new Set(chosenFilters())];
  if (!conditions.delete(where)) conditions.add(where);
  address.searchParams.delete("where");
  for (const each of conditions) address.searchParams.append("where", each);
  if (address.searchParams.get("cache") === "live") address.searchParams.delete("cache"); // filters read cached records
  return address;
}

/* The bars of a histogram from one to another; none if they are not in the same one. */
function barsBetween(first, last) {
  const bars = first?.closest(".range") ? $$("a", first.closest(".range")) : [];
  const [from, to] = [first, last].map(bar => bars.indexOf(bar)).sort((one, other) => one - other);
  return from < 0 ? [] : bars.slice(from, to + 1);
}

/* A mouse chooses a range by a drag over its bars. */
let pressed;
for (const type of ["pointerdown", "pointerover", "pointerup"]) document.addEventListener(type, ({ target, pointerType, button, buttons }) => {
  const bar = target.closest(".range a");
  if (type === "pointerdown") pressed = pointerType === "mouse" && !button ? bar : undefined;
  else if (!buttons && type === "pointerover") pressed = undefined; // released outside the window
  const [first, bars] = [pressed, pressed ? barsBetween(pressed, bar) : []];
  for (const each of first ? $$(".range a") : []) each.classList.toggle("within", type === "pointerover" && bars.length > 1 && bars.includes(each));
  if (type === "pointerup") pressed = undefined;
  if (type === "pointerup" && bars.length > 1) follow(bar, {}, first);
});

/* The search keeps what the list is narrowed by. */
function keepInForm(address) {
  for (const input of $$("input[type=hidden]", form)) input.remove();
  for (const [name, value] of listAddress(address).searchParams) if (name !== "query") form.append(make("input", { type: "hidden", name, value }));
}

function search() {
  clearTimeout(typing);
  const address = typedAddress();
  if (address.href === shownList) return;
  // The list from which the typing began can be gone back to.
  if (!isHome) showAddress(address, { isTyped: true }, history.state?.isTyped ? "replaceState" : "pushState");
  showList(address);
}

/* Prepares a list that has just arrived. */
function begin() {
  takenOut.clear();
  isLong = false;
  nearPages?.disconnect();
  nearPages = new IntersectionObserver(takeOutFar, { root: tableBox(), rootMargin: "2000px 0px" });
  resized.disconnect();
  [rowHeight, rooms, left] = [0, [0, 0], undefined];
  const most = Number($(".jump input[max]", list())?.max);
  total = detail() && offset() >= 0 && most === amountIn(countText()?.data.match(/\d[\d,]*/)?.[0] ?? "") ? most : 0;
  $(".records > *")?.setAttribute("data-page", location.href);
  if (detail()) arrange($(".gallery", list()));
  const [sorted, right] = [$("th[aria-sort]", list()), each => each.getBoundingClientRect().right];
  if (sorted) tableBox().scrollLeft += Math.max(0, right(sorted) - right(tableBox()));
  fitFilter();
  mark();
  watch();
}

/* Shows where the words of the search are, in browsers that can do so without changing the page. */
function highlight() {
  if (!globalThis.Highlight) return;
  const words = [...folded(field?.value ?? "").text.matchAll(/["“„«]([^"“”„«»]+)["“”»]?|[^\s"“”„«»]+/g)].map(([word, phrase]) => (phrase ?? word).trim()).filter(Boolean);
  const ranges = [];
  for (const parts of words.length ? $$(".record bdi:has(wbr)") : []) if (words.some(word => folded(parts.textContent).text.includes(word))) parts.textContent = parts.textContent;
  const texts = document.createTreeWalker($("main"), NodeFilter.SHOW_TEXT);
  while (words.length && texts.nextNode()) {
    const node = texts.currentNode;
    if (!node.parentElement.closest("td, .record, #detail :is(h2, dd)") || node.parentElement.closest(".label, .initial")) continue;
    const { text, places } = folded(node.data);
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = document.createRange();
        range.setStart(node, places[at]);
        range.setEnd(node, places[at] + node.data.slice(places[at], places[at + word.length]).replace(lastSigns, "").length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("match", new Highlight(...ranges));
}

const signs = /[\p{M}'´`‘’‛ʹʻʼ′\-‐‑‒–—―−\u00AD.·,]/gu;
const lastSigns = /['´`‘’‛ʹʻʼ′\-‐‑‒–—―−\u00AD.·,]+$/u;

/* A text as searches compare it, without case, accents and signs that writers leave out, and the place of each character in the original. */
function folded(original) {
  let [text, at, places] = ["", 0, []];
  for (const character of original) {
    const base = character.normalize("NFD").replace(signs, "").toLowerCase();
    const plain = { ø: "o", ł: "l", ı: "i", đ: "d", ð: "d", ħ: "h", ŧ: "t", ŋ: "n", æ: "ae", œ: "oe", þ: "th", ß: "ss" }[base] ?? base;
    for (let index = 0; index < plain.length; index += 1) places.push(at);
    text += plain;
    at += character.length;
  }
  return { text, places };
}

/* -- Long lists: pages of records that are far from the screen are taken out, so that scrolling stays quick -- */

const longList = 200;
const takenOut = new Map();
let isLong = false;
let nearPages;

function takeOutFar(entries) {
  let isBack = false;
  for (const { target, isIntersecting, boundingClientRect: { height } } of entries) {
    if (isIntersecting) isBack = putBack(target) || isBack;
    // While the list is hidden, its pages have no height.
    else if (isLong && height) takeOut(target, height);
  }
  if (isBack) mark();
}

/* What a page of the list has, or had before it was taken out. */
const contents = page => takenOut.get(page) ?? page;

function takeOut(page, height) {
  if (takenOut.has(page) || !page.isConnected || !page.childElementCount) return;
  if ($("[aria-current]", page) || page.contains(document.activeElement)) return;
  const table = page.closest("table");
  if (table && !table.style.tableLayout) {
    // Else the columns would move with the rows that are there.
    for (const heading of $$("th", table.tHead)) heading.style.width = `${heading.offsetWidth}px`;
    table.style.tableLayout = "fixed";
  }
  const gap = gapIn(table, height);
  const begun = $$("[data-page]", page).at(-1);
  if (begun) gap.dataset.page = begun.dataset.page;
  const items = document.createDocumentFragment();
  items.append(...page.childNodes);
  takenOut.set(page, items);
  page.append(gap);
}

/* What stands for records that are not there, in a table or a gallery. */
function gapIn(table, height) {
  const gap = make(table ? "tr" : "li", { class: "gap", "aria-hidden": "true" }, ...(table ? [make("td", { colspan: table.rows[0].cells.length })] : []));
  (gap.firstChild ?? gap).style.height = `${height}px`;
  return gap;
}

function putBack(page) {
  const items = takenOut.get(page);
  if (!items) return false;
  takenOut.delete(page);
  page.replaceChildren(items);
  return true;
}

/* Puts back the page of a record that is to be shown. */
function reveal(record) {
  for (const [page, items] of takenOut) if (items.contains(record) && putBack(page)) highlight();
  return record;
}

/* -- Galleries: their pages have whole rows, so that a page follows the one before without a gap -- */

const columnsOf = gallery => getComputedStyle(gallery).gridTemplateColumns.split(" ").length;

/* Moves cards between a page of a gallery and those that follow it, until all but the last are full. */
function arrange(page) {
  // Measured once for a width: a layout of each page that arrives would be done twice.
  const inRow = columns || (page?.offsetHeight && columnsOf(page));
  if (!page || !inRow) return;
  const size = inRow * Math.ceil(20 / inRow);
  for (; page; page = pageAfter(page)) {
    const cards = contents(page);
    let next;
    while (cards.childElementCount < size && (next = pageAfter(page))) {
      const card = contents(next).firstChild;
      if (card) cards.append(card); else remove(next);
    }
    while (cards.childElementCount > size) {
      if (!pageAfter(page)) page.after(make("ol", { class: page.className }));
      contents(pageAfter(page)).prepend(cards.lastChild);
    }
  }
}

const pageAfter = ({ nextElementSibling: next }) => (next?.matches(".gallery") ? next : undefined);

function remove(page) { takenOut.delete(page); nearPages.unobserve(page); page.remove(); }

/* Keeps rows whole, and a card on the screen where it is, the opened one if it is there, when another number of cards fits into a row. */
let columns = 0, seen = [], scrolled = 0, opened;
const resized = new ResizeObserver(([{ contentRect: { width } }]) => {
  requestAnimationFrame(look);
  if ($(".filters", list())) $(".tools > .filter", list()).ariaExpanded = String($(".filters", list()).offsetHeight > 0);
  const [all, before] = [$$(".gallery", list()), columns];
  columns = width && all.length ? columnsOf(all[0]) : 0;
  if (!columns || columns === before) return;
  const there = seen.filter(([card]) => card.isConnected);
  const [focus, [card, top]] = [document.activeElement, there.find(([card, top]) => card.pathname === opened && top < innerHeight) ?? there[0] ?? []];
  for (const page of all) if (!page.previousElementSibling?.matches(".gallery")) arrange(page);
  // Those that are far away are taken out again, with another height.
  for (const page of takenOut.keys()) putBack(page);
  nearPages.disconnect();
  watch();
  if (card) scrollBy(0, card.getBoundingClientRect().top - top);
  if (focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
});

/* Notes where the reader is before the list gets another width, or is hidden: then it comes back to its height alone. */
const keepPlace = () => { [seen, scrolled] = isNarrow() ? [[], scrolled] : [$$(".gallery .record").map(card => [card, card.getBoundingClientRect().top]).filter(([, top]) => top >= edges()[0]), scrollY]; };

function mark() {
  const id = detail()?.dataset.id;
  for (const record of $$(".record[aria-current]")) record.removeAttribute("aria-current");
  const record = id !== undefined && recordWith(id);
  if (record) reveal(record).setAttribute("aria-current", "true");
  const chosen = chosenFilters();
  for (const chip of $$("#detail [data-where]")) chip.ariaCurrent = String(chosen.includes(chip.dataset.where));
  for (const button of $$(".step")) {
    button.hidden = false;
    const step = Number(button.dataset.step);
    button.disabled = !recordAt(step) && !(record ? isMore(step) : left?.id === id);
  }
  highlight();
}

/* The records of the list, also those that are taken out. */
const records = () => $$(".records", list()).flatMap(page => $$(".record", contents(page)));

/* The record so many places after another one in the list. */
const recordFrom = (record, step, all = records()) => all[all.indexOf(record) + step];

/* The record so many places after the open one in the list, or after the focused one; at first, one that is in sight. */
function recordAt(step) {
  const id = detail()?.dataset.id;
  const record = id === undefined ? document.activeElement : recordWith(id);
  if (record?.closest(".records")) return recordFrom(record, step);
  const all = id === undefined && step > 0 ? records() : [];
  // What is taken out is nowhere on the screen.
  return all.find(each => each.getBoundingClientRect().top >= edges()[0]) ?? all[0];
}

/* Opens the record before or after the open one, or moves to it in the list. */
async function goTo(step, focus) {
  let record = recordAt(step);
  if (!record && left?.id === detail().dataset.id) await showFrom(left.at - 1);
  else if (!record && $(".record", list()) && isMore(step)) await (step > 0 ? loadMore($(".more a")) : showFrom(offset() - pageSize()));
  record ??= recordAt(step);
  if (!record) return;
  // At the end of what is loaded, more follows.
  reveal(record).scrollIntoView({ block: "nearest" });
  if (!shownDetail) return record.focus();
  history.replaceState(history.state, "", record.href);
  openDetail(record.href, focus);
}

/* The record with an ID, also if it is taken out. */
const recordWith = id => [document, ...takenOut.values()].map(root => $(`.record[data-id="${CSS.escape(id)}"]`, root)).find(Boolean);

/* -- Where in the list the reader is. A list that can be read at a position has a number for each record, and its table
   has room for those that are not loaded, so that the scroll bar stands for all of them -- */

/* The number of records of such a list; 0 for others, and where the service has more than are cached. */
let total = 0, rowHeight = 0, rooms = [0, 0], naming, left;
const position = make("span", { class: "position", "aria-hidden": "true" }, "");

const offset = () => Number($("[data-offset]", list())?.dataset.offset ?? NaN);
const pageSize = () => Number($("[data-count]", list()).dataset.count);
const countText = () => ($(".count [data-shown]") ?? $(".count"))?.firstChild;
const countLoaded = () => $$(".records", list()).reduce((sum, page) => sum + contents(page).childElementCount, 0);
const isLoading = () => loading && !loading.signal.aborted;
const isMore = step => (step > 0 ? Boolean($(".more a")) : rooms[0] > 0);
const tableBox = () => $$(".table-box", list()).at(-1);

/* Makes room in a table for the records before and after those that are loaded. */
function makeRoom() {
  const table = total && $("table", tableBox());
  const shown = table && $$(".records", table).find(page => !takenOut.has(page));
  if (!shown) return;
  const isFirst = !rowHeight;
  rowHeight = shown.getBoundingClientRect().height / shown.childElementCount || rowHeight;
  // Browsers know no larger heights.
  const height = Math.min(rowHeight, 16e6 / total);
  for (const room of $$(".room", table)) room.remove();
  rooms = [offset(), $(".more", list()) ? total - offset() - countLoaded() : 0].map((rows, isAfter) => {
    if (rows <= 0 || !height) return 0;
    const room = make("tbody", { class: "room", "data-rows": rows }, gapIn(table, rows * height));
    if (isAfter) table.append(room); else table.tHead.after(room);
    return rows * height;
  });
  if (!isFirst || !rooms[0]) return;
  tableBox().scrollTop = rooms[0];
  $(".beginning", list())?.replaceChildren($(".beginning a:last-child"));
}

/* Follows the reader: loads what comes near, says which records are in sight, and lets the address lead there. */
function look() {
  if (!detail() || isNarrow()) return;
  if (!rowHeight) makeRoom();
  const [link, box] = [$(".more a"), tableBox()];
  const rest = box ? box.scrollHeight - box.scrollTop - box.clientHeight - rooms[1] : 0;
  // On the way to what is far away, no page after page is loaded.
  const isNear = rest => rest < 600 && (!box || rest > -box.clientHeight);
  if (rooms[0] && isNear(box.scrollTop - rooms[0]) && !box.dataset.failed && !isLoading()) showFrom(offset() - pageSize());
  if (link?.offsetParent && !link.dataset.failed && isNear(rest) && link.getBoundingClientRect().top < innerHeight + 600) loadMore(link);
  const [first, end] = total ? inSight() : [];
  // A node that is replaced has the rules with :has() matched anew, for all cells, in each frame.
  position.firstChild.data = total ? `${number(first + 1)}–${number(Math.max(first + 1, end))} of ${countText().data.startsWith("At least") ? "at least " : ""}${number(total)}` : "";
  // Browsers refuse to change the address all the time.
  clearTimeout(naming);
  naming = setTimeout(settle, 150);
}
addEventListener("scroll", look, { capture: true, passive: true });
addEventListener("resize", look);

/* Where what is seen of the list begins and ends on the screen. */
function edges() {
  const [search, head = search, end = innerHeight] = [form, $("thead th", list()), tableBox()].map(element => element?.getBoundingClientRect().bottom);
  return [Math.max(search, head), Math.min(end, innerHeight)];
}

/* The numbers of records before those in sight, and before those below; a record is where its middle is. */
const inSight = () => edges().map(y => {
  let count = rooms[0] ? 0 : offset();
  for (const page of $$(".records, .room", list())) {
    const { top, bottom, height } = page.getBoundingClientRect();
    const [rows, isAbove] = [page.dataset.rows, ({ top, bottom }) => (top + bottom) / 2 <= y];
    if (bottom > y) return count + (rows ? Math.max(0, Math.round((y - top) / height * rows)) : [...page.children].filter(each => isAbove(each.getBoundingClientRect())).length);
    count += Number(rows ?? contents(page).childElementCount);
  }
  return count;
});

/* Lets the address follow the reader who has stopped, and loads what is there. */
function settle() {
  if (isNarrow()) return;
  const address = listAddress();
  const [first, end] = total ? inSight() : [];
  keepPlace();
  if (rowHeight && (end <= offset() || first >= offset() + countLoaded())) return showFrom(Math.min(first, total - 1));
  if (first) address.searchParams.set("offset", first);
  const page = !total && $$(".records > [data-page]").findLast(page => page.getBoundingClientRect().top < innerHeight / 2);
  for (const [name, value] of page ? new URL(page.dataset.page).searchParams : []) if (["cursor", "offset"].includes(name)) address.searchParams.set(name, value);
  if (total || page) showAddress(address);
}

const addressFrom = (first, address = listAddress()) => { address.searchParams.set("offset", Math.max(0, first)); return address; };

/* Shows the records of a table from a number on: before those that follow them, else in the place of all. */
async function showFrom(first) {
  loading?.abort();
  const controller = loading = new AbortController();
  const [address, box] = [addressFrom(first), tableBox()];
  delete box.dataset.failed;
  try {
    const next = await part(address, "list", controller.signal);
    if (!$("tbody.records", next)) return showList(address);
    insert(next, box);
  } catch (error) {
    if (controller.signal.aborted) return;
    box.dataset.failed = "true";
    toast(words(error), { label: "Try again", run: () => showFrom(first), isOffer: true });
  } finally {
    if (loading === controller) loading = undefined;
  }
}

function insert(next, box) {
  const [rows, table, start, top] = [$$("tbody tr", next), $("table", box), offset(), $(".records > *", box)];
  const first = Number($("[data-offset]", next).dataset.offset);
  const isBefore = first < start && first + rows.length >= start;
  const place = top.getBoundingClientRect().top;
  if (isBefore) for (const row of rows.slice(start - first)) row.remove();
  else {
    for (const each of [table, ...$$("th", table.tHead)]) each.removeAttribute("style");
    const open = $("tbody [aria-current]", table);
    if (open) left = { id: open.dataset.id, at: start + records().indexOf(open) };
    if ($("tbody :focus", table)) box.focus({ preventScroll: true });
    [...table.tBodies].forEach(remove);
    for (const each of [".order", ".badge", ":is(.more, .end)"]) $(each, list())?.replaceWith($(each, next) ?? "");
    announce(`From no. ${number(first + 1)}`);
  }
  $("[data-offset]", list()).dataset.offset = first;
  table.tHead.after(rows[0].parentElement);
  mark();
  watch();
  const moved = isBefore ? top.getBoundingClientRect().top - place : rows[0].getBoundingClientRect().top - edges()[0];
  if (isBefore || Math.abs(moved) > rowHeight) box.scrollTop += moved;
}

/* Says which rows of a table are there, if not all of them are; the heading is the first. */
function countRows() {
  const table = (total || isLong) && offset() >= 0 && $("table", tableBox());
  if (!table) return;
  table.ariaRowCount = total ? total + 1 : -1;
  $$(".records", table).flatMap(page => [...contents(page).children]).forEach((row, index) => { row.ariaRowIndex = offset() + index + 2; });
}

function watch() {
  watchPictures();
  if (!detail()) return;
  makeRoom();
  requestAnimationFrame(look);
  if (!isLong && $$(".records > *", list()).length > longList) {
    isLong = true;
    // Pages that left the screen while the list was short are judged again.
    nearPages.disconnect();
  }
  countRows();
  for (const page of $$(".records", list())) nearPages.observe(page);
  resized.observe(list());
}

async function loadMore(link) {
  if (isLoading()) return;
  const controller = loading = new AbortController();
  const hadFocus = document.activeElement === link;
  link.textContent = "Loading…";
  link.setAttribute("aria-busy", "true"); delete link.dataset.failed;
  for (const other of [...link.parentElement.children]) if (other !== link) other.remove();
  try {
    const next = await part(link.href, "list", controller.signal);
    const items = $$(".records > *", next);
    if (!items.length && $(".state", next)) throw Object.assign(new Error($(".state p", next)?.textContent), { way: $(".state a[rel=next]", next) ?? (total
      && make("a", { class: "button", href: addressFrom(offset() + countLoaded()) }, `Continue from the cache, which has ${number(total)}`)) });
    append(next, items, link);
    if (hadFocus && items.length) $(".record", items[0])?.focus();
  } catch (error) {
    if (controller.signal.aborted) return;
    const note = make("p", { class: "note failed" }, words(error));
    link.before(note); link.after(" ", error.way || "");
    link.textContent = "Try again";
    link.dataset.failed = "true";
    link.removeAttribute("aria-busy");
    announce(note.textContent);
  } finally {
    if (loading === controller) loading = undefined;
  }
}

/* Adds a page; one of another origin keeps its own badge and headings. */
function append(next, items, link) {
  const place = link.parentElement;
  const badges = [list(), next].map(root => $$(".badge", root).at(-1));
  const isSame = words => new Set(badges.map(badge => badge && words(badge))).size === 1;
  if (items.length) items[0].dataset.page = link.href;
  // An age grows while the list is read.
  const isSameOrigin = isSame(badge => $(".label", badge).textContent)
    || isSame(badge => badge.className + (badge.matches(".live") || $("time", badge)?.textContent));
  const known = new Set($$(".note", list()).map(note => note.textContent));
  const notes = $$(".note", next)
    .filter(note => !known.has(note.textContent) && !(isSameOrigin && note.matches(".reason")));
  if (isSameOrigin) {
    const last = $$(".records", list()).at(-1);
    // Each page of rows is a part of the table, which can be taken out.
    if (last.matches("tbody")) last.after(...$$("tbody", next));
    else {
      contents(last).append(...items);
      arrange(last);
    }
    place.before(...notes);
  } else {
    for (const once of $$(".bar :is(.count, .jump)", next)) once.remove();
    $("#records", next)?.removeAttribute("id");
    const [table, rows] = [list(), next].map(root => $("table", root));
    const about = [...$$(".bar", next), ...notes];
    if (table && rows) {
      const heading = make("th", { scope: "rowgroup", colspan: table.rows[0].cells.length }, ...about);
      table.append(make("tbody", { class: "origin" }, make("tr", {}, heading)), ...rows.tBodies);
    } else place.before(...about, ...$$(".table-box, ol.records", next));
  }
  place.replaceWith(...$$(".more, .end", next));
  const shown = $("[data-shown]");
  if (shown) shown.textContent = number(amountIn(shown.textContent) + items.length);
  announce(`${items.length} more`);
  mark();
  watch();
}

if (form && list()) {
  if (detail()?.dataset.id !== undefined) shownDetail = location.pathname;
  field.after(position);
  field.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(search, 200); });
  form.addEventListener("submit", event => {
    if (!isHome) return event.preventDefault(), search();
    clearTimeout(typing);
    searching?.abort(); // the page of the search has all of it
  });
  const address = new URL(location);
  if (address.searchParams.get("cache") === "reload" || address.searchParams.has("deleted")) {
    for (const name of ["cache", "deleted"]) address.searchParams.delete(name);
    history.replaceState(history.state, "", address);
  }
  fold();
  begin();
  if (shownDetail) $(".record[aria-current]")?.scrollIntoView({ block: "center" });
}

/* Counts up the ages of records, and down to the time at which a service is asked again, whose answer it shows. */
const written = /just now|\d+ (s|min|h|days) ago/g;
const ageWords = age => [[172800, 86400, "days"], [7200, 3600, "h"], [90, 60, "min"], [5, 1, "s"]].filter(([least]) => age >= least).map(([, unit, name]) => `${Math.max(2, Math.floor(age / unit))} ${name} ago`)[0] ?? "just now";
function growOld(place) {
  place.since ??= Date.now();
  const ages = place.dataset.age.split(" ").slice(-place.textContent.match(written)?.length);
  const words = place.textContent.replace(written, () => ageWords(Number(ages.shift()) + (Date.now() - place.since) / 1000));
  if (words !== place.textContent) place.textContent = words;
}
$$("[data-age]").forEach(growOld);
/* Times are written in UTC, and titles have the local ones, too. */
document.addEventListener("pointerover", ({ target: time }) => { if (/T.*Z$/.test(time.dateTime) && !time.title.endsWith("local time")) time.title += `${time.title && " · "}${new Date(time.dateTime).toLocaleString()} local time`; });
setInterval(() => {
  $$("[data-age]").forEach(growOld);
  for (const place of $$("[data-countdown]")) {
    const rest = Math.max(0, Number(place.dataset.countdown) - 1);
    place.dataset.countdown = rest;
    place.textContent = `${rest} s`;
    if (rest || document.hidden || !list()?.contains(place) || list().ariaBusy || scrollY > innerHeight) continue;
    delete place.dataset.countdown;
    place.textContent = "a moment";
    showList(listAddress(), true);
  }
}, 1000);

/* -- Opening and closing a record without leaving the list -- */

const heading = $("h1")?.textContent;
const listTitle = () => `${$("[data-announce]:not(:has([data-shown]))")?.textContent ?? heading} – ${program}`;

async function openDetail(address, focus = "h2") {
  opening?.abort();
  const controller = opening = new AbortController();
  keepPlace();
  shownDetail = opened = new URL(address, location).pathname;
  document.body.classList.add("has-detail");
  detail().hidden = false;
  detail().setAttribute("aria-busy", "true");
  try {
    const next = await part(address, "detail", controller.signal);
    replaceDetail(next);
    $(".record[aria-current]")?.scrollIntoView({ block: "nearest" }); // the list is elsewhere without its filters
    ($(`${focus}:not(:disabled)`, next) ?? $("h2", next))?.focus({ preventScroll: true });
    if (isNarrow()) scrollTo(0, 0);
  } catch (error) {
    if (controller.signal.aborted) return;
    hideDetail();
    toast(words(error));
  }
}

function replaceDetail(next) {
  detail().replaceWith(next);
  mark();
  watchPictures();
  const title = $("h2", next);
  document.title = [title?.textContent, heading, program].filter(Boolean).join(" – ");
  title?.setAttribute("tabindex", "-1");
}

/* Shows the open record as it is now, with the reader where they are in it; says so if it is another, or gone. */
async function refreshDetail() {
  if (!shownDetail || detail().matches("[aria-busy]")) return;
  opening?.abort();
  const controller = opening = new AbortController();
  const next = await part(location.href, "detail", controller.signal).catch(() => undefined);
  // A failure is no reason to take away what is read.
  if (!next || controller.signal.aborted || (next.status >= 400 && next.status !== 404)) return;
  const before = detail();
  const words = root => $$("h2, .notice, article > dl dd, .history li, .whole, .pictures a", root)
    .map(element => element.href ?? ($("noscript", element) ? "" : element.textContent)).join("\n");
  if (words(before) === words(next)) return $(".badge:not([open])", before)?.replaceWith($(".badge", next) ?? "");
  const focused = before.contains(document.activeElement) && placeOf(document.activeElement);
  const [top, open, portrait] = [before.scrollTop, $$("details", before).map(details => details.open), $(".portrait", before)];
  if (portrait) $(".portrait", next)?.replaceWith(portrait);
  $$("details", next).forEach((details, index) => { details.open = open[index] ?? false; });
  replaceDetail(next);
  next.scrollTop = top;
  if (focused) focusAt(focused, next, "h2");
  announce($(".state p, .notice p", next)?.textContent ?? "The open record has changed");
}

/* Shows a picture of the record large, above its name. */
function showPicture({ href, ariaLabel }) {
  const box = make("div", { class: "portrait" }, make("img", { src: href, alt: ariaLabel, decoding: "async" }));
  $(".portrait", detail())?.remove();
  $("article", detail()).prepend(box);
  box.scrollIntoView({ block: "nearest" });
}

const isNarrow = () => getComputedStyle(list()).display === "none";

function hideDetail() {
  opening?.abort();
  const [id, wasNarrow] = [detail().dataset.id, isNarrow()];
  if (wasNarrow) seen = [];
  shownDetail = undefined;
  document.body.classList.remove("has-detail");
  detail().replaceWith(make("section", { id: "detail", "aria-label": "Details", hidden: true }));
  mark();
  document.title = listTitle();
  if (wasNarrow) scrollTo(0, scrolled);
  focusRecord(id);
}

/* Returns the focus to the list, which stays where it is: to a record in sight if the one that was open is gone. */
function focusRecord(id) {
  const record = (id !== undefined && recordWith(id)) || $(".record[aria-current]") || recordAt(1);
  (reveal(record) ?? field)?.focus({ preventScroll: true });
}

function closeDetail() { if (history.state?.isFromList) return history.back(); hideDetail(); history.pushState(null, "", listAddress()); }

if (list()) {
  document.addEventListener("click", event => {
    if (event.button || event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || (event.shiftKey && !event.target.closest("[data-then], .range"))) return;
    const row = getSelection().isCollapsed && event.target.closest("tbody tr");
    const link = event.target.closest("a") ?? (row && $(".record", row)) ?? undefined;
    if (detail() && link?.matches(".record")) {
      event.preventDefault();
      history.pushState({ isFromList: !shownDetail }, "", link.href);
      openDetail(link.href);
    } else if (event.target.closest(".step")) {
      const { step } = event.target.closest(".step").dataset;
      goTo(Number(step), `[data-step="${step}"]`);
    } else {
      const actions = {
        ".pictures a": showPicture, ".close": closeDetail, ".more a": loadMore, ".wait": link => showList(link),
        ".filter, .chip, .chip a, .facets a, .sort a, thead a": follow,
      };
      const action = Object.keys(actions).find(selector => link?.matches(selector));
      if (action) event.preventDefault();
      actions[action]?.(link, event);
    }
  });
  addEventListener("popstate", () => {
    const address = listAddress();
    if (address.href !== shownList) {
      field.value = address.searchParams.get("query") ?? "";
      keepInForm(address);
      showList(address);
    }
    const isRecord = !["/", new URL(form.action).pathname].includes(location.pathname);
    if (!isRecord && shownDetail) hideDetail();
    if (isRecord && location.pathname !== shownDetail) openDetail(location.href);
  });
}

/* -- The form of a filter: what a field can be compared with follows from the kind of its values -- */

function fitFilter() {
  const filter = $(".filters form");
  if (!filter) return;
  const { field, operator } = filter.elements;
  const { kind, choices = "[]" } = field.selectedOptions[0].dataset;
  const show = (element, isShown) => { element.hidden = element.disabled = !isShown; };
  // Not all browsers hide options.
  filter.comparisons ??= [...operator.options];
  const comparison = operator.value;
  operator.replaceChildren(...filter.comparisons.filter(option => option.dataset.kinds.split(" ").includes(kind)));
  operator.value = comparison;
  if (operator.selectedIndex < 0) operator.value = "=";
  const isSet = operator.value === "in";
  const [input, pick, end] = $$("[name=value], [name=to]", filter);
  const offered = isSet || ["=", "!="].includes(operator.value) ? JSON.parse(choices) : [];
  const chosen = (isSet ? input.value.split(input.value.includes(";") ? ";" : ",") : [input.value]).map(value => value.trim());
  // Those that no record of the list has stay as well.
  const isOffered = value => !value || offered.some(([each]) => each === value);
  if (offered.length) offered.push(...chosen.filter(value => !isOffered(value)).map(value => [value, value]));
  show(input, !offered.length && !["empty", "present"].includes(operator.value));
  show(pick, pick.required = offered.length && !isSet);
  show(end, operator.value.startsWith("between"));
  pick.replaceChildren(make("option", { value: "" }, "Choose…"), ...offered.map(([value, words]) => make("option", { value, selected: value === input.value }, words)));
  const set = $(".choices", filter);
  set.hidden = !offered.length || !isSet;
  set.replaceChildren(...(set.hidden ? [] : offered).map(([value, words]) => make("label", {},
    make("input", { type: "checkbox", name: "choice", value, checked: chosen.includes(value) }), make("bdi", {}, words))));
  input.inputMode = end.inputMode = kind === "number" ? "decimal" : "text";
  input.placeholder = !end.hidden ? "from" : isSet ? "one, another" : kind === "date" ? "2024-03-04" : "";
  for (const each of [input, end]) {
    const { pattern = ".*", title = "" } = (operator.value !== "~" && typed[isSet ? `${kind}s` : kind]) || {};
    Object.assign(each, { required: true, pattern, title });
  }
}

document.addEventListener("change", ({ target }) => { if (target.matches(".filters :is([name=field], [name=operator])")) fitFilter(); });

/* -- Adding a source: its service may take long -- */

for (const adding of $$("form.fields")) {
  adding.addEventListener("submit", () => {
    const [button, start] = [$("button", adding), performance.now()];
    const { textContent: words, dataset: { busy, cancel } } = button;
    const hadFocus = document.activeElement === button;
    button.disabled = true;
    button.textContent = busy;
    announce(busy);
    if (!cancel) return;
    const counting = setInterval(() => { button.textContent = `${busy} ${Math.floor((performance.now() - start) / 1000)} s`; }, 1000);
    const stop = make("button", { type: "button", class: "button", onclick: () => {
      window.stop(); // the server ends its requests when its client leaves
      clearInterval(counting);
      stop.remove();
      Object.assign(button, { disabled: false, textContent: words }).focus();
      announce("Cancelled");
    } }, cancel);
    button.after(stop);
    if (hadFocus) stop.focus();
  });
}
// The form is as it was when one comes back to it.
addEventListener("pageshow", event => { if (event.persisted && $("form#add")) location.reload(); });

/* -- Deleting a record, with a way back; the other windows of the browser follow -- */

const windows = new BroadcastChannel("records");
windows.onmessage = ({ data }) => { if (list() && data.list === form.action) refresh(data.words); };

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
  const page = item?.closest(".gallery");
  item?.replaceWith(gap);
  changeCount(-1);
  hideDetail();
  arrange(page);
  watch();
  history.replaceState(null, "", listAddress());
  windows.postMessage({ list: form.action, words: `Deleted “${name}” in another window` });
  toast(`Deleted “${name}”`, { label: "Undo", run: () => restore(api, item, gap) });
});

async function restore(api, item, gap) {
  try { await send("POST", `${api}/restore`); } catch (error) {
    return toast(words(error), { label: "Try again", run: () => restore(api, item, gap) });
  }
  if (item && (gap.isConnected || [...takenOut.values()].some(items => items.contains(gap)))) {
    gap.replaceWith(item);
    changeCount(1);
    const record = reveal($(".record", item));
    arrange(item.closest(".gallery"));
    record.focus();
  } else { if (item) refresh("Restored"); else changeCount(1); focusRecord(); } // the list has been read again, or lacked it
  announce("Restored");
  windows.postMessage({ list: form.action, words: "A record was restored in another window" });
}

function changeCount(change) {
  total += total && change;
  requestAnimationFrame(look);
  const jump = $(".jump input[max]", list()) ?? {}; jump.max -= -change;
  // The last number of `1–20` is that of all.
  for (const [place, name] of [[countText() ?? {}, "data"], [jump, "placeholder"]]) place[name] = place[name]?.replace(/\d[\d,]*(?![\d,–])/, count => number(amountIn(count) + change));
  if (!shownDetail) document.title = listTitle();
}

/* -- Syncs: the server runs them, and every page shows those that are under way -- */

let syncs = new Map(), hasLooked = false, asking, unanswered = 0;

/* The sources whose syncs this page has started or stopped, each with true after the answer to that. */
const started = new Map();

/* Shows the syncs as they are now, and again: soon while one of them runs. */
async function showSyncs() {
  clearTimeout(asking);
  asking = undefined;
  const answered = new Map(started);
  try {
    const { items } = await (await send("GET", "/api/v1/sync")).json();
    // A short sync begins and ends between two looks.
    const over = items.filter(sync => {
      const before = syncs.get(sync.source);
      // Times have whole seconds: one that this page has started is over if it does not run after the answer to that.
      if (started.has(sync.source)) return answered.get(sync.source) && !runs(sync);
      return hasLooked && !runs(sync) && (runs(before) || before?.state === "lost" || before?.startedAt !== sync.startedAt);
    });
    // The words of the end come together with the amounts after it.
    const next = over.length && $("#sources") && await part(`/${location.search}`, "sources");
    hasLooked = true;
    syncs = new Map(items.map(sync => [sync.source, sync]));
    if (next) showSources(next);
    for (const box of over.flatMap(syncBoxes)) box.dataset.isWatched = "true";
    showAllSyncs();
    over.forEach(ended);
    if (!over.length) await renewSources();
    unanswered = 0;
  } catch (error) {
    // The server is asked again; what is shown of syncs is not known to be so any more.
    if (++unanswered === 3 && running().length) {
      toast(words(error));
      for (const sync of running()) sync.state = "lost";
      showAllSyncs();
    }
  }
  if (!document.hidden) asking = setTimeout(showSyncs, running().length ? 500 : 2000);
}

function showAllSyncs() {
  $$(".sync").forEach(showSync); $$("nav [data-source]").forEach(showSyncIn);
  if (syncAll()) showStop(syncAll(), running().length > 1 && "Stop all");
}
const runs = sync => sync?.state === "running";
const running = () => [...syncs.values()].filter(runs);
const syncBoxes = ({ source }) => $$(`.sync[data-source="${CSS.escape(source)}"]`);

/* The button of a sync, which stops it while there are words for that. */
function showStop(box, words) {
  const [label, picture] = [$("button span", box), $("path", box)];
  label.dataset.usual ??= label.textContent;
  picture.dataset.usual ??= picture.getAttribute("d");
  label.textContent = words || label.dataset.usual;
  picture.setAttribute("d", words ? "M7 7h10v10H7Z" : picture.dataset.usual);
}

/* What starts all syncs, and stops those that run if there are several. */
const syncAll = () => $("form[action='/sync']");
document.addEventListener("submit", event => {
  if (event.target !== syncAll() || running().length < 2) return;
  event.preventDefault();
  for (const { source } of running()) changeSync(source, $(`nav [data-source="${CSS.escape(source)}"]`).dataset.sync.split("?")[0]);
});

function showSync(box) {
  const sync = syncs.get(box.dataset.source);
  const isRunning = runs(sync);
  box.hidden = false;
  if (isRunning) box.dataset.isWatched = "true";
  showStop(box, isRunning && "Stop");
  const bar = $("progress", box);
  bar.hidden = !isRunning;
  showAmount(bar, sync);
  // What ended before the page was opened is of interest only if it did not come to its end.
  const isNew = box.dataset.isWatched || sync?.state === "failed" || (["interrupted", "cancelled"].includes(sync?.state) && sync.result.records);
  const text = sync && isNew ? syncWords(sync, box.dataset.noun, box.closest("li") ?? list()) : "";
  const state = $(".sync-state", box);
  state.hidden = !text;
  state.classList.toggle("failed", sync?.state === "failed");
  const changes = text && sync.state === "done" ? changeWords(sync) : "";
  const parts = [...linked(text), ...(changes ? [": ", make("a", { href: `/changes/${sync.source}` }, changes)] : [])];
  const place = Object.assign($(".sync-words", box), { title: text });
  if (place.textContent !== (changes ? `${text}: ${changes}` : text)) place.replaceChildren(...parts);
}

/* The progress below the name of a source. */
function showSyncIn(place) {
  const sync = syncs.get(place.dataset.source);
  if (!runs(sync)) return $("progress", place)?.remove();
  showAmount($("progress", place) ?? place.appendChild(make("progress", { "aria-label": "Syncing" })), sync);
}

/* The number of records that a sync will have: as the service says, or as many as the last one had. */
const totalOf = ({ result, expected }) => result.total ?? (result.kind === "incremental" ? undefined : expected);

/* How fast a running sync is since this page has seen it first, and how long it still takes. */
const firstSeen = new Map();
function paceWords(sync) {
  const { records = 0 } = sync.result;
  const now = { records, at: performance.now() / 1000, startedAt: sync.startedAt };
  const first = /^(?!rate limit \d)./.test(sync.waiting ?? "") ? undefined : firstSeen.get(sync.source);
  if (!first?.records || first.startedAt !== now.startedAt) firstSeen.set(sync.source, now);
  const [seconds, added] = [now.at - first?.at, records - first?.records];
  if (!(seconds >= 3 && added > 0) || first.startedAt !== now.startedAt) return "";
  const rate = added / seconds;
  const rest = (totalOf(sync) - records) / rate;
  const time = rest < 90 ? `${Math.ceil(rest)} s` : `${Math.round(rest / 60)} min`;
  return ` · ${rate < 1 ? `${number(Math.round(rate * 60))} a minute` : `${number(Math.round(rate))} a second`}${rest > 0 ? `, about ${time} left` : ""}`;
}

function showAmount(bar, sync) {
  const { records = 0 } = sync?.result ?? {};
  const total = sync && totalOf(sync);
  if (!total && !(sync && waitsLong(sync))) return bar.removeAttribute("value");
  [bar.max, bar.value] = [total || 1, Math.min(records, total || 0)];
}

/* True for a pause of five minutes or more, whose end is said; shorter ones are counted down. */
const waitsLong = ({ waitingUntil }) => waitingUntil && Date.parse(waitingUntil) - Date.now() > 300000;
const utc = (time, style) => `${new Date(time).toLocaleString("en-GB", { ...style, timeStyle: "short", timeZone: "UTC" })} UTC`;

function syncWords(sync, noun, place) {
  const { state, result, error, updatedAt } = sync;
  const { kind, records = 0, total, added, changed, complete, warnings = [] } = result;
  const amount = kind === "incremental" && state !== "running" ? `${number(added + changed)} changed ${noun}` : `${number(records)} ${noun}`;
  switch (state) {
    case "running":
      if (waitsLong(sync)) return [`Waiting until ${utc(sync.waitingUntil)}`, records && amount, sync.waiting.replace(/: waiting .*$/, "")].filter(Boolean).join(" · ");
      return [!records ? "Starting…" : total ? `${number(records)} of ${number(total)} ${noun}${paceWords(sync)}`
        : `${amount}${totalOf(sync) ? `, ${number(totalOf(sync))} the last time` : ""}${paceWords(sync)}`,
        // In a row, the words are in the place of the amount. The rate of requests is not that of records.
        !records && place && $(".dense .tone.cached", place)?.textContent.split(/, |;/)[0], sync.waiting?.replace(/^rate limit (?=\d)/, "requests limited to ")].filter(Boolean).join(" · ");
    case "done":
      if (complete || kind === "endless") return `${amount} synced`;
      return `${amount} synced, ${warnings.some(each => ["incomplete", "unproved"].includes(each.code)) ? "maybe not all" : `but not all: ${warnings[0]?.message ?? "the list did not end"}`}`;
    case "lost": return `${amount} when ${program} last answered`;
    case "cancelled": case "interrupted":
      return `${sync.expected ? "The last sync was stopped" : "Stopped"}${records ? ` after ${amount}` : ""}${state === "interrupted" ? ", because the server ended" : ""}; ${records ? "the next sync goes on there" : "nothing was read"}`;
    default: {
      const reason = error.message.replace(/^.*? failed \((\d{3})\)/, "the service answered $1");
      const kept = records ? `${amount} read so far stay cached; the next sync ${error.code === "noProgress" ? "starts over" : "goes on there"}`
        : place && !$(".tone.offline", place) && `The ${/bundled/i.test($(".tone, .badge .label", place)?.textContent) ? "bundled sample" : "cached"} records stay`;
      const time = Date.now() - Date.parse(updatedAt) > 60000 ? ` on ${utc(updatedAt, { dateStyle: "medium" })}` : "";
      return [`Sync failed${time}: ${reason}`, kept, error.hint].filter(Boolean).map(sentence).join(" ");
    }
  }
}

/* What a sync has changed; to a first one, all that was not cached is new. */
function changeWords({ expected, result: { kind, added, changed, unchanged, removedUpstream: removed, complete } }) {
  if (!complete || (kind === "full" && (expected === null || added > unchanged + changed))) return "";
  return Object.entries({ added, changed, removed }).filter(([, count]) => count)
    .map(([verb, count]) => `${number(count)} ${verb}`).join(", ");
}

/* The parts of a text, in which web addresses are links. */
const linked = text => text.split(/(https?:\/\/[^\s<>"]*[A-Za-z0-9/])/).map((part, index) =>
  index % 2 ? make("a", { href: part, rel: "noopener noreferrer external", referrerpolicy: "no-referrer" }, part) : part);

/* Shows what a sync has brought. */
function ended(sync) {
  const isOwn = started.delete(sync.source);
  const [box] = syncBoxes(sync);
  if (!box) return isOwn && toast(`${titleOf(sync)}: ${syncWords(sync, "records").replace(/^S/, "s")}`);
  const words = $(".sync-words", box).textContent;
  // A failure that is in sight is not said twice.
  const isSeen = sync.state === "failed" && $(".sync-state", box).getBoundingClientRect().bottom > 0;
  if (list() && !isHome) return refresh(words, !isSeen ? words : sync.result.records ? "Some records came before the sync failed" : "");
  announce(words);
}

/* Shows the list and the open record as they are now; the list by an offer, if any, where that would move what is read. */
function refresh(words, offer = words) {
  refreshDetail();
  const run = () => showList(listAddress(), true);
  const isReading = scrollY >= innerHeight || $(".beginning", list()) || $$(".table-box", list()).some(box => box.scrollTop);
  if (isReading && offer) toast(offer, { label: "Show", run, isOffer: true });
  if (!isReading || offer !== words) announce(words);
  if (!isReading) run();
}

/* The amounts and ages of the first page follow syncs, also those of the command line, and the time. */
let renewed = Date.now();
async function renewSources() {
  if (!$("#sources") || Date.now() - renewed < (running().length ? 3000 : 20000)) return;
  renewed = Date.now();
  const next = await part(`/${location.search}`, "sources");
  for (const old of $$("#sources > .summary, #sources .tone")) {
    const link = old.matches(".tone") && $("h2 a", old.closest("li")).getAttribute("href");
    const now = link ? $(".tone", $(`h2 a[href="${CSS.escape(link)}"]`, next)?.closest("li") ?? next) : $("#sources > .summary", next);
    if (now && !now.isEqualNode(old)) old.replaceWith(now);
  }
}

function showSources(next) {
  const [watched, focused] = [$$(".sync[data-is-watched]").map(({ dataset }) => dataset), document.activeElement.closest("#sources :is(.sync, form)")];
  next.hidden = $("#sources").hidden;
  $("#sources").replaceWith(next);
  for (const box of watched.flatMap(syncBoxes)) box.dataset.isWatched = "true";
  if (focused) $("button", syncBoxes(focused.dataset)[0] ?? syncAll())?.focus({ preventScroll: true });
}

document.addEventListener("click", event => {
  const box = event.target.closest(".sync button")?.closest(".sync");
  if (!box) return;
  const { source, action, bound } = box.dataset;
  box.dataset.isWatched = "true";
  changeSync(source, action, action + bound);
});

/* Starts the sync of a source, or stops it. A page without a place for its progress says that it begins and ends. */
const titleOf = ({ source }) => $(`nav [data-source="${CSS.escape(source)}"] span:not(.initial)`).textContent;
async function changeSync(source, action, start) {
  try {
    const isStop = runs(syncs.get(source));
    started.set(source, false);
    await send(isStop ? "DELETE" : "POST", isStop ? action : start);
    started.set(source, true);
    if (syncBoxes({ source }).length) announce(isStop ? "Stopping…" : "Syncing…");
    else toast(`${titleOf({ source })}: ${isStop ? "stopping" : "syncing"}…`);
  } catch (error) {
    started.delete(source);
    toast(words(error));
  }
  showSyncs();
}

document.addEventListener("visibilitychange", () => { if (document.hidden) return; showSyncs(); refreshDetail(); lookAgain(); });

/* Follows what the command line has done meanwhile: removed the source, or deleted a record of the list. */
async function lookAgain() {
  const { source } = $("nav [aria-current]")?.dataset ?? {};
  if (!source || !list()) return;
  // Without asking the service.
  const next = await part(`${form.action}?cache=offline&limit=1`, "list").catch(error => error);
  if (next.status === 404) toast(`The source ${heading} was removed.`, { label: "All sources", run: () => location.assign("/"), isOffer: true });
  const isShown = ({ action }) => recordWith(decodeURIComponent(new URL(action).pathname.split("/")[3]));
  if (next instanceof Element && $$(".hidden form", next).some(isShown)) refresh("A record was deleted meanwhile");
}
if ($("nav")) showSyncs();

/* -- Keys, as the dialog of ? lists them -- */

const shortcuts = $("#shortcuts");
const menus = "details:is(.badge, .menu)[open]";
const tools = {
  f: ".tools > .filter", v: ".tools .views :is([aria-current] + a, :has(+ a + [aria-current]))", o: ".sort > summary, thead a",
  s: ".heading .sync:not([hidden]) button", d: "form.delete button", c: "#detail .menu [data-copy]",
};
if (/Mac|iPhone|iPad/.test(navigator.platform)) for (const key of $$("kbd")) key.textContent = key.textContent.replace(/^Ctrl /, "⌘");

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
  const end = { Home: -1, End: 1 }[key];
  const last = () => reveal(records().at(end < 0 ? 0 : -1));
  if (end) return total && tableBox() && isMore(end) ? showFrom(end < 0 ? 0 : total - pageSize()).then(last) : last();
  const gallery = record.closest(".gallery");
  const columns = gallery ? columnsOf(gallery) : 1;
  const ahead = !gallery ? 0 : getComputedStyle(record).direction === "rtl" ? -1 : 1;
  const page = columns * Math.max(1, Math.floor((edges()[1] - edges()[0]) / record.closest("li, tr").offsetHeight) - 1);
  const step = { ArrowDown: columns, ArrowUp: -columns, ArrowRight: ahead, ArrowLeft: -ahead, PageDown: page, PageUp: -page }[key];
  if (!step) return null;
  const next = recordFrom(record, step) ?? (step > 0 ? records().at(-1) : key === "PageUp" ? records()[0] : null);
  return next ? reveal(next) : key === "ArrowUp" && !isMore(-1) ? field : null;
}

document.addEventListener("keydown", event => {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
  const target = event.target;
  if ($("dialog[open]")) return;
  const isSingle = shortcuts?.checked && !target.matches?.("input, textarea, select, [contenteditable]");
  if (isSingle && event.key === "?") {
    $("#keys").showModal();
  } else if (detail() && (isSingle && ["j", "k"].includes(event.key) || event.key === "ArrowDown" && target === document.body && !shownDetail && recordAt(1))) {
    event.preventDefault();
    goTo(event.key === "k" ? -1 : 1);
  } else if (isSingle && tools[event.key]) {
    const link = $(tools[event.key]);
    if (link?.matches(".filter")) follow(link, event).then(() => $(".filters select", list())?.focus());
    else if (event.key !== "o" || link?.matches("summary")) { if (event.key === "o") link.focus(); link?.click(); } else link?.focus();
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
    } else if (target === field && field.value) { event.preventDefault(); field.value = ""; search(); } // as some browsers do
    else if (shownDetail) closeDetail();
    else if (target === field) { field.blur(); if (recordAt(1)) focusRecord(); }
  } else if (event.key === "ArrowDown" && target === field) {
    const first = $(".record", list());
    if (first) { event.preventDefault(); first.focus(); }
  } else if (target.matches?.(".record")) {
    const next = neighbour(target, event.key);
    if (next) { event.preventDefault(); Promise.resolve(next).then(each => each.focus()); }
  }
});

document.addEventListener("click", event => {
  for (const menu of $$(menus)) if (!menu.contains(event.target)) menu.open = false;
  const copied = event.target.closest("[data-copy]");
  if (copied) copy(copied);
});

/* Menus are shown with what needs the script. */
document.addEventListener("toggle", event => {
  if (!event.target.matches?.(menus)) return;
  for (const button of $$("[data-copy]", event.target)) button.hidden = false;
}, true);

/* Copies what a button names, else the value beside it, as the service has it. */
async function copy(button) {
  const { dataset, parentElement: value } = button;
  const written = $("data, time", value);
  const url = new URL(dataset.copy, location);
  if (url.hostname.endsWith(".localhost")) url.hostname = "localhost"; // the others are found by browsers only
  const text = { url, curl: `curl '${url}'`, "curl with token": `curl -H "Authorization: Bearer $TOKEN" '${url}'` }[dataset.as] ?? (dataset.copy || (written?.dateTime ?? written?.value ?? value.innerText.trim()));
  try { await navigator.clipboard.writeText(text); } catch { return toast(text); }
  (button.offsetParent ? announce : toast)("Copied"); // a key has no button in sight
  button.dataset.copied = "";
  setTimeout(() => delete button.dataset.copied, 2000);
}
