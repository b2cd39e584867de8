/** What one check has found, in words for the person who runs the machine. */
export interface Finding {
  readonly check: string;
  /** `warn`: it works, and may not for long. `fail`: Mantel does not work, or not as it is meant to. */
  readonly status: "ok" | "warn" | "fail";
  readonly says: string;
  /** What to do about it. */
  readonly todo?: string;
}

/** Findings of one check. */
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
