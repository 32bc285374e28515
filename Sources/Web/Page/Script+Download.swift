extension Script {
  /// Downloading all records, with progress.
  static let download = #"""

    const box = $(".download");
    let downloading;

    /* Yields server-sent events. */
    async function* events(stream) {
      const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        text = (text + value).replace(/\r\n?/g, "\n");
        const blocks = text.split("\n\n");
        text = blocks.pop();
        for (const block of blocks) {
          const fields = block.split("\n").map(line => line.match(/^(\w+): ?(.*)$/) ?? []);
          const name = fields.find(field => field[1] === "event")?.[2] ?? "message";
          const data = fields.filter(field => field[1] === "data").map(field => field[2]);
          if (data.length) yield { name, data: JSON.parse(data.join("\n")) };
        }
      }
    }

    async function download() {
      const noun = box.dataset.noun;
      const label = $("button span", box);
      const usual = label.textContent;
      const bar = $("progress", box);
      const say = text => { $(".download-words", box).textContent = text; };
      const controller = downloading = new AbortController();
      label.textContent = "Stop";
      bar.removeAttribute("value");
      bar.hidden = false;
      $(".download-state", box).hidden = false;
      say("Starting…");
      let count = 0, end = "Stopped";
      try {
        const response = await send("POST", box.dataset.action, controller.signal);
        end = "The server closed the connection.";
        for await (const { name, data } of events(response.body)) {
          if (name === "error") throw new Error(data.message);
          count = data.records ?? count;
          if (data.total) { bar.max = data.total; bar.value = Math.min(count, data.total); }
          if (name === "done") { end = `${count} ${noun} downloaded`; break; }
          say(data.total ? `${count} of ${data.total} ${noun}` : `${count} ${noun}`);
        }
        controller.abort();
        if (scrollY < innerHeight) showList(listAddress());
      } catch (error) {
        end = controller.signal.aborted ? `Stopped after ${count} ${noun}` : words(error);
      }
      downloading = undefined;
      label.textContent = usual;
      bar.hidden = true;
      say(end);
      announce(end);
    }

    if (box) {
      box.hidden = false;
      $("button", box).addEventListener("click", () => {
        if (downloading) downloading.abort(); else download();
      });
    }

    """#
}
