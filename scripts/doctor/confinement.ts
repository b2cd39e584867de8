import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findKernelSupport } from "../../host/modules/process/sandbox/bubblewrap.ts";
import { type Finding, findingsOf } from "./finding.ts";

const confinement = findingsOf("sandbox");

/** Checks if the kernel's sandbox for plugins works on this machine. */
export async function examineConfinement(): Promise<Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), "mantel-doctor-"));
  try {
    const support = await findKernelSupport(folder);
    if (support.bubblewrap) return [confinement.ok("the kernel sandboxes each plugin's process")];
    const { reason, remedy } = support;
    return [confinement.warn(`plugins run without the kernel's sandbox: ${reason}`, remedy)];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
