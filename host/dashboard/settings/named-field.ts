import { html, nothing, type TemplateResult } from "lit";
import type { FormAction } from "./form-action.ts";
import { words } from "./words.ts";

interface NamedField {
  /** The element id in the page. */
  readonly id: string;
  /** The maximum length that the host accepts. */
  readonly maxLength: number;
  readonly value?: string;
}

/** A name field with the fault reported by the host. */
export function nameField(
  formAction: FormAction,
  { id, maxLength, value }: NamedField,
): TemplateResult {
  const fault = formAction.faultAt("/name");
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
