import { defineWidget, s, type Scene, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import styles from "./widget.css";

type Context = Pick<WidgetContext<Record<string, never>, unknown>, "t" | "online">;

/** Time for which a scene shows a failure. */
const WORD_MS = 4_000;

export default defineWidget({
  name: "Scenes",
  icon: "mdi:palette-outline",
  size: { default: [8, 2], min: [2, 2], max: [12, 4] },
  settings: {
    room: s.room({ title: "Only scenes of this room" }),
    scenes: s.list(s.named("scene", { title: "Scene" }), { max: 20 }),
  },
  styles,
  mount(root, ctx) {
    const scenes = ctx.channel("scenes");
    const running = signal("");
    const failed = signal("");

    const activate = async ({ id, name }: Scene): Promise<void> => {
      running.value = id;
      failed.value = "";
      const { ok } = await ctx.scene(id);
      if (running.value === id) running.value = "";
      ctx.announce(ok ? ctx.t("{name} activated", { name }) : ctx.t("{name}: no answer", { name }));
      if (ok) return;
      failed.value = id;
      setTimeout(() => (failed.value = ""), WORD_MS);
    };

    ctx.effect(() => {
      const shown = chosen(scenes.value ?? [], ctx.settings.value);
      const active = running.value || lastActivated(shown);
      const button = (scene: Scene): TemplateResult =>
        html`<button
          aria-pressed=${scene.id === active}
          aria-busy=${scene.id === running.value}
          ?disabled=${!scene.available}
          @click=${() => activate(scene)}
        >
          <mantel-icon name=${scene.icon ?? "mdi:palette-outline"}></mantel-icon>
          <span>${scene.name}</span>
          ${scene.id === failed.value ? html`<small>${ctx.t("No answer")}</small>` : nothing}
        </button>`;
      render(row(ctx, scenes.value && shown.map(button)), root);
    });
  },
});

function row(
  { t, online }: Context,
  buttons: readonly TemplateResult[] | undefined,
): TemplateResult {
  const empty = html`<p>${t("No scenes yet")}</p>`;
  return html`<div
    class="row ${online.value ? "" : "stale"}"
    role="group"
    aria-label=${t("Scenes")}
    @focusin=${showWhole}
  >
    ${buttons?.length === 0 ? empty : buttons}
  </div>`;
}

/** Browsers do not scroll to a focused element that is partly visible. */
function showWhole({ target }: FocusEvent): void {
  if (target instanceof Element) target.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** The scenes of the settings in their order, by id or name; by default all of the room. */
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
