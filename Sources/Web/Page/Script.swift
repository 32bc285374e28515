/// The script of the pages, without which they work too.
///
/// It requests parts of the same pages, so that records are written as HTML in one place alone.
enum Script {
  static let text = base + list + detail + deletion + download + keyboard

  private static let base = #"""
    const $ = (selector, root = document) => root.querySelector(selector);
    const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
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
      const response = await fetch(address, { method, signal });
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

    function announce(text) { $("#announcer").textContent = text; }

    /* Shows a message until it is dismissed or replaced. */
    function toast(text, action) {
      const message = document.createElement("p");
      message.dir = "auto";
      message.textContent = text;
      const buttons = [];
      const add = (label, name, run) => {
        const button = document.createElement("button");
        button.type = "button";
        button.className = name;
        button.textContent = label;
        button.addEventListener("click", () => { $("#toast").replaceChildren(); run?.(); });
        buttons.push(button);
      };
      if (action) add(action.label, "button primary", action.run);
      add("Dismiss", "button", () => focusRecord());
      $("#toast").replaceChildren(message, ...buttons);
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

    """#
}
