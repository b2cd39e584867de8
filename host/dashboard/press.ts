let press = 0;
let isHeld = false;

if (typeof window !== "undefined") {
  const end = (): void => {
    const ended = press;
    // the listeners of the element that is dragged hear the same event, some of them later
    setTimeout(() => {
      if (press === ended) isHeld = false;
    });
  };
  window.addEventListener(
    "pointerdown",
    () => {
      press += 1;
      isHeld = true;
    },
    { capture: true },
  );
  for (const type of ["pointerup", "pointercancel"]) {
    window.addEventListener(type, end, { capture: true });
  }
}

/** The number of the press of a finger or mouse button that lasts; `undefined` while nothing is pressed. */
export function heldPress(): number | undefined {
  return isHeld ? press : undefined;
}
