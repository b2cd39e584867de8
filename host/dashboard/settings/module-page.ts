import { html, nothing, type TemplateResult } from "lit";
import type { ModuleView } from "../../api/module.ts";
import { faultsOf } from "../module-problems.ts";
import { type Fact, factsView } from "./facts.ts";
import { formatInstant, formatPercent, formatSize, formatMs } from "./figures.ts";
import { ModuleLog } from "./module-log.ts";
import { ModuleOptions } from "./module-options.ts";
import { backTo, restNeedsFullAccess, type SettingsDependencies } from "./page.ts";
import { permissionFacts } from "./permission-facts.ts";
import { neededPermissionTexts } from "./permission-words.ts";
import { SetupSteps } from "./setup-steps.ts";
import { stateChip } from "./state-chip.ts";
import { widgetView } from "./widget-view.ts";
import { words } from "./words.ts";

interface Managed {
  readonly log: ModuleLog;
  readonly options: ModuleOptions;
  readonly setup: SetupSteps;
}

/** One module: its state, permissions, options and log. */
export class ModulePage {
  readonly #parts: SettingsDependencies;
  readonly #path: `/modules/${string}`;
  readonly #id: string;
  /** The parts that need full access; absent without it. */
  readonly #managed: Managed | undefined;

  constructor(parts: SettingsDependencies, id: string) {
    this.#parts = parts;
    this.#id = id;
    this.#path = `/modules/${encodeURIComponent(id)}`;
    this.#managed = parts.mayAdminister ? managed(parts, id, this.#path) : undefined;
  }

  view(): unknown {
    const module = this.#parts.store.module(this.#id).value;
    const back = backTo("modules", words.value.allModules);
    if (!module)
      return html`${back}
        <p>${words.value.moduleNotFound}</p>`;
    const { trials } = module;
    const { setup, options, log } = this.#managed ?? {};
    return html`${back}
      <section class="panel">
        <header>
          <h2 dir="auto">${module.name}</h2>
          ${stateChip(module.state)}
        </header>
        ${faultsView(module)} ${this.#consent(module)}
        <div class="actions">${this.#actions(module)}</div>
      </section>
      ${trials.includes("setup") ? setup?.view() : nothing}
      ${options?.view(words.value.options, trials.includes("test"))}
      ${widgetView(this.#parts, this.#id, module.widget)}
      ${factsView(words.value.facts, factsOf(module))} ${log?.view()}
      ${restNeedsFullAccess(this.#parts)}`;
  }

  close(): void {
    this.#managed?.log.close();
    this.#managed?.setup.close();
  }

  /**
   * The permissions requested by the plugin on disk, and the version that runs until they are
   * granted.
   */
  #consent({ consent, state }: ModuleView): unknown {
    if (!consent) return nothing;
    const { api, formAction } = this.#parts;
    const texts = words.value;
    const allow = () =>
      void formAction.run(
        () => api.post(`${this.#path}/consent`, { needed: consent.needed }),
        texts.consentGiven,
      );
    return html`<section>
      <h3>${texts.consentNeeded}</h3>
      <p>${state === "unconfigured" ? texts.startsAfterConsent : texts.previousRunsUntilConsent}</p>
      <p>${texts.requestedPermissions}</p>
      <ul>
        ${neededPermissionTexts(consent).map((each) => html`<li dir="auto">${each}</li>`)}
      </ul>
      ${
        this.#managed
          ? html`<div class="actions">${formAction.button(texts.consent, allow, "primary")}</div>`
          : nothing
      }
    </section>`;
  }

  #actions({ state, earlier }: ModuleView): TemplateResult | typeof nothing {
    const { formAction, mayAdminister } = this.#parts;
    const texts = words.value;
    if (state === "disabled") {
      if (!mayAdminister) return nothing;
      return formAction.button(texts.enable, () => this.#post("enable", texts.enabled), "primary");
    }
    return html`${formAction.button(texts.reload, () => this.#post("reload", texts.reloaded))}
    ${earlier ? formAction.button(texts.rollBack, () => this.#post("rollback", texts.rolled_back)) : nothing}
    ${
      mayAdminister
        ? formAction.confirmButton("disable", texts.disable, () =>
            this.#post("disable", texts.isDisabled),
          )
        : nothing
    }`;
  }

  #post(action: "enable" | "disable" | "reload" | "rollback", done: string): void {
    const { api, formAction } = this.#parts;
    void formAction.run(() => api.post(`${this.#path}/${action}`), done);
  }
}

