// Comforts for the workbench: everything works without this module, by forms and links.

const after = (milliseconds, act) => {
  let waiting;
  return (...given) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => act(...given), milliseconds);
  };
};

/* Live previews: what an edit would change, below its form, while it is typed. */

for (const form of document.querySelectorAll("form[data-live]")) {
  const box = document.createElement("div");
  box.className = "live";
  box.setAttribute("aria-live", "polite");
  form.append(box);
  let asked = 0;
  const show = after(220, async () => {
    const mine = ++asked;
    const query = new URLSearchParams(new FormData(form));
    query.set("fragment", "1");
    const answer = await fetch(`/preview?${query}`, { headers: { accept: "text/html" } });
    const text = await answer.text();
    if (mine === asked) box.innerHTML = text; // made by the server, which escapes every name
  });
  form.addEventListener("input", show);
}

/* Thresholds: dragged on their histograms, by a slider or the pointer. */

const DAY = 86400000;

for (const slider of document.querySelectorAll(".histogram-box input[type=range]")) {
  const form = slider.form;
  const field = form.elements.namedItem("value");
  const picture = slider.parentElement.querySelector("svg");
  const { operator } = picture.dataset;
  const [low, high] = [Number(picture.dataset.low), Number(picture.dataset.high)];
  const isDate = slider.dataset.kind === "date";
  const width = picture.viewBox.baseVal.width;
  const digits = Math.max(0, Math.min(12, 3 - Math.floor(Math.log10(high - low || 1))));
  const textOf = (number) =>
    isDate ? new Date(Math.round(number) * DAY).toISOString().slice(0, 10) : String(Number(number.toFixed(digits)));
  const numberOf = (text) => (isDate ? Date.parse(text) / DAY : Number(text));

  const draw = (value) => {
    const x = (Math.min(Math.max((value - low) / (high - low), 0), 1) * width).toFixed(1);
    const line = picture.querySelector(".threshold");
    line.setAttribute("d", line.getAttribute("d").replace(/^M[\d.]+/, `M${x}`));
    for (const bar of picture.querySelectorAll("g[data-middle]")) {
      const middle = Number(bar.dataset.middle);
      bar.setAttribute("class", (operator === "<=" ? middle <= value : middle > value) ? "in" : "out");
    }
  };
  const set = (value) => {
    field.value = textOf(value);
    draw(value);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };

  slider.hidden = false;
  slider.addEventListener("input", (event) => {
    event.stopPropagation(); // the field tells the form
    set(Number(slider.value));
  });
  field.addEventListener("input", () => {
    const value = numberOf(field.value);
    if (Number.isNaN(value)) return;
    slider.value = value;
    draw(value);
  });
  const byPointer = (event) => {
    const { left, width: wide } = picture.getBoundingClientRect();
    const value = low + ((event.clientX - left) / wide) * (high - low);
    slider.value = value;
    set(Math.min(Math.max(value, low), high));
  };
  picture.addEventListener("pointerdown", (event) => {
    picture.setPointerCapture(event.pointerId);
    byPointer(event);
  });
  picture.addEventListener("pointermove", (event) => {
    if (picture.hasPointerCapture(event.pointerId)) byPointer(event);
  });
}

/* Completion of names in fields of the rule language. */

