import { html, type TemplateResult } from "lit";
import type { CommandBody } from "../device.ts";
import type { Actions } from "./actions.ts";
import { canSet } from "./appearance.ts";
import { valueWord } from "./control-words.ts";
import type { DeviceFunction } from "./functions.ts";

const DIGITS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "", "0"];

/**
 * A keypad for a lock or alarm system that wants a code. The code is only in the input field, which does not show it;
 * it is cleared when it is sent.
 */
export function codePad(device: DeviceFunction, actions: Actions): TemplateResult {
  const { t } = actions;
  return html`<div class="pad" role="group" aria-label=${t("Code")}>
    <input
      type="password"
      inputmode="numeric"
      autocomplete="one-time-code"
      placeholder=${t("Code")}
      aria-label=${t("Code")}
    />
    <div class="keys">
      ${DIGITS.map((digit) =>
        digit === ""
          ? html`<span></span>`
          : html`<button @click=${(event: Event) => type(event, digit)}>${digit}</button>`,
      )}
      <button aria-label=${t("Delete a digit")} @click=${(event: Event) => type(event, "")}>
        <mantel-icon name="mdi:backspace-outline"></mantel-icon>
      </button>
    </div>
    <div class="choices">
      ${usesOf(device).map(
        ([name, command]) =>
          html`<button
            @click=${(event: Event) => void actions.send(device, withCode(event, command))}
          >
            ${t(name)}
          </button>`,
      )}
    </div>
  </div>`;
}

/** The commands that need a code: the modes of an alarm system, and those of a lock. */
function usesOf(device: DeviceFunction): readonly (readonly [name: string, CommandBody])[] {
  const { mode } = device.capabilities;
  const modes = mode?.type === "choice" && canSet(device, "mode") ? mode.values : [];
  return [
    ...modes.map((each) => [valueWord(each), { mode: each }] as const),
    ...(canSet(device, "locked")
      ? ([
          ["Lock", { locked: true }],
          ["Unlock", { locked: false }],
        ] as const)
      : []),
    ...(canSet(device, "unlatch") ? [["Open the door", { unlatch: true }] as const] : []),
  ];
}

function type(event: Event, digit: string): void {
  const input = inputOf(event);
  if (input) input.value = digit === "" ? input.value.slice(0, -1) : input.value + digit;
}

function withCode(event: Event, command: CommandBody): CommandBody {
  const input = inputOf(event);
  const code = input?.value ?? "";
  if (input) input.value = "";
  return code === "" ? command : { ...command, code };
}

function inputOf({ currentTarget }: Event): HTMLInputElement | null {
  return currentTarget instanceof Element
    ? (currentTarget.closest(".pad")?.querySelector("input") ?? null)
    : null;
}
