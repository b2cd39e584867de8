import { effect, signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { addStyles } from "../add-styles.ts";
import { ApiError } from "../api.ts";
import { titleIn } from "../i18n/language.ts";
import { lasting } from "../page-storage.ts";
import type { Session } from "../session.ts";
import { defineSetupCards } from "./setup-card.ts";
import { words } from "./words.ts";
import styles from "./first-steps.css";

interface Found {
  readonly module: string;
  readonly name: string;
  readonly titles?: Readonly<Record<string, string>>;
  readonly icon: string | null;
  readonly address: string;
  readonly options: Readonly<Record<string, string>>;
}

type Visit = Pick<Session, "api" | "store" | "mayAdminister">;

const HIDDEN_KEY = "mantel.first-steps-hidden";
/** Pause between two searches of the network, which take three seconds each. */
const SEARCH_EVERY_MS = 20_000;

/**
 * Shows above the home that it is simulated and, to users who may set it up, what was found on the network. Both go when
 * the first real devices are there, or when the user hides them on this screen.
 */
export function showFirstSteps(root: HTMLElement, visit: Visit): void {
  if (visit.mayAdminister) defineSetupCards(visit);
  const isHidden = lasting.get(HIDDEN_KEY) !== null;
  if (!isHidden) void new FirstSteps(root, visit).start();
}

class FirstSteps {
  readonly #root: HTMLElement;
  readonly #visit: Visit;
  readonly #element = document.createElement("aside");
  readonly #isSimulated = signal(false);
  /** `undefined` before the first answer; null if the search failed. */
  readonly #found = signal<readonly Found[] | null | undefined>(undefined);
  readonly #fault = signal("");
  #isHidden = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(root: HTMLElement, visit: Visit) {
    this.#root = root;
    this.#visit = visit;
  }

  async start(): Promise<void> {
    addStyles(styles);
    this.#element.className = "first-steps";
    this.#root.querySelector(".wall")?.prepend(this.#element);
    effect(() => {
      this.#element.ariaLabel = words.value.firstSteps;
      this.#element.hidden = !this.#isSimulated.value;
      render(this.#isSimulated.value ? this.#view() : nothing, this.#element);
    });
    const states = this.#visit.store.modules();
    let before = "";
    effect(() => {
      const bridges = states.value.filter(({ kinds }) => kinds.includes("bridge"));
      const now = bridges.map(({ id, state }) => `${id} ${state}`).join();
      if (now === before || this.#isHidden) return;
      before = now;
      void this.#look();
    });
    if (this.#visit.mayAdminister) await this.#search();
  }

  async #look(): Promise<void> {
    try {
      const { simulated } = await this.#visit.api.get("/setup");
      this.#isSimulated.value = simulated && !this.#isHidden;
    } catch (error) {
      console.warn("could not read what remains to be set up", error);
    }
  }

  /** Searches again and again while the steps can be seen. */
  async #search(): Promise<void> {
    if (this.#isHidden) return;
    const isSeen = this.#isSimulated.peek() && !document.hidden && !this.#root.hidden;
    if (isSeen) {
      const { api } = this.#visit;
      this.#found.value = await api
        .get("/setup/devices")
        .then(({ found }) => found)
        .catch(() => null);
    }
    this.#timer = setTimeout(() => void this.#search(), isSeen ? SEARCH_EVERY_MS : 1_000);
  }

  #hide(): void {
    this.#isHidden = true;
    clearTimeout(this.#timer);
    lasting.set(HIDDEN_KEY, "yes");
    this.#isSimulated.value = false;
  }

  #view(): TemplateResult {
    const texts = words.value;
    return html`<div class="simulated">
        <mantel-icon name="mdi:floor-plan"></mantel-icon>
        <p><strong>${texts.simulated}</strong> ${texts.tryEverything}</p>
        <button type="button" @click=${() => this.#hide()}>${texts.hide}</button>
      </div>
      ${this.#visit.mayAdminister ? this.#devicesView() : nothing}`;
  }

  #devicesView(): TemplateResult {
    const texts = words.value;
    const found = this.#found.value;
    return html`<section class="connect" aria-label=${texts.connectDevices}>
      <header>
        <div>
          <h2>${texts.connectDevices}</h2>
          <p role="status"><i></i>${statusOf(found)}</p>
        </div>
        <a href="#/settings/bridges">${texts.somethingElse}</a>
      </header>
      ${
        found && found.length > 0
          ? html`<ul>
              ${found.map((each) => this.#foundView(each))}
            </ul>`
          : nothing
      }
      <div role="alert">
        ${this.#fault.value === "" ? nothing : html`<p>${this.#fault.value}</p>`}
      </div>
    </section>`;
  }

  #foundView(found: Found): TemplateResult {
    const texts = words.value;
    const { address, icon, module } = found;
    const name = titleIn(module, found.name, found.titles);
    return html`<li>
      <span class="icon"
        ><mantel-icon name=${icon ?? "mdi:access-point-network"}></mantel-icon
      ></span>
      <span class="name"><strong dir="auto">${name}</strong><small>${address}</small></span>
      <button
        type="button"
        aria-label=${texts.connectTo(name, address)}
        @click=${() => void this.#connect(found)}
      >
        ${texts.connect}
      </button>
    </li>`;
  }

  /** Stores the options that are known, and opens the page on which the plugin asks for the rest. */
  async #connect({ module, options }: Found): Promise<void> {
    this.#fault.value = "";
    try {
      if (Object.keys(options).length > 0) {
        await this.#visit.api.send("PATCH", `/modules/${module}/config`, options);
      }
    } catch (error) {
      // Options that lack a password are completed on the page.
      if (!(error instanceof ApiError && error.status === 422)) {
        this.#fault.value = error instanceof Error ? error.message : String(error);
        return;
      }
    }
    location.hash = `#/settings/modules/${module}`;
  }
}

function statusOf(found: readonly Found[] | null | undefined): string {
  const texts = words.value;
  if (found === undefined) return texts.looking;
  if (found === null) return texts.notSearched;
  return found.length === 0 ? texts.nothingFound : texts.found(found.length);
}
