import { countNoun, groupDigits } from "#bytes";
import { signs, type unpacked } from "#pages";
import { dom, h, mergeTrees, tokenCode } from "#pages/app";
import { isSpecial, numberOf, tokenOf } from "../learned.ts";
import type { Session, Trained } from "./session.ts";

const wordsMost = 10;
const absorbersMost = 12;

const title = "Why is this token here?";

/** Shows why a token exists: how it was created, which words contain it, and which tokens absorbed it. */
export class TokenView {
  element = dom.section("tree", title, null);
  private draw: (token: unpacked.Token) => void = () => {};

  constructor(
    private readonly session: Session,
    private readonly goTo: (merges: number) => void,
  ) {
    session.onTrained(({ vocabulary }) => {
      const { merged, tokens } = vocabulary;
      const { element, draw } = mergeTrees.treeSection({
        vocabulary,
        first: tokens.find(({ text }) => text === " the") ?? merged.at(-1) ?? tokens[0]!,
        title,
        text: "Search for a token by text, or by id as #300; or click one in the text above.",
        facts: (token) => this.factsOf(token),
        below: (token) => this.historyOf(token),
      });
      this.draw = draw;
      this.element.replaceWith(element);
      this.element = element;
    });
  }

  /** Shows the token that has this number in the merge engine, and moves the focus there. */
  show(number: number): void {
    const { learned, vocabulary } = this.session.trained!;
    this.draw(tokenOf(learned, vocabulary, number));
    this.element.scrollIntoView();
    this.element.querySelector<HTMLElement>("#tree-view")!.focus({ preventScroll: true });
  }

  private factsOf(token: unpacked.Token): dom.Child {
    const { id, left, right, rank, created, end } = token;
    if (isSpecial(token)) return `is a special token: id ${id}. Its text is never counted.`;
    if (rank === undefined)
      return `is a byte: id ${id}. It occurs ${signs.timesOf(created!)} before the first merge, and ${signs.timesOf(end!)} at the end.`;
    const pairCount = this.session.trained!.learned.pairCounts[rank]!;
    return [
      `is one token, id ${id}, because after ${groupDigits(rank)} merges `,
      tokenCode(mergeTrees.shownToken(left!)),
      " and ",
      tokenCode(mergeTrees.shownToken(right!)),
      ` were adjacent ${signs.timesOf(pairCount)}: no other pair was more frequent. Merge ${groupDigits(rank + 1)} made it in ${groupDigits(created!)} places. ${leftOf(created!, end!)} `,
      h("button", { type: "button", onclick: () => this.goTo(rank) }, "See it happen"),
    ];
  }

  /** Shows the words that contained a token, which the worker finds, and the tokens that absorbed it. */
  private historyOf(token: unpacked.Token): dom.Child {
    const trained = this.session.trained!;
    const { merged } = trained.vocabulary;
    const absorbers = merged
      .filter(({ left, right }) => left === token || right === token)
      .sort((a, b) => b.created! - a.created! || a.id - b.id);
    const words = h("div");
    if (isSpecial(token)) dom.replace(words, h("p.quiet", "None."));
    else void this.askWords(trained, token, words);
    const more = absorbers.length - absorbersMost;
    const taken = (by: unpacked.Token) =>
      h("li", mergeTrees.tokenLink(by), h("span.quiet", ` took ${signs.timesOf(by.created!)}`));
    return h(
      "div.columns",
      h("div", h("h3", "Words that contain it"), words),
      h(
        "div",
        h("h3", "What absorbed it"),
        absorbers.length === 0
          ? h("p.quiet", "Nothing: no later merge absorbed it.")
          : h("ul.plain", absorbers.slice(0, absorbersMost).map(taken)),
        more > 0 && h("p.quiet", `and ${groupDigits(more)} more`),
      ),
    );
  }

  private async askWords({ thread }: Trained, token: unpacked.Token, place: HTMLElement): Promise<void> {
    const asked = { token: numberOf(token), most: wordsMost };
    const { shown, wordCount, occurrences } = await thread.ask("wordsWith", asked);
    const items = shown.map(({ bytes, count }) =>
      h("li", tokenCode(signs.tokenText(bytes)), h("span.quiet", ` ${signs.timesOf(count)}`)),
    );
    const sum = `${countNoun(wordCount, "word")} contained it at some step, ${signs.timesOf(occurrences)} in all.`;
    dom.replace(place, [h("ul.plain", items), h("p.quiet", sum)]);
  }
}

function leftOf(created: number, end: number): string {
  if (end === created) return "At the end all of these are left.";
  return `At the end ${end === 0 ? "none" : groupDigits(end)} of these are left; later merges absorbed the others into longer tokens.`;
}
