import { defineWidget, s } from "@mantel/plugin-sdk/widget";
import { html, nothing, render } from "lit";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

export default defineWidget({
  name: "Note",
  icon: "mdi:note-text-outline",
  size: { default: [3, 4], min: [2, 4] },
  texts: {
    de: {
      Note: "Notiz",
      Title: "Titel",
      Text: "Text",
      "Text size": "Schriftgröße",
      small: "klein",
      normal: "normal",
      large: "groß",
      "Enter a text in the settings of this tile.":
        "Gib in den Einstellungen dieser Kachel einen Text ein.",
    },
  },
  settings: {
    title: s.text({ title: "Title" }),
    text: s.lines({ title: "Text" }),
    size: s.choice(["small", "normal", "large"], { title: "Text size", default: "normal" }),
  },
  styles: cardStyles + styles,
  mount(root, ctx) {
    ctx.effect(() => {
      const { title, text, size } = ctx.settings.value;
      const empty = html`<p class="empty">
        ${ctx.t("Enter a text in the settings of this tile.")}
      </p>`;
      render(
        html`<section class="card ${size}" aria-label=${title || ctx.t("Note")} tabindex="0">
          ${title === "" ? nothing : html`<h2 dir="auto">${title}</h2>`}
          ${text.trim() === "" ? empty : html`<p class="text" dir="auto">${text}</p>`}
        </section>`,
        root,
      );
    });
  },
});
