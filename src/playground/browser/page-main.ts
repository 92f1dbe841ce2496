import "../../pages/app/page-tips.js";
import { servePlayground } from "../playground-job.ts";
import { CompareView } from "./compare-view.ts";
import { ExerciseView } from "./exercise-view.ts";
import { at } from "./page-parts.ts";
import { RulesView } from "./rules-view.ts";
import { Session } from "./session.ts";
import { TakeView } from "./take-view.ts";
import { TokenView } from "./token-view.ts";
import { TrainView } from "./train-view.ts";
import { WatchView } from "./watch-view.ts";

// The script of the page, and of its workers: one text, so that the kernel is in the file once.

/** Shows a section, and lets the keys go on at a place of it. */
function goOnAt(section: string, place: string): void {
  at(section).scrollIntoView();
  at(place).focus({ preventScroll: true });
}

function openPage(): void {
  const session = new Session();
  const train = new TrainView(session);
  const watch: WatchView = new WatchView(session, async (token) => {
    await tokens.choose(token);
    goOnAt("token", "token-view");
  });
  const tokens = new TokenView(session, (merges) => {
    watch.goTo(merges);
    goOnAt("watch", "watch-slider");
  });
  new RulesView(session);
  new CompareView(session);
  new ExerciseView(session);
  new TakeView(session);
  void train.train();
}

if (typeof document === "undefined") servePlayground(globalThis as never);
else openPage();