function managed(parts: SettingsDependencies, id: string, path: `/modules/${string}`): Managed {
  const options = new ModuleOptions(parts, id);
  const onDone = (): void => void options.load();
  const setup = new SetupSteps(parts, path, { say: options.say, onDone });
  return { log: new ModuleLog(parts, path), options, setup };
}

function faultsView(module: ModuleView): TemplateResult {
  const { progress, heldSince, restingSince } = module;
  const look = module.state === "unconfigured" ? "said plain" : "said failed";
  return html`${progress === null ? nothing : html`<p>${progress}</p>`}
  ${
    heldSince === null
      ? nothing
      : html`<p class="said plain">${words.value.rolledBackSince(formatInstant(heldSince))}</p>`
  }
  ${
    restingSince === null
      ? nothing
      : html`<p class="said plain">${words.value.restsSince(formatInstant(restingSince))}</p>`
  }
  ${faultsOf(module).map(
    ({ message, frame }) =>
      html`<p class=${look} dir="auto">${message}</p>
        ${
          frame === undefined
            ? nothing
            : html`<pre tabindex="0" aria-label=${words.value.codeFrame}>${frame}</pre>`
        }`,
  )}`;
}

function factsOf(module: ModuleView): Fact[] {
  const texts = words.value;
  const { resources, limits, lastReload, earlier } = module;
  return [
    [texts.version, module.version],
    [texts.kinds, module.kinds.join(", ")],
    [texts.generation, String(module.generation)],
    [texts.since, formatInstant(module.stateSince)],
    [
      texts.cpu,
      texts.ofLimit(formatPercent(resources.cpuPercent), formatPercent(limits.cpuPercent)),
    ],
    [texts.memory, texts.ofLimit(formatSize(resources.memoryBytes), `${limits.memoryMiB} MiB`)],
    [texts.storage, texts.ofLimit(formatSize(resources.storageBytes), `${limits.storageMiB} MiB`)],
    [texts.eventLoopLag, formatMs(resources.loopLagP99Ms)],
    [texts.restarts, String(module.restarts)],
    ...(earlier ? [[texts.previousVersion, earlierOf(earlier)] as const] : []),
    ...(module.kinds.every((kind) => kind === "widget") ? [] : [confinementOf(module)]),
    [texts.lastReload, lastReload ? lastReloadOf(lastReload) : "–"],
    ...permissionFacts(module),
    ...unusedOf(module),
  ];
}

function unusedOf({ unused }: ModuleView): Fact[] {
  if (!unused || unused.permissions.length === 0) return [];
  const { words: needed, permissions } = unused;
  const texts = neededPermissionTexts({ needed, permissions });
  return [[words.value.unusedPermissions, texts.join(" · ")]];
}

function confinementOf({ confinement: { level, network, reason } }: ModuleView): Fact {
  const texts = words.value;
  const levels = {
    kernel: texts.byKernel,
    "permission-model": texts.byPermissionModel,
    none: texts.notSandboxed,
  };
  const networks = {
    none: texts.noNetwork,
    proxied: texts.proxiedNetwork,
    open: texts.openNetwork,
  };
  const facts = [levels[level], networks[network], ...(reason === null ? [] : [reason])];
  return [texts.sandbox, facts.join(" · ")];
}

function earlierOf({ version, until }: NonNullable<ModuleView["earlier"]>): string {
  return `${version} · ${words.value.until(formatInstant(until))}`;
}

function lastReloadOf(reload: NonNullable<ModuleView["lastReload"]>): string {
  const texts = words.value;
  return `${texts[reload.result]} · ${formatInstant(reload.at)} · ${formatMs(reload.durationMs)}`;
}
