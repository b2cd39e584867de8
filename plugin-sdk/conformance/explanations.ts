import type { BridgeUnderTest, ConformanceFault } from "./bridge-under-test.ts";

type Kind = "except" | "untold" | "cannot";

/** The explanations in a bridge's test, and which of them were needed. */
export class Explanations {
  readonly #bridge: BridgeUnderTest;
  readonly #used = new Set<string>();

  constructor(bridge: BridgeUnderTest) {
    this.#bridge = bridge;
  }

  /** True if there is a reason for this of one device, or of all. */
  has(kind: Kind, nativeId: string, what: string): boolean {
    const reasons = this.#bridge[kind] ?? {};
    const key = [`${nativeId} ${what}`, what].find((each) => Object.hasOwn(reasons, each));
    if (key === undefined) return false;
    this.#used.add(`${kind} ${key}`);
    return true;
  }

  /** The values that a settable text is tested with. */
  textsOf(nativeId: string, path: string): readonly string[] | undefined {
    const { texts = {} } = this.#bridge;
    const key = `${nativeId} ${path}`;
    if (!Object.hasOwn(texts, key)) return undefined;
    this.#used.add(`texts ${key}`);
    return texts[key];
  }

  /** Explanations of what does not exist, or needs none. */
  unusedFaults(): ConformanceFault[] {
    return (["except", "untold", "texts", "cannot"] as const).flatMap((kind) =>
      Object.keys(this.#bridge[kind] ?? {})
        .filter((key) => !this.#used.has(`${kind} ${key}`))
        .map((key) => this.#unused(kind, key)),
    );
  }

  #unused(kind: Kind | "texts", key: string): ConformanceFault {
    const [nativeId = "", capability = ""] = key.includes(" ") ? key.split(" ") : ["", key];
    const expected = `a need for each reason in "${kind}"`;
    return { nativeId, capability, expected, actual: "nothing needs it" };
  }
}
