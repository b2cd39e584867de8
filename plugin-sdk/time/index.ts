export { nextCronTime } from "./cron.ts";
export { nextSunEvent, sunAt } from "./sun.ts";
export { instantOf, isTimeZone, offsetAt, startOfDay, wallClock } from "./zone.ts";
