import type { CommandBody, Device } from "@mantel/plugin-sdk/device";
import type { Scene } from "@mantel/plugin-sdk/scene";
import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { ApiError } from "../api.ts";
import { formValue } from "./form-value.ts";
import { nameField } from "./named-field.ts";
import type { OpenSettingsPage, SettingsDependencies } from "./page.ts";
import { SceneEditor } from "./scene-editor.ts";
import { captured, commandIn, statelessCommands, targetText } from "./scene-targets.ts";
import { words } from "./words.ts";

const OWN = "host";
/** Attempts to store a new order while others change the scenes. */
const ATTEMPTS = 3;

/** The existing scenes in their order, and a form that saves the current state as a new scene. */
export function scenesPage(parts: SettingsDependencies): OpenSettingsPage {
  const page = new ScenesPage(parts);
  return { view: () => page.view() };
}

class ScenesPage {
  readonly #parts: SettingsDependencies;
  readonly #scenes = signal<readonly Scene[]>([]);
  /** The revision of the shown scenes. */
  #revision = 0;
  readonly #editor = signal<SceneEditor | undefined>(undefined);
  /** The chosen devices, each with the command without state that is sent too; "" for none. */
  readonly #chosen = signal<ReadonlyMap<string, string>>(new Map());

  constructor(parts: SettingsDependencies) {
    this.#parts = parts;
    void this.#load().catch((error: unknown) => parts.formAction.fail(error));
  }

  view(): TemplateResult {
    const texts = words.value;
    return html`<ul class="rows">
        ${repeat(
          this.#scenes.value,
          ({ id }) => id,
          (scene, index) => this.#rowOf(scene, index),
        )}
      </ul>
      <form class="panel form" @submit=${(event: SubmitEvent) => void this.#capture(event)}>
        <h2>${texts.newScene}</h2>
        <p class="hint">${texts.captureHint}</p>
        ${nameField(this.#parts.formAction, { id: "scene", maxLength: 200 })}
        <fieldset class="field choices">
          <legend>${texts.devices}</legend>
          ${this.#capturable().map((device) => this.#choiceOf(device))}
        </fieldset>
        <div class="actions">
          <button
            class="button primary"
            ?disabled=${this.#parts.formAction.busy.value || this.#chosen.value.size === 0}
          >
            ${texts.capture}
          </button>
        </div>
      </form>`;
  }

  #rowOf(scene: Scene, index: number): TemplateResult {
    const { api, formAction } = this.#parts;
    const texts = words.value;
    const path = pathOf(scene.id);
    const count = Object.keys(scene.targets).length;
    return html`<li class="row">
      <span class="grow">
        <strong dir="auto">${scene.name}</strong>
        ${scene.icon === null ? nothing : html`<mantel-icon name=${scene.icon}></mantel-icon>`}
        <small>${scene.source} · ${texts.devicesFound(count)}</small>
      </span>
      ${this.#moveButtons(scene, index)}
      ${formAction.button(
        texts.activate(scene.name),
        () => void formAction.run(() => api.post(`${path}/activate`), texts.activated(scene.name)),
      )}
      ${
        scene.source === OWN
          ? html`${formAction.button(
              texts.editScene(scene.name),
              () => (this.#editor.value = new SceneEditor(this.#parts, scene)),
            )}
            ${formAction.button(texts.copyScene(scene.name), () => void this.#copy(scene))}
            ${formAction.confirmButton(
              `again ${scene.id}`,
              texts.captureAgain(scene.name),
              () => void this.#put(scene, this.#targetsAgain(scene)),
            )}
            ${formAction.confirmButton(
              scene.id,
              texts.remove(scene.name),
              () => void this.#send(() => api.send("DELETE", path), texts.removed),
            )}`
          : nothing
      }
      ${this.#bodyOf(scene)}
    </li>`;
  }

  /** Buttons that move a scene by one place. The first has none up, the last has none down. */
  #moveButtons(scene: Scene, index: number): TemplateResult {
    const texts = words.value;
    const button = (name: string, icon: string, by: -1 | 1): unknown =>
      this.#scenes.value[index + by] === undefined
        ? nothing
        : html`<button
            type="button"
            class="icon-button"
            aria-label=${name}
            ?disabled=${this.#parts.formAction.busy.value}
            @click=${({ currentTarget }: Event) =>
              void this.#move(scene, by, currentTarget as HTMLElement)}
          >
            <mantel-icon name=${icon}></mantel-icon>
          </button>`;
    return html`<span class="moves"
      >${button(texts.moveUp(scene.name), "mdi:arrow-up", -1)}
      ${button(texts.moveDown(scene.name), "mdi:arrow-down", 1)}</span
    >`;
  }

  /** Moves a scene and keeps the focus on its button, or on the other one when it is first or last. */
  async #move(scene: Scene, by: -1 | 1, button: HTMLElement): Promise<void> {
    const buttons = button.parentElement;
    await this.#parts.formAction.run(() => this.#moveStored(scene, by));
    (button.isConnected ? button : buttons?.querySelector("button"))?.focus();
  }

