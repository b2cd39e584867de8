import { effect, type ReadonlySignal } from "@preact/signals-core";
import { html, nothing, render } from "lit";
import type { ModuleView } from "../api/module.ts";
import { addStyles } from "./add-styles.ts";
import { words } from "./i18n/problems.ts";
import { type ModuleProblem, moduleProblems } from "./module-problems.ts";
import popoverStyles from "./popover.css";
import styles from "./problem-notice.css";

/**
 * Shows module problems to users who can fix them: a short notice in the corner that opens the code
 * frame.
 */
export function showModuleProblems(
  root: HTMLElement,
  modules: ReadonlySignal<readonly ModuleView[]>,
): void {
  addStyles(popoverStyles);
  addStyles(styles);
  const notice = document.createElement("aside");
  root.append(notice);
  effect(() => void render(noticeView(moduleProblems(modules.value)), notice));
}

function noticeView(problems: readonly ModuleProblem[]): unknown {
  const [first] = problems;
  if (!first) return nothing;
  const texts = words.value;
  const text =
    problems.length === 1
      ? `${first.name} ${first.effect}`
      : texts.modulesWithProblems(problems.length);
  return html`<button
      class="problem-notice"
      popovertarget="module-problems"
      aria-label=${texts.showProblems(text)}
    >
      <mantel-icon name="mdi:code-braces"></mantel-icon><span>${text}</span>
    </button>
    <div id="module-problems" class="module-problems" popover aria-label=${texts.problems}>
      ${problems.map(problemView)}
    </div>`;
}

function problemView({ name, message, place, frame, ...problem }: ModuleProblem): unknown {
  return html`<section>
    <h2>${name} <span>${problem.effect}</span></h2>
    <p>${message}</p>
    ${place === undefined ? nothing : html`<p class="place">${place}</p>`}
    ${frame === undefined ? nothing : html`<pre tabindex="0">${frame}</pre>`}
  </section>`;
}
