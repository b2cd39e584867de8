import { html, type TemplateResult } from "lit";

/** A name and a value in a list of details. */
export type Fact = readonly [name: string, value: string];

/** A panel with a heading and a list of details. */
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
