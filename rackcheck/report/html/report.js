"use strict";
// The table of nodes: find, sort, open. Every text is inserted as text; no text from a node is ever parsed as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SIGNS = {p: ["✔", "pass"], F: ["✘", "fail"], m: ["▽", "minor"], u: ["?", "unknown"], w: ["!", "warn"],
    v: ["~", "waived"], n: ["·", "n/a"], "-": ["–", "not in scope"]};
  const OUTCOMES = {PASS: "p", FAIL: "F", INCOMPLETE: "u"};
  const COLUMNS = ["name", "role", "rack", "slot", "vendor", "product", "serial", "outcome", "vector", "u",
    "notInScope", "host", "bmc", "run", "note", "reason", "fit", "machine"];
  const SORTS = ["name", "outcome", "rack", "u", "product", "serial", "F", "u!", "w", "v"];
  const STEP = 200;  // rows drawn at once
  const byId = (id) => document.getElementById(id);
  const several = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const table = byId("node-table");
  if (!table) return;

  // A failing verdict of a minor rule has a letter of its own here, and is still a verdict that fails.
  const mark = (letter, at) => letter === "F" && at >= 0 && data.rules[at][1] === "minor" ? "m" : letter;
  const is = (letter, wanted) => letter === wanted || (letter === "m" && wanted === "F");
  const vectors = data.vectors.map((vector) => [...vector].map(mark).join(""));
  const counts = vectors.map((vector) => {
    const found = {F: 0, m: 0, u: 0, w: 0, v: 0};
    for (const letter of vector) if (letter in found) found[letter] += 1;
    return found;
  });
  const nodes = data.nodes.map((row, place) => {
    const node = Object.fromEntries(COLUMNS.map((name, i) => [name, row[i]]));
    const {F: decisive, m, u, w, v} = counts[node.vector];
    const text = [node.name, node.rack, node.serial, node.product, node.host, node.bmc, node.role].join(" ");
    return Object.assign(node, {F: decisive + m, decisive, "u!": u, w, v, place, letters: vectors[node.vector],
      text: text.toLowerCase()});
  });
  const body = table.tBodies[0];
  const [find, verdict, rule] = ["f-text", "f-verdict", "f-rule"].map(byId);
  let open = null, limit = STEP, sort = {by: "place", down: false};

  const el = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const sign = (letter, word = SIGNS[letter][1]) =>
    el("span", {class: `v v-${letter}`}, el("span", {class: "sign", "aria-hidden": "true"}, SIGNS[letter][0]), ` ${word}`);
  const shown = (text) => text || el("span", {class: "unread"}, `? ${data.unread}`);

  // A node set such as `dgx[01-18,20],sw1`: each part is a test on names, so that a wide range costs nothing.
  const nodeSet = (text) => (text.match(/(?:[^,[]|\[[^\]]*\]?)+/g) || []).map((part) => {
    const [, head, ranges, tail] = /^([^[]*)(?:\[([^\]]*)\]?(.*))?$/.exec(part.trim());
    if (ranges === undefined) return (name) => name === head;
    const spans = ranges.split(",").map((span) => span.split("-"));
    return (name) => {
      const middle = name.slice(head.length, name.length - tail.length);
      return name.startsWith(head) && name.endsWith(tail) && /^\d+$/.test(middle) && spans.some(([low, high = low]) =>
        Number(low) <= Number(middle) && Number(middle) <= Number(high) && (low[0] !== "0" || low.length === middle.length));
    };
  });

  const tests = () => {
    const text = find.value.trim().toLowerCase(), letter = verdict.value, at = rule.value === "" ? -1 : Number(rule.value);
    const made = [];
    if (/[[,]/.test(text)) {
      const names = nodeSet(text);
      made.push((node) => names.some((test) => test(node.name.toLowerCase())));
    } else if (text) made.push((node) => node.text.includes(text));
    if (letter in OUTCOMES) made.push((node) => node.outcome === letter);
    else if (letter && at >= 0) made.push((node) => is(node.letters[at], letter));
    else if (letter) made.push((node) => [...node.letters].some((each) => is(each, letter)));
    if (at >= 0 && (!letter || letter in OUTCOMES)) made.push((node) => !"p-".includes(node.letters[at]));
    return made;
  };

  const {compare} = new Intl.Collator("en", {numeric: true});
  const ordered = (a, b) => (sort.down ? -1 : 1) * compare(a[sort.by], b[sort.by]) || a.place - b.place;

  const line = (node) => {
    const button = el("button", {type: "button", class: "open", "aria-expanded": String(open === node.place)}, node.name);
    button.addEventListener("click", () => {
      open = open === node.place ? null : node.place;
      history.replaceState(null, "", open === null ? "#nodes" : `#node-${encodeURIComponent(node.name)}`);
      draw();
      body.querySelector(`[data-n="${node.place}"] button`).focus();
    });
    const many = (letter, count) => el("td", {class: count ? `num t-${letter}` : "num zero"}, String(count));
    return el("tr", {"data-n": node.place}, el("th", {scope: "row"}, button),
      el("td", {}, sign(OUTCOMES[node.outcome], node.outcome), ...(node.reason ? [el("small", {class: "because"}, node.reason)] : [])),
      el("td", {}, node.rack || "-"),
      el("td", {class: "num"}, String(node.u || "-")), el("td", {class: "any"}, shown(node.product)),
      el("td", {class: "serial"}, shown(node.serial)), many(node.decisive ? "F" : "m", node.F), many("u", node["u!"]), many("w", node.w),
      many("v", node.v));
  };

  const detail = (node) => {
    const machine = [node.fit, node.machine].filter(Boolean).join(": ");
    const pairs = [["Why", node.reason], ["Machine", machine], ["Role", node.role], ["Host", node.host], ["BMC", node.bmc], ["Vendor", node.vendor],
      ["Slot", node.slot], ["Run", node.run], ["Note", node.note], ["Not in scope", node.notInScope ? several(node.notInScope, "rule") : ""]];
    const facts = el("dl", {class: "facts"}, ...pairs.filter(([, text]) => text)
      .map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text))));
    const letters = el("p", {class: "letters"}, ...[...node.letters].map((letter, i) => {
      const words = `${data.rules[i][0]}: ${SIGNS[letter][1]}`;
      return el("span", {class: `c-${letter === "-" ? "out" : letter}`, title: words}, SIGNS[letter][0]);
    }));
    const found = data.findings.filter(([, , , ends]) =>
      ends.some((first, i) => i % 2 === 0 && first <= node.place && node.place <= ends[i + 1]));
    const list = el("ul", {class: "plain"}, ...found.map(([place, letter, anchor]) => {
      const at = byId(anchor);
      const id = at.closest("article").querySelector(".rule").textContent;
      return el("li", {}, sign(mark(letter, place)), " ", el("a", {href: `#${anchor}`}, id), ` ${at.querySelector(".reason").textContent}`);
    }));
    const parts = data.parts[node.place].map(([item, make, serial, other]) => el("tr", {}, el("th", {scope: "row"}, item),
      el("td", {}, shown(data.makes[make][1])), el("td", {}, shown(data.makes[make][2])),
      el("td", {class: "serial"}, shown(serial)), el("td", {class: "serial"}, other)));
    const head = ["Part", "Model", "Part number", "Serial", "Other"].map((name) => el("th", {scope: "col"}, name));
    const cell = el("td", {colspan: table.tHead.rows[0].cells.length}, facts,
      el("p", {class: "what"}, `${several(data.rules.length, "rule")} in the profile's order`), letters,
      found.length ? list : el("p", {class: "empty"}, "No findings on this node."),
      parts.length ? el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...parts))
        : el("p", {class: "empty"}, data.parts_left_out ? "Parts: inventory.csv." : "No part with an identity was read."));
    return el("tr", {class: "detail"}, cell);
  };

  const draw = () => {
    const wanted = tests();
    const met = nodes.filter((node) => wanted.every((test) => test(node))).sort(ordered);
    const drawn = met.slice(0, limit);
    const opened = met.find((node) => node.place === open);
    if (opened && !drawn.includes(opened)) drawn.push(opened);
    body.replaceChildren(...drawn.flatMap((node) => (node === opened ? [line(node), detail(node)] : [line(node)])));
    const which = [verdict.value && verdict.selectedOptions[0].textContent, rule.value && rule.selectedOptions[0].textContent];
    if (rule.value && (!verdict.value || verdict.value in OUTCOMES)) which.push("not pass");
    byId("status").textContent = [`${met.length} of ${several(nodes.length, "node")}`, ...which.filter(Boolean)].join(" · ");
    const left = met.length - drawn.length;
    const all = el("button", {type: "button"}, `show ${left} more`);
    all.addEventListener("click", () => { limit = Infinity; draw(); });
    byId("shown").replaceChildren(...(left ? [all] : []));
  };

  const reset = () => { find.value = verdict.value = rule.value = ""; limit = STEP; };
  const show = (place) => {
    open = place;
    reset();
    draw();
    const row = body.querySelector(`[data-n="${place}"]`);
    row.scrollIntoView({block: "center"});
    row.querySelector("button").focus({preventScroll: true});
  };
  const follow = () => {
    let id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const node = id.startsWith("node-") && nodes.find((one) => `node-${one.name}` === id);
    if (node) show(node.place);
    const target = byId(id);
    if (target && target.matches("details")) target.open = true;
  };

  data.rules.forEach(([id], i) => rule.append(el("option", {value: i}, id)));
  for (const [input, event] of [[find, "input"], [verdict, "change"], [rule, "change"]]) {
    input.addEventListener(event, () => { limit = STEP; draw(); });
  }
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("controls").addEventListener("reset", (event) => { event.preventDefault(); reset(); open = null; draw(); find.focus(); });
  [...table.tHead.rows[0].cells].forEach((cell, i) => {
    const button = el("button", {type: "button", class: "sort"}, cell.textContent);
    button.addEventListener("click", () => {
      sort = {by: SORTS[i], down: sort.by === SORTS[i] ? !sort.down : i > 5};  // counts: the most first
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
      draw();
    });
    cell.replaceChildren(button);
  });
  for (const button of document.querySelectorAll(".to-nodes")) {
    const at = data.rules.findIndex(([id]) => id === button.dataset.rule);
    button.hidden = at < 0;
    button.addEventListener("click", () => {
      reset();
      open = null;
      rule.value = String(at);
      verdict.value = button.dataset.letter;
      draw();
      byId("nodes").scrollIntoView();
      rule.focus({preventScroll: true});
    });
  }
  document.querySelector(".racks")?.addEventListener("click", ({target: {dataset: {n}}}) => { if (n) show(Number(n)); });
  const folded = [...document.querySelectorAll("details:not([open])")];
  addEventListener("beforeprint", () => { for (const one of folded) one.open = true; });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
  addEventListener("hashchange", follow);
  byId("controls").hidden = byId("status").hidden = false;
  draw();
  follow();
})();
