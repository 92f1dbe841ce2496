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
async function unpackColumns({ columns, data, mergeCount, idLimit }) {
  const packed = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const raw = new Uint8Array(await new Response(stream).arrayBuffer());
  const byName = {};
  let pos = 0;
  for (const { name, width } of columns) {
    const numbers = new Float64Array(mergeCount);
    for (let plane = 0; plane < width; plane++) {
      for (let i = 0; i < mergeCount; i++) numbers[i] += raw[pos++] * 256 ** plane;
    }
    byName[name] = numbers;
  }
  const { skipped, step } = byName;
  let [rank, id] = [-1, -1];
  byName.rank = step.map((_, k) => (rank += 1 + (skipped ? skipped[k] : 0)));
  byName.merged = step.map((step) => (id = (id + 1 + step) % idLimit));
  return byName;
}

/**
 * Tokens by id: bytes as Latin-1 text (the first of long ones), length, halves and counts. And the merges in their order: what
 * they join, what they make, how many they made, and how many tokens were left.
 */
async function unpack(packed) {
  const { left, right, merged, rank, created, end } = await unpackColumns(packed);
  const tokens = new Map();
  const merges = [];
  for (const [id, text, length, endCount] of packed.leaves)
    tokens.set(id, { id, text, length, end: endCount });
  let tokensLeft = packed.tokensBefore;
  for (let k = 0; k < packed.mergeCount; k++) {
    const [a, b] = [tokens.get(left[k]), tokens.get(right[k])];
    if (a === undefined || b === undefined) continue;
    const text = a.length >= keptBytes ? a.text : (a.text + b.text).slice(0, keptBytes);
    const token = { id: merged[k], text, length: a.length + b.length, left: a, right: b, rank: rank[k] };
    if (created) token.created = created[k];
    if (end) token.end = end[k];
    if (tokensLeft !== null) tokensLeft -= created[k];
    merges.push({ token, tokensLeft });
    // Of two merges with one result the first counts.
    if (!tokens.has(token.id)) tokens.set(token.id, token);
  }
  return { tokens, merges };
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const invisible =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]|(?!\p{Join_Control}|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/u;

/** Bytes as people read them: what is no visible character is `\xNN`. */
function shown(text) {
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
  return made;
}

const spaceSigns = { " ": "␣", "\t": "⇥", "\n": "↵" };

/** Text (as Latin-1) with a sign for each kind of white space, as src/report/html.ts shows it. */
const withSigns = (text, signs = spaceSigns) =>
  text
    .split(/([ \t\n])/)
    .map((part) => signs[part] ?? shown(part))
    .join("")
    .replace(/[^\P{Zs} ]|\u2800/gu, (space) => (/[\u00a0\u2007\u202f]/.test(space) ? "‿" : "▫"));

/** A token with its spaces as signs. */
const visible = ({ text, length }) => withSigns(text) + (length > text.length ? "…" : "");

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
    const label = element("button", "", visible(of));
    label.type = "button";
    label.dataset.tip = `${visible(of)}: id ${of.id}${of.end == null ? "" : `, ${grouped(of.end)} times`}`;
    label.addEventListener("click", () => choose(of));
    node.append(label);
    nodes++;
    if (of.left === undefined) return node;
    if (depth >= depthMax || nodes >= nodesMax) {
      node.append(element("span", "more", "…"));
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

function setUpTree(vocabularies, unpackedOf) {
  const [chooser, query, found, view] = ["tokenizer", "query", "found", "view"].map((name) =>
    document.getElementById(`tree-${name}`),
  );
  const current = () => (chooser === null ? 0 : Number(chooser.value));

  const draw = (token) => {
    const head = element("p");
    head.append(
      element("code", "t", visible(token)),
      ` ${describe(token, vocabularies[current()].countsOf)}`,
    );
    view.replaceChildren(head, treeOf(token, draw));
    for (const label of view.querySelectorAll(".node > button")) {
      if (label.clientWidth >= 40 || label.scrollWidth <= label.clientWidth) continue;
      label.ariaLabel = label.textContent;
      label.textContent = "\u00a0";
    }
  };
  const buttonOf = (token) => {
    const button = element("button");
    button.type = "button";
    button.append(element("code", "t", visible(token)), ` ${token.id}`);
    button.addEventListener("click", () => draw(token));
    return button;
  };
  const find = async () => {
    const asked = query.value;
    const { tokens } = await unpackedOf(current());
    // Another letter was typed meanwhile.
    if (asked !== query.value) return;
    const first = tokens.get(vocabularies[current()].firstShown);
    const matching = asked === "" ? [first].filter(Boolean) : search(tokens, asked);
    const buttons = asked === "" ? [] : matching.map(buttonOf);
    if (asked !== "" && matching.length === 0) buttons.push(element("span", "quiet", "no such token here"));
    found.replaceChildren(...buttons);
    if (matching.length > 0) draw(matching[0]);
  };
  query.form.addEventListener("submit", (event) => event.preventDefault());
  query.addEventListener("input", find);
  chooser?.addEventListener("change", find);
  /** A link to a token leads to its tree. */
  const follow = async () => {
    const { tokens } = await unpackedOf(current());
    const token = tokens.get(Number(/^#token-(\d+)$/.exec(location.hash)?.[1]));
    if (token === undefined) return;
    query.value = `#${token.id}`;
    await find();
    document.getElementById("tree").scrollIntoView();
  };
  addEventListener("hashchange", follow);
  // The first picture of the page does not wait for this.
  requestAnimationFrame(() => setTimeout(() => find().then(follow)));
}

/** By what the columns of merges are sorted. */
const mergeKeys = {
  rank: ({ token }) => token.rank,
  pair: ({ token }) => `${token.left.text} ${token.right.text}`,
  token: ({ token }) => token.text,
  length: ({ token }) => token.length,
  id: ({ token }) => token.id,
  created: ({ token }) => token.created,
  end: ({ token }) => token.end,
  left: ({ tokensLeft }) => tokensLeft,
};

/** A page of the merges at a time: of 200,000 rows a table would be slow. */
async function setUpMerges(vocabularies, unpackedOf) {
  const table = document.querySelector(".merges");
  if (table === null) return;
  const body = table.tBodies[0];
  const shownCount = body.rows.length;
  const controls = table.parentElement.nextElementSibling;
  const [rank, status] = [controls.querySelector("input"), controls.querySelector("span")];
  const columns = [...table.tHead.rows[0].cells].map(({ dataset }) => dataset.key);
  const { tokensBefore } = vocabularies[0];
  const { merges } = await unpackedOf(0);
  let order = merges;
  let first = 0;

  const link = (token) => {
    const made = element("a");
    made.href = `#token-${token.id}`;
    made.append(element("code", "t", visible(token)));
    return made;
  };
  const cells = {
    pair: ({ token }) => [link(token.left), " + ", link(token.right)],
    token: ({ token }) => [link(token)],
    id: ({ token }) => [token.id],
    left: ({ tokensLeft }) => [grouped(tokensLeft), bar(tokensLeft / tokensBefore)],
  };
  const rowOf = (merge) => {
    const row = element("tr");
    const head = element("th", "", grouped(merge.token.rank + 1));
    head.scope = "row";
    row.append(head);
    for (const column of columns.slice(1)) {
      const cell = element("td");
      cell.append(...(cells[column]?.(merge) ?? [grouped(mergeKeys[column](merge))]));
      row.append(cell);
    }
    return row;
  };
  const show = (from) => {
    first = Math.max(0, Math.min(from, order.length - shownCount));
    const shown = order.slice(first, first + shownCount);
    body.replaceChildren(...shown.map(rowOf));
    status.textContent = `${grouped(first + 1)} to ${grouped(first + shown.length)} of ${grouped(order.length)}`;
  };
  setUpHeads(table, (column, isDescending) => {
    const keyOf = mergeKeys[columns[column]];
    const keyed = merges.map((merge) => ({ merge, key: keyOf(merge) }));
    const sign = isDescending ? -1 : 1;
    keyed.sort(({ key: a }, { key: b }) => (a < b ? -sign : a > b ? sign : 0));
    order = keyed.map(({ merge }) => merge);
    show(0);
  });
  markSorted(table, 0, false);
  controls.addEventListener("click", ({ target }) => {
    const turn = target.closest("[data-turn]");
    if (turn !== null) show(first + Number(turn.dataset.turn) * shownCount);
  });
  rank.addEventListener("input", () => {
    const at = order.findIndex(({ token }) => token.rank === Number(rank.value) - 1);
    if (at >= 0) show(at);
  });
  controls.hidden = merges.length <= shownCount;
  show(0);
}

/** As src/report/charts.ts draws it. */
function bar(share) {
  const picture = document.createElementNS(svgNamespace, "svg");
  picture.setAttribute("class", "bar c0");
  const rect = document.createElementNS(svgNamespace, "rect");
  rect.setAttribute("width", `${Math.round(1000 * share) / 10}%`);
  rect.setAttribute("height", "100%");
  picture.append(rect);
  return picture;
}

const svgNamespace = "http://www.w3.org/2000/svg";

/** What a cell is sorted by: a number or a text; "" where it has no value. */
function keyOf({ dataset, textContent }) {
  const text = dataset.v ?? textContent.trim();
  const number = Number(text.replace(/[,%\s]/g, ""));
  return text === "" || Number.isNaN(number) ? text : number;
}

/** Says which column a table is sorted by. */
function markSorted(table, column, isDescending) {
  for (const [i, head] of [...table.tHead.rows[0].cells].entries()) {
    if (i === column) head.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
}

/** Sorts the rows of each group. A cell without a value stands last in either order. */
function sortTable(table, column, isDescending) {
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  for (const body of table.tBodies) {
    const rows = [...body.rows]
      .filter((row) => !row.classList.contains("group"))
      .map((row) => ({ row, key: keyOf(row.cells[column]) }));
    rows.sort(({ key: a }, { key: b }) => {
      if (a === "" || b === "") return (a === "") - (b === "");
      return isDescending ? compare(b, a) : compare(a, b);
    });
    body.append(...rows.map(({ row }) => row));
  }
}

/** Heads of a table become buttons that sort it; a second click turns the order round. */
function setUpHeads(table, sort, isDescendingFirst = () => false) {
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    const button = element("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const order = head.getAttribute("aria-sort");
      const isDescending = order === null ? isDescendingFirst(column, head) : order === "ascending";
      markSorted(table, column, isDescending);
      sort(column, isDescending);
    });
  }
}

function setUpSorting() {
  for (const table of document.querySelectorAll(".sortable")) {
    const rows = [...table.tBodies[0].rows].filter((row) => !row.classList.contains("group"));
    // One row has no order.
    if (rows.length < 2) continue;
    // The best first: of most that is the largest number. Texts from the first to the last.
    const isDescendingFirst = (column, { dataset }) =>
      dataset.better !== "lower" && rows.some((row) => typeof keyOf(row.cells[column]) === "number");
    setUpHeads(table, (...asked) => sortTable(table, ...asked), isDescendingFirst);
  }
}

function setUpVocabularies() {
  const source = document.getElementById("vocabularies");
  if (source === null) return;
  const vocabularies = JSON.parse(source.textContent);
  /** Unpacked when it is first needed. */
  const unpacked = vocabularies.map(() => undefined);
  const unpackedOf = (i) => (unpacked[i] ??= unpack(vocabularies[i]));
  setUpTree(vocabularies, unpackedOf);
  requestAnimationFrame(() => setTimeout(() => setUpMerges(vocabularies, unpackedOf)));
}

setUpVocabularies();
setUpSorting();
