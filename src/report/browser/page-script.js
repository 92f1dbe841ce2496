// The script of a report. It finds tokens, draws their merge trees, and shows two tokenizers side by side. All text reaches
// the page as text: nothing here makes HTML of it. It is a module, so that its names are its own.
/** Bytes of a token that are kept: enough to find it and to show it. */
const keptBytes = 256;
const foundMax = 40;
/** A token of repetitive text may be as deep as there are merges. */
const depthMax = 14;
const nodesMax = 400;

const encoder = new TextEncoder();
const element = (name, className, text) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
const latin1 = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");

/** Numbers of each column (src/report/packed-vocabulary.ts), by merge. */
async function unpackColumns({ columns, runs, data, mergeCount }) {
  const packed = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const raw = new Uint8Array(await new Response(stream).arrayBuffer());
  const byName = {
    merged: runs.flatMap(([first, count]) => Array.from({ length: count }, (_, i) => first + i)),
  };
  let pos = 0;
  for (const { name, width } of columns) {
    const numbers = new Float64Array(mergeCount);
    for (let plane = 0; plane < width; plane++) {
      for (let i = 0; i < mergeCount; i++) numbers[i] += raw[pos++] * 256 ** plane;
    }
    byName[name] = numbers;
  }
  return byName;
}

/** Tokens by id: bytes as Latin-1 text (the first of long ones), length, halves and counts. */
async function unpack(packed) {
  const { left, right, merged, created, end } = await unpackColumns(packed);
  const tokens = new Map();
  for (const [id, text, length, endCount] of packed.leaves)
    tokens.set(id, { id, text, length, end: endCount });
  for (let k = 0; k < packed.mergeCount; k++) {
    // Of two merges with one result the first counts.
    if (tokens.has(merged[k])) continue;
    const [a, b] = [tokens.get(left[k]), tokens.get(right[k])];
    if (a === undefined || b === undefined) continue;
    const text = a.length >= keptBytes ? a.text : (a.text + b.text).slice(0, keptBytes);
    const token = { id: merged[k], text, length: a.length + b.length, left: a, right: b, rank: k };
    if (created) token.created = created[k];
    if (end) token.end = end[k];
    tokens.set(token.id, token);
  }
  return tokens;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const invisible =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]|(?!\p{Join_Control}|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/u;

/** Bytes as people read them: what is no visible character is `\xNN`. */
function shown({ text, length }) {
  let made = "";
  for (let i = 0; i < text.length; ) {
    let character = null;
    let size = 1;
    for (; size <= 4 && character === null; size++) {
      try {
        character = strict.decode(Uint8Array.from(text.slice(i, i + size), (c) => c.charCodeAt(0)));
      } catch {}
    }
    const isWhole = character !== null && !invisible.test(character);
    const bytes = character === null ? 1 : size - 1;
    if (isWhole) made += character;
    else {
      for (let j = 0; j < bytes; j++)
        made += `\\x${text
          .charCodeAt(i + j)
          .toString(16)
          .padStart(2, "0")}`;
    }
    i += bytes;
  }
  return length > text.length ? `${made}…` : made;
}

/** Ids that match: #id, then the text itself, with a space before it, what begins with it, and what holds it. */
function search(tokens, query) {
  if (/^#\d+$/.test(query)) {
    const token = tokens.get(Number(query.slice(1)));
    return token ? [token] : [];
  }
  const wanted = latin1(encoder.encode(query));
  const classes = [[], [], [], []];
  for (const token of tokens.values()) {
    const at = token.text.indexOf(wanted);
    if (at < 0) continue;
    const rank = token.text === wanted ? 0 : token.text === ` ${wanted}` ? 1 : at === 0 ? 2 : 3;
    if (classes[rank].length < foundMax) classes[rank].push(token);
  }
  return classes.flat().slice(0, foundMax);
}

/** What is known of a token, in a line. */
function describe(token, countsOf) {
  const facts = [`id ${token.id}`, `${grouped(token.length)} bytes`];
  facts.push(token.rank === undefined ? "no merge makes it" : `merge ${grouped(token.rank + 1)}`);
  if (token.created !== undefined) facts.push(`${grouped(token.created)} occurrences created`);
  if (token.end != null) {
    facts.push(`${grouped(token.end)} ${token.created === undefined ? "" : "at the end "}in ${countsOf}`);
  }
  return facts.join(", ");
}

/** The token over its halves, each over its own; a click on one calls `choose` with it. */
function treeOf(token, choose) {
  let nodes = 0;
  const nodeOf = (of, depth) => {
    const node = element("div", "node");
    node.style.flexGrow = String(of.length);
    const label = element("b", "", shown(of));
    label.title = `id ${of.id}${of.end == null ? "" : `, ${grouped(of.end)} times`}`;
    label.addEventListener("click", () => choose(of));
    node.append(label);
    nodes++;
    if (of.left === undefined) return node;
    if (depth >= depthMax || nodes >= nodesMax) {
      node.append(element("b", "more", "…"));
      return node;
    }
    const halves = element("div", "halves");
    halves.append(nodeOf(of.left, depth + 1), nodeOf(of.right, depth + 1));
    node.append(halves);
    return node;
  };
  const tree = element("div", "tree");
  tree.append(nodeOf(token, 0));
  return tree;
}

function setUpTree() {
  const source = document.getElementById("vocabularies");
  if (source === null) return;
  const vocabularies = JSON.parse(source.textContent);
  const [chooser, query, found, view] = ["tokenizer", "query", "found", "view"].map((name) =>
    document.getElementById(`tree-${name}`),
  );
  /** Unpacked when it is first needed. */
  const unpacked = vocabularies.map(() => undefined);
  const current = () => (chooser === null ? 0 : Number(chooser.value));
  const tokensOf = (i) => (unpacked[i] ??= unpack(vocabularies[i]));

  const draw = (token) => {
    const head = element("p");
    head.append(element("code", "t", shown(token)), ` ${describe(token, vocabularies[current()].countsOf)}`);
    view.replaceChildren(head, treeOf(token, draw));
  };
  const buttonOf = (token) => {
    const button = element("button");
    button.type = "button";
    button.append(element("code", "t", shown(token)), ` ${token.id}`);
    button.addEventListener("click", () => draw(token));
    return button;
  };
  const find = async () => {
    const asked = query.value;
    const tokens = await tokensOf(current());
    // Another letter was typed meanwhile.
    if (asked !== query.value) return;
    const first = tokens.get(vocabularies[current()].firstShown);
    const matching = asked === "" ? [first].filter(Boolean) : search(tokens, asked);
    const buttons = asked === "" ? [] : matching.map(buttonOf);
    if (asked !== "" && matching.length === 0) buttons.push(element("span", "quiet", "no such token"));
    found.replaceChildren(...buttons);
    if (matching.length > 0) draw(matching[0]);
  };
  query.form.addEventListener("submit", (event) => event.preventDefault());
  query.addEventListener("input", find);
  chooser?.addEventListener("change", find);
  // The first picture of the page does not wait for this.
  requestAnimationFrame(() => setTimeout(find));
}

/** Marks the tokens that have no equal, with the same bytes at the same place, among the other's. */
function markDifferences(cut, other) {
  const placesOf = (of) => {
    let end = 0;
    return [...of.querySelectorAll("i")].map((token) => {
      const start = end;
      end += Number(token.dataset.n);
      return { token, place: `${start} ${end}`, end };
    });
  };
  const [ours, others] = [placesOf(cut), placesOf(other)];
  const isSameText = cut.dataset.text === other.dataset.text && cut !== other;
  const places = new Set(others.map(({ place }) => place));
  for (const { token, place } of ours) token.classList.toggle("d", isSameText && !places.has(place));
}

function setUpSamples() {
  const choosers = document.querySelector(".choosers");
  if (choosers === null) return;
  const selects = [...choosers.querySelectorAll("select")];
  if (selects[0].options.length < 3) return;
  choosers.hidden = false;
  const show = () => {
    const chosen = selects.map((select) => select.value);
    for (const cuts of document.querySelectorAll(".cuts")) {
      const all = [...cuts.children];
      for (const cut of all) cut.hidden = !chosen.includes(cut.dataset.tokenizer);
      const [a, b] = chosen.map((tokenizer) => all.find((cut) => cut.dataset.tokenizer === tokenizer));
      // The left one stands first.
      cuts.prepend(a);
      if (a !== b) a.after(b);
      markDifferences(a, b);
      if (a !== b) markDifferences(b, a);
    }
  };
  for (const select of selects) select.addEventListener("change", show);
}

setUpTree();
setUpSamples();