const WORD = /["']?[\p{L}\p{N}_.\-]+$/u;
let names;

const allNames = () => {
  names ??= fetch("/api/names")
    .then((answer) => answer.json())
    .then(({ labels, features }) => {
      const quoted = (name, quote) => (/^[\p{L}\p{N}_][\p{L}\p{N}_.\-]*$/u.test(name) ? name : quote + name + quote);
      const categories = features.flatMap((one) => (one.categories ?? []).map((text) => [text, `a value of ${one.name}`]));
      return [
        ...labels.map((name) => [quoted(name, "'"), "label"]),
        ...features.map(({ name, kind }) => [quoted(name, '"'), kind]),
        ...categories.map(([text, about]) => [quoted(text, '"'), about]),
      ];
    });
  return names;
};

for (const field of document.querySelectorAll("[data-complete]")) {
  const list = document.createElement("ul");
  list.id = `names-${Math.random().toString(36).slice(2)}`;
  list.className = "completions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Names");
  list.hidden = true;
  field.after(list);
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);
  field.setAttribute("aria-expanded", "false");
  let chosen = -1;

  const close = () => {
    list.hidden = true;
    chosen = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const mark = (number) => {
    const items = [...list.children];
    chosen = (number + items.length) % items.length;
    items.forEach((item, place) => item.setAttribute("aria-selected", String(place === chosen)));
    field.setAttribute("aria-activedescendant", items[chosen].id);
  };
  const take = (item) => {
    const before = field.value.slice(0, field.selectionStart).replace(WORD, "") + item.dataset.name;
    field.value = before + field.value.slice(field.selectionStart);
    field.setSelectionRange(before.length, before.length);
    close();
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };

  field.addEventListener("input", async () => {
    const word = WORD.exec(field.value.slice(0, field.selectionStart))?.[0].replace(/^["']/, "").toLowerCase();
    if (!word) return close();
    const fitting = (await allNames()).filter(([name]) => name.replace(/^["']/, "").toLowerCase().startsWith(word));
    const others = fitting.filter(([name]) => name.toLowerCase() !== word).slice(0, 8);
    list.replaceChildren(
      ...others.map(([name, about], place) => {
        const item = document.createElement("li");
        item.id = `${list.id}-${place}`;
        item.dataset.name = name;
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", "false");
        item.append(name, Object.assign(document.createElement("span"), { className: "dim", textContent: ` ${about}` }));
        item.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          take(item);
        });
        return item;
      }),
    );
    chosen = -1;
    list.hidden = others.length === 0;
    field.setAttribute("aria-expanded", String(!list.hidden));
  });
  field.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    if (event.key === "ArrowDown") mark(chosen + 1);
    else if (event.key === "ArrowUp") mark(chosen < 0 ? -1 : chosen - 1);
    else if (event.key === "Escape") close();
    else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) take(list.children[chosen]);
    else return;
    event.preventDefault();
  });
  field.addEventListener("blur", close);
}

/* Learning: progress, and the result when it is there. */

const learning = document.querySelector("[data-learning]");
if (learning) {
  const look = async () => {
    const answer = await fetch("/api/learning");
    const state = await answer.json();
    if (!state.is_running) return location.reload();
    learning.querySelector("progress").value = state.share;
    learning.querySelector("[role=status]").textContent = state.text;
    return setTimeout(look, 500);
  };
  setTimeout(look, 300);
}

/* Keys: what they do stands in the elements that they reach; ? lists them. */

const keyed = new Map([...document.querySelectorAll("[data-key]")].map((element) => [element.dataset.key, element]));
const isTyping = (target) => target.matches("input:not([type=range], [type=radio], [type=checkbox]), textarea, select");
let prefix = "";

const nameOf = (element) =>
  element.getAttribute("aria-label") ?? (element.matches("input") ? element.labels?.[0]?.firstChild?.textContent ?? "field" : element.textContent.trim());

const help = () => {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", "Keys");
  const table = document.createElement("table");
  for (const [key, element] of [...keyed, ["?", null]]) {
    const line = table.insertRow();
    line.insertCell().append(Object.assign(document.createElement("kbd"), { textContent: key }));
    line.insertCell().textContent = element ? nameOf(element) : "these keys";
  }
  const close = Object.assign(document.createElement("button"), { textContent: "Close", autofocus: true });
  close.addEventListener("click", () => dialog.close());
  dialog.append(table, close);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && isTyping(event.target)) return event.target.blur();
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
  if (event.key === "?") return help();
  const key = event.shiftKey && /^[A-Z]$/.test(event.key) ? `Shift+${event.key}` : event.key;
  const found = keyed.get(prefix + key);
  prefix = key === "g" && !prefix ? "g " : "";
  if (!found || found.disabled || (key === "Enter" && event.target.matches("a, button, summary"))) return;
  event.preventDefault();
  if (found.matches("input, textarea")) {
    found.focus();
    found.select();
  } else found.click();
});
