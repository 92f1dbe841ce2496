import "#pages/app/page-tips";
import { dom } from "#pages/app";
import { servePlayground } from "../playground-job.ts";
import { CompareView } from "./compare-view.ts";
import { ExerciseView } from "./exercise-view.ts";
import { RulesView } from "./rules-view.ts";
import { Session } from "./session.ts";
import { TakeView } from "./take-view.ts";
import { TokenView } from "./token-view.ts";
import { TrainView } from "./train-view.ts";
import { WatchView } from "./watch-view.ts";

// The page and its workers run the same script, so that the file contains the kernel only once.

function openPage(): void {
  const session = new Session();
  const { text } = JSON.parse(document.getElementById("data")!.textContent!) as { text: string };
  const train = new TrainView(session, text);
  const watch: WatchView = new WatchView(session, (token) => tokens.show(token));
  const tokens = new TokenView(session, (merges) => watch.show(merges));
  const others = [RulesView, CompareView, ExerciseView, TakeView].map((View) => new View(session).element);
  const sections = [watch.element, tokens.element, train.element, train.sizes, ...others];
  dom.append(document.querySelector("main")!, [dom.sectionLinks(sections), sections]);
  void train.train();
}

if (typeof document === "undefined") servePlayground(globalThis as never);
else openPage();
