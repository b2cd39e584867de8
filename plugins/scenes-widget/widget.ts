import { defineWidget, s, type Scene } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, render } from "lit";
import styles from "./widget.css";

export default defineWidget({
  name: "Scenes",
  icon: "mdi:palette-outline",
  size: { default: [8, 2], min: [2, 2] },
  settings: {
    room: s.room({ title: "Only of this room" }),
    scenes: s.list(s.text({ title: "Scene" }), { max: 20 }),
  },
  styles,
  mount(root, ctx) {
    const scenes = ctx.channel("scenes");
    const running = signal("");

    const activate = async ({ id, name }: Scene): Promise<void> => {
      running.value = id;
      const { ok, error } = await ctx.scene(id);
      if (running.value === id) running.value = "";
      ctx.announce(ok ? `${name} is on` : `${name}: ${error?.message ?? "no answer"}`);
    };

    ctx.effect(() => {
      const shown = chosen(scenes.value ?? [], ctx.settings.value);
      const active = running.value || lastActivated(shown);
      render(
        html`<div class="row">
          ${shown.map(
            (scene) =>
              html`<button
                aria-pressed=${scene.id === active}
                aria-busy=${scene.id === running.value}
                ?disabled=${!scene.available}
                @click=${() => activate(scene)}
              >
                <mantel-icon name=${scene.icon ?? "mdi:palette-outline"}></mantel-icon>${scene.name}
              </button>`,
          )}
        </div>`,
        root,
      );
    });
  },
});

/** The scenes of the settings' list in its order, by id or name; without a list all of the room. */
function chosen(
  scenes: readonly Scene[],
  { room, scenes: wanted }: { room: string; scenes: readonly string[] },
): readonly Scene[] {
  if (wanted.length === 0) return scenes.filter((scene) => room === "" || scene.room === room);
  return wanted.flatMap(
    (each) => scenes.find(({ id, name }) => id === each || name === each) ?? [],
  );
}

function lastActivated(scenes: readonly Scene[]): string | undefined {
  const [last] = scenes
    .filter(({ lastActivatedAt }) => lastActivatedAt !== null)
    .toSorted((a, b) => Date.parse(b.lastActivatedAt ?? "") - Date.parse(a.lastActivatedAt ?? ""));
  return last?.id;
}
