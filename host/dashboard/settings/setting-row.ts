import { html, nothing, type TemplateResult } from "lit";

interface SettingRow {
  /** The id of the input. The search marks the row by it. */
  readonly id: string;
  readonly title: string;
  readonly hint?: string;
  readonly input: unknown;
}

/** One setting: its name and an explanation, and the input beside them. */
export function settingRow({ id, title, hint, input }: SettingRow): TemplateResult {
  return html`<div class="setting-row" data-setting=${id}>
    <div class="setting-name">
      <label for=${id}>${title}</label>
      ${hint === undefined ? nothing : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    </div>
    ${input}
  </div>`;
}

interface SelectRow extends Omit<SettingRow, "input"> {
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
}

/** A setting with a choice. */
export function selectRow({ value, options, onChange, ...row }: SelectRow): TemplateResult {
  return settingRow({
    ...row,
    input: html`<select
      id=${row.id}
      aria-describedby="${row.id}-hint"
      @change=${({ currentTarget }: Event) => onChange((currentTarget as HTMLSelectElement).value)}
    >
      ${options.map(
        ([each, text]) => html`<option value=${each} .selected=${each === value}>${text}</option>`,
      )}
    </select>`,
  });
}

/** A switch for a setting. */
export function switchInput(
  id: string,
  isOn: boolean,
  onChange: (isOn: boolean) => void,
): TemplateResult {
  return html`<input
    id=${id}
    type="checkbox"
    role="switch"
    .checked=${isOn}
    @change=${({ currentTarget }: Event) => onChange((currentTarget as HTMLInputElement).checked)}
  />`;
}

/** A setting that is on a page of its own. */
export function linkRow(
  id: string,
  { title, hint, href, icon }: Omit<SettingRow, "id" | "input"> & { href: string; icon?: string },
): TemplateResult {
  return html`<a class="setting-row" data-setting=${id} href=${href}>
    ${icon === undefined ? nothing : html`<mantel-icon name=${icon}></mantel-icon>`}
    <span class="setting-name">
      <strong>${title}</strong>
      ${hint === undefined ? nothing : html`<small class="hint">${hint}</small>`}
    </span>
    <mantel-icon name="mdi:chevron-right" class="turned"></mantel-icon>
  </a>`;
}
