import { groupDigits } from "#bytes";
import { signs } from "#pages";
import { dataTables, dom, h, tokenCode } from "#pages/app";
import type { Compat } from "#tokenizer";
import type { RuleAnswer } from "../playground-job.ts";
import type { Choice, PairBytes } from "../rule-parting.ts";
import { messageOf } from "./page-parts.ts";
import type { Session } from "./session.ts";

const names: Record<Compat, string> = { huggingface: "Hugging Face", rustbpe: "rustbpe", cs336: "CS336" };
const reasons: Record<Compat, string> = {
  huggingface: "the pair of smaller ids: the older tokens; it reads line by line",
  rustbpe: "the pair of smaller ids: the older tokens",
  cs336: "the greatest pair, in the order of bytes",
};

/** Trains on the same text by the rules of three trainers. */
export class RulesView {
  private readonly button = h(
    "button",
    { id: "rules-go", type: "button", onclick: () => void this.compare() },
    "Train by all three",
  );
  private readonly status = h("span", { id: "rules-status", role: "status" });
  private readonly view = h("div", { id: "rules-view" });
  readonly element = dom.section(
    "rules",
    "Three trainers, one text",
    "Hugging Face, rustbpe and Stanford's CS336 all merge the most frequent pair. When two pairs are equally frequent, they do not all choose the same one.",
    h("p", this.button, " ", this.status),
    this.view,
  );

  constructor(private readonly session: Session) {
    session.onTrained(() => dom.replace(this.view, null));
  }

  private async compare(): Promise<void> {
    const { trained } = this.session;
    if (trained === undefined || this.button.ariaDisabled === "true") return;
    // The button is not disabled, because it would lose the focus.
    this.button.ariaDisabled = "true";
    this.status.textContent = "Training three times …";
    const { corpus, settings } = trained;
    try {
      const answer = await this.session.alone((thread) => thread.ask("rules", { corpus, settings }));
      dom.replace(this.view, answered(answer));
      this.status.textContent = "";
    } catch (error) {
      this.status.textContent = messageOf(error);
    }
    this.button.ariaDisabled = null;
  }
}

function answered({ parting, same, mergeCounts, refused }: RuleAnswer): dom.Child {
  const least = Math.min(...mergeCounts.map(({ count }) => count));
  return [
    refused.map(({ rule, reason }) => h("p.caution", `${names[rule]}: ${reason}`)),
    parting === null
      ? h("p", `All rules make the same ${groupDigits(least)} merges: no tie decides between them.`)
      : partingOf(parting),
    dataTables.of<(typeof same)[number]>({
      label: "Merges alike",
      columns: [
        { head: "rules", cell: ({ rules }) => rules.map((rule) => names[rule]).join(" and ") },
        dataTables.numbers("merges alike, from the first", ({ merges }) => merges),
      ],
      rows: same,
    }),
  ];
}

function partingOf({ same, choices, isTie }: NonNullable<RuleAnswer["parting"]>): dom.Child {
  const [{ tied, tiedCount }] = choices as [Choice];
  const more = tiedCount - tied.length;
  const ties = () => [
    `Here ${groupDigits(tiedCount)} pairs are equally frequent, ${groupDigits(tied[0]!.count)} times: `,
    tied.map((pair, i) => [i > 0 && ", ", pairOf(pair)]),
    more > 0 && ` and ${groupDigits(more)} more`,
    ". Which one is merged is a convention, and each trainer has its own:",
  ];
  return [
    h(
      "p",
      "The first ",
      h("b", groupDigits(same)),
      ` merges are the same. They diverge at merge ${groupDigits(same + 1)}.`,
    ),
    h(
      "p",
      isTie ? ties() : "Their counts differ here, because one of them reads line by line or has stopped:",
    ),
    dataTables.of<Choice>({
      label: "What each trainer takes",
      columns: [
        { head: "trainer", cell: ({ rule }) => names[rule] },
        { head: "takes", isText: true, cell: ({ taken }) => (taken === null ? "nothing" : pairOf(taken)) },
        dataTables.numbers("occurrences", ({ taken }) => taken?.count),
        { head: "rule for a tie", isText: true, cell: ({ rule }) => reasons[rule] },
      ],
      rows: choices,
    }),
  ];
}

const pairOf = ({ left, right }: PairBytes) => [
  tokenCode(signs.tokenText(left)),
  " + ",
  tokenCode(signs.tokenText(right)),
];
