import type { Session } from "./session.ts";

const DEFAULT_IDLE_SECONDS = 300;
/** `mantel-touch` reports touches in frames, whose events do not reach this window. */
const TOUCHES = ["pointerdown", "keydown", "mantel-touch"];

/** Returns to the first page, without a sheet over it. */
function rest(): void {
  location.replace("#");
  dispatchEvent(new Event("mantel-idle"));
}

/** Returns an idle display to its first page. */
export function followTouches({ store: { ui }, theme }: Pick<Session, "store" | "theme">): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const touched = (): void => {
    theme.touch();
    clearTimeout(timer);
    const { idleSeconds = DEFAULT_IDLE_SECONDS } = ui.peek();
    if (idleSeconds > 0) timer = setTimeout(rest, idleSeconds * 1000);
  };
  for (const type of TOUCHES) addEventListener(type, touched, { passive: true });
  touched();
}
