import { hasFeature, numberIn, textIn, when } from "./attributes.ts";
import { type Call, commands, type Domain, extras, onOff, TEXT, YES_NO } from "./domain.ts";
import type { Attributes } from "./entities.ts";

const FEATURE = { install: 1, version: 2 } as const;
const PROGRESS = { type: "number", min: 0, max: 100, unit: "%", readOnly: true } as const;

/** `update` */
export const update: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const canInstall = hasFeature(attributes, FEATURE.install);
    const canChoose = canInstall && hasFeature(attributes, FEATURE.version);
    const canSkip = attributes["auto_update"] !== true;
    return {
      kind: "update",
      capabilities: {
        updateAvailable: YES_NO,
        installedVersion: TEXT,
        latestVersion: TEXT,
        progress: PROGRESS,
        ...commands({ install: canInstall }),
      },
      extra: {
        ...extras({ installing: YES_NO, product: TEXT, releaseNotes: TEXT, releaseUrl: TEXT }),
        ...extras({ skippedVersion: TEXT, ...commands({ skip: canSkip }) }, "configuration"),
        ...extras(when(canChoose, { installVersion: { type: "text" } as const }), "configuration"),
      },
      state: {
        updateAvailable: onOff(entity),
        installedVersion: textIn(attributes, "installed_version") ?? null,
        latestVersion: textIn(attributes, "latest_version") ?? null,
        progress: progressOf(attributes) ?? null,
        installing: isInstalling(attributes),
        product: textIn(attributes, "title") ?? null,
        releaseNotes: textIn(attributes, "release_summary") ?? null,
        releaseUrl: textIn(attributes, "release_url") ?? null,
        skippedVersion: textIn(attributes, "skipped_version") ?? null,
        installVersion: null,
      },
    };
  },

  calls({ install, installVersion: version, skip }): Call[] {
    return [
      ...(install === undefined || version !== undefined ? [] : [{ service: "update.install" }]),
      ...(version === undefined ? [] : [{ service: "update.install", data: { version } }]),
      ...(skip === undefined ? [] : [{ service: "update.skip" }]),
    ];
  },

  /** An installation takes minutes, so one that has begun counts. */
  confirms({ field, value }, { attributes, state }, before) {
    const installed = textIn(attributes, "installed_version");
    if (field === "skip") return state === "off";
    if (field === "installVersion" && installed === value) return true;
    return isInstalling(attributes) || installed !== textIn(before.attributes, "installed_version");
  },
};

/** Older versions have the percentage as `in_progress`. */
function progressOf(attributes: Attributes): number | undefined {
  if (!isInstalling(attributes)) return undefined;
  return numberIn(attributes, "update_percentage") ?? numberIn(attributes, "in_progress");
}

function isInstalling({ in_progress: progress }: Attributes): boolean {
  return progress === true || typeof progress === "number";
}
