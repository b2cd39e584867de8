import type { Capability, CommandBody, Device } from "@mantel/plugin-sdk/device";
import type { Scene } from "@mantel/plugin-sdk/scene";
import { signal } from "@preact/signals-core";
import { html, type TemplateResult } from "lit";
import { formView } from "../form/form.ts";
import { iconPicker } from "../form/icon-picker.ts";
import type { FieldSchema } from "../form/schema.ts";
import { capabilityText, valueText } from "./device-words.ts";
import type { SettingsDependencies } from "./page.ts";
import { words } from "./words.ts";

/** The name, the icon and the values of a scene, until they are saved. */
export class SceneEditor {
  readonly scene: Scene;
  readonly #parts: SettingsDependencies;
  readonly #name = signal("");
  readonly #icon = signal<string | null>(null);
  readonly #targets = signal<Scene["targets"]>({});

  constructor(parts: SettingsDependencies, scene: Scene) {
    this.#parts = parts;
    this.scene = scene;
    this.#name.value = scene.name;
    this.#icon.value = scene.icon;
    this.#targets.value = scene.targets;
  }

  /** The scene as it was edited. */
  get edited(): Scene {
    const name = this.#name.value.trim() || this.scene.name;
    return { ...this.scene, name, icon: this.#icon.value, targets: this.#targets.value };
  }

  view(save: () => void, cancel: () => void): TemplateResult {
    const { formAction, store } = this.#parts;
    const texts = words.value;
    return html`<div class="form scene-editor">
      <div class="field">
        <label for="scene-edited">${texts.sceneName}</label>
        <input
          id="scene-edited"
          maxlength="200"
          dir="auto"
          autocomplete="off"
          .value=${this.#name.value}
          @input=${({ currentTarget }: Event) =>
            (this.#name.value = (currentTarget as HTMLInputElement).value)}
        />
      </div>
      ${this.#iconView()}
      ${Object.entries(this.#targets.value).map(([id, target]) => {
        const device = store.device(id).value;
        return device ? this.#valuesOf(device, target) : "";
      })}
      <div class="actions">
        ${formAction.button(texts.save, save, "primary")} ${formAction.button(texts.cancel, cancel)}
      </div>
    </div>`;
  }

  #iconView(): TemplateResult {
    return html`<div class="field">
      <label for="scene-icon">${words.value.sceneIcon}</label>
      ${iconPicker({
        id: "scene-icon",
        value: this.#icon.value,
        set: (icon) => {
          this.#icon.value = icon === "" ? null : icon;
          this.#parts.formAction.type();
        },
      })}
    </div>`;
  }

  #valuesOf(device: Device, target: CommandBody): TemplateResult {
    const { id, name } = device;
    const schema = schemaOf(device, target);
    const known = Object.keys(schema.properties ?? {});
    const values = Object.entries(target).filter(([field]) => known.includes(field));
    const others = Object.entries(target).filter(([field]) => !known.includes(field));
    return html`<fieldset class="field">
      <legend dir="auto">${name}</legend>
      ${formView({
        id: `scene ${id}`.replaceAll(/[^a-z0-9]+/gi, "-"),
        schema,
        values: Object.fromEntries(values),
        offers: { devices: [], rooms: [] },
        onChange: (next) => {
          // a lamp that is off takes no brightness: that would turn it on
          const isOff = next["on"] === false && target.on !== false;
          const changed = isOff ? { on: false } : { ...Object.fromEntries(others), ...next };
          if (Object.keys(changed).length === 0) return;
          this.#targets.value = { ...this.#targets.peek(), [id]: changed as CommandBody };
          this.#parts.formAction.type();
        },
      })}
    </fieldset>`;
  }
}

/** The fields that a scene can set for a device and a form can show. For a device that is off only `on`. */
export function schemaOf({ capabilities }: Device, target: CommandBody): FieldSchema {
  const isOff = target.on === false;
  const properties: Record<string, FieldSchema> = {};
  for (const [field, capability] of Object.entries(capabilities)) {
    const schema = fieldOf(capabilityText(field), capability);
    const isSet = capability.readOnly !== true && (!isOff || field === "on");
    if (schema && isSet) properties[field] = schema;
  }
  return { type: "object", properties };
}

function fieldOf(title: string, capability: Capability): FieldSchema | undefined {
  if (capability.type === "boolean") return { type: "boolean", title };
  if (capability.type === "choice") {
    const choices = capability.values.map((value) => ({ const: value, title: valueText(value) }));
    return { type: "string", title, anyOf: choices };
  }
  if (capability.type !== "number") return undefined;
  const { min, max, step, unit } = capability;
  return {
    type: "number",
    title: unit === undefined ? title : `${title} (${unit})`,
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
    ...(step !== undefined && { multipleOf: step }),
  };
}
