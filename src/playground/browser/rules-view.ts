import { grouped } from "../../bytes/quantities.ts";
import type { Compat } from "../../merge/merges.ts";
import { type Html, html, tableHtml, tokenHtml } from "../html-parts.ts";
import type { RuleAnswer } from "../playground-job.ts";
import type { Choice, PairBytes } from "../rule-parting.ts";
import { at, messageOf, show } from "./page-parts.ts";
import type { Session } from "./session.ts";

const names: Record<Compat, string> = { huggingface: "Hugging Face", rustbpe: "rustbpe", cs336: "CS336" };
const reasons: Record<Compat, string> = {
  huggingface: "the pair of smaller ids: the older tokens; it reads line by line",
  rustbpe: "the pair of smaller ids: the older tokens",
  cs336: "the greatest pair, in the order of bytes",
};

/** The same text learned by three trainers' rules. */
export class RulesView {
  constructor(private readonly session: Session) {
    at("rules-go").addEventListener("click", () => void this.compare());
    session.onTrained(() => show(at("rules-view"), html``));
  }

  private async compare(): Promise<void> {
    const { trained } = this.session;
    const button = at("rules-go");
    if (trained === undefined || button.ariaDisabled === "true") return;
    // A button that is disabled would lose the focus.
    button.ariaDisabled = "true";
    at("rules-status").textContent = "Training three times …";
    const { corpus, settings } = trained;
    try {
      const answer = await this.session.alone(
        (thread) => thread.ask("rules", { corpus, settings }),
        () => {},
      );
      show(at("rules-view"), answerHtml(answer));
      at("rules-status").textContent = "";
    } catch (error) {
      at("rules-status").textContent = messageOf(error);
    }
    button.ariaDisabled = null;
  }
}

function answerHtml({ parting, same, mergeCounts, refused }: RuleAnswer): Html {
  const least = Math.min(...mergeCounts.map(({ count }) => count));
  return html`${refused.map(({ rule, reason }) => html`<p class="warning">${names[rule]}: ${reason}</p>`)}
${parting === null ? html`<p>All rules make the same ${grouped(least)} merges: no tie parts them.</p>` : partingHtml(parting)}
${tableHtml(
  {
    head: ["rules", "merges alike, from the first"],
    rows: same.map(({ rules, merges }) => [rules.map((rule) => names[rule]).join(" and "), grouped(merges)]),
  },
  "Merges alike",
)}`;
}

function partingHtml({ same, choices, isTie }: NonNullable<RuleAnswer["parting"]>): Html {
  const [{ tied, tiedCount }] = choices as [Choice];
  const more = tiedCount - tied.length;
  const why = isTie
    ? html`<p>Here ${grouped(tiedCount)} pairs stand equally often, ${grouped(tied[0]!.count)} times:
${tied.map((pair, i) => html`${i > 0 ? ", " : undefined}${pairHtml(pair)}`)}${more > 0 ? ` and ${grouped(more)} more` : undefined}.
Which one is merged is a convention, and each trainer has its own:</p>`
    : html`<p>They do not count alike here, because one of them reads line by line or has stopped:</p>`;
  return html`<p>The first <b>${grouped(same)}</b> merges are the same. Merge ${grouped(same + 1)} parts them.</p>${why}
${tableHtml(
  {
    head: ["trainer", "takes", "occurrences", "rule for a tie"],
    rows: choices.map(({ rule, taken }) => [
      names[rule],
      taken === null ? "nothing" : pairHtml(taken),
      taken === null ? "" : grouped(taken.count),
      reasons[rule],
    ]),
  },
  "What each trainer takes",
)}`;
}

const pairHtml = ({ left, right }: PairBytes) => html`${tokenHtml(left)} + ${tokenHtml(right)}`;
