import type { Build } from "./build.ts";
import { sentenceOf } from "./left-open.ts";
import type { ModuleLog } from "./logs.ts";
import type { PluginPackage } from "./manifest.ts";
import type { Swap } from "./server-side.ts";
import type { ModuleStatus } from "./status.ts";
import { addedPermissions } from "./view.ts";

/** What a change of code brings to light, for its author and for who runs the house. */
export class Told {
  readonly #status: ModuleStatus;
  readonly #log: ModuleLog;

  constructor(status: ModuleStatus, log: ModuleLog) {
    this.#status = status;
    this.#log = log;
  }

  /** An update may ask for more than what ran before; nobody is asked back, so it has to be seen. */
  added(before: Build | undefined, { manifest }: PluginPackage): void {
    const added = before ? addedPermissions(before.plugin.manifest, manifest) : [];
    this.#status.asksFor(added);
    if (added.length === 0) return;
    const sentence = "the plugin asks for more permissions than before";
    this.#log.record({ level: "warn", sentence, fields: { added } });
  }

  /** An author sees a leak at the save that shows it. */
  leftOpen({ leftOpen }: Swap): void {
    if (leftOpen.length === 0) return;
    const fields = { leftOpen: leftOpen.map(sentenceOf) };
    this.#log.record({ level: "warn", sentence: "the old code left something open", fields });
  }
}
