import { html, render } from "lit";
import { words } from "./words.ts";

/** Asks what becomes of changes that are not saved. Escape means to stay. */
export function askToLeave(parent: HTMLElement): Promise<"save" | "leave" | "stay"> {
  const dialog = document.createElement("dialog");
  const say = words.value;
  render(
    html`<form method="dialog">
      <p id="editor-leave">${say.unsaved}</p>
      <div class="actions">
        <button class="pill strong" value="save">${say.save}</button>
        <button class="pill" value="leave">${say.discard}</button>
        <button class="pill" value="stay">${say.stay}</button>
      </div>
    </form>`,
    dialog,
  );
  dialog.setAttribute("aria-labelledby", "editor-leave");
  parent.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const { returnValue } = dialog;
      dialog.remove();
      resolve(returnValue === "save" || returnValue === "leave" ? returnValue : "stay");
    });
  });
}
