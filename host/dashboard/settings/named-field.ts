import { html, nothing, type TemplateResult } from "lit";
import type { Doing } from "./doing.ts";
import { words } from "./words.ts";

interface NamedField {
  /** The id in the page. */
  readonly id: string;
  /** The most characters that the host takes. */
  readonly maxLength: number;
  readonly value?: string;
}

/** The field for the name of something, with what the host finds wrong with it. */
export function nameField(doing: Doing, { id, maxLength, value }: NamedField): TemplateResult {
  const fault = doing.faultAt("/name");
  return html`<div class="field">
    <label for=${id}>${words.value.name}</label>
    <input
      id=${id}
      name="name"
      maxlength=${maxLength}
      dir="auto"
      required
      pattern=".*\\S.*"
      aria-describedby="${id}-fault"
      aria-invalid=${fault === nothing ? "false" : "true"}
      .value=${value ?? ""}
    />
    <div id="${id}-fault">${fault}</div>
  </div>`;
}
