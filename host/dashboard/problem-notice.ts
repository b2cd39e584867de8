import { effect, type ReadonlySignal } from "@preact/signals-core";
import { html, nothing, render } from "lit";
import type { ModuleView } from "../api/module.ts";
import { words } from "./i18n/shell.ts";
import { type ModuleProblem, moduleProblems } from "./module-problems.ts";

/**
 * Shows module problems to users who can fix them: a short notice in the corner that opens the code
 * frame.
 */
export function showModuleProblems(
  root: HTMLElement,
  modules: ReadonlySignal<readonly ModuleView[]>,
): void {
  const notice = document.createElement("aside");
  root.append(notice);
  effect(() => void render(noticeOf(moduleProblems(modules.value)), notice));
}

function noticeOf(troubles: readonly ModuleProblem[]): unknown {
  const [first] = troubles;
  if (!first) return nothing;
  const say = words.value;
  const text =
    troubles.length === 1 ? `${first.name} ${first.effect}` : say.needALook(troubles.length);
  return html`<button class="trouble" popovertarget="troubles" aria-label=${say.showTroubles(text)}>
      <mantel-icon name="mdi:code-braces"></mantel-icon><span>${text}</span>
    </button>
    <div id="troubles" class="troubles" popover aria-label=${say.troubles}>
      ${troubles.map(troubleView)}
    </div>`;
}

function troubleView({ name, message, place, frame, ...trouble }: ModuleProblem): unknown {
  return html`<section>
    <h2>${name} <span>${trouble.effect}</span></h2>
    <p>${message}</p>
    ${place === undefined ? nothing : html`<p class="place">${place}</p>`}
    ${frame === undefined ? nothing : html`<pre tabindex="0">${frame}</pre>`}
  </section>`;
}
