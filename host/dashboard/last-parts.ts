import { followEventForms } from "./calendar/follow-event-forms.ts";
import { watchClock } from "./clock-notice.ts";
import { followFind } from "./find/follow-find.ts";
import { followLiveDevices } from "./live/follow-live-devices.ts";
import { followLook } from "./look/follow-look.ts";
import { showModuleProblems } from "./problem-notice.ts";
import { followRights } from "./rights.ts";
import type { Session } from "./session.ts";

/** Starts what may come last. */
export async function startLastParts(root: HTMLElement, session: Session): Promise<void> {
  void import("./ready.ts").catch(() => undefined); // it is loaded again when it is needed
  followEventForms(session.contexts);
  followFind(root, session);
  followLiveDevices(session);
  followLook(root, session);
  followRights(session);
  watchClock(root, session);
  if (!session.mayEdit) return;
  const { showFirstSteps } = await import("./setup/first-steps.ts");
  showFirstSteps(root, session);
  showModuleProblems(root, session.store.modules());
}
