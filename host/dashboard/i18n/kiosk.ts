import { translated, type Translation } from "./language.ts";

const english = {
  leaveKioskMode: "Leave kiosk mode",
  kioskNotice: "This screen shows only the dashboard.",
  stayInKioskMode: "Stay",
};

const german: Translation<typeof english> = {
  leaveKioskMode: "Kioskmodus verlassen",
  kioskNotice: "Dieser Bildschirm zeigt nur das Dashboard.",
  stayInKioskMode: "Bleiben",
};

/** Texts of the kiosk mode. */
export const words = translated("kiosk", english, { de: german });