  /** Moves a scene in the order as it is now, which others may have changed. Resolves to a text that says its place. */
  async #moveStored({ id, name }: Scene, by: -1 | 1): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const ids = this.#scenes.peek().map((each) => each.id);
      const from = ids.indexOf(id);
      const to = from + by;
      const neighbour = ids[to];
      if (from === -1 || neighbour === undefined) return "";
      const scenes = ids.with(to, id).with(from, neighbour);
      try {
        const request = { body: { scenes }, revision: this.#revision };
        this.#show(await this.#parts.api.change("PUT", "/smart-home/scenes/order", request));
        return words.peek().moved(name, to + 1, ids.length);
      } catch (error) {
        const isStale = error instanceof ApiError && error.code === "revision_stale";
        if (!isStale || attempt === ATTEMPTS) throw error;
        await this.#load();
      }
    }
  }

  #bodyOf(scene: Scene): TemplateResult | typeof nothing {
    const editor = this.#editor.value;
    if (editor?.scene.id !== scene.id)
      return Object.keys(scene.targets).length > 0 ? this.#targetsOf(scene) : nothing;
    const close = (): void => {
      this.#editor.value = undefined;
      this.#parts.formAction.leave();
    };
    const save = async (): Promise<void> => {
      const { edited } = editor;
      if (await this.#put(edited, edited.targets)) close();
    };
    return editor.view(() => void save(), close);
  }

  /** Saves the scene again under a free name. */
  #copy(scene: Scene): Promise<boolean> {
    const scenes = this.#scenes.peek();
    const taken = scenes.map(({ name }) => name);
    let name = words.peek().copyOf(scene.name);
    for (let number = 2; taken.includes(name); number++)
      name = `${words.peek().copyOf(scene.name)} ${number}`;
    const id = `host:scene:${freeSlug(name, scenes)}`;
    return this.#put({ ...scene, id, name }, scene.targets);
  }

  /** The targets of a scene, each with a button that removes it. */
  #targetsOf(scene: Scene): TemplateResult {
    const texts = words.value;
    const targets = Object.entries(scene.targets);
    return html`<details class="targets">
      <summary>${texts.targets}</summary>
      <ul class="rows">
        ${targets.map(([id, target]) => {
          const device = this.#parts.store.device(id).value;
          const name = device?.name ?? id;
          const rest = targets.filter(([other]) => other !== id);
          return html`<li class="row">
            <span class="grow"
              ><strong dir="auto">${name}</strong
              ><small dir="auto">${targetText(device, target)}</small></span
            >
            ${
              scene.source === OWN && rest.length > 0
                ? this.#parts.formAction.confirmButton(
                    `${scene.id} ${id}`,
                    texts.remove(name),
                    () => void this.#put(scene, Object.fromEntries(rest)),
                  )
                : nothing
            }
          </li>`;
        })}
      </ul>
    </details>`;
  }

  #choiceOf(device: Device): TemplateResult {
    const { id, name, room } = device;
    const isChosen = this.#chosen.value.has(id);
    return html`<div>
      <label class="choice">
        <input
          type="checkbox"
          .checked=${isChosen}
          @change=${({ currentTarget }: { currentTarget: HTMLInputElement }) =>
            this.#choose(id, currentTarget.checked ? "" : undefined)}
        />
        <span dir="auto">${name}</span><small dir="auto">${room ?? ""}</small>
      </label>
      ${isChosen ? this.#commandOf(device) : nothing}
    </div>`;
  }

  /** The choice of a command without state, such as `open`, for a chosen device that has some. */
  #commandOf(device: Device): TemplateResult | typeof nothing {
    const commands = statelessCommands(device);
    if (commands.length === 0) return nothing;
    const texts = words.value;
    const { id } = device;
    return html`<select
      aria-label=${texts.alsoSendTo(device.name)}
      @change=${({ currentTarget }: { currentTarget: HTMLSelectElement }) =>
        this.#choose(id, currentTarget.value)}
    >
      <option value="">${texts.noCommand}</option>
      ${commands.map(
        ({ key, name }) =>
          html`<option value=${key} ?selected=${this.#chosen.value.get(id) === key}>
            ${name}
          </option>`,
      )}
    </select>`;
  }

  #capturable(): Device[] {
    return this.#parts.store
      .devices()
      .value.filter(
        (device) => hasFields(captured(device, undefined)) || statelessCommands(device).length > 0,
      );
  }

  #choose(id: string, command: string | undefined): void {
    const next = new Map(this.#chosen.peek());
    if (command === undefined) next.delete(id);
    else next.set(id, command);
    this.#chosen.value = next;
  }

  async #capture(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = formValue(form, "name");
    if (name === "") return;
    const id = `host:scene:${freeSlug(name, this.#scenes.peek())}`;
    if (!(await this.#put({ id, name }, this.#targets([...this.#chosen.peek()])))) return;
    this.#chosen.value = new Map();
    form.reset();
  }

  /** The targets of a scene with the current settings of its devices. Its commands without state stay. */
  #targetsAgain({ targets }: Scene): Scene["targets"] {
    const { store } = this.#parts;
    return this.#targets(
      Object.entries(targets).map(([id, target]) => {
        const device = store.device(id).peek();
        return [id, (device && commandIn(device, target)) ?? ""];
      }),
    );
  }

  /** The current settings of devices. Missing devices and devices without commands are left out. */
  #targets(chosen: readonly (readonly [id: string, command: string])[]): Scene["targets"] {
    const { store } = this.#parts;
    return Object.fromEntries(
      chosen.flatMap(([id, command]) => {
        const device = store.device(id).peek();
        const target = device ? captured(device, command) : {};
        return hasFields(target) ? [[id, target]] : [];
      }),
    );
  }

  #put(scene: Pick<Scene, "id" | "name"> & Partial<Scene>, targets: object): Promise<boolean> {
    const { id, name, room, icon } = scene;
    const body = { name, ...(room ? { room } : {}), ...(icon ? { icon } : {}), targets };
    return this.#send(
      () => this.#parts.api.send("PUT", pathOf(id), body),
      words.value.captured(name),
    );
  }

  #send(work: () => Promise<unknown>, done: string): Promise<boolean> {
    return this.#parts.formAction.save(async () => {
      await work();
      await this.#load();
    }, done);
  }

  async #load(): Promise<void> {
    this.#show(await this.#parts.api.get("/smart-home/scenes"));
  }

  #show({ scenes, revision }: { scenes: readonly unknown[]; revision: number }): void {
    this.#revision = revision;
    this.#scenes.value = scenes as readonly Scene[];
  }
}

const pathOf = (id: string): `/smart-home/scenes/${string}` =>
  `/smart-home/scenes/${encodeURIComponent(id)}`;

const hasFields = (target: CommandBody): boolean => Object.keys(target).length > 0;

function freeSlug(name: string, scenes: readonly Scene[]): string {
  const plain = name.normalize("NFKD").toLowerCase();
  const slug =
    plain
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-|-$/g, "")
      .slice(0, 40) || "scene";
  const taken = new Set(scenes.map(({ id }) => id.slice(id.lastIndexOf(":") + 1)));
  let free = slug;
  for (let number = 2; taken.has(free); number++) free = `${slug}-${number}`;
  return free;
}
