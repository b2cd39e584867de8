/** Clients may show 66.666… % as 66.67 %: that is still speed 2 of 3. */
const ROUNDED_BY_CLIENTS = 0.005;

/** The percentage of a speed, not rounded: of three speeds the second is 66.666… %. 0 is off. */
export function speedToPercent(speed: number, speeds: number): number {
  return speed >= speeds ? 100 : Math.max(0, speed) * (100 / speeds);
}

/** The speed of a percentage, rounded up: 66 % is speed 2 of 3, and 67 % is speed 3. */
export function percentToSpeed(percent: number, speeds: number): number {
  if (percent <= 0) return 0;
  return Math.max(1, Math.ceil((percent / 100) * speeds - ROUNDED_BY_CLIENTS));
}
