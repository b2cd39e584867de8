import type { TemplateResult } from "lit";
import type { SettingsDependencies } from "./page.ts";
import { words } from "./words.ts";

/** A button that restarts the host, after a confirmation. Pages connect again by themselves. */
export function restartButton({ api, formAction }: SettingsDependencies): TemplateResult {
  const { restartHost, hostRestarts } = words.value;
  return formAction.confirmButton("restart host", restartHost, () => {
    void formAction.run(() => api.post("/restart"), hostRestarts);
  });
}
