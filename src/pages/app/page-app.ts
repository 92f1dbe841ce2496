import "./page-tips.js";
import type { PageData } from "../page-data.ts";
import { diffView } from "./diff-view.ts";
import { append, sectionLinks } from "./dom.ts";
import { evalView } from "./eval-view.ts";
import { vocabularyView } from "./vocabulary-view.ts";

// The program of every report: renders the JSON in the page below its static text.

const data = JSON.parse(document.getElementById("data")!.textContent!) as PageData;
const main = document.querySelector("main")!;

async function show(): Promise<void> {
  if (data.view === "eval") append(main, evalView(data));
  else if (data.view === "diff") append(main, diffView(data));
  else await vocabularyView(main, data);
  const titles = [...main.querySelectorAll<HTMLElement>("section > h2")];
  main.querySelector("noscript")!.before(sectionLinks(titles.map((title) => title.parentElement!)));
}

void show();
