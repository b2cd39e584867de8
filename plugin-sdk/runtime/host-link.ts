import type { HostApi } from "../protocol.ts";

/** How the runner reaches the host; a process's channel, or a stand-in in an author's test. */
export interface HostLink {
  call<M extends keyof HostApi>(
    method: M,
    input: Parameters<HostApi[M]>[0],
  ): Promise<Awaited<ReturnType<HostApi[M]>>>;
  notify<M extends keyof HostApi>(method: M, input: Parameters<HostApi[M]>[0]): void;
}
