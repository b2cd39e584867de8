/** One result of a check, in user-facing sentences. */
export interface Finding {
  readonly check: string;
  /** `warn`: Mantel works, but a problem is likely. `fail`: Mantel does not work, or not correctly. */
  readonly status: "ok" | "warn" | "fail";
  readonly says: string;
  /** The suggested fix. */
  readonly todo?: string;
}

/** Creates findings of one check. */
export interface Findings {
  readonly ok: (says: string) => Finding;
  readonly warn: (says: string, todo: string) => Finding;
  readonly fail: (says: string, todo: string) => Finding;
}

export function findingsOf(check: string): Findings {
  return {
    ok: (says) => ({ check, status: "ok", says }),
    warn: (says, todo) => ({ check, status: "warn", says, todo }),
    fail: (says, todo) => ({ check, status: "fail", says, todo }),
  };
}
