export { nextCronTime } from "./cron.ts";
export { nextSunEvent, sunAt } from "./sun.ts";
