import { html, type TemplateResult } from "lit";

/** A name and a value, as lists of facts have them. */
export type Fact = readonly [name: string, value: string];

/** Facts in a panel, under a heading. */
export function factsView(title: string, facts: readonly Fact[]): TemplateResult {
  return html`<section class="panel">
    <h2>${title}</h2>
    <dl>
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd dir="auto">${value}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
}
