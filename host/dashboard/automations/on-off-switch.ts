import { html } from "lit";
import { words } from "./words.ts";

/** The switch of an automation. `flip` is called with the new position. */
export const onOffSwitch = (name: string, isOn: boolean, flip: (isOn: boolean) => void) =>
  html`<button
    type="button"
    class="switch"
    role="switch"
    aria-checked=${isOn}
    aria-label=${words.value.turnOnOff(name)}
    @click=${() => flip(!isOn)}
  ></button>`;
