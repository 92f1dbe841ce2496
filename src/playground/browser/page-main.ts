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

function openPage(): void {
  const session = new Session();
  const train = new TrainView(session);
  const watch: WatchView = new WatchView(session, (token) => {
    void tokens.choose(token);
    at("token").scrollIntoView();
  });
  const tokens = new TokenView(session, (merges) => watch.goTo(merges));
  new RulesView(session);
  new CompareView(session);
  new ExerciseView(session);
  new TakeView(session);
  void train.train();
}

if (typeof document === "undefined") servePlayground(globalThis as never);
else openPage();
