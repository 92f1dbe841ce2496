import "../../report/browser/page-tips.js";
import type { PageData } from "../page-data.ts";
import { append, type Child } from "./dom.ts";
import { evalView } from "./eval-view.ts";

// The program of every page: reads the JSON in the page, and shows it below what the page says without a script.

function viewOf(data: PageData): Child {
  return evalView(data);
}

const data = JSON.parse(document.getElementById("data")!.textContent!) as PageData;
append(document.querySelector("main")!, viewOf(data));
