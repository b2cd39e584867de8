import type { Device } from "@mantel/plugin-sdk/device";
import type { Scene } from "@mantel/plugin-sdk/scene";
import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { formValue } from "./form-value.ts";
import { nameField } from "./named-field.ts";
import type { OpenSettingsPage, SettingsDependencies } from "./page.ts";
import { commandOf } from "./scene-command.ts";
import { words } from "./words.ts";

const OWN = "host";

/** The existing scenes, and a form that saves the current state as a new scene. */
export function scenesPage(parts: SettingsDependencies): OpenSettingsPage {
  const page = new ScenesPage(parts);
  return { view: () => page.view() };
}

class ScenesPage {
  readonly #parts: SettingsDependencies;
  readonly #scenes = signal<readonly Scene[]>([]);
  readonly #chosen = signal<ReadonlySet<string>>(new Set());

  constructor(parts: SettingsDependencies) {
    this.#parts = parts;
    void this.#load().catch((error: unknown) => parts.formAction.fail(error));
  }

  view(): TemplateResult {
    const texts = words.value;
    return html`<ul class="rows">
        ${this.#scenes.value.map((scene) => this.#rowOf(scene))}
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

  #rowOf(scene: Scene): TemplateResult {
    const { api, formAction } = this.#parts;
    const texts = words.value;
    const path = `/smart-home/scenes/${encodeURIComponent(scene.id)}`;
    const targets = Object.keys(scene.targets);
    return html`<li class="row">
      <span class="grow">
        <strong dir="auto">${scene.name}</strong>
        <small>${scene.source} · ${texts.devicesFound(targets.length)}</small>
      </span>
      ${formAction.button(
        texts.activate(scene.name),
        () => void formAction.run(() => api.post(`${path}/activate`), texts.activated(scene.name)),
      )}
      ${
        scene.source === OWN
          ? html`${formAction.confirmButton(
              `again ${scene.id}`,
              texts.captureAgain(scene.name),
              () => void this.#put(scene.id, scene.name, targets),
            )}
            ${formAction.confirmButton(
              scene.id,
              texts.remove(scene.name),
              () => void this.#send(() => api.send("DELETE", path), texts.removed),
            )}`
          : nothing
      }
    </li>`;
  }

  #choiceOf({ id, name, room }: Device): TemplateResult {
    return html`<label class="choice">
      <input
        type="checkbox"
        .checked=${this.#chosen.value.has(id)}
        @change=${({ currentTarget }: { currentTarget: HTMLInputElement }) =>
          this.#choose(id, currentTarget.checked)}
      />
      <span dir="auto">${name}</span><small dir="auto">${room ?? ""}</small>
    </label>`;
  }

  #capturable(): Device[] {
    return this.#parts.store
      .devices()
      .value.filter((device) => Object.keys(commandOf(device)).length > 0);
  }

  #choose(id: string, chosen: boolean): void {
    const next = new Set(this.#chosen.peek());
    if (chosen) next.add(id);
    else next.delete(id);
    this.#chosen.value = next;
  }

  async #capture(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = formValue(form, "name");
    if (name === "") return;
    const id = `host:scene:${freeSlug(name, this.#scenes.peek())}`;
    if (!(await this.#put(id, name, [...this.#chosen.peek()]))) return;
    this.#chosen.value = new Set();
    form.reset();
  }

  /**
   * Saves the current state of the devices as a scene. Missing devices and devices without commands
   * are left out.
   */
  #put(id: string, name: string, deviceIds: readonly string[]): Promise<boolean> {
    const { api, store } = this.#parts;
    const targets = Object.fromEntries(
      deviceIds.flatMap((deviceId) => {
        const device = store.device(deviceId).peek();
        const command = device ? commandOf(device) : {};
        return Object.keys(command).length > 0 ? [[deviceId, command]] : [];
      }),
    );
    const path = `/smart-home/scenes/${encodeURIComponent(id)}`;
    return this.#send(() => api.send("PUT", path, { name, targets }), words.value.captured(name));
  }

  #send(work: () => Promise<unknown>, done: string): Promise<boolean> {
    return this.#parts.formAction.save(async () => {
      await work();
      await this.#load();
    }, done);
  }

  async #load(): Promise<void> {
    const { scenes } = await this.#parts.api.get<{ scenes: Scene[] }>("/smart-home/scenes");
    this.#scenes.value = scenes;
  }
}

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
