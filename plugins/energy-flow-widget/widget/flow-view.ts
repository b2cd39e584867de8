import type { I18n } from "@mantel/plugin-sdk/i18n";
import { html, nothing, svg, type TemplateResult } from "lit";
import { directionOf, type Part } from "./flow.ts";

const ICONS = {
  solar: "mdi:solar-power-variant",
  grid: "mdi:transmission-tower",
  battery: "mdi:home-battery-outline",
  house: "mdi:home-lightning-bolt-outline",
} as const;
const NAMES = { solar: "Solar", grid: "Grid", battery: "Battery", house: "House" } as const;
/** The ends of the lines, which meet in the middle, in percent of the picture. */
const ENDS = { solar: "50,0", grid: "0,50", battery: "50,100", house: "100,50" } as const;
/** The words for a direction; of other parts the name says all. */
const WORDS: Readonly<Record<string, string>> = {
  "grid in": "from the grid",
  "grid out": "to the grid",
  "battery in": "gives",
  "battery out": "charges",
};

/** The parts of the home's power around a cross of lines, on which the power flows. */
export function flowView(parts: readonly Part[], i18n: I18n): TemplateResult {
  return html`<div class="flow">
    <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
      ${parts.map(
        (part) =>
          svg`<polyline class="${part.name} ${lineOf(part)}" points="${ENDS[part.name]} 50,50" />`,
      )}
    </svg>
    ${parts.map((part) => partView(part, i18n))}
  </div>`;
}

/** The parts in one line, for a tile without room for a picture. */
export function flowText(parts: readonly Part[], i18n: I18n): string {
  return parts
    .filter(({ name, watts }) => name !== "house" && watts !== undefined)
    .map((part) => `${wordOf(part, i18n)} ${powerOf(part, i18n)}`)
    .join(" · ");
}

/** The house is where lines end. */
function lineOf(part: Part): string {
  const direction = directionOf(part);
  if (part.name !== "house" || direction === "none") return direction;
  return "out";
}

function partView(part: Part, i18n: I18n): TemplateResult {
  const { name, device } = part;
  const charge = name === "battery" ? device?.state["battery"] : undefined;
  return html`<div class="part ${name} ${directionOf(part)}" data-details=${device?.id ?? nothing}>
    <mantel-icon name=${ICONS[name]}></mantel-icon>
    <b>${powerOf(part, i18n)}</b>
    ${
      device === undefined
        ? html`<span>${wordOf(part, i18n)}</span>`
        : html`<button data-opens>${wordOf(part, i18n)}</button>`
    }
    ${typeof charge === "number" ? html`<small>${i18n.fmt.unit(charge, "percent")}</small>` : nothing}
  </div>`;
}

function wordOf(part: Part, { t }: I18n): string {
  const name = t(NAMES[part.name]);
  const word = WORDS[`${part.name} ${directionOf(part)}`];
  if (word === undefined) return name;
  return part.name === "grid" ? t(word) : `${name} ${t(word)}`;
}

function powerOf({ watts }: Part, { fmt }: I18n): string {
  return watts === undefined ? "–" : fmt.unit(Math.abs(watts), "power");
}
